// The stacks of an interpreter's threads and their profile, for tests without a JVM.

#include <unistd.h>

#include <cstring>

#include "runtime/profile.h"
#include "runtime/raw_memory.h"
#include "runtime/stacks.h"

namespace {

bool write_json(const std::string& json, char* to, size_t size) {
  if (json.size() >= size) return false;
  std::memcpy(to, json.c_str(), json.size() + 1);
  return true;
}

}  // namespace

// Waits, without the GIL, and writes them as JSON with a null at the end; false where there is no
// room.
extern "C" __attribute__((visibility("default"))) bool pyflow_stacks_after(int micros, char* to,
                                                                           size_t size) {
  usleep(static_cast<useconds_t>(micros));
  return write_json(pyflow::threads_json({PyInterpreterState_Main()}), to, size);
}

// Whether a frame has none before it and may be a thread's outermost.
extern "C" __attribute__((visibility("default"))) bool pyflow_stacks_may_end(uintptr_t at) {
  pyflow::RawFrame frame;
  return pyflow::read_frame(reinterpret_cast<const pyflow::RawFrame*>(at), frame) &&
         frame.previous == nullptr && pyflow::may_be_outermost(frame);
}

// Samples all threads as often, without the GIL, as if each were in a call of number 0, and one
// more call waited for its GIL with number 1.
extern "C" __attribute__((visibility("default"))) bool pyflow_stacks_counted(int samples,
                                                                             int micros, char* to,
                                                                             size_t size) {
  PyInterpreterState* interpreter = PyInterpreterState_Main();
  std::vector<pyflow::SampledCall> calls = {{0, 1}};
  for (PyThreadState* each = PyInterpreterState_ThreadHead(interpreter); each != nullptr;
       each = PyThreadState_Next(each)) {
    calls.push_back({reinterpret_cast<uintptr_t>(each), 0});
  }
  pyflow::Profile profile;
  for (int i = 0; i < samples; ++i) {
    profile.sample({interpreter}, calls);
    usleep(static_cast<useconds_t>(micros));
  }
  return write_json(profile.json(), to, size);
}
