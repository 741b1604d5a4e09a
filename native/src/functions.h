// The Python functions of one operator, loaded into a slot for one task: what those over rows
// (program.h) and those over Arrow batches (stream.h) have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "python.h"

namespace pyflow {

enum class Outcome : int32_t {
  kDone = 0,
  kFailed = 1,        // a Python exception; error() tells
  kMoveToShared = 2,  // an import refuses the isolated interpreter; the shared one will do
  kInterrupted = 3,   // Slot::interrupt() was called
  kSourceFailed = 4,  // the input could not be had; whoever provides it knows why
};

class Functions {
 public:
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  // Why the last call failed.
  const std::string& error() const { return error_; }

  // Appends the pickled (id, value) pairs of the accumulators that the functions use; false on
  // error().
  bool accumulator_updates(std::vector<std::string>& updates);

 protected:
  explicit Functions(Slot& slot);
  ~Functions() = default;

  // Takes over the object that loading has made and how its exceptions are shown.
  void set_runtime(PyObject* runtime, PyObject* error_options);

  // Makes the task's context the thread's, unless these functions were the last to do so on this
  // thread.
  bool enter();

  // What became of a call that left a Python exception; clears it.
  Outcome failure();

  Slot& slot_;
  PyRef runtime_;        // an object of pyflow.thread_mode
  PyRef error_options_;  // how exceptions are shown
  std::string error_;

 private:
  const uint64_t id_;
};

}  // namespace pyflow
