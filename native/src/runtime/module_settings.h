// Functions for Python code that lets what modules set while they are imported apply to all tasks.
#pragma once

#include "runtime/py_ref.h"

namespace pyflow {

// float_modes([modes]): the floating-point modes of the current thread until now, as a number; sets
// them if there is an argument. Null with an error set on failure.
PyRef float_modes_function();

// and_then(function, then): a function that calls `function`, and `then` with the same arguments
// after each success. It has no frame that a traceback would show. Null with an error set on
// failure.
PyRef and_then_function();

}  // namespace pyflow
