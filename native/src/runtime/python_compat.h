// Everything that differs between the CPython minor versions PyFlow supports (3.10 to 3.14), and
// between free-threaded and other builds, each with its reason. No other file tests PY_VERSION_HEX
// or Py_GIL_DISABLED.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030A0000 || PY_VERSION_HEX >= 0x030F0000
#error "PyFlow supports CPython 3.10 to 3.14"
#endif

// Python.h declares PyFrame_GetBack itself since 3.11.
#include <frameobject.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace pyflow {

// A free-threaded build (PEP 703) starts without a GIL: to hold it, as the comments of this library
// say, is then to be attached to the interpreter, which keeps no other thread out. An extension
// module that does not declare its support turns the GIL on when it is imported; it then stays on.
#ifdef Py_GIL_DISABLED
#define PYFLOW_FREE_THREADED 1
#define PYFLOW_ABI_FLAGS "t"
#else
#define PYFLOW_FREE_THREADED 0
#define PYFLOW_ABI_FLAGS ""
#endif

// Interpreters with a GIL of their own (PEP 684) exist since 3.12. 3.12 corrupts its heap when an
// extension that refuses them has already run its single-phase init, so they are used from 3.13 on.
// Free-threaded builds need none.
#if PY_VERSION_HEX >= 0x030D0000 && !PYFLOW_FREE_THREADED
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

// Makes an exception that was taken the pending one again; null if there was none.
inline void restore_exception(PyObject* exception) {
#if PY_VERSION_HEX >= 0x030C0000
  PyErr_SetRaisedException(exception);
#else
  if (exception == nullptr) return;
  PyErr_Restore(Py_NewRef(Py_TYPE(exception)), exception, PyException_GetTraceback(exception));
#endif
}

// Whether an exception that PyThreadState_SetAsyncExc takes back is still looked for, by all
// threads of the interpreter and wherever they look for pending work: it counts those that were
// set, in one flag, until one is raised. A function of 3.11 that is traced then looks for ever.
#if PY_VERSION_HEX < 0x030D0000
constexpr bool kLooksForTakenBack = true;
#else
constexpr bool kLooksForTakenBack = false;
#endif

// Where frozen modules of the standard library get their __file__ from, since 3.11; null before.
inline wchar_t** stdlib_dir_field([[maybe_unused]] PyConfig& config) {
#if PY_VERSION_HEX >= 0x030B0000
  return &config.stdlib_dir;
#else
  return nullptr;
#endif
}

// Whether stdlib_dir is that of the prefix that CPython finds by itself, whatever is configured,
// and unset where the prefix is given. The module site then makes the prefix that of an
// environment.
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030D0000
constexpr bool kFindsPrefix = true;
#else
constexpr bool kFindsPrefix = false;
#endif

// Whether a thread that holds the GIL keeps others out. Needs the GIL.
inline bool gil_is_exclusive() {
#if PYFLOW_FREE_THREADED
  PyObject* function = PySys_GetObject("_is_gil_enabled");  // borrowed
  PyObject* enabled = function != nullptr ? PyObject_CallNoArgs(function) : nullptr;
  if (enabled == nullptr) PyErr_Clear();
  const bool exclusive = enabled == Py_True;
  Py_XDECREF(enabled);
  return exclusive;
#else
  return true;
#endif
}

// Stands in for the GIL where threads that hold it share something of ours. CPython can stop all
// threads while one waits here.
class GilMutex {
 public:
#if PYFLOW_FREE_THREADED
  void lock() { PyMutex_Lock(&mutex_); }
  void unlock() { PyMutex_Unlock(&mutex_); }

 private:
  PyMutex mutex_ = {};
#else
  void lock() {}
  void unlock() {}
#endif
};

// Keeps other threads from changing a list or dict, as the GIL does: until Python code runs, or
// another lock is waited for.
class CriticalSection {
 public:
#if PYFLOW_FREE_THREADED
  explicit CriticalSection(PyObject* object) { PyCriticalSection_Begin(&section_, object); }
  ~CriticalSection() { PyCriticalSection_End(&section_); }
#else
  explicit CriticalSection(PyObject*) {}
  ~CriticalSection() {}
#endif
  CriticalSection(const CriticalSection&) = delete;
  CriticalSection& operator=(const CriticalSection&) = delete;

#if PYFLOW_FREE_THREADED
 private:
  PyCriticalSection section_;
#endif
};

// Whether the caller, who owns a reference, owns the only one. Reference counts of free-threaded
// builds have two parts: the owning thread's, and all others'.
inline bool is_only_reference(PyObject* object) {
#if PYFLOW_FREE_THREADED
  return _Py_IsOwnedByCurrentThread(object) &&
         _Py_atomic_load_uint32_relaxed(&object->ob_ref_local) == 1 &&
         _Py_atomic_load_ssize_acquire(&object->ob_ref_shared) == 0;
#else
  return Py_REFCNT(object) == 1;
#endif
}

