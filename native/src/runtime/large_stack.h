// Stacks that CPython's recursion limits hold on, for threads of the JVM whose own is smaller.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

namespace pyflow {

// Whether the current thread has enough stack left for CPython's recursion limits to hold.
bool stack_suffices();

// Starts a detached thread with a large stack and all signals blocked; false when the system
// refuses one.
bool start_large_stack_thread(void* (*body)(void*), void* argument);

// A thread with a large stack that runs work for one other thread at a time. Idle ones are kept.
class StackThread {
 public:
  // Null when the system refuses another thread.
  static StackThread* acquire();
  static void give_back(StackThread* thread);

  // Returns when the work is done.
  void run(const std::function<void()>& work);

 private:
  static void* body(void* argument);

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
};

// The error text where no such thread could be started.
inline constexpr const char* kNoThread =
    "the system refused a thread with a stack large enough for Python";

// Runs `work` on this thread if its stack suffices, otherwise on another that has a large one; an
// error text, empty unless there is no such thread and nothing has run.
std::string with_large_stack(const std::function<void()>& work);

}  // namespace pyflow
