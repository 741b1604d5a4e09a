// The data types of the row lane, built from the descriptors of pyflow/thread_mode/types.py.
//
// Needs the GIL to build and to destroy (a type refers to Python objects: field names, user-defined
// types); only reads them afterwards.
#pragma once

#include <memory>
#include <vector>

#include "runtime/py_ref.h"

namespace pyflow {

// The numbers are the descriptor's own: keep in step with pyflow/thread_mode/types.py.
enum class Kind : uint8_t {
  kNull = 0,
  kBoolean = 1,
  kByte = 2,
  kShort = 3,
  kInteger = 4,
  kLong = 5,
  kFloat = 6,
  kDouble = 7,
  kDecimal = 8,
  kString = 9,
  kBinary = 10,
  kDate = 11,
  kTimestamp = 12,
  kTimestampNtz = 13,
  kTime = 14,
  kDayTimeInterval = 15,
  kArray = 16,
  kMap = 17,
  kStruct = 18,
  kVariant = 19,
  kUserDefined = 20,
};

// Decimals up to this precision are a 64-bit unscaled value inside the row's word.
inline constexpr int kMaxLongDigits = 18;

struct Type {
  struct Child {
    std::unique_ptr<Type> type;
    bool nullable;
  };

  Kind kind = Kind::kNull;
  uint8_t precision = 0;      // decimal
  uint8_t scale = 0;          // decimal
  bool variable = false;      // lives in the variable-length part
  uint8_t element_width = 8;  // bytes as an array element
  std::vector<Child>
      children;        // array: element; map: key, value; struct: fields; user-defined: SQL type
  PyRef names;         // struct: list of the field names
  PyRef user_defined;  // the UserDefinedType instance

  // Builds a type from its descriptor; null with a Python error set when the descriptor is
  // malformed.
  static std::unique_ptr<Type> from_descriptor(PyObject* descriptor);
};

}  // namespace pyflow
