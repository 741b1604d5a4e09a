// The rows that functions over rows return: their columns, and how they lie in memory.
//
// Each row follows its frame: its size in bytes and the number of its columns that the JVM still
// has to convert, both as 32-bit integers. The ordinals of those columns follow the row, as 32-bit
// integers padded to 8 bytes; each has pickled bytes in place of a value. BundleIterator.java reads
// this.
#pragma once

#include "codec/types.h"
#include "codec/unsafe_row.h"

namespace pyflow {

inline constexpr size_t kFrameBytes = 8;

struct OutputColumn {
  enum class Source : uint8_t { kInput = 0, kFunction = 1 };
  Source source;
  size_t index;      // input ordinal or function
  bool variable;     // lives in the variable-length part
  const Type* type;  // of a function's result; null of an input column
};

// The row after a frame.
inline Region row_at(const Buffer& output, size_t frame) {
  const auto size = static_cast<size_t>(load_le<int32_t>(output.data() + frame));
  return {output.data() + frame + kFrameBytes, size};
}

// Copies field `from` of a row with `input_fields` fields to field `to` of the row with `fields`
// fields at offset `row` of `out`; false with an error set.
inline bool copy_field(const Region& input, size_t input_fields, size_t from, bool variable,
                       Buffer& out, size_t row, size_t fields, size_t to) {
  if (is_null(input.data, from)) {
    set_null(out.at(row), to);
    return true;
  }
  const size_t slot = row + bit_set_bytes(fields) + 8 * to;
  const uint8_t* word = input.data + bit_set_bytes(input_fields) + 8 * from;
  if (!variable) {
    store_le<uint64_t>(out.at(slot), load_le<uint64_t>(word));
    return true;
  }
  Region value;
  if (!input.variable(word, value)) {
    PyErr_SetString(PyExc_ValueError, "malformed row: a value does not lie within its row");
    return false;
  }
  const size_t start = out.size();
  if (!out.append_padded(value.data, value.size)) {
    PyErr_NoMemory();
    return false;
  }
  store_le<uint64_t>(out.at(slot), (static_cast<uint64_t>(start - row) << 32) | value.size);
  return true;
}

}  // namespace pyflow
