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
  uint64_t id = 0;        // never 0 of an interpreter that was leased
  std::string new_owner;  // whom it is kept for since then
};

// Whom interpreters are kept for.
struct Owner {
  std::string name;      // empty for nobody
  int interpreters = 0;  // owners have one in common where so many are kept, at least 1
};

// The interpreter that the current thread has leased, or another, which is made if none is idle.
// One that has imported the modules of the same session is preferred, then one without any, then,
// up to some number, a new one: to change from one session to another costs the imports. `error`
// says why there is none. To be ended once for each time it was given.
//
// With an owner, it is the one that was kept for the owner, and it stays so, whether it is leased
// or not. Owners may have it in common, and then several threads at once.
Lease lease_isolated(const std::string& modules_of, const Owner& owner, std::string& error);
// One that is kept for an owner whose name begins with one of these; it is kept for none of them
// any more. Empty if there is none.
Lease lease_for_last_time(const std::vector<std::string>& owners);
// Keeps the interpreter of a lease no longer for the owner whose first lease it was.
void forget_owner(const Lease& lease);
// Keeps none for any owner any more.
void forget_owners();
void end_lease(uint64_t id);

// All that there are.
std::vector<const Interpreter*> isolated_interpreters();

}  // namespace pyflow
