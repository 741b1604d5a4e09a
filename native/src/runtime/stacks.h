// What the threads of all interpreters do now, as Python's tracebacks tell it.
//
// It is read without any GIL, which C code may hold, while the threads go on: their memory may
// change or go at any moment. Nothing is therefore read but by a system call that fails where there
// is no memory, and what is read of a thread counts only if it makes sense and the thread has the
// same innermost frame before and after.
#pragma once

#include <string>
#include <vector>

#include "runtime/interpreter.h"

namespace pyflow {

// The threads of interpreters that run Python code, as JSON; PythonRuntime.java tells its form.
// Takes no GIL. The interpreters must stay.
std::string threads_json(const std::vector<PyInterpreterState*>& interpreters);

// The same of all interpreters; start_python has succeeded.
std::string all_threads_json();

// The shared interpreter and the isolated ones; start_python has succeeded.
std::vector<PyInterpreterState*> all_interpreters();

}  // namespace pyflow
