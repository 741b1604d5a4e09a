// Where C++ finds no memory, it throws. Neither CPython nor the JVM knows C++ exceptions, and one
// that reached them would end the process: what needs memory in proportion to data is called
// through here.
#pragma once

#include <new>

#include "runtime/python_compat.h"

namespace pyflow {

// What `work` returns; null with MemoryError set where it found no memory. Needs the GIL, which
// `work` may give up only where it finds all that it needs.
template <typename Work>
PyObject* or_memory_error(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

}  // namespace pyflow
