// Everything that differs between the CPython minor versions PyFlow supports (3.10 to 3.13), each
// with its reason. No other file tests PY_VERSION_HEX.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030A0000 || PY_VERSION_HEX >= 0x030E0000
#error "PyFlow supports CPython 3.10 to 3.13"
#endif

// Python.h declares PyFrame_GetBack itself since 3.11.
#include <frameobject.h>

namespace pyflow {

// Interpreters with a GIL of their own (PEP 684) exist since 3.12. 3.12 corrupts its heap when an
// extension that refuses them has already run its single-phase init, so they are used from 3.13 on.
#if PY_VERSION_HEX >= 0x030D0000
#define PYFLOW_HAS_ISOLATED_INTERPRETERS 1
#else
#define PYFLOW_HAS_ISOLATED_INTERPRETERS 0
#endif

// Takes the pending exception as one normalised object with its traceback attached; null if none.
inline PyObject* take_exception() {
#if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#else
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == nullptr) return nullptr;
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return value;
#endif
}

// Where frozen modules of the standard library get their __file__ from, since 3.11; null before.
inline wchar_t** stdlib_dir_field([[maybe_unused]] PyConfig& config) {
#if PY_VERSION_HEX >= 0x030B0000
  return &config.stdlib_dir;
#else
  return nullptr;
#endif
}

// The digits of an int, the least significant one first.
inline digit* long_digits(PyObject* number) {
#if PY_VERSION_HEX >= 0x030C0000
  return reinterpret_cast<PyLongObject*>(number)->long_value.ob_digit;
#else
  return reinterpret_cast<PyLongObject*>(number)->ob_digit;
#endif
}

// The value of an int of one digit, the common case, without a call; false for all others.
inline bool small_long(PyObject* number, int64_t& value) {
#if PY_VERSION_HEX >= 0x030C0000
  const auto* digits = reinterpret_cast<const PyLongObject*>(number);
  if (!PyUnstable_Long_IsCompact(digits)) return false;
  value = PyUnstable_Long_CompactValue(digits);
  return true;
#else
  const Py_ssize_t size = Py_SIZE(number);
  if (size < -1 || size > 1) return false;
  value = size * static_cast<int64_t>(long_digits(number)[0]);
  return true;
#endif
}

}  // namespace pyflow
