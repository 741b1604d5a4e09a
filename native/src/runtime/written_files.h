// Files that tasks of the process write and whose names have the process's ID, whichever
// interpreters the tasks run in.
#pragma once

#include "runtime/py_ref.h"

namespace pyflow {

// hold_file(holder, path, takes=False): whether `holder`, a number other than 0, writes a file,
// whose path is given as bytes, and nobody else does; if it takes the file, nobody else does any
// longer. hold_file(holder): it writes none any longer. hold_file():
// from now on, check_file of pyflow.thread_mode.process_id is called with the path of each file
// that is about to be written anew, if the path has the digits of the process's ID. Null with an
// error set on failure.
PyRef hold_file_function();

}  // namespace pyflow
