// The processor time that threads spend in an interpreter.
#pragma once

#include <cstdint>
#include <ctime>
#include <mutex>
#include <vector>

namespace pyflow {

// The processor time that threads have spent while attached to an interpreter.
class CpuAccount {
 public:
  // A stretch of one thread's time.
  struct Stretch {
    clockid_t clock;
    int64_t since;
    int64_t others_since;
  };

  // In a stretch.
  struct Spent {
    int64_t by_thread;
    int64_t by_others;
  };

  // What a thread, and all threads of the interpreter, have spent up to one moment.
  struct Reading {
    clockid_t clock;  // the thread's
    int64_t thread;
    int64_t total;
  };

  // Both called by the stretch's thread.
  void begin(Stretch& stretch);
  Spent end(Stretch& stretch);

  // Adds what a thread has spent outside of any stretch.
  void add(int64_t nanos);

 private:
  // Of the threads that are not in a stretch now, and of the running ones. Needs mutex_.
  int64_t total_nanos() const;

  std::mutex mutex_;
  std::vector<const Stretch*> running_;
  int64_t ended_nanos_ = 0;
};

// The clock of the current thread's processor time; other threads can read it, too.
clockid_t clock_of_thread();

}  // namespace pyflow
