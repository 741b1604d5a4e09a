// One CPython interpreter.
#pragma once

#include <memory>
#include <string>

#include "runtime/cpu_account.h"
#include "runtime/interpreter_state.h"

namespace pyflow {

// One CPython interpreter: the main one, shared by tasks, or one with a GIL of its own.
struct Interpreter {
  PyInterpreterState* handle = nullptr;
  bool isolated = false;
  std::unique_ptr<InterpreterState> state;
  // Whose modules tasks have imported last, beside those of the application; empty for nobody's.
  // Changed by the pool alone.
  std::string modules_of;
  mutable CpuAccount cpu;
};

// Makes the interpreter whose GIL is held ready for PyFlow; an error text, empty on success.
std::string prepare(Interpreter& interpreter);

}  // namespace pyflow