// The value of a key, a new reference; null without an error if there is none. The borrowed
// reference of older versions can be gone before it is owned where no GIL protects it.
inline PyObject* dict_item(PyObject* dict, PyObject* key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* value = nullptr;
  PyDict_GetItemRef(dict, key, &value);
  return value;
#else
  return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

#if PYFLOW_FREE_THREADED
// The frame that called another; null if none did. As PyFrame_GetBack, but allocates nothing.
inline _PyInterpreterFrame* previous_frame(_PyInterpreterFrame* frame) {
  // How the struct _PyInterpreterFrame of 3.13 and 3.14 begins.
  struct Frame {
    PyObject* executable;
    _PyInterpreterFrame* previous;
  };
  return reinterpret_cast<Frame*>(frame)->previous;
}
#endif

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

// How a frame lies in memory, for reading those of threads that go on meanwhile.
#if PY_VERSION_HEX >= 0x030C0000
struct RawFrame {
  uintptr_t code;  // with tags since 3.14; None in the frame of a C function
  RawFrame* previous;
  void* others[5];
  uintptr_t instruction;
#if PY_VERSION_HEX >= 0x030E0000
  void* stack_pointer;
#if PYFLOW_FREE_THREADED
  int32_t bytecode_copy;
#endif
#else
  int stack_top;
#endif
  uint16_t return_offset;
  char owner;
};
#elif PY_VERSION_HEX >= 0x030B0000
struct RawFrame {
  void* others[4];
  uintptr_t code;
  void* frame_object;
  RawFrame* previous;
  uintptr_t instruction;
  int stack_top;
  bool is_entry;
  char owner;
};
#else
struct RawFrame {
  PyVarObject head;
  RawFrame* previous;
  uintptr_t code;
  void* others[5];
  int stack_depth;
  char traces[2];
  void* generator;
  int instruction;
  int line;
  int block;
  signed char state;
};
#endif

constexpr uintptr_t kReferenceTags = 7;
[[maybe_unused]] constexpr char kOwnedByGenerator = 1;  // FRAME_OWNED_BY_GENERATOR, since 3.11

// 3.12 gives the frame of a C function code that is not in any file.
inline bool is_of_c_function([[maybe_unused]] const RawFrame& frame) {
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030D0000
  return frame.owner == 3;  // FRAME_OWNED_BY_CSTACK
#else
  return false;
#endif
}

// Where the address of a thread's innermost frame is, of which `thread` is a copy.
inline uintptr_t innermost_frame_at([[maybe_unused]] const PyThreadState& thread,
                                    [[maybe_unused]] uintptr_t address) {
#if PY_VERSION_HEX >= 0x030D0000
  return address + offsetof(PyThreadState, current_frame);
#elif PY_VERSION_HEX >= 0x030B0000
  return reinterpret_cast<uintptr_t>(thread.cframe) + offsetof(_PyCFrame, current_frame);
#else
  return address + offsetof(PyThreadState, frame);
#endif
}

// Whether a thread holds its GIL, of which `thread` is a copy.
inline bool holds_gil([[maybe_unused]] const PyThreadState& thread,
                      [[maybe_unused]] const PyThreadState* at) {
#if PY_VERSION_HEX >= 0x030E0000
  return PYFLOW_FREE_THREADED ? thread.state == 1 : thread.holds_gil != 0;
#elif PY_VERSION_HEX >= 0x030D0000
  return PYFLOW_FREE_THREADED ? thread.state == 1 : thread._status.holds_gil != 0;
#elif PY_VERSION_HEX >= 0x030C0000
  return thread._status.active != 0;
#else
  return _PyThreadState_UncheckedGet() == at;
#endif
}

// The system's number of a thread; 0 where CPython does not note it.
inline uint64_t native_id([[maybe_unused]] const PyThreadState& thread) {
#if PY_VERSION_HEX >= 0x030B0000
  return thread.native_thread_id;
#else
  return 0;
#endif
}

// With the names of the classes and functions around it, since 3.11.
inline PyObject* full_name(const PyCodeObject& code) {
#if PY_VERSION_HEX >= 0x030B0000
  return code.co_qualname;
#else
  return code.co_name;
#endif
}

// The instruction that a frame is at, counted from the code's first; `read` copies memory.
template <typename Read>
int64_t instruction_of(const RawFrame& frame, [[maybe_unused]] const PyCodeObject& code,
                       [[maybe_unused]] uintptr_t code_address, [[maybe_unused]] const Read& read) {
#if PY_VERSION_HEX >= 0x030B0000
  uintptr_t first = code_address + offsetof(PyCodeObject, co_code_adaptive);
#if PY_VERSION_HEX >= 0x030E0000 && PYFLOW_FREE_THREADED
  if (frame.bytecode_copy > 0) {
    const uintptr_t entry = reinterpret_cast<uintptr_t>(code.co_tlbc) +
                            offsetof(_PyCodeArray, entries) + frame.bytecode_copy * sizeof(char*);
    if (!read(entry, &first, sizeof(first))) return -1;
  }
#endif
  constexpr int64_t kInstructionBytes = 2;
  return static_cast<int64_t>(frame.instruction - first) / kInstructionBytes;
#else
  return frame.instruction;
#endif
}

// Whether a frame at an instruction is one that tracebacks leave out: it has not begun, or is
// CPython's own around a constructor.
inline bool is_incomplete([[maybe_unused]] const RawFrame& frame,
                          [[maybe_unused]] const PyCodeObject& code,
                          [[maybe_unused]] int64_t instruction) {
#if PY_VERSION_HEX >= 0x030B0000
  return frame.owner != kOwnedByGenerator && instruction < code._co_firsttraceable;
#else
  return false;
#endif
}

// Whether a frame may be a thread's outermost: Python code is entered from C, which has a frame for
// that since 3.12. The frame of a generator has none before it either while it is suspended or
// closed, which its state does not tell: that may change while the frame is copied.
inline bool may_be_outermost([[maybe_unused]] const RawFrame& frame) {
#if PY_VERSION_HEX >= 0x030C0000
  return frame.owner >= 3;  // FRAME_OWNED_BY_CSTACK; 3.14 has two such kinds
#elif PY_VERSION_HEX >= 0x030B0000
  return frame.owner != kOwnedByGenerator;
#else
  return frame.state == 0 && frame.generator == nullptr;  // FRAME_EXECUTING
#endif
}

// Whether the lines of code are told by its table of locations (3.11) or by that of PEP 626.
constexpr bool kHasLocations = PY_VERSION_HEX >= 0x030B0000;

}  // namespace pyflow
