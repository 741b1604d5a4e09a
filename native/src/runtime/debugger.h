// Debuggers of Python code.
#pragma once

#include <string>

namespace pyflow {

// What pyflow.thread_mode.debugger answers to a request, in the shared interpreter. Waits for its
// GIL.
std::string ask_debugger(const std::string& request);

}  // namespace pyflow
