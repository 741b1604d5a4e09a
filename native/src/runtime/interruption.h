// How Python code that must not go on is stopped.
//
// CPython can raise an exception in another thread, but only once, and the code may swallow it.
// Attempts therefore go on until the code has left the bridge. The first ones leave it time to
// unwind: what `with` and `finally` release is released. Code that goes on nevertheless has caught
// them all, and is insisted upon: the exception's type raises the next one itself while it is being
// instantiated, so that every point at which the interpreter looks for pending work raises again,
// outside of whatever handler caught the last one.
//
// No attempt is made
// - inside the modules of the standard library that take locks: an exception between taking and
//   releasing one would leave it taken for all tasks of the interpreter;
// - below an import: packages with extension modules cannot be imported again after half an import.
//   An import that does not end is interrupted all the same, after some patience.
#pragma once

#include <cstdint>

#include "runtime/py_ref.h"

namespace pyflow {

// The type of the exception, made anew for every interpreter; null with a Python error set on
// failure.
PyRef new_interruption_type();

// Raises `type` in another thread of this interpreter, unless it is just inside code that must not
// be left half way: then false, and a later attempt will do. Needs the GIL.
bool raise_interruption(PyThreadState* thread, PyObject* type, bool imports_too);

// Takes back an interruption of this thread that it has not raised. Needs the GIL.
void drop_interruption();

// From now on interruptions of this thread repeat themselves once the code has had the time to
// unwind; null: they do not. Returns what was given before.
//
// The time begins when the first one is raised, not when it is wanted: until then a thread may be
// where no attempt is made. It is kept in `*raised_since`, 0 to begin with.
int64_t* repeat_interruptions(int64_t* raised_since);

}  // namespace pyflow
