// The logs of the JVM, as Python functions.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/py_ref.h"

namespace pyflow {

// Writes a line in UTF-8 to a log of the JVM. Called without any GIL, from any thread.
using Log = void (*)(int64_t number, const std::string& line);

struct JvmLogs {
  Log log;          // number: a level of Python's logging module
  Log session_log;  // number: which log, as io.pyflow.bridge.SessionLogs has it
};

// Called once, before the functions below are.
void set_jvm_logs(const JvmLogs& logs);

// Python functions of a number and a line; null with an error set on failure.
PyRef log_function();
PyRef session_log_function();

}  // namespace pyflow
