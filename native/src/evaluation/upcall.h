// Calls of the JVM from Python: bytes in, bytes out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/py_ref.h"

namespace pyflow {

// What the JVM made of a call.
struct Answer {
  enum class Kind : uint8_t { kBytes, kNothing, kThrown };
  Kind kind;
  std::string bytes;  // of an exception its message, in UTF-8
};

// Called without the GIL, from any thread that the functions use. The code says what is wanted; the
// argument is `size` bytes that stay as they are until it returns.
using Upcall = std::function<Answer(int32_t code, const char* argument, size_t size)>;

// A Python function call(code, argument) of an int and bytes, which gives the GIL up while the JVM
// works. It returns bytes, or None, and raises RuntimeError with the message of an exception. Null
// with an error set on failure.
PyRef upcall_function(std::shared_ptr<const Upcall> upcall);

}  // namespace pyflow
