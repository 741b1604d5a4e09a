// Results of Arrow-optimised functions that are not of the exact Python type.
//
// PySpark gives Arrow a column of a batch at a time: one value of another type decides how all
// others are read, those of the bundles before and after too. So from the first such value on, the
// results of each bundle of the batch are read back, converted by PySpark, and written again.
#pragma once

#include <string>
#include <vector>

#include "codec/codec.h"
#include "evaluation/output_rows.h"
#include "runtime/attached.h"
#include "runtime/interpreter.h"

namespace pyflow {

class InexactResults {
 public:
  // `columns` are those of the output rows; all three outlive this.
  InexactResults(const Interpreter& interpreter, const Codec& codec,
                 const std::vector<OutputColumn>& columns)
      : interpreter_(interpreter), codec_(codec), columns_(columns) {}

  // Takes over a result of the bundle, in whose place there is a null. Rows come in their order.
  void add(size_t row, size_t column, PyObject* value) {
    values_.push_back({row, column, PyRef::borrow(value)});
  }

  // How many there are of the bundle; forgets those after the first `count`.
  size_t count() const { return values_.size(); }
  void truncate(size_t count);

  // Converts what has to be, once all rows of a bundle are in `output`. `runtime` is the Program of
  // program.py. May give the GIL up. False with an error set, or with `error` filled.
  bool settle(PyObject* runtime, Buffer& output, Attached& attached, std::string& error);

  // The next bundle belongs to another Arrow batch; false with an error set.
  bool end_batch(PyObject* runtime);

 private:
  struct Value {
    size_t row;
    size_t column;
    PyRef value;
  };
  // What a function has returned in the current Arrow batch, nulls aside: nothing, only values of
  // the exact type, or others too.
  enum class Seen : uint8_t { kNothing, kExact, kInexact };

  Seen& seen(size_t column);
  bool keep_example(PyObject* runtime, size_t column, const Buffer& output);
  bool convert(PyObject* runtime, size_t column, Buffer& output, Attached& attached,
               std::string& error);
  PyRef column_values(size_t column, const Buffer& output) const;
  PyObject* find(size_t& from, size_t row, size_t column) const;
  PyRef convert_values(PyObject* runtime, size_t function, PyObject* values, Attached& attached,
                       std::string& error) const;
  bool rewrite_column(size_t column, PyObject* values, Buffer& output) const;
  bool rewrite_row(const Region& before, size_t column, PyObject* value, Buffer& out) const;

  const Interpreter& interpreter_;
  const Codec& codec_;
  const std::vector<OutputColumn>& columns_;
  std::vector<Value> values_;
  std::vector<Seen> seen_;  // by function
};

}  // namespace pyflow
