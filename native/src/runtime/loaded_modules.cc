#include "runtime/loaded_modules.h"

#include "runtime/attached.h"
#include "runtime/interpreter_pool.h"
#include "runtime/large_stack.h"
#include "runtime/start.h"

namespace pyflow {
namespace {

std::string modules_of(const Interpreter& interpreter) {
  Attached attached(interpreter, false);
  PyRef modules = PyRef::steal(PyObject_CallNoArgs(interpreter.state->loaded_modules.get()));
  const char* json = modules ? PyUnicode_AsUTF8(modules.get()) : nullptr;
  if (json == nullptr) {
    PyErr_Clear();
    return "[]";
  }
  return json;
}

}  // namespace

std::string loaded_modules_json() {
  std::vector<const Interpreter*> interpreters = {&shared_interpreter()};
  for (const Interpreter* each : isolated_interpreters()) interpreters.push_back(each);
  std::string json;
  for (const Interpreter* each : interpreters) {
    std::string modules = "[]";
    static_cast<void>(with_large_stack([&] { modules = modules_of(*each); }));
    json += json.empty() ? "[" : ",";
    json += "{\"number\":" + std::to_string(PyInterpreterState_GetID(each->handle)) +
            ",\"modules\":" + modules + "}";
  }
  return json + "]";
}

}  // namespace pyflow
