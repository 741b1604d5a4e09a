// Names that tasks of the process hold, whichever interpreters they run in.
#pragma once

#include "runtime/py_ref.h"

namespace pyflow {

// hold_name(holder, name): whether `holder`, a number other than 0, holds a name, given as bytes,
// which nobody else does then. hold_name(holder): it holds none any longer. Null with an error set
// on failure.
PyRef hold_name_function();

}  // namespace pyflow
