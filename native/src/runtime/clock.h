// Reads the system's clocks.
#pragma once

#include <cstdint>
#include <ctime>

namespace pyflow {

inline int64_t nanos_of(clockid_t clock) {
  std::timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

inline int64_t monotonic_nanos() { return nanos_of(CLOCK_MONOTONIC); }

}  // namespace pyflow
