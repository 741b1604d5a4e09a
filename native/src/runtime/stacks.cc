#include "runtime/stacks.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "runtime/interpreter_pool.h"
#include "runtime/line_numbers.h"
#include "runtime/start.h"

namespace pyflow {
namespace {

struct Frame {
  std::string function;
  std::string file;
  int line;  // 0 where it has none
};

struct Thread {
  uintptr_t state;  // the address of its thread state
  int64_t interpreter;
  uint64_t native_id;
  bool holds_gil;
  std::vector<Frame> frames;  // innermost first
};

constexpr int kAttempts = 20;
constexpr useconds_t kBetweenAttemptsMicros = 100;
constexpr size_t kMostThreads = 10000;
constexpr size_t kMostFrames = 1000;
constexpr Py_ssize_t kLongestName = 1000;
constexpr Py_ssize_t kLargestTable = 1 << 20;

// Copies memory of this process; false where there is none.
bool read_memory(uintptr_t address, void* to, size_t size) {
  const iovec local = {to, size};
  const iovec remote = {reinterpret_cast<void*>(address), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

template <typename T>
bool read_at(uintptr_t address, T& to) {
  static_assert(std::is_trivially_copyable_v<T>);
  return read_memory(address, &to, sizeof(T));
}

bool is_of(const PyObject& object, const PyTypeObject& type) { return object.ob_type == &type; }

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

std::optional<std::string> read_str(const PyObject* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  PyASCIIObject head;
  if (!read_at(at, head) || !is_of(head.ob_base, PyUnicode_Type)) return std::nullopt;
  if (head.length < 0 || head.state.compact == 0) return std::nullopt;
  const size_t kind = head.state.kind;
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

std::optional<Frame> described(const PyCodeObject& code, int64_t instruction) {
  const auto function = read_str(full_name(code));
  const auto file = read_str(code.co_filename);
  const auto table = read_bytes(code.co_linetable);
  if (!function || !file || !table) return std::nullopt;
  return Frame{*function, *file, line_of(*table, code.co_firstlineno, instruction)};
}

// Adds a frame, unless tracebacks leave it out; false where it makes no sense.
bool add_frame(const RawFrame& raw, std::vector<Frame>& frames) {
  const uintptr_t address = raw.code & ~kReferenceTags;
  PyObject object;
  if (!read_at(address, object)) return false;
  if (is_of_c_function(raw) || address == reinterpret_cast<uintptr_t>(Py_None)) return true;
  PyCodeObject code;
  if (!is_of(object, PyCode_Type) || !read_at(address, code)) return false;
  const int64_t instruction = instruction_of(raw, code, address, read_memory);
  if (is_incomplete(raw, code, instruction)) return true;
  std::optional<Frame> frame = described(code, instruction);
  if (frame) frames.push_back(std::move(*frame));
  return frame.has_value();
}

// False where the thread has gone on meanwhile.
bool read_frames(const PyThreadState& copy, uintptr_t thread, std::vector<Frame>& frames) {
  const uintptr_t at = innermost_frame_at(copy, thread);
  RawFrame* innermost = nullptr;
  if (!read_at(at, innermost)) return false;
  std::vector<RawFrame> raw;
  for (RawFrame* each = innermost; each != nullptr && raw.size() < kMostFrames;
       each = raw.back().previous) {
    raw.emplace_back();
    if (!read_at(reinterpret_cast<uintptr_t>(each), raw.back())) return false;
  }
  RawFrame* after = nullptr;
  if (!read_at(at, after) || after != innermost) return false;
  return std::all_of(raw.begin(), raw.end(),
                     [&](const RawFrame& each) { return add_frame(each, frames); });
}

// The frames of the best attempt: a thread that calls and returns all the time is seldom the same
// before and after.
std::vector<Frame> frames_of(const PyThreadState& copy, uintptr_t thread) {
  std::vector<Frame> best;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) usleep(kBetweenAttemptsMicros);
    PyThreadState now;
    std::vector<Frame> frames;
    if (!read_at(thread, now) || now.interp != copy.interp) return {};
    if (read_frames(now, thread, frames)) return frames;
    if (frames.size() > best.size()) best = std::move(frames);
  }
  return best;
}

void add_threads(PyInterpreterState* interpreter, std::vector<Thread>& threads) {
  auto at = reinterpret_cast<uintptr_t>(PyInterpreterState_ThreadHead(interpreter));
  while (at != 0 && threads.size() < kMostThreads) {
    PyThreadState copy;
    if (!read_at(at, copy) || copy.interp != interpreter) return;
    std::vector<Frame> frames = frames_of(copy, at);
    if (!frames.empty()) {
      const bool holds = holds_gil(copy, reinterpret_cast<PyThreadState*>(at));
      threads.push_back(
          {at, PyInterpreterState_GetID(interpreter), native_id(copy), holds, std::move(frames)});
    }
    at = reinterpret_cast<uintptr_t>(copy.next);
  }
}

void append_json(std::string& json, const std::string& text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  json += '"';
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x20) {
      json += std::string("\\u00") + kDigits[byte >> 4] + kDigits[byte & 15];
    } else {
      if (each == '"' || each == '\\') json += '\\';
      json += each;
    }
  }
  json += '"';
}

void append_json(std::string& json, const Frame& frame) {
  json += "{\"function\":";
  append_json(json, frame.function);
  json += ",\"file\":";
  append_json(json, frame.file);
  json += ",\"line\":" + std::to_string(frame.line) + "}";
}

}  // namespace

std::string threads_json(const std::vector<PyInterpreterState*>& interpreters) {
  std::vector<Thread> threads;
  for (PyInterpreterState* each : interpreters) add_threads(each, threads);
  std::string json = "[";
  for (const Thread& thread : threads) {
    if (json.size() > 1) json += ',';
    json += "{\"state\":" + std::to_string(thread.state) +
            ",\"interpreter\":" + std::to_string(thread.interpreter) +
            ",\"thread\":" + std::to_string(thread.native_id) +
            ",\"holds_gil\":" + (thread.holds_gil ? "true" : "false") + ",\"frames\":[";
    for (size_t i = 0; i < thread.frames.size(); ++i) {
      if (i > 0) json += ',';
      append_json(json, thread.frames[i]);
    }
    json += "]}";
  }
  return json + "]";
}

std::string all_threads_json() {
  std::vector<PyInterpreterState*> interpreters = {shared_interpreter().handle};
  for (const Interpreter* each : isolated_interpreters()) interpreters.push_back(each->handle);
  return threads_json(interpreters);
}

}  // namespace pyflow
