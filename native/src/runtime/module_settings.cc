#include "runtime/module_settings.h"

#include "runtime/float_modes.h"

namespace pyflow {
namespace {

PyObject* call_float_modes(PyObject*, PyObject* arguments) {
  unsigned long long modes = 0;
  if (!PyArg_ParseTuple(arguments, "|K", &modes)) return nullptr;
  const uint64_t before = FloatModes::number();
  if (PyTuple_GET_SIZE(arguments) > 0) FloatModes::set_number(modes);
  return PyLong_FromUnsignedLongLong(before);
}

// `self` is the pair of functions.
PyObject* call_both(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  PyRef result = PyRef::steal(
      PyObject_Vectorcall(PyTuple_GET_ITEM(self, 0), arguments, static_cast<size_t>(count), names));
  if (!result) return nullptr;
  const PyRef then = PyRef::steal(
      PyObject_Vectorcall(PyTuple_GET_ITEM(self, 1), arguments, static_cast<size_t>(count), names));
  return then ? result.release() : nullptr;
}

PyMethodDef both_method = {"call",
                           reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_both)),
                           METH_FASTCALL | METH_KEYWORDS, nullptr};

PyObject* call_and_then(PyObject*, PyObject* arguments) {
  PyObject* function = nullptr;
  PyObject* then = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO", &function, &then)) return nullptr;
  return PyCFunction_New(&both_method, arguments);
}

PyMethodDef float_modes_method = {"float_modes", call_float_modes, METH_VARARGS,
                                  "float_modes([modes]): of the current thread."};
PyMethodDef and_then_method = {"and_then", call_and_then, METH_VARARGS,
                               "and_then(function, then): a function that calls both."};

}  // namespace

PyRef float_modes_function() { return PyRef::steal(PyCFunction_New(&float_modes_method, nullptr)); }

PyRef and_then_function() { return PyRef::steal(PyCFunction_New(&and_then_method, nullptr)); }

}  // namespace pyflow
