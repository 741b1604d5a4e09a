// Rows of the JVM as Python objects and back, for Python code that handles rows itself.
#pragma once

#include "runtime/interpreter_state.h"

namespace pyflow {

// A Python function of (descriptor of a struct type, exchange, binary_as_bytes) that returns three,
// where rows lie back to back, each after its size in 8 bytes:
//
//   read(address)             of an ArrowArray whose one buffer holds rows: the list of them
//   decode(bytes, from, to)   the list of the rows that lie there in the bytes
//   encode(value)             the bytes of the row that a tuple or Row makes, without its size;
//                             None where a value is not exactly of its type
//
// Values are as PySpark exchanges them with functions (Exchange in codec.h). Null with an error set
// on failure.
PyRef row_codec_factory(const InterpreterState& state);

}  // namespace pyflow
