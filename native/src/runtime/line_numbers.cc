#include "runtime/line_numbers.h"

#include "runtime/python_compat.h"

namespace pyflow {
namespace {

// Codes of entries of the table of locations, as CPython's Objects/locations.md has them.
constexpr int kOneLine = 10;
constexpr int kOneLineLast = 12;
constexpr int kNoColumns = 13;
constexpr int kLong = 14;
constexpr int kNone = 15;

class Locations {
 public:
  explicit Locations(const std::string& table) : table_(table) {}

  int line_of(int line, int64_t instruction) {
    int64_t end = 0;
    while (at_ < table_.size()) {
      const int first = byte();
      const int code = (first >> 3) & 15;
      end += (first & 7) + 1;
      line += line_delta(code);
      if (instruction < end) return code == kNone ? 0 : line;
      // What else there is of the entry: only first bytes have the highest bit.
      while (at_ < table_.size() && (static_cast<unsigned char>(table_[at_]) & 128) == 0) ++at_;
    }
    return 0;
  }

 private:
  int byte() { return at_ < table_.size() ? static_cast<unsigned char>(table_[at_++]) : 0; }

  int line_delta(int code) {
    if (code >= kOneLine && code <= kOneLineLast) return code - kOneLine;
    return code == kNoColumns || code == kLong ? signed_number() : 0;
  }

  int signed_number() {
    unsigned number = 0;
    int part = 64;
    for (int shift = 0; (part & 64) != 0 && shift < 30; shift += 6) {
      part = byte();
      number |= static_cast<unsigned>(part & 63) << shift;
    }
    const int magnitude = static_cast<int>(number >> 1);
    return (number & 1) != 0 ? -magnitude : magnitude;
  }

  const std::string& table_;
  size_t at_ = 0;
};

// Pairs of bytes: how many bytes of instructions, and by how many lines it goes on.
int line_of_pairs(const std::string& table, int line, int64_t instruction) {
  constexpr int kNoLine = -128;
  constexpr int kInstructionBytes = 2;
  int64_t end = 0;
  for (size_t at = 0; at + 1 < table.size(); at += 2) {
    const int delta = static_cast<signed char>(table[at + 1]);
    end += static_cast<unsigned char>(table[at]);
    if (delta != kNoLine) line += delta;
    if (instruction * kInstructionBytes < end) return delta == kNoLine ? 0 : line;
  }
  return 0;
}

}  // namespace

int line_of(const std::string& table, int first_line, int64_t instruction) {
  // A frame that has not begun is before its first instruction.
  const int64_t begun = instruction < 0 ? 0 : instruction;
  if (!kHasLocations) return line_of_pairs(table, first_line, begun);
  return Locations(table).line_of(first_line, begun);
}

}  // namespace pyflow
