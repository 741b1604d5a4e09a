// Python's exceptions as text.
#pragma once

#include <string>

#include "runtime/interpreter_state.h"

namespace pyflow {

// The pending Python exception as the text that the driver shows; clears it. Needs the GIL.
std::string take_error_text(const InterpreterState* state, PyObject* options);

}  // namespace pyflow
