#include "codec/java_map_order.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace pyflow {
namespace {

// Java's int arithmetic wraps.
int32_t wrapped(uint32_t value) { return static_cast<int32_t>(value); }

struct CodePoint {
  uint32_t value;
  size_t bytes;
};

CodePoint code_point_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  const auto low = [&](size_t i) { return static_cast<uint32_t>(byte(i) & 0x3f); };
  if (byte(0) < 0x80) return {byte(0), 1};
  if (byte(0) < 0xe0) return {(byte(0) & 0x1fu) << 6 | low(1), 2};
  if (byte(0) < 0xf0) return {(byte(0) & 0x0fu) << 12 | low(1) << 6 | low(2), 3};
  return {(byte(0) & 0x07u) << 18 | low(1) << 12 | low(2) << 6 | low(3), 4};
}

size_t table_size(size_t entries) {
  size_t size = 1;
  while (size < entries) size *= 2;
  // Three quarters full is the most; tables of one and two round that down.
  return entries > size * 3 / 4 ? size * 2 : size;
}

}  // namespace

int32_t java_hash(int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  return wrapped(static_cast<uint32_t>(bits ^ (bits >> 32)));
}

int32_t java_hash(float number) {
  if (std::isnan(number)) return 0x7fc00000;
  int32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

int32_t java_hash(double number) {
  int64_t bits = 0x7ff8000000000000;
  if (!std::isnan(number)) std::memcpy(&bits, &number, sizeof bits);
  return java_hash(bits);
}

int32_t java_hash(bool value) { return value ? 1231 : 1237; }

int32_t java_hash(std::string_view text) {
  uint32_t hash = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.value < 0x10000) {
      hash = 31 * hash + point.value;
    } else {
      hash = 31 * hash + (0xd800 + ((point.value - 0x10000) >> 10));
      hash = 31 * hash + (0xdc00 + (point.value & 0x3ff));
    }
    at += point.bytes;
  }
  return wrapped(hash);
}

int32_t java_hash(__int128 unscaled, int scale) {
  auto magnitude = static_cast<unsigned __int128>(unscaled);
  if (unscaled < 0) magnitude = -magnitude;
  uint32_t hash = 0;  // of the BigInteger: its 32-bit digits, the highest first
  for (int shift = 96; shift >= 0; shift -= 32) {
    hash = 31 * hash + static_cast<uint32_t>(magnitude >> shift);
  }
  if (unscaled < 0) hash = -hash;
  return wrapped(31 * hash + static_cast<uint32_t>(scale));
}

// Entries of one bucket stay in the order of their insertion.
std::vector<size_t> java_map_order(const std::vector<int32_t>& hashes) {
  const size_t mask = table_size(hashes.size()) - 1;
  const auto bucket = [&](size_t i) {
    const auto hash = static_cast<uint32_t>(hashes[i]);
    return (hash ^ (hash >> 16)) & mask;
  };
  std::vector<size_t> order(hashes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return bucket(a) < bucket(b); });
  return order;
}

}  // namespace pyflow
