// How threads of the JVM hold the GIL.
#pragma once

#include <cstdint>

#include "runtime/clock.h"
#include "runtime/float_modes.h"
#include "runtime/interpreter.h"

namespace pyflow {

class Slot;

// Holds the GIL of `interpreter` for the current thread. The thread must hold no other GIL.
class Attached {
 public:
  // Reading the clock of a thread's processor time is a system call, which is left out unless
  // `measures_cpu`.
  explicit Attached(const Interpreter& interpreter, bool measures_cpu = true)
      : Attached(interpreter, measures_cpu, own_float_modes_) {}
  // For the functions of a slot, which find the floating-point modes that they have set before.
  explicit Attached(Slot& slot, bool measures_cpu = true);
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
    auto result = work();
    away_nanos_ += monotonic_nanos() - start;
    retake();
    return result;
  }

  // Time since the GIL was first asked for, and what of it went into taking the GIL and into being
  // away.
  int64_t start_nanos() const { return start_nanos_; }
  int64_t elapsed_nanos() const { return monotonic_nanos() - start_nanos_; }
  int64_t waited_nanos() const { return waited_nanos_; }
  int64_t away_nanos() const { return away_nanos_; }

  // What the thread has spent while attached, up to the last release, and what other threads have
  // spent in the interpreter meanwhile; 0 unless that is measured.
  int64_t cpu_nanos() const { return cpu_nanos_; }
  int64_t others_cpu_nanos() const { return others_cpu_nanos_; }

  // When the GIL was first asked for, and when it was last released; if that is measured.
  const CpuAccount::Reading& cpu_at_start() const { return cpu_at_start_; }
  const CpuAccount::Reading& cpu_at_end() const { return cpu_at_end_; }

 private:
  Attached(const Interpreter& interpreter, bool measures_cpu, FloatModes& float_modes);

  const Interpreter& interpreter_;
  const bool measures_cpu_;
  Attached* const outer_;
  PyThreadState* const thread_state_;
  FloatModes own_float_modes_;
  FloatModes& float_modes_;
  const int64_t start_nanos_;
  int64_t waited_nanos_ = 0;
  int64_t away_nanos_ = 0;
  int64_t cpu_nanos_ = 0;
  int64_t others_cpu_nanos_ = 0;
  CpuAccount::Stretch stretch_;
  CpuAccount::Reading cpu_at_start_;
  CpuAccount::Reading cpu_at_end_{};
  bool held_ = false;
};

// Does work of the JVM for Python code of the current thread, which may be one that Python started.
template <typename Work>
auto without_gil(const Work& work) {
  if (Attached* attached = Attached::current()) return attached->away(work);
  PyThreadState* thread = PyEval_SaveThread();
  FloatModes float_modes;
  float_modes.keep();
  auto result = work();
  float_modes.restore();
  PyEval_RestoreThread(thread);
  return result;
}

}  // namespace pyflow
