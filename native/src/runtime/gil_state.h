// The functions PyGILState_* beside interpreters with a GIL of their own.
//
// Extension modules of the shared interpreter call them, and CPython means them for one
// interpreter: with the first other one that anybody makes, PyGILState_Check() answers 1 on every
// thread for good, and a thread that has left an isolated interpreter would enter it again with
// PyGILState_Ensure(). Neither can be changed with CPython's API. What is changed instead is
// internal to CPython, and so what it does is tried out first.
#pragma once

#include <string>

namespace pyflow {

// Tries that what follows does what it says in the CPython that runs: a text that says why not,
// empty if it does. Needs the GIL of the main interpreter, while no other thread uses Python.
std::string try_gil_state();

// Makes PyGILState_Check() answer whether the thread holds the GIL of the interpreter it is in.
// Does nothing before it has been tried. Needs no GIL.
void keep_gil_state_check();

// Makes PyGILState_Ensure() enter the main interpreter on the current thread, which has left
// another, as on a thread that Python has not seen: until the thread is attached again. The thread
// must hold no GIL.
void forget_gil_state();

}  // namespace pyflow
