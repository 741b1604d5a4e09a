// Functions over Arrow batches: Python pulls its input from the JVM, and the JVM pulls what the
// functions make of it.
//
// Both ways Arrow batches cross as an ArrowArray of the C data interface, its buffers shared by
// address. Functions that take rows get them in the same structure (row_codec.h) and return
// nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evaluation/functions.h"
#include "evaluation/upcall.h"

namespace pyflow {

// One output batch. The JVM reads it at these offsets (PythonBatches.java).
struct Step {
  int64_t rows;  // Batches::kEnd after the last batch
  CallTimes times;
};

class Batches : public Functions {
 public:
  // What stands in place of a number of rows, of the input as of the output.
  static constexpr int64_t kEnd = -1;           // there are no more batches
  static constexpr int64_t kEndOfGroup = -2;    // of the input: no more in the current group
  static constexpr int64_t kSourceFailed = -3;  // of the input: it could not be had

  // Fills the ArrowArray at the address with the next input batch; returns its number of rows or
  // one of the numbers above. Called without the GIL, from any thread that the functions use.
  using Source = std::function<int64_t(uint64_t)>;

  // Loads the functions that `specification` (JSON, see batches.py) describes, and that may call
  // the JVM if there is an upcall. Null on failure, with `failure` set.
  static std::unique_ptr<Batches> load(Slot& slot, const std::string& specification, Source source,
                                       std::shared_ptr<const Upcall> upcall, LoadFailure& failure);

  // Destroys them; their Python objects need the slot's interpreter.
  static void close(std::unique_ptr<Batches> batches);

  // Exports the next output batch to the ArrowArray at the address. One call at a time, from any
  // thread that holds no GIL.
  Outcome next(uint64_t array, Step& step);

  // The Arrow schema of the output as an encapsulated IPC message; empty if the batches are bytes
  // of an IPC stream. Known after the first batch.
  const std::string& schema() const { return *schema_; }

 private:
  // What Python holds of them; outlives them if a function keeps it.
  struct Pull;

  Batches(Slot& slot, Source source);

  Outcome next_attached(uint64_t array, Step& step);
  bool read_schema();

  std::shared_ptr<Pull> pull_;
  std::optional<std::string> schema_;
};

}  // namespace pyflow
