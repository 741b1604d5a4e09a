// The environment of the process, which C code on any thread reads with getenv.
//
// It is not changed with setenv, which frees and moves what a getenv on another thread, as that of
// localtime, may be looking at. Here arrays and strings that another thread may have seen stay: it
// reads the old value or the new one.
#pragma once

#include <string>
#include <vector>

#include "runtime/py_ref.h"

namespace pyflow {

// Sets variables, NAME=VALUE each, for CPython and C code that functions load, such as OpenMP's.
void set_environment(const std::vector<std::string>& changed);

// A Python function of a name and a value, as bytes, for what functions set; without a value it
// removes. What the process has from elsewhere stays as it is. Null with an error set on failure.
PyRef set_variable_function();

// A list of the names that functions have set. Null with an error set on failure.
PyRef names_set_by_functions();

}  // namespace pyflow
