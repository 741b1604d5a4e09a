#include "runtime/profile.h"

#include <algorithm>
#include <utility>

#include "runtime/json_text.h"
#include "runtime/raw_memory.h"

namespace pyflow {
namespace {

constexpr size_t kMostThreads = 10000;
constexpr size_t kMostFrames = 1000;
constexpr size_t kMostCodes = 100'000;
// Of all stacks together.
constexpr size_t kMostKeptFunctions = 2'000'000;
constexpr int32_t kNoCall = -1;

// Copies the frames of a thread, the innermost first; false where that makes no sense.
bool read_raw_frames(const PyThreadState& copy, uintptr_t thread, std::vector<RawFrame>& frames) {
  RawFrame* at = nullptr;
  if (!read_at(innermost_frame_at(copy, thread), at)) return false;
  while (at != nullptr && frames.size() < kMostFrames) {
    frames.emplace_back();
    if (!read_frame(at, frames.back())) return false;
    at = frames.back().previous;
  }
  return at != nullptr || frames.empty() || may_be_outermost(frames.back());
}

}  // namespace

void Profile::sample(const std::vector<PyInterpreterState*>& interpreters,
                     const std::vector<SampledCall>& calls) {
  for (const SampledCall& each : calls) {
    if (each.thread == 0) count({each.number, State::kWaitsForGil, {}}, false);
  }
  for (PyInterpreterState* interpreter : interpreters) {
    auto at = reinterpret_cast<uintptr_t>(PyInterpreterState_ThreadHead(interpreter));
    for (size_t i = 0; at != 0 && i < kMostThreads; ++i) {
      PyThreadState copy;
      if (!read_at(at, copy) || copy.interp != interpreter) break;
      const bool holds = holds_gil(copy, reinterpret_cast<PyThreadState*>(at));
      const auto call = std::find_if(calls.begin(), calls.end(),
                                     [&](const SampledCall& each) { return each.thread == at; });
      if (call != calls.end()) {
        count(stack_of(copy, at, call->number), holds);
      } else if (holds) {
        Stack stack = stack_of(copy, at, kNoCall);
        if (stack.state == State::kPython) count(std::move(stack), holds);
      }
      at = reinterpret_cast<uintptr_t>(copy.next);
    }
  }
}

Profile::Stack Profile::stack_of(const PyThreadState& copy, uintptr_t thread, int32_t call) {
  std::vector<RawFrame> frames;
  Stack stack{call, State::kUnreadable, {}};
  if (!read_raw_frames(copy, thread, frames)) return stack;
  for (const RawFrame& each : frames) {
    if (!add_function(each, stack.functions)) return {call, State::kUnreadable, {}};
  }
  stack.state = stack.functions.empty() ? State::kNoFrames : State::kPython;
  return stack;
}

// Adds the function of a frame, unless tracebacks leave it out; false where it makes no sense.
bool Profile::add_function(const RawFrame& frame, std::vector<uint32_t>& functions) {
  const uintptr_t address = frame.code & ~kReferenceTags;
  if (is_of_c_function(frame) || address == reinterpret_cast<uintptr_t>(Py_None)) return true;
  PyCodeObject code;
  if (!read_at(address, code)) return false;
  // The object's head comes first in every build.
  if (!is_of(reinterpret_cast<const PyObject&>(code), PyCode_Type)) return false;
  if (is_incomplete(frame, code, instruction_of(frame, code, address, read_memory))) return true;
  uint32_t function = 0;
  if (!find_function(address, code, function)) return false;
  functions.push_back(function);
  return true;
}

bool Profile::find_function(uintptr_t address, const PyCodeObject& code, uint32_t& function) {
  const Identity identity = {
      reinterpret_cast<uintptr_t>(full_name(code)), reinterpret_cast<uintptr_t>(code.co_filename),
      reinterpret_cast<uintptr_t>(code.co_linetable), static_cast<uintptr_t>(code.co_firstlineno)};
  const auto known = codes_.find(address);
  if (known != codes_.end() && known->second.identity == identity) {
    function = known->second.function;
    return true;
  }
  const auto name = read_str(full_name(code));
  const auto file = read_str(code.co_filename);
  if (!name || !file) return false;
  const auto next = static_cast<uint32_t>(functions_.size());
  function = functions_.emplace(Function{*name, *file, code.co_firstlineno}, next).first->second;
  if (codes_.size() >= kMostCodes) codes_.clear();
  codes_[address] = {identity, function};
  return true;
}

void Profile::count(Stack stack, bool with_gil) {
  auto found = stacks_.find(stack);
  if (found == stacks_.end()) {
    if (kept_functions_ + stack.functions.size() > kMostKeptFunctions) {
      stack = {stack.call, State::kNotKept, {}};
    }
    kept_functions_ += stack.functions.size();
    found = stacks_.emplace(std::move(stack), Count{}).first;
  }
  ++found->second.samples;
  if (with_gil) ++found->second.with_gil;
}

std::string Profile::json() const {
  static constexpr const char* kStates[] = {"python", "no frames", "waits for the GIL",
                                            "unreadable", "not kept"};
  std::vector<const Function*> functions(functions_.size());
  for (const auto& [function, number] : functions_) functions[number] = &function;
  std::string json = "{\"functions\":[";
  for (const Function* each : functions) {
    if (json.back() != '[') json += ',';
    json += "{\"name\":";
    append_json_string(json, std::get<0>(*each));
    json += ",\"file\":";
    append_json_string(json, std::get<1>(*each));
    json += ",\"line\":" + std::to_string(std::get<2>(*each)) + "}";
  }
  json += "],\"stacks\":[";
  for (const auto& [stack, count] : stacks_) {
    if (json.back() != '[') json += ',';
    json += "{\"call\":" + std::to_string(stack.call) + ",\"state\":\"" +
            kStates[static_cast<int>(stack.state)] +
            "\",\"samples\":" + std::to_string(count.samples) +
            ",\"with_gil\":" + std::to_string(count.with_gil) + ",\"functions\":[";
    for (const uint32_t each : stack.functions) {
      if (json.back() != '[') json += ',';
      json += std::to_string(each);
    }
    json += "]}";
  }
  return json + "]}";
}

}  // namespace pyflow
