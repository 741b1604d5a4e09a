// Spark's binary row format (UnsafeRow, UnsafeArrayData, UnsafeMapData), as far as the codec needs
// it.
//
// A row is a bit set of nulls (a 64-bit word for every 64 fields), one 8-byte word per field, then
// the variable-length part. A fixed-length value sits in the low bytes of its word; a
// variable-length one leaves (offset << 32 | size) there, the offset counted from the start of the
// row, its bytes padded with zeros to a multiple of 8. An array is its length, the bit set, the
// packed elements, the variable part. Everything is little-endian, as on every platform the JVM and
// this library are built for.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace pyflow {

template <typename T>
inline T load_le(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
inline void store_le(uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

inline constexpr size_t round_up_8(size_t size) { return (size + 7) & ~size_t{7}; }
inline constexpr size_t bit_set_bytes(size_t fields) { return ((fields + 63) / 64) * 8; }

inline bool is_null(const uint8_t* bit_set, size_t index) {
  return (load_le<uint64_t>(bit_set + (index >> 6) * 8) >> (index & 63)) & 1;
}

inline void set_null(uint8_t* bit_set, size_t index) {
  uint8_t* word = bit_set + (index >> 6) * 8;
  store_le<uint64_t>(word, load_le<uint64_t>(word) | (uint64_t{1} << (index & 63)));
}

// Bytes that a row, or an array or map or struct inside of one, consists of.
struct Region {
  const uint8_t* data;
  size_t size;

  bool holds(size_t offset, size_t bytes) const { return offset <= size && bytes <= size - offset; }
  Region from(size_t offset) const { return {data + offset, size - offset}; }

  // Where a slot says that its variable-length value lies; false if that is not inside the region.
  bool variable(const uint8_t* slot, Region& value) const {
    const auto offset_and_size = load_le<uint64_t>(slot);
    const size_t offset = offset_and_size >> 32;
    value = {data + offset, offset_and_size & 0xffffffff};
    return holds(offset, value.size);
  }
};

// The null bits and the words of the fields.
inline constexpr size_t fixed_bytes(size_t fields) { return bit_set_bytes(fields) + 8 * fields; }

// No row, and nothing inside a row, can be larger: Spark counts its bytes with a signed 32-bit
// integer.
inline constexpr size_t kMaxRowBytes = 0x7fffffff - 15;

// Growable off-heap memory that rows are written to. Positions are offsets, since growing moves it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }

  uint8_t* at(size_t offset) { return data_ + offset; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  void truncate(size_t size) { size_ = size; }

  // Appends `bytes` zero bytes, a multiple of 8; false when there is no memory for them.
  bool extend_zeroed(size_t bytes) {
    if (!reserve(bytes)) return false;
    uint8_t* const end = data_ + size_ + bytes;
    if (bytes <= 64) {
      for (uint8_t* word = data_ + size_; word < end; word += 8) store_le<uint64_t>(word, 0);
    } else {
      std::memset(data_ + size_, 0, bytes);
    }
    size_ += bytes;
    return true;
  }

  // Appends a copy of `bytes` bytes, zero-padded to a multiple of 8; false when there is no memory.
  bool append_padded(const void* from, size_t bytes) {
    const size_t padded = round_up_8(bytes);
    if (!reserve(padded)) return false;
    if (padded != bytes) store_le<uint64_t>(data_ + size_ + padded - 8, 0);
    if (bytes != 0) std::memcpy(data_ + size_, from, bytes);
    size_ += padded;
    return true;
  }

  void swap(Buffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  // Gives memory back that one unusually large bundle needed.
  void shrink(size_t to) {
    if (capacity_ <= to) return;
    std::free(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  bool reserve(size_t more) {
    const size_t needed = size_ + more;
    if (needed <= capacity_) return true;
    size_t capacity = capacity_ < 4096 ? 4096 : capacity_ * 2;
    if (capacity < needed) capacity = needed;
    auto* grown = static_cast<uint8_t*>(std::realloc(data_, capacity));
    if (grown == nullptr) return false;
    data_ = grown;
    capacity_ = capacity;
    return true;
  }

  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace pyflow
