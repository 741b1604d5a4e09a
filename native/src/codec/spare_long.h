// Python ints for one argument, row after row, without allocating one per row.
#pragma once

#include <cstdint>

#include "runtime/py_ref.h"

namespace pyflow {

// Gives a function an int and takes it back when the call is over. If no other reference is left,
// the next row's value is written into the same object. The function cannot see that: CPython's
// allocator would have returned the same address again. Needs the GIL.
class SpareLong {
 public:
  // A new reference to an int of this value, or null with an error set.
  PyObject* make(int64_t value) {
    const int digits = digit_count(value);
    PyObject* number = digits != 0 && digits == digits_ ? spare_.release() : nullptr;
    digits_ = digits;
    if (number == nullptr) {
      spare_ = PyRef();
      return PyLong_FromLongLong(value);
    }
    for (int i = 0; i < digits; ++i) {
      long_digits(number)[i] = static_cast<digit>((value >> (i * PyLong_SHIFT)) & PyLong_MASK);
    }
    return number;
  }

  // Takes over the reference to the int that was made last.
  void give_back(PyObject* number) {
    if (is_only_reference(number)) {
      spare_ = PyRef::steal(number);
    } else {
      Py_DECREF(number);
    }
  }

 private:
  // Of a positive int that is an object of its own; 0 for all others, small ints among them.
  static int digit_count(int64_t value) {
    if (value <= kLargestSmallInt) return 0;
    if (value < int64_t{1} << PyLong_SHIFT) return 1;
    return value < int64_t{1} << (2 * PyLong_SHIFT) ? 2 : 0;
  }

  static constexpr int64_t kLargestSmallInt = 256;

  PyRef spare_;
  int digits_ = 0;  // of the int that was made last, which is the spare one if there is one
};

}  // namespace pyflow
