// How much memory CPython has allocated: its objects, in all interpreters of this JVM, and what
// else it and extension modules get from its allocators. Not what these allocate by themselves,
// such as numpy's arrays and Arrow's buffers.
#pragma once

#include <cstdint>

namespace pyflow {

// Puts counting allocators in front of CPython's. To be called before anything else of CPython is.
// PYTHONMALLOC replaces them again; what it chooses is not counted. Nothing is in a free-threaded
// build: its objects come from mimalloc, which does not say how much it has set aside.
void count_python_memory();

int64_t python_memory_bytes();

}  // namespace pyflow
