// The Python functions of one operator, loaded for one task, and their evaluation over bundles of
// rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "codec/spare_long.h"
#include "evaluation/functions.h"
#include "evaluation/inexact_results.h"
#include "evaluation/output_rows.h"
#include "evaluation/upcall.h"

namespace pyflow {

// What one evaluation produced. Read by the JVM at these offsets: keep in step with
// PythonProgram.java.
struct Evaluation {
  uint64_t output;
  int64_t rows_done;
  int64_t input_bytes_done;
  CallTimes times;
  int64_t conversion_nanos;  // estimated from a sample of the rows
};

class Program : public Functions {
 public:
  // Loads the functions that `specification` (JSON, see program.py) describes, and that may call
  // the JVM if there is an upcall. Null on failure, with `failure` set.
  static std::unique_ptr<Program> load(Slot& slot, const std::string& specification,
                                       std::shared_ptr<const Upcall> upcall, LoadFailure& failure);

  // Destroys the program; its Python objects need the slot's interpreter.
  static void close(std::unique_ptr<Program> program);

  // Evaluates the functions over `row_count` rows at `input`, with which an Arrow batch may end.
  // One call at a time, from any thread that holds no GIL. The output stays valid until the next
  // call.
  Outcome evaluate(const uint8_t* input, int row_count, bool ends_batch, Evaluation& evaluation);

 private:
  struct Argument {
    size_t ordinal;
    std::unique_ptr<Type> type;
    SpareLong spare;
  };
  struct Function {
    std::vector<PyRef> chain;       // innermost first
    std::vector<size_t> arguments;  // indices into arguments_
    size_t positional = 0;          // how many of them go by position
    PyRef keywords;  // tuple of the names of the last arguments; empty when there are none
    std::unique_ptr<Type> result;
    // Whether PySpark has converted a result before it calls the next function, which may change
    // what the functions share.
    bool converted_at_once = false;
  };
  enum class RowOutcome { kDone, kRaised, kRefusedImport };

  Program(Slot& slot, Exchange exchange, bool binary_as_bytes);

  bool build(PyObject* loaded);
  bool add_function(PyObject* function, PyObject* input_types);
  bool add_column(PyObject* description);
  size_t argument_index(size_t ordinal, PyObject* input_types);

  Outcome evaluate_attached(const uint8_t* input, int row_count, bool ends_batch,
                            Attached& attached, Evaluation& evaluation);
  RowOutcome evaluate_row(const Region& row, int64_t& conversion_nanos);
  size_t decode_arguments(const Region& row);
  void release_arguments(size_t count);
  bool begin_row();
  bool call_functions(size_t row, size_t& called, int64_t* conversion_nanos);
  bool encode_at_once(size_t function, size_t row, int64_t* conversion_nanos);
  bool encode_rest(const Region& input, size_t row);
  bool encode_result(size_t column, size_t row);
  bool settle_inexact(size_t column, size_t row);

  const Exchange exchange_;
  const Codec codec_;
  size_t input_fields_ = 0;
  std::vector<Argument> arguments_;
  std::vector<Function> functions_;
  std::vector<OutputColumn> columns_;

  Buffer output_;
  std::vector<PyObject*> values_;   // decoded arguments of the current row
  std::vector<PyObject*> results_;  // function results of the current row
  std::vector<PyObject*> call_;     // the vector of one call, borrowed, one spare place in front
  std::vector<int32_t> deferred_;   // columns of the current row that the JVM converts
  InexactResults inexact_;          // of the current bundle, waiting for its end
  PyRef refused_imports_;           // list of what has refused its task the interpreter
  size_t row_number_ = 0;
  unsigned rows_until_sample_ = 16;  // the first rows are slower than the rest
};

}  // namespace pyflow
