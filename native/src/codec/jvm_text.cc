#include "codec/jvm_text.h"

namespace pyflow {
namespace {

bool continues(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// Whether the first two bytes of a sequence of three can begin a character; surrogates included.
bool can_begin_three(uint8_t first, uint8_t second) {
  return continues(second) && !(first == 0xe0 && second < 0xa0);
}

bool can_begin_four(uint8_t first, uint8_t second) {
  return first <= 0xf4 && continues(second) && !(first == 0xf0 && second < 0x90) &&
         !(first == 0xf4 && second > 0x8f);
}

struct Sequence {
  size_t size;  // bytes taken
  bool valid;
};

Sequence two_bytes(const uint8_t* data, size_t left) {
  if (left >= 2 && continues(data[1])) return {2, true};
  return {1, false};
}

Sequence three_bytes(const uint8_t* data, size_t left) {
  if (left < 3) {
    // An incomplete character is replaced once, together with all that is left.
    const bool incomplete = left != 2 || can_begin_three(data[0], data[1]);
    return {incomplete ? left : 1, false};
  }
  if (!can_begin_three(data[0], data[1])) return {1, false};
  if (!continues(data[2])) return {2, false};
  const bool surrogate = data[0] == 0xed && data[1] >= 0xa0;
  return {3, !surrogate};
}

Sequence four_bytes(const uint8_t* data, size_t left) {
  if (left < 4) {
    if (data[0] > 0xf4 || (left >= 2 && !can_begin_four(data[0], data[1]))) return {1, false};
    return {left == 3 && !continues(data[2]) ? 2 : left, false};
  }
  if (!can_begin_four(data[0], data[1])) return {1, false};
  if (!continues(data[2])) return {2, false};
  return continues(data[3]) ? Sequence{4, true} : Sequence{3, false};
}

Sequence next_sequence(const uint8_t* data, size_t left) {
  const uint8_t first = data[0];
  if (first < 0x80) return {1, true};
  if (first >= 0xc2 && first <= 0xdf) return two_bytes(data, left);
  if (first >= 0xe0 && first <= 0xef) return three_bytes(data, left);
  if (first >= 0xf0 && first <= 0xf7) return four_bytes(data, left);
  return {1, false};
}

}  // namespace

std::string replace_malformed_as_jvm(const uint8_t* data, size_t size) {
  std::string text;
  text.reserve(size);
  for (size_t at = 0; at < size;) {
    const Sequence sequence = next_sequence(data + at, size - at);
    if (sequence.valid) {
      text.append(reinterpret_cast<const char*>(data + at), sequence.size);
    } else {
      text.append("\xef\xbf\xbd");
    }
    at += sequence.size;
  }
  return text;
}

}  // namespace pyflow
