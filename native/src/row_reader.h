// Rows of the JVM as Python objects, for functions that take an iterator of rows.
#pragma once

#include "interpreter_state.h"

namespace pyflow {

// A Python function of (descriptor of a struct type, binary_as_bytes) that returns another one,
// read(pull): has `pull` fill an ArrowArray, and returns the list of the rows that it lends, as
// PySpark would have unpickled them; None if it was left empty. Such an array has one buffer, where
// the rows lie back to back, each after its size in 8 bytes; it is released whether it can be read
// or not. Null with an error set on failure.
PyRef row_reader_factory(const InterpreterState& state);

}  // namespace pyflow
