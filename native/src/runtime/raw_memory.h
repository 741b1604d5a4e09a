// Memory of this process that others change meanwhile, and that may not be there.
//
// It is read by a system call that fails where there is none. What is read counts only if it makes
// sense. Needs no GIL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "runtime/python_compat.h"

namespace pyflow {

// Copies memory; false where there is none.
bool read_memory(uintptr_t address, void* to, size_t size);

template <typename T>
bool read_at(uintptr_t address, T& to) {
  static_assert(std::is_trivially_copyable_v<T>);
  return read_memory(address, &to, sizeof(T));
}

inline bool read_frame(const RawFrame* address, RawFrame& frame) {
  return read_at(reinterpret_cast<uintptr_t>(address), frame);
}

inline bool is_of(const PyObject& object, const PyTypeObject& type) {
  return object.ob_type == &type;
}

// A str in UTF-8, its first thousand characters; nothing where there is none.
std::optional<std::string> read_str(const PyObject* address);

// A bytes object of less than a megabyte; nothing where there is none.
std::optional<std::string> read_bytes(const PyObject* address);

}  // namespace pyflow
