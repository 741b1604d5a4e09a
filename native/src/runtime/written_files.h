// Files that tasks of the process write and whose names have the process's ID, whichever
// interpreters the tasks run in.
#pragma once

#include "runtime/py_ref.h"

namespace pyflow {

// A module with these functions, where a holder is a number, and a path is given as bytes:
// watch(): from now on, check_file of pyflow.thread_mode.process_id is called with the path of each
// file that is about to be written anew, and leave_file with each path that is about to be renamed
// or removed, if the path has the digits of the process's ID.
// hold(holder, path, exists): whether nobody else writes a file. A file that does not exist, since
// its holder has left it, is the next one's.
// leave(holder, path): the holder renames or removes a file, or all that is in a directory.
// let_go(holder): it writes no file any longer.
// Null with an error set on failure.
PyRef written_files_module();

}  // namespace pyflow
