#include "runtime/jvm_logs.h"

#include "runtime/attached.h"
#include "runtime/no_memory.h"

namespace pyflow {
namespace {

JvmLogs jvm_logs = {};

PyObject* write_line(Log log, PyObject* arguments) {
  long long number = 0;
  const char* text = nullptr;
  Py_ssize_t size = 0;
  if (!PyArg_ParseTuple(arguments, "Ly#", &number, &text, &size)) return nullptr;
  return or_memory_error([&] {
    const std::string line(text, static_cast<size_t>(size));
    static_cast<void>(without_gil([&] {
      log(number, line);
      return true;
    }));
    return Py_NewRef(Py_None);
  });
}

PyObject* write_log(PyObject*, PyObject* arguments) { return write_line(jvm_logs.log, arguments); }

PyObject* write_session_log(PyObject*, PyObject* arguments) {
  return write_line(jvm_logs.session_log, arguments);
}

PyMethodDef log_method = {"log", write_log, METH_VARARGS, "log(level, line): the JVM's log."};
PyMethodDef session_log_method = {"session_log", write_session_log, METH_VARARGS,
                                  "session_log(number, line): the log of a task's functions."};

}  // namespace

void set_jvm_logs(const JvmLogs& logs) { jvm_logs = logs; }

PyRef log_function() { return PyRef::steal(PyCFunction_New(&log_method, nullptr)); }

PyRef session_log_function() { return PyRef::steal(PyCFunction_New(&session_log_method, nullptr)); }

}  // namespace pyflow
