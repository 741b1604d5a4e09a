#include "runtime/error_text.h"

#include <new>

namespace pyflow {
namespace {

std::string text_of(PyObject* object) {
  if (object != nullptr) {
    PyRef bytes = PyRef::steal(PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace"));
    if (bytes) {
      try {
        return std::string(PyBytes_AS_STRING(bytes.get()),
                           static_cast<size_t>(PyBytes_GET_SIZE(bytes.get())));
      } catch (const std::bad_alloc&) {
        return "a Python exception for whose text there is no memory";
      }
    }
    PyErr_Clear();
  }
  return "a Python exception whose text cannot be shown";
}

}  // namespace

LoadFailure take_load_failure(const InterpreterState& state) {
  const bool refused = PyErr_ExceptionMatches(state.load_refused.get()) != 0;
  return {refused ? LoadFailure::Kind::kRefused : LoadFailure::Kind::kRaised,
          take_error_text(&state, nullptr)};
}

std::string take_error_text(const InterpreterState* state, PyObject* options) {
  PyRef exception = PyRef::steal(take_exception());
  if (!exception) return "Python reported an error without an exception";
  if (state != nullptr) {
    PyRef text =
        PyRef::steal(PyObject_CallFunctionObjArgs(state->format_exception.get(), exception.get(),
                                                  options != nullptr ? options : Py_None, nullptr));
    if (text) return text_of(text.get());
    PyErr_Clear();
  }
  PyRef text = PyRef::steal(PyObject_Repr(exception.get()));
  if (!text) PyErr_Clear();
  return text_of(text.get());
}

}  // namespace pyflow
