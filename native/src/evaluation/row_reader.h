// Rows of the JVM as Python objects, for functions that take an iterator of rows.
#pragma once

#include "runtime/interpreter_state.h"

namespace pyflow {

// A Python function of (descriptor of a struct type, binary_as_bytes) that returns another one,
// read(address): of an ArrowArray with one buffer, where rows lie back to back, each after its size
// in 8 bytes, the list of these rows, as PySpark would have unpickled them. Null with an error set
// on failure.
PyRef row_reader_factory(const InterpreterState& state);

}  // namespace pyflow
