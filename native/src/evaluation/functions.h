// The Python functions of one operator, loaded into a slot for one task: what those over rows
// (program.h) and those over Arrow batches (batches.h) have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluation/call_sampler.h"
#include "runtime/attached.h"
#include "runtime/error_text.h"
#include "runtime/slot.h"

namespace pyflow {

enum class Outcome : int32_t {
  kDone = 0,
  kFailed = 1,        // a Python exception, see error()
  kMoveToShared = 2,  // imports refuse the isolated interpreter; error() names them
  kInterrupted = 3,   // Slot::interrupt() was called
  kSourceFailed = 4,  // the input failed; its source has the reason
};

// Where the time of one call went. Read by the JVM at these offsets: keep in step with
// CallTimes.java.
struct CallTimes {
  int64_t gil_wait_nanos;    // taking the GIL; not where CPython passes it on by itself
  int64_t python_nanos;      // otherwise, not counting what the JVM did for Python meanwhile
  int64_t sampled_nanos;     // if the following were measured, which they are in a sample of the
                             // calls: python_nanos of the calls that they are about; 0 if not
  int64_t cpu_nanos;         // what the thread has spent in these, at most
  int64_t others_cpu_nanos;  // what other threads have spent in the interpreter meanwhile; 0 where
                             // they run beside this one
};

// Runs Python code in a task's own context variables: its decimal context, numpy's error state.
// Needs the GIL.
class EnteredContext {
 public:
  explicit EnteredContext(PyObject* context) : context_(context) {
    if (PyContext_Enter(context) == 0) return;
    PyErr_Clear();  // some thread is in it
    context_ = nullptr;
  }
  EnteredContext(const EnteredContext&) = delete;
  EnteredContext& operator=(const EnteredContext&) = delete;
  ~EnteredContext() {
    if (context_ != nullptr && PyContext_Exit(context_) != 0) PyErr_Clear();
  }

 private:
  PyObject* context_;
};

class Functions {
 public:
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  // Why the last call failed.
  const std::string& error() const { return error_; }

  // Appends the pickled (id, value) pairs of the accumulators that the functions use; false on
  // error().
  bool accumulator_updates(std::vector<std::string>& updates);

 protected:
  explicit Functions(Slot& slot);
  ~Functions() = default;

  // Takes over the object that loading has made and how its exceptions are shown; false with an
  // error set.
  bool set_runtime(PyObject* runtime, PyObject* error_options);

  // Makes the task's context the thread's, unless these functions were the last to do so on this
  // thread.
  bool enter();

  // Runs `work(Attached&)` with the GIL held, as what an interruption of the slot stops.
  template <typename Work>
  void call(CallTimes& times, const Work& work) {
    times = {};
    const bool sampled = sampler_.begin_call();
    const std::string refused = slot_.run([&] {
      Attached attached(slot_, sampled);
      slot_.begin_python();
      {
        EnteredContext entered(context_variables_.get());
        work(attached);
      }
      slot_.end_python();
      const bool exclusive = !sampled || gil_is_exclusive();
      attached.release();
      const int64_t elapsed = attached.elapsed_nanos();
      times.gil_wait_nanos = attached.waited_nanos();
      times.python_nanos = elapsed - attached.waited_nanos() - attached.away_nanos();
      if (sampled) {
        add_sample(times, attached, exclusive);
        sampler_.end_measured(attached.start_nanos() + elapsed);
      } else {
        add_unsampled(times.python_nanos);
      }
    });
    if (!refused.empty()) error_ = refused;
  }

  // What became of a call that left a Python exception; clears it.
  Outcome failure();

  Slot& slot_;
  PyRef runtime_;        // an object of pyflow.thread_mode
  PyRef error_options_;  // how exceptions are shown
  PyRef context_variables_;
  std::string error_;

 private:
  void add_sample(CallTimes& times, const Attached& attached, bool exclusive);
  void add_unsampled(int64_t nanos);

  const uint64_t id_;
  CallSampler sampler_;
  int64_t unsampled_nanos_ = 0;            // in Python, of calls since the last that was measured
  CpuAccount::Reading last_sampled_ = {};  // at the end of that one
};

}  // namespace pyflow
