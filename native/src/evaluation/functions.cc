#include "evaluation/functions.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "runtime/error_text.h"

namespace pyflow {
namespace {

// Threads that wait for this one see its processor time at least so often.
constexpr int64_t kUnaccountedNanos = 1000000;

}  // namespace

Functions::Functions(Slot& slot)
    : slot_(slot), id_([] {
        static std::atomic<uint64_t> last{0};
        return ++last;
      }()) {}

bool Functions::set_runtime(PyObject* runtime, PyObject* error_options) {
  runtime_ = PyRef::borrow(runtime);
  error_options_ = PyRef::borrow(error_options);
  context_variables_ = PyRef::steal(PyObject_GetAttrString(runtime, "context_variables"));
  return static_cast<bool>(context_variables_);
}

bool Functions::enter() {
  static thread_local uint64_t entered = 0;
  if (entered == id_) return true;
  PyRef done = PyRef::steal(PyObject_CallMethod(runtime_.get(), "enter", nullptr));
  if (done) entered = id_;
  return static_cast<bool>(done);
}

// The thread's clock tells what the calls between two samples have spent, but not what the JVM has
// spent between them: it is taken for Python's, up to the time that was in Python.
void Functions::add_sample(CallTimes& times, const Attached& attached, bool exclusive) {
  times.sampled_nanos = times.python_nanos;
  times.cpu_nanos = attached.cpu_nanos();
  times.others_cpu_nanos = attached.others_cpu_nanos();
  const CpuAccount::Reading& start = attached.cpu_at_start();
  CpuAccount::Reading end = attached.cpu_at_end();
  if (last_sampled_.clock == start.clock) {
    const int64_t cpu = std::min(unsampled_nanos_, start.thread - last_sampled_.thread);
    slot_.interpreter().cpu.add(cpu);
    end.total += cpu;
    times.sampled_nanos += unsampled_nanos_;
    times.cpu_nanos += cpu;
    times.others_cpu_nanos += start.total - last_sampled_.total;
  }
  if (!exclusive) times.others_cpu_nanos = 0;
  unsampled_nanos_ = 0;
  last_sampled_ = end;
}

void Functions::add_unsampled(int64_t nanos) {
  unsampled_nanos_ += nanos;
  if (unsampled_nanos_ >= kUnaccountedNanos) sampler_.measure_next();
}

Outcome Functions::failure() {
  if (slot_.interrupted()) {
    PyErr_Clear();
    return Outcome::kInterrupted;
  }
  if (PyErr_Occurred()) {
    error_ = take_error_text(slot_.interpreter().state.get(), error_options_.get());
  }
  return Outcome::kFailed;
}

bool Functions::accumulator_updates(std::vector<std::string>& updates) {
  bool complete = false;
  const std::string refused = slot_.run([&] {
    Attached attached(slot_);
    slot_.begin_python();
    PyRef list = PyRef::steal(PyObject_CallMethod(runtime_.get(), "accumulator_updates", nullptr));
    slot_.end_python();
    if (!list) {
      error_ = take_error_text(slot_.interpreter().state.get(), error_options_.get());
      return;
    }
    try {
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
        PyObject* update = PyList_GET_ITEM(list.get(), i);
        updates.emplace_back(PyBytes_AS_STRING(update),
                             static_cast<size_t>(PyBytes_GET_SIZE(update)));
      }
      complete = true;
    } catch (const std::bad_alloc&) {
      error_ = "MemoryError";
    }
  });
  if (!refused.empty()) error_ = refused;
  return complete;
}

}  // namespace pyflow
