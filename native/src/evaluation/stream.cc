// See stream.h.

#include "evaluation/stream.h"

#include <atomic>
#include <utility>

#include "evaluation/arrow_c_data.h"
#include "evaluation/row_codec.h"
#include "runtime/error_text.h"

namespace pyflow {

struct Stream::Pull {
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

constexpr const char* kCapsule = "pyflow.Stream.Pull";

}  // namespace

PyObject* Stream::Pull::call(PyObject* capsule, PyObject* read) {
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

int64_t Stream::Pull::fetch(ArrowArray& array) const {
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&array));
  return without_gil([&] { return source(address); });
}

void Stream::Pull::destroy(PyObject* capsule) {
  delete static_cast<std::shared_ptr<Pull>*>(PyCapsule_GetPointer(capsule, kCapsule));
}

PyRef Stream::Pull::callable(std::shared_ptr<Pull> pull) {
  static PyMethodDef method = {"pull", call, METH_O, nullptr};
  auto held = std::make_unique<std::shared_ptr<Pull>>(std::move(pull));
  PyRef capsule = PyRef::steal(PyCapsule_New(held.get(), kCapsule, destroy));
  if (!capsule) return PyRef();
  static_cast<void>(held.release());
  return PyRef::steal(PyCFunction_New(&method, capsule.get()));
}

Stream::Stream(Slot& slot, Source source)
    : Functions(slot), pull_(std::make_shared<Pull>(std::move(source))) {}

std::unique_ptr<Stream> Stream::load(Slot& slot, const std::string& specification, Source source,
                                     std::shared_ptr<const Upcall> upcall, std::string& error) {
  std::unique_ptr<Stream> stream(new Stream(slot, std::move(source)));
  bool loaded = false;
  const std::string refused = slot.run([&] {
    Attached attached(slot.interpreter());
    const InterpreterState& state = *slot.interpreter().state;
    slot.begin_python();
    // (runtime, error options)
    PyRef callable = Pull::callable(stream->pull_);
    PyRef call_jvm;
    if (callable) {
      call_jvm = upcall ? upcall_function(std::move(upcall)) : PyRef::borrow(Py_None);
    }
    PyRef row_codec = call_jvm ? row_codec_factory(state) : PyRef();
    PyRef tuple;
    if (row_codec) {
      tuple =
          PyRef::steal(PyObject_CallFunction(state.load_stream.get(), "y#OOO", specification.data(),
                                             static_cast<Py_ssize_t>(specification.size()),
                                             callable.get(), call_jvm.get(), row_codec.get()));
    }
    slot.end_python();
    if (tuple &&
        stream->set_runtime(PyTuple_GET_ITEM(tuple.get(), 0), PyTuple_GET_ITEM(tuple.get(), 1))) {
      loaded = true;
    } else {
      error = take_error_text(&state, nullptr);
    }
  });
  if (!refused.empty()) error = refused;
  if (!loaded) stream.reset();
  return stream;
}

void Stream::close(std::unique_ptr<Stream> stream) {
  Slot& slot = stream->slot_;
  // Generators that are closed and objects that are destroyed run Python code too.
  const std::string refused = slot.run([&] {
    Attached attached(slot.interpreter());
    slot.begin_python();
    {
      EnteredContext entered(stream->context_variables_.get());
      PyRef closed = PyRef::steal(PyObject_CallMethod(stream->runtime_.get(), "close", nullptr));
      if (!closed) PyErr_Clear();
    }
    stream.reset();
    slot.end_python();
  });
  if (!refused.empty()) static_cast<void>(stream.release());
}

Outcome Stream::next(uint64_t array, Step& step) {
  Outcome outcome = Outcome::kFailed;
  call(step.times, [&](Attached&) { outcome = next_attached(array, step); });
  return outcome;
}

Outcome Stream::next_attached(uint64_t array, Step& step) {
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

bool Stream::read_schema() {
  PyRef schema = PyRef::steal(PyObject_CallMethod(runtime_.get(), "schema", nullptr));
  if (!schema) return false;
  schema_.emplace(PyBytes_AS_STRING(schema.get()),
                  static_cast<size_t>(PyBytes_GET_SIZE(schema.get())));
  return true;
}

}  // namespace pyflow
