// Between Spark's binary rows and Python objects.
//
// Decoding builds new Python objects from bytes that stay the JVM's; encoding copies a Python
// object's value into a Buffer. Both hold the GIL throughout and never call into the JVM. The fast
// path covers values of exactly the Python type that PySpark documents for a Spark type, where both
// evaluation types agree on the result; for any other value `encode` reports kInexact, writes
// nothing, and PySpark's own converter decides.
#pragma once

#include "codec/types.h"
#include "codec/unsafe_row.h"
#include "runtime/interpreter_state.h"

namespace pyflow {

// How PySpark exchanges values with the function: the two evaluation types of a plain UDF differ in
// the objects they hand over and in what they make of a result.
enum class Exchange : uint8_t { kPickle, kArrow };

enum class Encoded : uint8_t {
  kExact,    // written
  kInexact,  // not written; not an error
  kFailed,   // a Python error is set
};

class Codec {
 public:
  // How a timestamp is shown to Python: as PySpark hands it to functions, or as an aware UTC
  // datetime, from which the instant can be read back even where local time is ambiguous.
  enum class Timestamps : uint8_t { kLocal, kUtc };

  Codec(const InterpreterState& state, Exchange exchange, bool binary_as_bytes,
        Timestamps timestamps = Timestamps::kLocal)
      : state_(state),
        exchange_(exchange),
        binary_as_bytes_(binary_as_bytes),
        timestamps_(timestamps) {}

  // Field `index` of a row with `fields` fields; a new reference, or null with an error set. The
  // row's fixed part must be there; whatever that says, nothing outside of the row is read.
  PyObject* decode_field(const Type& type, const Region& row, size_t fields, size_t index) const {
    if (is_null(row.data, index)) return Py_NewRef(Py_None);
    return decode_slot(type, row, row.data + bit_set_bytes(fields) + 8 * index);
  }

  // A whole row as a Row of the struct type's fields; a new reference, or null with an error set.
  PyObject* decode_row(const Type& type, const Region& row) const {
    return decode_struct(type, row);
  }

  // Writes `value` as field `index` of the row that starts at offset `row` of `out` and whose fixed
  // part is already there and zero. Unless it returns kExact, `out` is as before.
  Encoded encode_field(const Type& type, PyObject* value, bool nullable, Buffer& out, size_t row,
                       size_t fields, size_t index) const {
    if (type.kind == Kind::kLong && PyLong_CheckExact(value)) {
      int64_t number;
      if (small_long(value, number)) {
        store_le<int64_t>(out.at(row + bit_set_bytes(fields) + 8 * index), number);
        return Encoded::kExact;
      }
    }
    return encode_any_field(type, value, nullable, out, row, fields, index);
  }

 private:
  Encoded encode_any_field(const Type& type, PyObject* value, bool nullable, Buffer& out,
                           size_t row, size_t fields, size_t index) const;
  PyObject* decode_slot(const Type& type, const Region& base, const uint8_t* slot) const;
  PyObject* decode_variable(const Type& type, const Region& value) const;
  PyObject* decode_string(const uint8_t* data, size_t size) const;
  PyObject* decode_binary(const uint8_t* data, size_t size, bool as_bytes) const;
  PyObject* decode_decimal(__int128 unscaled, int scale) const;
  PyObject* decode_date(int32_t days) const;
  PyObject* decode_timestamp(int64_t micros) const;
  PyObject* decode_timestamp_ntz(int64_t micros) const;
  PyObject* decode_time(int64_t nanos) const;
  PyObject* decode_interval(int64_t micros) const;
  PyObject* decode_array(const Type& element, const Region& array) const;
  PyObject* decode_map(const Type& type, const Region& map) const;
  PyObject* decode_struct(const Type& type, const Region& row) const;
  PyObject* decode_variant(const Region& variant) const;
  PyObject* new_datetime(int64_t wall_clock_seconds, int micros, PyObject* zone, bool fold) const;

  // `base` is where offsets count from, `slot` where the value or its offset and size go.
  Encoded encode_slot(const Type& type, PyObject* value, Buffer& out, size_t base,
                      size_t slot) const;
  Encoded encode_integer(const Type& type, PyObject* value, uint8_t* slot) const;
  Encoded encode_decimal(const Type& type, PyObject* value, Buffer& out, size_t base,
                         size_t slot) const;
  Encoded encode_string(PyObject* value, Buffer& out, size_t base, size_t slot) const;
  Encoded encode_binary(PyObject* value, Buffer& out, size_t base, size_t slot) const;
  bool is_arrow_number(PyObject* value, int64_t min, int64_t max, int64_t& number) const;
  Encoded encode_date(PyObject* value, uint8_t* slot) const;
  Encoded encode_timestamp(PyObject* value, bool local, uint8_t* slot) const;
  Encoded encode_time(PyObject* value, uint8_t* slot) const;
  Encoded encode_interval(PyObject* value, uint8_t* slot) const;
  Encoded encode_array(const Type& type, PyObject* value, Buffer& out, size_t base,
                       size_t slot) const;
  Encoded encode_map(const Type& type, PyObject* value, Buffer& out, size_t base,
                     size_t slot) const;
  Encoded encode_struct(const Type& type, PyObject* value, Buffer& out, size_t base,
                        size_t slot) const;
  Encoded encode_variant(PyObject* value, Buffer& out, size_t base, size_t slot) const;
  Encoded encode_user_defined(const Type& type, PyObject* value, Buffer& out, size_t base,
                              size_t slot) const;
  // The elements of an array, given as `count` borrowed references, at the end of `out`.
  Encoded encode_elements(const Type& element, bool nullable, PyObject* const* values, size_t count,
                          Buffer& out) const;

  const InterpreterState& state_;
  const Exchange exchange_;
  const bool binary_as_bytes_;
  const Timestamps timestamps_;
};

}  // namespace pyflow
