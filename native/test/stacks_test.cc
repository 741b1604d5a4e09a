// The stacks of an interpreter's threads, for tests without a JVM.

#include <unistd.h>

#include <cstring>

#include "runtime/stacks.h"

// Waits, without the GIL, and writes them as JSON with a null at the end; false where there is no
// room.
extern "C" __attribute__((visibility("default"))) bool pyflow_stacks_after(int micros, char* to,
                                                                           size_t size) {
  usleep(static_cast<useconds_t>(micros));
  const std::string json = pyflow::threads_json({PyInterpreterState_Main()});
  if (json.size() >= size) return false;
  std::memcpy(to, json.c_str(), json.size() + 1);
  return true;
}
