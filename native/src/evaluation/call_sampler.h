// Which calls have their processor time measured.
//
// Reading the clocks for it takes longer than a call of one row does. So it is done once in many
// calls where they are short, and in every call where they are long. How many are left out is
// random: a program may do its work in every tenth call.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pyflow {

class CallSampler {
 public:
  // Whether the call that begins now is measured.
  bool begin_call() {
    if (left_out_ > 0) {
      --left_out_;
      ++calls_;
      return false;
    }
    return true;
  }

  // Has the next call measured: those that were left out took longer than expected.
  void measure_next() { left_out_ = 0; }

  // A measured call has ended at this time.
  void end_measured(int64_t now) {
    const int64_t period = (now - last_) / (calls_ + 1);
    const int64_t mean =
        std::clamp<int64_t>(kBetweenNanos / std::max<int64_t>(period, 1), 0, kMost);
    left_out_ = static_cast<int64_t>(random()) % (2 * mean + 1);
    calls_ = 0;
    last_ = now;
  }

 private:
  // Measuring a call takes less than two microseconds.
  static constexpr int64_t kBetweenNanos = 200000;
  static constexpr int64_t kMost = 512;

  uint32_t random() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }

  int64_t last_ = 0;      // when the last measured call ended
  int64_t left_out_ = 0;  // how many calls are still to be left out
  int64_t calls_ = 0;     // since the last measured one
  uint32_t state_ = 2463534242;
};

}  // namespace pyflow
