#include "runtime/thread_states.h"

namespace pyflow {

ThreadStates& thread_states() {
  static thread_local ThreadStates states;
  return states;
}

}  // namespace pyflow
