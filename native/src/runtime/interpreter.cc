#include "runtime/interpreter.h"

#include "runtime/error_text.h"
#include "runtime/jvm_logs.h"

namespace pyflow {

std::string prepare(Interpreter& interpreter) {
  PyRef bootstrap = PyRef::steal(PyImport_ImportModule("pyflow.thread_mode.bootstrap"));
  PyRef log = log_function();
  PyRef session_log = session_log_function();
  PyRef prepared;
  if (bootstrap && log && session_log) {
    prepared = PyRef::steal(PyObject_CallMethod(bootstrap.get(), "prepare", "OOO",
                                                interpreter.isolated ? Py_True : Py_False,
                                                log.get(), session_log.get()));
  }
  if (prepared) interpreter.state = InterpreterState::create();
  if (interpreter.state != nullptr) return "";
  return "the embedded Python could not import what PyFlow needs: " +
         take_error_text(nullptr, nullptr);
}

}  // namespace pyflow
