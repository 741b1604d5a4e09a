// Interpreters with a GIL of their own: made when they are needed, leased to tasks, and kept for as
// long as the JVM lives, since destroying one leaks and can abort.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/interpreter.h"

namespace pyflow {

// Makes idle isolated interpreters until `count` exist; an error text, empty on success.
std::string prewarm_isolated(int count);

// The lease of an isolated interpreter; null when none could be made.
struct Lease {
  Interpreter* interpreter = nullptr;
  uint64_t id = 0;  // never 0 of an interpreter that was leased
};

// The interpreter that the current thread has leased, or another, which is made if none is idle.
// One that has imported the modules of the same session is preferred, then one without any, then,
// up to some number, a new one: to change from one session to another costs the imports. `error`
// says why there is none. To be ended once for each time it was given.
Lease lease_isolated(const std::string& modules_of, std::string& error);
void end_lease(uint64_t id);

// All that are leased or idle.
std::vector<const Interpreter*> isolated_interpreters();

}  // namespace pyflow
