#include "runtime/interpreter.h"

#include "runtime/environment.h"
#include "runtime/error_text.h"
#include "runtime/jvm_logs.h"
#include "runtime/module_settings.h"
#include "runtime/written_files.h"

namespace pyflow {

std::string prepare(Interpreter& interpreter) {
  PyRef bootstrap = PyRef::steal(PyImport_ImportModule("pyflow.thread_mode.bootstrap"));
  PyRef log = log_function();
  PyRef session_log = session_log_function();
  PyRef set_variable = set_variable_function();
  PyRef set_names = names_set_by_functions();
  PyRef float_modes = float_modes_function();
  PyRef and_then = and_then_function();
  PyRef written_files = written_files_module();
  PyRef prepared;
  if (bootstrap && log && session_log && set_variable && set_names && float_modes && and_then &&
      written_files) {
    prepared = PyRef::steal(PyObject_CallMethod(
        bootstrap.get(), "prepare", "OOOOOOOO", interpreter.isolated ? Py_True : Py_False,
        log.get(), session_log.get(), set_variable.get(), set_names.get(), float_modes.get(),
        and_then.get(), written_files.get()));
  }
  if (prepared) interpreter.state = InterpreterState::create();
  if (interpreter.state != nullptr) return "";
  return "the embedded Python could not import what PyFlow needs: " +
         take_error_text(nullptr, nullptr);
}

}  // namespace pyflow
