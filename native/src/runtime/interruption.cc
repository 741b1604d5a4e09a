#include "runtime/interruption.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "runtime/clock.h"

namespace pyflow {
namespace {

// How long interrupted code may take to unwind before interruptions repeat.
constexpr int64_t kUnwindingNanos = 1000000000;

thread_local int64_t* since = nullptr;

constexpr std::string_view kImporters[] = {"<frozen importlib._bootstrap>",
                                           "<frozen importlib._bootstrap_external>"};

// Of the standard library, by file or directory.
constexpr std::string_view kKeepersOfLocks[] = {
    "_py_warnings.py",
    "_threading_local.py",
    "_weakrefset.py",
    "asyncio/locks.py",
    "concurrent/futures/",
    "contextlib.py",
    "functools.py",
    "http/cookiejar.py",
    "logging/",
    "multiprocessing/",
    "queue.py",
    "socketserver.py",
    "subprocess.py",
    "tempfile.py",
    "threading.py",
    "weakref.py",
    "zipfile/",
};
constexpr std::string_view kOwnKeepers[] = {
    "/pyflow/thread_mode/imported_settings.py", "/pyflow/thread_mode/shared_objects.py",
    "/pyflow/thread_mode/torch_state.py", "/pyflow/thread_mode/waiting.py"};

// Where the standard library's directory ends in the name of a file.
constexpr std::string_view kStandardLibrary =
    "/python" Py_STRINGIFY(PY_MAJOR_VERSION) "." Py_STRINGIFY(PY_MINOR_VERSION) PYFLOW_ABI_FLAGS
    "/";

// The following allocate nothing and raise nothing.

bool has_at(PyObject* text, Py_ssize_t at, std::string_view part) {
  if (at < 0 || PyUnicode_GET_LENGTH(text) - at < static_cast<Py_ssize_t>(part.size()))
    return false;
  for (size_t i = 0; i < part.size(); ++i) {
    const Py_UCS4 character = PyUnicode_READ_CHAR(text, at + static_cast<Py_ssize_t>(i));
    if (character != static_cast<unsigned char>(part[i])) return false;
  }
  return true;
}

bool ends_with(PyObject* text, std::string_view end) {
  return has_at(text, PyUnicode_GET_LENGTH(text) - static_cast<Py_ssize_t>(end.size()), end);
}

PyObject* file_of(PyObject* code) { return reinterpret_cast<PyCodeObject*>(code)->co_filename; }

bool imports(PyObject* code) {
  return std::any_of(std::begin(kImporters), std::end(kImporters),
                     [&](std::string_view importer) { return ends_with(file_of(code), importer); });
}

bool keeps_locks(PyObject* code) {
  PyObject* file = file_of(code);
  if (std::any_of(std::begin(kOwnKeepers), std::end(kOwnKeepers),
                  [&](std::string_view keeper) { return ends_with(file, keeper); })) {
    return true;
  }
  const Py_ssize_t length = PyUnicode_GET_LENGTH(file);
  for (Py_ssize_t at = 0; at < length; ++at) {
    if (!has_at(file, at, kStandardLibrary)) continue;
    const Py_ssize_t path = at + static_cast<Py_ssize_t>(kStandardLibrary.size());
    if (std::any_of(std::begin(kKeepersOfLocks), std::end(kKeepersOfLocks),
                    [&](std::string_view keeper) { return has_at(file, path, keeper); })) {
      return true;
    }
  }
  return false;
}

PyRef code_of(const PyRef& frame) {
  auto* object = reinterpret_cast<PyFrameObject*>(frame.get());
  return PyRef::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(object)));
}

PyRef caller_of(const PyRef& frame) {
  auto* object = reinterpret_cast<PyFrameObject*>(frame.get());
  return PyRef::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(object)));
}

// Whether handlers that are yet to run release locks.
bool unwinds_through_locks() {
  PyRef frame = PyRef::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (; frame; frame = caller_of(frame)) {
    const PyRef code = code_of(frame);
    if (imports(code.get()) || keeps_locks(code.get())) return true;
  }
  return false;
}

