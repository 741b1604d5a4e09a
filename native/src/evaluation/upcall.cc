// See upcall.h.

#include "evaluation/upcall.h"

#include <limits>
#include <utility>

#include "runtime/attached.h"

namespace pyflow {
namespace {

constexpr const char* kCapsule = "pyflow.Upcall";

using Held = std::shared_ptr<const Upcall>;

PyObject* call(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count) {
  auto* held = static_cast<Held*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (held == nullptr) return nullptr;
  if (count != 2 || !PyBytes_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "the JVM is called with an int and bytes");
    return nullptr;
  }
  if (PyBytes_GET_SIZE(arguments[1]) > std::numeric_limits<int32_t>::max()) {
    PyErr_SetString(PyExc_OverflowError, "the JVM takes at most 2 GiB at a time");
    return nullptr;
  }
  const long code = PyLong_AsLong(arguments[0]);
  if (code == -1 && PyErr_Occurred()) return nullptr;
  // The function may be dropped meanwhile, the caller has the bytes.
  const Held upcall = *held;
  const char* const bytes = PyBytes_AS_STRING(arguments[1]);
  const auto size = static_cast<size_t>(PyBytes_GET_SIZE(arguments[1]));
  const Answer answer =
      without_gil([&] { return (*upcall)(static_cast<int32_t>(code), bytes, size); });
  if (answer.kind == Answer::Kind::kNothing) Py_RETURN_NONE;
  const auto answer_size = static_cast<Py_ssize_t>(answer.bytes.size());
  if (answer.kind == Answer::Kind::kBytes) {
    return PyBytes_FromStringAndSize(answer.bytes.data(), answer_size);
  }
  PyRef message = PyRef::steal(PyUnicode_DecodeUTF8(answer.bytes.data(), answer_size, "replace"));
  if (message) PyErr_SetObject(PyExc_RuntimeError, message.get());
  return nullptr;
}

void destroy(PyObject* capsule) {
  delete static_cast<Held*>(PyCapsule_GetPointer(capsule, kCapsule));
}

}  // namespace

PyRef upcall_function(std::shared_ptr<const Upcall> upcall) {
  static PyMethodDef method = {"call",
                               reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
                               METH_FASTCALL, nullptr};
  auto held = std::make_unique<Held>(std::move(upcall));
  PyRef capsule = PyRef::steal(PyCapsule_New(held.get(), kCapsule, destroy));
  if (!capsule) return PyRef();
  static_cast<void>(held.release());
  return PyRef::steal(PyCFunction_New(&method, capsule.get()));
}

}  // namespace pyflow
