// The start of CPython in this JVM.
//
// CPython is started once, on a thread of its own that then sleeps until the JVM ends: a second
// thread state on the starting thread would deadlock extension modules that use PyGILState_Ensure.
// It is never finalised; interpreters live as long as the JVM, since destroying one leaks and can
// abort.
#pragma once

#include <string>
#include <vector>

#include "runtime/interpreter.h"
#include "runtime/jvm_logs.h"

namespace pyflow {

struct StartOptions {
  std::string executable;
  std::string prefix;
  std::string exec_prefix;
  std::string base_prefix;
  std::string base_exec_prefix;
  std::string stdlib_dir;
  std::vector<std::string> environment;   // NAME=VALUE, for all C code of the process
  std::vector<std::string> search_paths;  // sys.path
  JvmLogs logs;
};

// Starts CPython and prepares the main interpreter. Returns an error text, empty on success. Joins
// a CPython that another copy of this library has started in this JVM.
std::string start_python(const StartOptions& options);

// The main interpreter; start_python has succeeded.
Interpreter& shared_interpreter();

// What of the CPython that runs forbids isolated interpreters; empty if it has them. start_python
// has succeeded.
const std::string& why_no_isolated_interpreters();

// What CPython says about its start, or that of an interpreter.
std::string status_text(const PyStatus& status);

}  // namespace pyflow
