// CPython's datetime.h, whose file-level pointer PyFlow does not use: every interpreter keeps its
// own.
#pragma once

#include "runtime/interpreter_state.h"

#include <datetime.h>

namespace pyflow {

inline const PyDateTime_CAPI& datetime_api(const InterpreterState& state) {
  (void)PyDateTimeAPI;
  return *static_cast<const PyDateTime_CAPI*>(state.datetime_api);
}

}  // namespace pyflow
