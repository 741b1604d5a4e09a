// The thread states that threads of the JVM enter interpreters with.
#pragma once

#include <utility>
#include <vector>

#include "runtime/interpreter.h"

namespace pyflow {

// The thread states of one thread, one per interpreter it has entered. They are made on first use,
// serve every task that runs on the thread, and go with it: PyGILState_Ensure inside extension
// modules finds exactly one per thread and interpreter.
class ThreadStates {
 public:
  ~ThreadStates() {
    for (const auto& [interpreter, state] : states_) {
      PyEval_RestoreThread(state);
      PyThreadState_Clear(state);
      PyThreadState_DeleteCurrent();
    }
  }

  PyThreadState* of(const Interpreter& interpreter) {
    for (const auto& [known, state] : states_) {
      if (known == &interpreter) return state;
    }
    PyThreadState* state = PyThreadState_New(interpreter.handle);
    if (state == nullptr) Py_FatalError("pyflow: no memory for a Python thread state");
    states_.emplace_back(&interpreter, state);
    return state;
  }

 private:
  std::vector<std::pair<const Interpreter*, PyThreadState*>> states_;
};

// The current thread's.
ThreadStates& thread_states();

}  // namespace pyflow
