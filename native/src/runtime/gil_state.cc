// See gil_state.h. The only file that knows what is internal to CPython.
#define Py_BUILD_CORE 1
#include "runtime/gil_state.h"

#include "runtime/python_compat.h"

#if PYFLOW_HAS_ISOLATED_INTERPRETERS
#include <internal/pycore_runtime.h>

#include <atomic>
#endif

namespace pyflow {

#if PYFLOW_HAS_ISOLATED_INTERPRETERS
namespace {

// Null until it is known to be CPython's flag.
std::atomic<int*> check_enabled{nullptr};

void set(int* flag, int value) { __atomic_store_n(flag, value, __ATOMIC_RELAXED); }

int check_without_gil() {
  PyThreadState* const state = PyEval_SaveThread();
  const int answer = PyGILState_Check();
  PyEval_RestoreThread(state);
  return answer;
}

// A field behind the flag says that the layout is that of the headers, before anything is written.
bool is_check_enabled(int* flag) {
  if (_PyRuntime.gilstate.autoInterpreterState != PyInterpreterState_Main() || *flag != 1 ||
      check_without_gil() != 0) {
    return false;
  }
  set(flag, 0);
  const bool disabled = check_without_gil() == 1;
  set(flag, 1);
  return disabled && check_without_gil() == 0 && PyGILState_Check() == 1;
}

bool can_forget() {
  PyThreadState* const state = PyThreadState_Get();
  if (PyThread_tss_is_created(&_PyRuntime.autoTSSkey) == 0 ||
      PyThread_tss_get(&_PyRuntime.autoTSSkey) != state || state->_status.bound_gilstate != 1) {
    return false;
  }
  PyEval_SaveThread();
  forget_gil_state();
  const bool forgotten = PyGILState_GetThisThreadState() == nullptr;
  PyEval_RestoreThread(state);
  return forgotten && PyGILState_GetThisThreadState() == state && PyGILState_Check() == 1;
}

}  // namespace

std::string try_gil_state() {
  int* const flag = &_PyRuntime.gilstate.check_enabled;
  if (!is_check_enabled(flag) || !can_forget()) {
    return std::string("has another layout than that of ") + PY_VERSION +
           ", for which PyFlow was built, and beside isolated interpreters its PyGILState_Check() "
           "would not tell extension modules whether they hold the GIL";
  }
  check_enabled.store(flag, std::memory_order_release);
  return "";
}

void keep_gil_state_check() {
  int* const flag = check_enabled.load(std::memory_order_acquire);
  if (flag != nullptr && __atomic_load_n(flag, __ATOMIC_RELAXED) == 0) set(flag, 1);
}

void forget_gil_state() {
  PyThreadState* const state = PyGILState_GetThisThreadState();
  if (state == nullptr) return;
  state->_status.bound_gilstate = 0;
  PyThread_tss_set(&_PyRuntime.autoTSSkey, nullptr);
}
#else
std::string try_gil_state() {
  return "has none: CPython 3.13 or later is needed, and not a free-threaded build";
}

void keep_gil_state_check() {}

void forget_gil_state() {}
#endif

}  // namespace pyflow
