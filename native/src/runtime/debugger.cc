#include "runtime/debugger.h"

#include "runtime/attached.h"
#include "runtime/error_text.h"
#include "runtime/json_text.h"
#include "runtime/large_stack.h"
#include "runtime/start.h"

namespace pyflow {
namespace {

std::string error(const std::string& text) {
  std::string json = "{\"error\": ";
  append_json_string(json, text);
  return json + "}";
}

std::string answer(const std::string& request) {
  Attached attached(shared_interpreter());
  PyRef module = PyRef::steal(PyImport_ImportModule("pyflow.thread_mode.debugger"));
  PyRef answer;
  if (module) {
    answer = PyRef::steal(PyObject_CallMethod(module.get(), "answer", "y#", request.data(),
                                              static_cast<Py_ssize_t>(request.size())));
  }
  if (!answer) return error(take_error_text(nullptr, nullptr));
  return std::string(PyBytes_AS_STRING(answer.get()),
                     static_cast<size_t>(PyBytes_GET_SIZE(answer.get())));
}

}  // namespace

std::string ask_debugger(const std::string& request) {
  std::string answered;
  const std::string refused = with_large_stack([&] { answered = answer(request); });
  return refused.empty() ? answered : error(refused);
}

}  // namespace pyflow
