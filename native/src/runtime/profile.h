// Where the threads of all interpreters spend their time: their stacks are read again and again, as
// stacks.h tells of one reading, and equal ones are counted.
//
// A reading is to cost next to nothing, so that it can be made a hundred times a second: it is not
// repeated where the thread has gone on meanwhile, and what a code object is called is read once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runtime/interpreter.h"
#include "runtime/python_compat.h"

namespace pyflow {

// A call of Python that a task is in.
struct SampledCall {
  uintptr_t thread;  // the address of its thread state; 0 as long as it waits for its GIL
  int32_t number;    // the caller's, of equal calls
};

// Used by one thread. Takes no GIL.
class Profile {
 public:
  // Counts what the calls do now, and the other threads that hold their GIL. The interpreters must
  // stay.
  void sample(const std::vector<PyInterpreterState*>& interpreters,
              const std::vector<SampledCall>& calls);

  // What has been counted, in the form that PythonProfile.java tells.
  std::string json() const;

 private:
  enum class State { kPython, kNoFrames, kWaitsForGil, kUnreadable, kNotKept };

  struct Stack {
    int32_t call;
    State state;
    std::vector<uint32_t> functions;  // innermost first

    bool operator<(const Stack& other) const {
      return std::tie(call, state, functions) < std::tie(other.call, other.state, other.functions);
    }
  };

  struct Count {
    int64_t samples = 0;
    int64_t with_gil = 0;
  };

  // What tells a code object from one that was at its address before.
  using Identity = std::array<uintptr_t, 4>;

  struct KnownCode {
    Identity identity;
    uint32_t function;
  };

  using Function = std::tuple<std::string, std::string, int>;  // name, file, first line

  Stack stack_of(const PyThreadState& copy, uintptr_t thread, int32_t call);
  bool add_function(const RawFrame& frame, std::vector<uint32_t>& functions);
  bool find_function(uintptr_t address, const PyCodeObject& code, uint32_t& function);
  void count(Stack stack, bool with_gil);

  std::unordered_map<uintptr_t, KnownCode> codes_;
  std::map<Function, uint32_t> functions_;
  std::map<Stack, Count> stacks_;
  size_t kept_functions_ = 0;  // of all stacks
};

}  // namespace pyflow
