#include "runtime/raw_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace pyflow {
namespace {

constexpr Py_ssize_t kLongestName = 1000;
constexpr Py_ssize_t kLargestTable = 1 << 20;

void append_utf8(std::string& text, Py_UCS4 character) {
  const auto add = [&](Py_UCS4 byte) { text.push_back(static_cast<char>(byte)); };
  const auto add_rest = [&](int shift) { add(0x80 | ((character >> shift) & 0x3F)); };
  if (character < 0x80) {
    add(character);
  } else if (character < 0x800) {
    add(0xC0 | (character >> 6));
    add_rest(0);
  } else if (character < 0x10000) {
    add(0xE0 | (character >> 12));
    add_rest(6);
    add_rest(0);
  } else {
    add(0xF0 | (character >> 18));
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

}  // namespace

bool read_memory(uintptr_t address, void* to, size_t size) {
  const iovec local = {to, size};
  const iovec remote = {reinterpret_cast<void*>(address), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

std::optional<std::string> read_str(const PyObject* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  PyASCIIObject head;
  if (!read_at(at, head) || !is_of(head.ob_base, PyUnicode_Type)) return std::nullopt;
  if (head.length < 0 || head.state.compact == 0) return std::nullopt;
  const size_t kind = head.state.kind;
  // A string that is being freed may say anything.
  if (kind != 1 && kind != 2 && kind != 4) return std::nullopt;
  const auto length = static_cast<size_t>(std::min(head.length, kLongestName));
  const size_t begin = head.state.ascii ? sizeof(PyASCIIObject) : sizeof(PyCompactUnicodeObject);
  std::string data(length * kind, '\0');
  if (!read_memory(at + begin, data.data(), data.size())) return std::nullopt;
  std::string text;
  for (size_t i = 0; i < length; ++i) {
    Py_UCS4 character = 0;
    std::memcpy(&character, data.data() + i * kind, kind);
    append_utf8(text, character);
  }
  return text;
}

std::optional<std::string> read_bytes(const PyObject* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  PyVarObject head;
  if (!read_at(at, head) || !is_of(head.ob_base, PyBytes_Type)) return std::nullopt;
  if (head.ob_size < 0 || head.ob_size > kLargestTable) return std::nullopt;
  std::string bytes(static_cast<size_t>(head.ob_size), '\0');
  if (!read_memory(at + offsetof(PyBytesObject, ob_sval), bytes.data(), bytes.size())) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace pyflow
