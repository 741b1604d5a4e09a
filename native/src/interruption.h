// How Python code that must not go on is stopped.
//
// CPython can raise an exception in another thread, but only once, and the code may swallow it. So
// the exception's type raises the next one itself while it is being instantiated: until the code
// has left the bridge, every point at which the interpreter looks for pending work raises again,
// outside of whatever handler caught the last one.
//
// Not so inside the import system and logging: their locks are shared by all tasks of an
// interpreter, and an exception between taking and releasing one would leave it taken for good.
#pragma once

#include <atomic>

#include "py_ref.h"

namespace pyflow {

// The type of the exception, made anew for every interpreter; null with a Python error set on
// failure.
PyRef new_interruption_type();

// Raises `type` in another thread of this interpreter, unless it is just inside code that must not
// be left half way; then a later attempt will do. Needs the GIL.
void raise_interruption(PyThreadState* thread, PyObject* type);

// From now on interruptions of this thread repeat while `*interrupted` holds; null: they do not.
void repeat_interruptions(const std::atomic<bool>* interrupted);

}  // namespace pyflow
