#include "runtime/attached.h"

#include "runtime/thread_states.h"

namespace pyflow {
namespace {

thread_local Attached* innermost = nullptr;

}  // namespace

Attached::Attached(const Interpreter& interpreter)
    : interpreter_(interpreter),
      outer_(innermost),
      thread_state_(thread_states().of(interpreter)),
      start_nanos_(monotonic_nanos()),
      stretch_{clock_of_thread(), 0} {
  innermost = this;
  retake();
}

Attached::~Attached() {
  if (held_) release();
  innermost = outer_;
}

Attached* Attached::current() { return innermost; }

void Attached::release() {
  cpu_nanos_ += interpreter_.cpu.end(stretch_);
  held_ = false;
  PyEval_SaveThread();
}

void Attached::retake() {
  const int64_t start = monotonic_nanos();
  PyEval_RestoreThread(thread_state_);
  waited_nanos_ += monotonic_nanos() - start;
  held_ = true;
  interpreter_.cpu.begin(stretch_);
}

}  // namespace pyflow
