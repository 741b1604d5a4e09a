#include "runtime/cpu_account.h"

#include <pthread.h>

#include <algorithm>

#include "runtime/clock.h"

namespace pyflow {

clockid_t clock_of_thread() {
  clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
  pthread_getcpuclockid(pthread_self(), &clock);
  return clock;
}

void CpuAccount::begin(Stretch& stretch) {
  stretch.since = nanos_of(stretch.clock);
  std::lock_guard<std::mutex> lock(mutex_);
  stretch.others_since = total_nanos();
  running_.push_back(&stretch);
}

CpuAccount::Spent CpuAccount::end(Stretch& stretch) {
  const int64_t spent = nanos_of(stretch.clock) - stretch.since;
  std::lock_guard<std::mutex> lock(mutex_);
  running_.erase(std::find(running_.begin(), running_.end(), &stretch));
  const int64_t by_others = total_nanos() - stretch.others_since;
  ended_nanos_ += spent;
  return {spent, by_others};
}

void CpuAccount::add(int64_t nanos) {
  std::lock_guard<std::mutex> lock(mutex_);
  ended_nanos_ += nanos;
}

int64_t CpuAccount::total_nanos() const {
  int64_t total = ended_nanos_;
  for (const Stretch* each : running_) total += nanos_of(each->clock) - each->since;
  return total;
}

}  // namespace pyflow
