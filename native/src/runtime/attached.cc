#include "runtime/attached.h"

#include "runtime/gil_state.h"
#include "runtime/slot.h"
#include "runtime/thread_states.h"

namespace pyflow {
namespace {

thread_local Attached* innermost = nullptr;

}  // namespace

Attached::Attached(Slot& slot, bool measures_cpu)
    : Attached(slot.interpreter(), measures_cpu, slot.float_modes()) {}

Attached::Attached(const Interpreter& interpreter, bool measures_cpu, FloatModes& float_modes)
    : interpreter_(interpreter),
      measures_cpu_(measures_cpu),
      outer_(innermost),
      thread_state_(thread_states().of(interpreter)),
      float_modes_(float_modes),
      start_nanos_(monotonic_nanos()),
      stretch_{measures_cpu ? clock_of_thread() : clockid_t{}, 0, 0} {
  innermost = this;
  retake();
  cpu_at_start_ = {stretch_.clock, stretch_.since, stretch_.others_since};
}

Attached::~Attached() {
  if (held_) release();
  if (interpreter_.isolated) forget_gil_state();
  innermost = outer_;
}

Attached* Attached::current() { return innermost; }

void Attached::release() {
  if (measures_cpu_) {
    const CpuAccount::Spent spent = interpreter_.cpu.end(stretch_);
    cpu_nanos_ += spent.by_thread;
    others_cpu_nanos_ += spent.by_others;
    cpu_at_end_ = {stretch_.clock, stretch_.since + spent.by_thread,
                   stretch_.others_since + spent.by_others + spent.by_thread};
  }
  held_ = false;
  PyEval_SaveThread();
  float_modes_.keep();
}

void Attached::retake() {
  // What others spend while this thread waits for the GIL is in the stretch.
  if (measures_cpu_) interpreter_.cpu.begin(stretch_);
  const int64_t start = monotonic_nanos();
  float_modes_.restore();
  PyEval_RestoreThread(thread_state_);
  waited_nanos_ += monotonic_nanos() - start;
  held_ = true;
}

}  // namespace pyflow
