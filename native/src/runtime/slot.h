// The interpreter that an operator of a task holds.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/float_modes.h"
#include "runtime/interpreter.h"
#include "runtime/interpreter_pool.h"
#include "runtime/large_stack.h"

namespace pyflow {

// The lease of an interpreter by one operator of one task.
//
// Slots leased by the same thread share an isolated interpreter: the operators of one task run by
// turns.
class Slot {
 public:
  // Null when no interpreter could be made; `error` then says why. `modules_of` is the session that
  // has modules of its own, or empty. `owner` is whom an isolated interpreter is kept for, or
  // empty.
  static std::unique_ptr<Slot> acquire(bool isolated, const std::string& modules_of,
                                       const Owner& owner, std::string& error);
  // The last one of an interpreter that is kept for an owner whose name begins with one of these;
  // null if none is.
  static std::unique_ptr<Slot> acquire_for_last_time(const std::vector<std::string>& owners);
  ~Slot();

  Interpreter& interpreter() const { return interpreter_; }
  // Of the thread that runs the functions.
  FloatModes& float_modes() { return float_modes_; }

  // The interpreter is not kept for an owner whose functions it turns out not to take.
  void forget_owner() const {
    if (!lease_.new_owner.empty()) pyflow::forget_owner(lease_);
  }

  // Runs `work` on this thread if its stack is large enough for CPython's recursion limits to hold,
  // otherwise on a thread with a large stack that the slot keeps for it. The GIL must not be held.
  // An error text, empty unless there is no such thread and nothing has run.
  template <typename Work>
  std::string run(const Work& work) {
    if (!stack_suffices()) return run_on_large_stack(work);
    work();
    return "";
  }

  // Brackets the time in which the slot's Python code may be interrupted. Needs the GIL.
  void begin_python();
  void end_python();

  // Stops the Python code now running in the slot, and any to come; to be repeated until it has
  // ended. Waits for the GIL. One call at a time.
  void interrupt();
  // The thread state whose Python code runs in the slot; null if none does. Needs no GIL.
  const PyThreadState* running_thread() const {
    return running_thread_.load(std::memory_order_relaxed);
  }

  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

 private:
  static std::unique_ptr<Slot> of(const Lease& lease);

  Slot(Interpreter& interpreter, Lease lease)
      : interpreter_(interpreter), lease_(std::move(lease)) {}

  std::string run_on_large_stack(const std::function<void()>& work);

  Interpreter& interpreter_;
  const Lease lease_;  // empty for the shared interpreter
  FloatModes float_modes_;
  std::atomic<bool> interrupted_{false};
  int64_t interrupted_since_ = 0;
  // Of the thread whose Python code runs in the slot, and of the slot that it was in before.
  int64_t raised_since_ = 0;
  int64_t* outer_raised_since_ = nullptr;
  GilMutex running_mutex_;
  // Changed with the GIL and running_mutex_.
  std::atomic<PyThreadState*> running_thread_{nullptr};
  StackThread* stack_thread_ = nullptr;
};

}  // namespace pyflow
