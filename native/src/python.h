// The CPython of this JVM: its start, its interpreters, and how threads enter them.
//
// CPython is started once, on a thread of its own that then parks for good: a second thread state
// on the starting thread would deadlock extension modules that use PyGILState_Ensure. It is never
// finalised; interpreters live as long as the JVM, since destroying one leaks and can abort.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "interpreter_state.h"

namespace pyflow {

// Writes a line in UTF-8 to a log of the JVM. Called without any GIL, from any thread.
using Log = void (*)(int64_t number, const std::string& line);

struct StartOptions {
  std::string executable;
  std::string prefix;
  std::string exec_prefix;
  std::string base_prefix;
  std::string base_exec_prefix;
  std::string stdlib_dir;
  std::string hash_seed;                  // PYTHONHASHSEED: a number, "random" or empty
  std::string gil;                        // PYTHON_GIL: "0", "1" or empty
  std::string omp_threads;                // OMP_NUM_THREADS: a number or empty
  std::vector<std::string> search_paths;  // sys.path
  Log log;                                // number: a level of Python's logging module
  Log session_log;  // number: which log, as io.pyflow.bridge.SessionLogs has it
};

// The processor time that threads have spent while attached to an interpreter.
class CpuAccount {
 public:
  // A stretch of one thread's time.
  struct Stretch {
    clockid_t clock;
    int64_t since;
  };

  // Both called by the stretch's thread; what it has spent.
  void begin(Stretch& stretch);
  int64_t end(Stretch& stretch);

  // Of all threads, until now.
  int64_t total_nanos();

 private:
  std::mutex mutex_;
  std::vector<const Stretch*> running_;
  int64_t ended_nanos_ = 0;
};

// One CPython interpreter: the main one, shared by tasks, or one with a GIL of its own.
struct Interpreter {
  PyInterpreterState* handle = nullptr;
  bool isolated = false;
  std::unique_ptr<InterpreterState> state;
  mutable CpuAccount cpu;
};

// Starts CPython and prepares the main interpreter. Returns an error text, empty on success. Joins
// a CPython that another copy of this library has started in this JVM.
std::string start_python(const StartOptions& options);

// The main interpreter; start_python has succeeded.
Interpreter& shared_interpreter();

// Makes idle isolated interpreters until `count` exist; an error text, empty on success.
std::string prewarm_isolated(int count);

// Has every interpreter forget what belongs to an application that has ended. Waits for each GIL.
void end_application(const std::string& identifier);

int64_t monotonic_nanos();

// Holds the GIL of `interpreter` for the current thread. The thread must hold no other GIL.
class Attached {
 public:
  explicit Attached(const Interpreter& interpreter);
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached();

  // The innermost of the current thread; null if there is none, as on threads that Python started.
  static Attached* current();

  // Gives the GIL up, as Py_BEGIN_ALLOW_THREADS does, and takes it back.
  void release();
  void retake();

  // Does work that is not the functions', without the GIL.
  template <typename Work>
  auto away(const Work& work) {
    release();
    const int64_t start = monotonic_nanos();
    const auto result = work();
    away_nanos_ += monotonic_nanos() - start;
    retake();
    return result;
  }

  // Time since the GIL was first asked for, and what of it went into taking the GIL and into being
  // away.
  int64_t elapsed_nanos() const { return monotonic_nanos() - start_nanos_; }
  int64_t waited_nanos() const { return waited_nanos_; }
  int64_t away_nanos() const { return away_nanos_; }

  // What the thread has spent while attached, up to the last release.
  int64_t cpu_nanos() const { return cpu_nanos_; }

 private:
  const Interpreter& interpreter_;
  Attached* const outer_;
  PyThreadState* const thread_state_;
  const int64_t start_nanos_;
  int64_t waited_nanos_ = 0;
  int64_t away_nanos_ = 0;
  int64_t cpu_nanos_ = 0;
  CpuAccount::Stretch stretch_;
  bool held_ = false;
};

// The pending Python exception as the text that the driver shows; clears it. Needs the GIL.
std::string take_error_text(const InterpreterState* state, PyObject* options);

class StackThread;

// The lease of an interpreter by one operator of one task.
//
// Slots leased by the same thread share an isolated interpreter: the operators of one task run by
// turns.
class Slot {
 public:
  // Null when no interpreter could be made; `error` then says why.
  static std::unique_ptr<Slot> acquire(bool isolated, std::string& error);
  ~Slot();

  Interpreter& interpreter() const { return interpreter_; }

  // Runs `work` on this thread if its stack is large enough for CPython's recursion limits to hold,
  // otherwise on a thread with a large stack that the slot keeps for it. The GIL must not be held.
  // An error text, empty unless there is no such thread and nothing has run.
  template <typename Work>
  std::string run(const Work& work) {
    if (!stack_suffices()) return run_on_large_stack(work);
    work();
    return "";
  }

  // Brackets the time in which the slot's Python code may be interrupted. Needs the GIL.
  void begin_python();
  void end_python();

  // Stops the Python code now running in the slot, and any to come; to be repeated until it has
  // ended. Waits for the GIL. One call at a time.
  void interrupt();
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

 private:
  Slot(Interpreter& interpreter, uint64_t lease) : interpreter_(interpreter), lease_(lease) {}

  static bool stack_suffices();
  std::string run_on_large_stack(const std::function<void()>& work);

  Interpreter& interpreter_;
  const uint64_t lease_;  // 0 for the shared interpreter
  std::atomic<bool> interrupted_{false};
  std::atomic<bool> insisting_{false};
  int64_t interrupted_since_ = 0;
  GilMutex running_mutex_;
  PyThreadState* running_thread_ = nullptr;  // guarded by the GIL and running_mutex_
  StackThread* stack_thread_ = nullptr;
};

}  // namespace pyflow
