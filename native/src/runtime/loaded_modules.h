// What interpreters have imported.
#pragma once

#include <string>

namespace pyflow {

// A JSON array with an object for each interpreter: its number, 0 for the shared one, and the
// modules that are not of the standard library. Takes the GIL of each in turn.
std::string loaded_modules_json();

}  // namespace pyflow
