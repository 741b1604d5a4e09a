#include "runtime/slot.h"

#include <unistd.h>

#include "runtime/attached.h"
#include "runtime/clock.h"
#include "runtime/interruption.h"
#include "runtime/start.h"

namespace pyflow {
namespace {

// How long an import may take to end.
constexpr int64_t kImportPatienceNanos = 20000000000;

// Code may often be inside what must not be interrupted: some more attempts find it outside.
constexpr int kAttemptsAtOnce = 8;
constexpr useconds_t kBetweenAttemptsMicros = 1000;

}  // namespace

std::unique_ptr<Slot> Slot::acquire(bool isolated, const std::string& modules_of,
                                    const Owner& owner, std::string& error) {
  if (!isolated) return std::unique_ptr<Slot>(new Slot(shared_interpreter(), {}));
  return of(lease_isolated(modules_of, owner, error));
}

std::unique_ptr<Slot> Slot::acquire_for_last_time(const std::vector<std::string>& owners) {
  return of(lease_for_last_time(owners));
}

std::unique_ptr<Slot> Slot::of(const Lease& lease) {
  if (lease.interpreter == nullptr) return nullptr;
  return std::unique_ptr<Slot>(new Slot(*lease.interpreter, lease));
}

Slot::~Slot() {
  if (stack_thread_ != nullptr) StackThread::give_back(stack_thread_);
  if (lease_.id != 0) end_lease(lease_.id);
}

std::string Slot::run_on_large_stack(const std::function<void()>& work) {
  if (stack_thread_ == nullptr) stack_thread_ = StackThread::acquire();
  if (stack_thread_ == nullptr) return kNoThread;
  stack_thread_->run(work);
  return "";
}

void Slot::begin_python() {
  {
    std::lock_guard<GilMutex> lock(running_mutex_);
    running_thread_ = PyThreadState_Get();
  }
  raised_since_ = 0;
  outer_raised_since_ = repeat_interruptions(&raised_since_);
}

void Slot::end_python() {
  repeat_interruptions(outer_raised_since_);
  {
    std::lock_guard<GilMutex> lock(running_mutex_);
    running_thread_ = nullptr;
  }
  // An interruption that was not raised in time must not reach the next task of this thread state.
  if (interrupted()) drop_interruption();
}

void Slot::interrupt() {
  const int64_t now = monotonic_nanos();
  if (!interrupted_.exchange(true, std::memory_order_relaxed)) interrupted_since_ = now;
  const int64_t passed = now - interrupted_since_;
  for (int attempt = 0; attempt < kAttemptsAtOnce; ++attempt) {
    if (attempt > 0) usleep(kBetweenAttemptsMicros);
    Attached attached(interpreter_);
    std::lock_guard<GilMutex> lock(running_mutex_);
    if (running_thread_ == nullptr ||
        raise_interruption(running_thread_, interpreter_.state->interruption.get(),
                           passed > kImportPatienceNanos)) {
      return;
    }
  }
}

}  // namespace pyflow
