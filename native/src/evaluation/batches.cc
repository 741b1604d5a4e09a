// See batches.h.

#include "evaluation/batches.h"

#include <atomic>
#include <utility>

#include "evaluation/arrow_c_data.h"
#include "evaluation/row_codec.h"
#include "runtime/error_text.h"

namespace pyflow {

struct Batches::Pull {
  explicit Pull(Source from) : source(std::move(from)) {}

  const Source source;
  std::atomic<bool> failed{false};

  // Without the GIL meanwhile; a function may do it on a thread of its own.
  int64_t fetch(ArrowArray& array) const;

  // pull(read): what `read` makes of the address of the next ArrowArray; what the source answered
  // if it left none. One call, so that no interruption can come between fetching the
  // array and releasing it.
  static PyObject* call(PyObject* capsule, PyObject* read);
  static void destroy(PyObject* capsule);
  static PyRef callable(std::shared_ptr<Pull> pull);
};

namespace {

constexpr const char* kCapsule = "pyflow.Batches.Pull";

}  // namespace

PyObject* Batches::Pull::call(PyObject* capsule, PyObject* read) {
  auto* held = static_cast<std::shared_ptr<Pull>*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (held == nullptr) return nullptr;
  const std::shared_ptr<Pull> pull = *held;
  ArrowArray array{};
  const int64_t answer = pull->fetch(array);
  PyRef result;
  if (answer == kSourceFailed) {
    pull->failed = true;
    PyErr_SetString(PyExc_RuntimeError, "the input of the Python function failed");
  } else if (array.release == nullptr) {
    result = PyRef::steal(PyLong_FromLongLong(answer));
  } else {
    PyRef address = PyRef::steal(PyLong_FromVoidPtr(&array));
    if (address) result = PyRef::steal(PyObject_CallOneArg(read, address.get()));
  }
  if (array.release != nullptr) array.release(&array);
  return result.release();
}

int64_t Batches::Pull::fetch(ArrowArray& array) const {
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&array));
  return without_gil([&] { return source(address); });
}

void Batches::Pull::destroy(PyObject* capsule) {
  delete static_cast<std::shared_ptr<Pull>*>(PyCapsule_GetPointer(capsule, kCapsule));
}

PyRef Batches::Pull::callable(std::shared_ptr<Pull> pull) {
  static PyMethodDef method = {"pull", call, METH_O, nullptr};
  auto held = std::make_unique<std::shared_ptr<Pull>>(std::move(pull));
  PyRef capsule = PyRef::steal(PyCapsule_New(held.get(), kCapsule, destroy));
  if (!capsule) return PyRef();
  static_cast<void>(held.release());
  return PyRef::steal(PyCFunction_New(&method, capsule.get()));
}

Batches::Batches(Slot& slot, Source source)
    : Functions(slot), pull_(std::make_shared<Pull>(std::move(source))) {}

std::unique_ptr<Batches> Batches::load(Slot& slot, const std::string& specification, Source source,
                                       std::shared_ptr<const Upcall> upcall, LoadFailure& failure) {
  std::unique_ptr<Batches> batches(new Batches(slot, std::move(source)));
  bool loaded = false;
  const std::string refused = slot.run([&] {
    Attached attached(slot);
    const InterpreterState& state = *slot.interpreter().state;
    slot.begin_python();
    // (runtime, error options)
    PyRef callable = Pull::callable(batches->pull_);
    PyRef call_jvm;
    if (callable) {
      call_jvm = upcall ? upcall_function(std::move(upcall)) : PyRef::borrow(Py_None);
    }
    PyRef row_codec = call_jvm ? row_codec_factory(state) : PyRef();
    PyRef tuple;
    if (row_codec) {
      tuple = PyRef::steal(PyObject_CallFunction(state.load_batches.get(), "y#OOO",
                                                 specification.data(),
                                                 static_cast<Py_ssize_t>(specification.size()),
                                                 callable.get(), call_jvm.get(), row_codec.get()));
    }
    slot.end_python();
    if (tuple &&
        batches->set_runtime(PyTuple_GET_ITEM(tuple.get(), 0), PyTuple_GET_ITEM(tuple.get(), 1))) {
      loaded = true;
    } else {
      failure = take_load_failure(state);
    }
  });
  if (!refused.empty()) failure = {LoadFailure::Kind::kRaised, refused};
  if (!loaded) batches.reset();
  return batches;
}

void Batches::close(std::unique_ptr<Batches> batches) {
  Slot& slot = batches->slot_;
  // Generators that are closed and objects that are destroyed run Python code too.
  const std::string refused = slot.run([&] {
    Attached attached(slot);
    slot.begin_python();
    {
      EnteredContext entered(batches->context_variables_.get());
      PyRef closed = PyRef::steal(PyObject_CallMethod(batches->runtime_.get(), "close", nullptr));
      if (!closed) PyErr_Clear();
    }
    batches.reset();
    slot.end_python();
  });
  if (!refused.empty()) static_cast<void>(batches.release());
}

Outcome Batches::next(uint64_t array, Step& step) {
  Outcome outcome = Outcome::kFailed;
  call(step.times, [&](Attached&) { outcome = next_attached(array, step); });
  return outcome;
}

Outcome Batches::next_attached(uint64_t array, Step& step) {
  if (slot_.interrupted()) return Outcome::kInterrupted;
  if (!enter()) return failure();
  PyRef rows = PyRef::steal(PyObject_CallMethod(runtime_.get(), "next", "K", array));
  // A function may have caught the exception; its results would be those of half the input.
  if (pull_->failed) {
    PyErr_Clear();
    return Outcome::kSourceFailed;
  }
  if (!rows) return failure();
  step.rows = PyLong_AsLongLong(rows.get());
  if (!schema_ && step.rows != kEnd && !read_schema()) return failure();
  return Outcome::kDone;
}

bool Batches::read_schema() {
  PyRef schema = PyRef::steal(PyObject_CallMethod(runtime_.get(), "schema", nullptr));
  if (!schema) return false;
  schema_.emplace(PyBytes_AS_STRING(schema.get()),
                  static_cast<size_t>(PyBytes_GET_SIZE(schema.get())));
  return true;
}

}  // namespace pyflow
