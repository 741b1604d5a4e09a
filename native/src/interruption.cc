#include "interruption.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace pyflow {
namespace {

thread_local const std::atomic<bool>* repeating = nullptr;

constexpr std::array<std::string_view, 3> kKeepersOfSharedLocks = {
    "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>",
    "/logging/__init__.py"};

bool keeps_shared_locks(PyFrameObject* frame) {
  PyRef code = PyRef::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  Py_ssize_t size = 0;
  const char* text =
      PyUnicode_AsUTF8AndSize(reinterpret_cast<PyCodeObject*>(code.get())->co_filename, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return false;
  }
  const std::string_view file(text, static_cast<size_t>(size));
  return std::any_of(
      kKeepersOfSharedLocks.begin(), kKeepersOfSharedLocks.end(), [&](std::string_view keeper) {
        return file.size() >= keeper.size() && file.substr(file.size() - keeper.size()) == keeper;
      });
}

// Whether handlers that are yet to run release such locks.
bool unwinds_through_shared_locks() {
  PyRef frame = PyRef::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame) {
    auto* current = reinterpret_cast<PyFrameObject*>(frame.get());
    if (keeps_shared_locks(current)) return true;
    frame = PyRef::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(current)));
  }
  return false;
}

int initialise(PyObject* self, PyObject* arguments, PyObject* keywords) {
  auto* base = reinterpret_cast<PyTypeObject*>(PyExc_BaseException);
  if (base->tp_init(self, arguments, keywords) != 0) return -1;
  if (repeating != nullptr && repeating->load(std::memory_order_relaxed) &&
      !unwinds_through_shared_locks()) {
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(),
                              reinterpret_cast<PyObject*>(Py_TYPE(self)));
  }
  return 0;
}

}  // namespace

PyRef new_interruption_type() {
  static PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("Raised inside a function whose task was cancelled.")},
      {Py_tp_init, reinterpret_cast<void*>(initialise)},
      {0, nullptr},
  };
  static PyType_Spec spec = {"pyflow.thread_mode.TaskInterrupted", 0, 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyRef bases = PyRef::steal(PyTuple_Pack(1, PyExc_BaseException));
  if (!bases) return PyRef();
  return PyRef::steal(PyType_FromSpecWithBases(&spec, bases.get()));
}

void raise_interruption(PyThreadState* thread, PyObject* type) {
  PyRef frame = PyRef::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)));
  if (frame && keeps_shared_locks(reinterpret_cast<PyFrameObject*>(frame.get()))) return;
  PyThreadState_SetAsyncExc(thread->thread_id, type);
}

void repeat_interruptions(const std::atomic<bool>* interrupted) { repeating = interrupted; }

}  // namespace pyflow
