// Python's exceptions as text.
#pragma once

#include <string>

#include "runtime/interpreter_state.h"

namespace pyflow {

// Why functions could not be loaded.
struct LoadFailure {
  enum class Kind {
    kRaised,       // the text is Python's error
    kNeedsShared,  // their imports, which the text names, refuse the slot's interpreter
    kRefused,      // the interpreter refuses them for the reason that the text is; workers do not
  };

  Kind kind = Kind::kRaised;
  std::string text;
};

// The pending Python exception of functions that were to be loaded; clears it. Needs the GIL.
LoadFailure take_load_failure(const InterpreterState& state);

// The pending Python exception as the text that the driver shows; clears it. Needs the GIL.
std::string take_error_text(const InterpreterState* state, PyObject* options);

}  // namespace pyflow
