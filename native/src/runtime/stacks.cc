#include "runtime/stacks.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "runtime/interpreter_pool.h"
#include "runtime/json_text.h"
#include "runtime/line_numbers.h"
#include "runtime/raw_memory.h"
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
  RawFrame* each = innermost;
  for (; each != nullptr && raw.size() < kMostFrames; each = raw.back().previous) {
    raw.emplace_back();
    if (!read_frame(each, raw.back())) return false;
  }
  RawFrame* after = nullptr;
  if (!read_at(at, after) || after != innermost) return false;
  const bool is_whole = each != nullptr || raw.empty() || may_be_outermost(raw.back());
  return std::all_of(raw.begin(), raw.end(),
                     [&](const RawFrame& frame) { return add_frame(frame, frames); }) &&
         is_whole;
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

void append_json(std::string& json, const Frame& frame) {
  json += "{\"function\":";
  append_json_string(json, frame.function);
  json += ",\"file\":";
  append_json_string(json, frame.file);
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

std::string all_threads_json() { return threads_json(all_interpreters()); }

std::vector<PyInterpreterState*> all_interpreters() {
  std::vector<PyInterpreterState*> interpreters = {shared_interpreter().handle};
  for (const Interpreter* each : isolated_interpreters()) interpreters.push_back(each->handle);
  return interpreters;
}

}  // namespace pyflow
