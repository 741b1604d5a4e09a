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

// Allocates nothing and raises nothing.
bool ends_with(PyObject* text, std::string_view end) {
  const auto skipped = PyUnicode_GET_LENGTH(text) - static_cast<Py_ssize_t>(end.size());
  if (skipped < 0) return false;
  for (size_t i = 0; i < end.size(); ++i) {
    const Py_UCS4 character = PyUnicode_READ_CHAR(text, skipped + static_cast<Py_ssize_t>(i));
    if (character != static_cast<unsigned char>(end[i])) return false;
  }
  return true;
}

bool keeps_shared_locks(PyObject* code) {
  PyObject* file = reinterpret_cast<PyCodeObject*>(code)->co_filename;
  return std::any_of(kKeepersOfSharedLocks.begin(), kKeepersOfSharedLocks.end(),
                     [&](std::string_view keeper) { return ends_with(file, keeper); });
}

bool keeps_shared_locks(PyFrameObject* frame) {
  PyRef code = PyRef::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  return keeps_shared_locks(code.get());
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

#if PYFLOW_FREE_THREADED
namespace {

struct Interruption {
  PyThreadState* thread;
  PyObject* type;
  PyObject* replaced;  // an exception that the thread has not got round to; an owned reference
};

// As PyThreadState_SetAsyncExc does it, which needs a lock that is taken while objects are visited.
constexpr uintptr_t kAsyncException = 1u << 3;  // _PY_ASYNC_EXCEPTION_BIT

int raise_in_stopped_thread(PyObject*, void* argument) {
  auto* interruption = static_cast<Interruption*>(argument);
  PyThreadState* thread = interruption->thread;
  bool raises = true;
  if (thread->current_frame != nullptr) {
    PyObject* code = PyUnstable_InterpreterFrame_GetCode(thread->current_frame);
    raises = !(PyCode_Check(code) && keeps_shared_locks(code));
    Py_DECREF(code);
  }
  if (raises) {
    interruption->replaced = static_cast<PyObject*>(
        _Py_atomic_exchange_ptr(&thread->async_exc, Py_NewRef(interruption->type)));
    _Py_atomic_or_uintptr(&thread->eval_breaker, kAsyncException);
  }
  return 0;  // no further objects
}

}  // namespace

// Without a GIL the thread goes on while its frames are looked at, and what is seen of them does
// not hold when the exception is set. CPython stops all threads of an interpreter where it visits
// the objects of the garbage collector; it waits for each to come to a point where it looks for
// pending work, as this thread would otherwise wait for the GIL.
void raise_interruption(PyThreadState* thread, PyObject* type) {
  Interruption interruption = {thread, type, nullptr};
  PyUnstable_GC_VisitObjects(raise_in_stopped_thread, &interruption);
  Py_XDECREF(interruption.replaced);
}
#else
void raise_interruption(PyThreadState* thread, PyObject* type) {
  PyRef frame = PyRef::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)));
  if (frame && keeps_shared_locks(reinterpret_cast<PyFrameObject*>(frame.get()))) return;
  PyThreadState_SetAsyncExc(thread->thread_id, type);
}
#endif

void repeat_interruptions(const std::atomic<bool>* interrupted) { repeating = interrupted; }

}  // namespace pyflow