int initialise(PyObject* self, PyObject* arguments, PyObject* keywords) {
  auto* base = reinterpret_cast<PyTypeObject*>(PyExc_BaseException);
  if (base->tp_init(self, arguments, keywords) != 0) return -1;
  if (since == nullptr) return 0;
  const int64_t now = monotonic_nanos();
  if (*since == 0) *since = now;
  if (now - *since > kUnwindingNanos && !unwinds_through_locks()) {
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
  bool imports_too;
  PyObject* replaced;  // an exception that the thread has not raised yet; an owned reference
  bool raised;
};

// As PyThreadState_SetAsyncExc does it, which needs a lock that is taken while objects are visited.
constexpr uintptr_t kAsyncException = 1u << 3;  // _PY_ASYNC_EXCEPTION_BIT

// The thread is stopped, and nothing may be allocated.
bool may_be_interrupted(_PyInterpreterFrame* frame, bool imports_too) {
  bool innermost = true;
  for (; frame != nullptr; frame = previous_frame(frame)) {
    PyObject* code = PyUnstable_InterpreterFrame_GetCode(frame);
    const bool is_code = PyCode_Check(code);
    const bool keeps = is_code && innermost && keeps_locks(code);
    const bool importing = is_code && (innermost || !imports_too) && imports(code);
    Py_DECREF(code);
    if (keeps || importing) return false;
    innermost = innermost && !is_code;
  }
  return true;
}

int raise_in_stopped_thread(PyObject*, void* argument) {
  auto* interruption = static_cast<Interruption*>(argument);
  PyThreadState* thread = interruption->thread;
  if (may_be_interrupted(thread->current_frame, interruption->imports_too)) {
    interruption->replaced = static_cast<PyObject*>(
        _Py_atomic_exchange_ptr(&thread->async_exc, Py_NewRef(interruption->type)));
    _Py_atomic_or_uintptr(&thread->eval_breaker, kAsyncException);
    interruption->raised = true;
  }
  return 0;  // no further objects
}

}  // namespace

// Without a GIL the thread goes on while its frames are looked at, and what is seen of them does
// not hold when the exception is set. CPython stops all threads of an interpreter where it visits
// the objects of the garbage collector; it waits for each to come to a point where it looks for
// pending work, as this thread would otherwise wait for the GIL.
bool raise_interruption(PyThreadState* thread, PyObject* type, bool imports_too) {
  Interruption interruption = {thread, type, imports_too, nullptr, false};
  PyUnstable_GC_VisitObjects(raise_in_stopped_thread, &interruption);
  Py_XDECREF(interruption.replaced);
  return interruption.raised;
}
#else
namespace {

// Frames are objects that are made when they are asked for; before 3.12 that may start a
// collection, whose finalizers are Python code that would run here.
class CollectionPaused {
 public:
  CollectionPaused() : enabled_(PyGC_Disable() != 0) {}
  CollectionPaused(const CollectionPaused&) = delete;
  CollectionPaused& operator=(const CollectionPaused&) = delete;
  ~CollectionPaused() {
    if (enabled_) PyGC_Enable();
  }

 private:
  const bool enabled_;
};

bool may_be_interrupted(PyThreadState* thread, bool imports_too) {
  const CollectionPaused paused;
  PyRef frame = PyRef::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)));
  for (bool innermost = true; frame; frame = caller_of(frame), innermost = false) {
    const PyRef code = code_of(frame);
    if (innermost && keeps_locks(code.get())) return false;
    if ((innermost || !imports_too) && imports(code.get())) return false;
  }
  return true;
}

}  // namespace

bool raise_interruption(PyThreadState* thread, PyObject* type, bool imports_too) {
  if (!may_be_interrupted(thread, imports_too)) return false;
  PyThreadState_SetAsyncExc(thread->thread_id, type);
  return true;
}
#endif

void drop_interruption() {
  const unsigned long thread = PyThread_get_thread_ident();
  if (!kLooksForTakenBack) {
    PyThreadState_SetAsyncExc(thread, nullptr);
    return;
  }
  // It is raised, in code that does nothing else.
  PyObject* pending = take_exception();
  const PyRef code = PyRef::steal(Py_CompileString("None", "<pyflow>", Py_eval_input));
  const PyRef variables = PyRef::steal(PyDict_New());
  const bool can_raise = code && variables;
  PyThreadState_SetAsyncExc(thread, can_raise ? PyExc_BaseException : nullptr);
  if (can_raise) PyRef::steal(PyEval_EvalCode(code.get(), variables.get(), variables.get()));
  PyErr_Clear();
  restore_exception(pending);
}

int64_t* repeat_interruptions(int64_t* raised_since) { return std::exchange(since, raised_since); }

}  // namespace pyflow
