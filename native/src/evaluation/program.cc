// See program.h.
//
// A bundle crosses into Python once: the GIL is taken, every row is decoded, handed to the
// functions by vectorcall and its results encoded, and the GIL is given up again. Nothing in
// between calls the JVM.

#include "evaluation/program.h"

#include <algorithm>
#include <cstring>

#include "codec/calendar.h"
#include "evaluation/row_codec.h"
#include "runtime/error_text.h"
#include "runtime/start.h"

namespace pyflow {
namespace {

// Conversion time is measured on one row in this many, so that reading the clock costs next to
// nothing.
constexpr unsigned kSampleEvery = 512;
// Output memory beyond this is given back after the bundle that needed it.
constexpr size_t kKeptOutputBytes = 8u << 20;

// What one reading of the clock adds to an interval that it measures.
int64_t clock_cost() {
  static const int64_t cost = [] {
    int64_t least = INT64_MAX;
    for (int i = 0; i < 64; ++i) {
      const int64_t start = monotonic_nanos();
      least = std::min(least, monotonic_nanos() - start);
    }
    return least;
  }();
  return cost;
}

// What refused the interpreter, by the list that a program's task has.
std::string refused_names(PyObject* list) {
  std::string names;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    const char* name = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
    if (name == nullptr) PyErr_Clear();
    if (!names.empty()) names += ", ";
    names += name != nullptr ? name : "?";
  }
  return names;
}

// What program.py makes of the specification; it gets what it calls the JVM with, or None.
PyRef call_loader(const InterpreterState& state, const std::string& specification,
                  std::shared_ptr<const Upcall> upcall, const PyRef& refused_imports) {
  PyRef call_jvm = upcall ? upcall_function(std::move(upcall)) : PyRef::borrow(Py_None);
  PyRef row_codec = call_jvm && refused_imports ? row_codec_factory(state) : PyRef();
  if (!row_codec) return PyRef();
  return PyRef::steal(PyObject_CallFunction(state.load_program.get(), "y#OOO", specification.data(),
                                            static_cast<Py_ssize_t>(specification.size()),
                                            call_jvm.get(), row_codec.get(),
                                            refused_imports.get()));
}

}  // namespace

std::unique_ptr<Program> Program::load(Slot& slot, const std::string& specification,
                                       std::shared_ptr<const Upcall> upcall, LoadFailure& failure) {
  std::unique_ptr<Program> program;
  local_zone_may_have_changed();
  const std::string refused = slot.run([&] {
    Attached attached(slot);
    const InterpreterState& state = *slot.interpreter().state;
    PyRef refused_imports = PyRef::steal(PyList_New(0));
    slot.begin_python();
    PyRef loaded = call_loader(state, specification, std::move(upcall), refused_imports);
    slot.end_python();
    if (refused_imports && PyList_GET_SIZE(refused_imports.get()) != 0) {
      PyErr_Clear();
      failure = {LoadFailure::Kind::kNeedsShared, refused_names(refused_imports.get())};
      slot.forget_owner();
      return;
    }
    if (loaded) {
      PyObject* tuple = loaded.get();
      const auto exchange = static_cast<Exchange>(PyLong_AsLong(PyTuple_GET_ITEM(tuple, 0)));
      const bool binary_as_bytes = PyTuple_GET_ITEM(tuple, 1) == Py_True;
      program.reset(new Program(slot, exchange, binary_as_bytes));
      program->refused_imports_ = std::move(refused_imports);
      if (program->build(tuple)) return;
      program.reset();
    }
    failure = take_load_failure(state);
    if (failure.kind == LoadFailure::Kind::kRefused) slot.forget_owner();
  });
  if (!refused.empty()) failure = {LoadFailure::Kind::kRaised, refused};
  return program;
}

void Program::close(std::unique_ptr<Program> program) {
  Slot& slot = program->slot_;
  // Destructors of the functions' objects are Python code too.
  const std::string refused = slot.run([&] {
    Attached attached(slot);
    slot.begin_python();
    program.reset();
    slot.end_python();
  });
  if (!refused.empty()) static_cast<void>(program.release());
}

Program::Program(Slot& slot, Exchange exchange, bool binary_as_bytes)
    : Functions(slot),
      exchange_(exchange),
      codec_(*slot.interpreter().state, exchange, binary_as_bytes),
      inexact_(slot.interpreter(), codec_, columns_) {}

// (exchange, binary_as_bytes, runtime, error_options, input types by ordinal, functions, columns)
bool Program::build(PyObject* loaded) {
  if (!set_runtime(PyTuple_GET_ITEM(loaded, 2), PyTuple_GET_ITEM(loaded, 3))) return false;
  PyObject* input_types = PyTuple_GET_ITEM(loaded, 4);
  PyObject* functions = PyTuple_GET_ITEM(loaded, 5);
  PyObject* columns = PyTuple_GET_ITEM(loaded, 6);
  input_fields_ = static_cast<size_t>(PyTuple_GET_SIZE(input_types));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(functions); ++i) {
    if (!add_function(PyTuple_GET_ITEM(functions, i), input_types)) return false;
  }
  if (functions_.size() == 1) functions_[0].converted_at_once = false;
  size_t widest = 0;
  for (const Function& function : functions_) widest = std::max(widest, function.arguments.size());
  values_.resize(arguments_.size());
  results_.resize(functions_.size());
  call_.resize(std::max<size_t>(widest, 1) + 1);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(columns); ++i) {
    if (!add_column(PyTuple_GET_ITEM(columns, i))) return false;
  }
  return true;
}

// (chain of callables, argument ordinals, keyword names or None, result type, whether it is
// converted at once)
bool Program::add_function(PyObject* description, PyObject* input_types) {
  Function function;
  PyObject* chain = PyTuple_GET_ITEM(description, 0);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(chain); ++i) {
    function.chain.push_back(PyRef::borrow(PyTuple_GET_ITEM(chain, i)));
  }
  PyObject* ordinals = PyTuple_GET_ITEM(description, 1);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(ordinals); ++i) {
    const auto ordinal = static_cast<size_t>(PyLong_AsSsize_t(PyTuple_GET_ITEM(ordinals, i)));
    const size_t index = argument_index(ordinal, input_types);
    if (PyErr_Occurred()) return false;
    function.arguments.push_back(index);
  }
  PyObject* keywords = PyTuple_GET_ITEM(description, 2);
  function.positional = function.arguments.size();
  if (keywords != Py_None) {
    function.keywords = PyRef::borrow(keywords);
    function.positional -= static_cast<size_t>(PyTuple_GET_SIZE(keywords));
  }
  function.result = Type::from_descriptor(PyTuple_GET_ITEM(description, 3));
  if (function.result == nullptr) return false;
  function.converted_at_once = PyTuple_GET_ITEM(description, 4) == Py_True;
  functions_.push_back(std::move(function));
  return true;
}

// (source, index, whether an input column has variable length)
bool Program::add_column(PyObject* description) {
  OutputColumn column = {
      static_cast<OutputColumn::Source>(PyLong_AsLong(PyTuple_GET_ITEM(description, 0))),
      static_cast<size_t>(PyLong_AsSsize_t(PyTuple_GET_ITEM(description, 1))),
      PyObject_IsTrue(PyTuple_GET_ITEM(description, 2)) == 1, nullptr};
  if (PyErr_Occurred()) return false;
  const bool of_function = column.source == OutputColumn::Source::kFunction;
  if (column.index >= (of_function ? functions_.size() : input_fields_)) {
    PyErr_SetString(PyExc_IndexError, "an output column is none of the input or of a function");
    return false;
  }
  if (of_function) {
    column.type = functions_[column.index].result.get();
    column.variable = column.type->variable;
  }
  columns_.push_back(column);
  return true;
}

// Where the input column is among those that are decoded; a column is decoded once for all
// functions.
size_t Program::argument_index(size_t ordinal, PyObject* input_types) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].ordinal == ordinal) return i;
  }
  if (ordinal >= input_fields_) {
    PyErr_SetString(PyExc_IndexError, "an argument is no column of the input");
    return 0;
  }
  std::unique_ptr<Type> type =
      Type::from_descriptor(PyTuple_GET_ITEM(input_types, static_cast<Py_ssize_t>(ordinal)));
  if (type != nullptr) arguments_.push_back({ordinal, std::move(type), {}});
  return arguments_.size() - 1;
}

Outcome Program::evaluate(const uint8_t* input, int row_count, bool ends_batch,
                          Evaluation& evaluation) {
  Outcome outcome = Outcome::kFailed;
  call(evaluation.times, [&](Attached& attached) {
    outcome = evaluate_attached(input, row_count, ends_batch, attached, evaluation);
  });
  evaluation.output = reinterpret_cast<uint64_t>(output_.data());
  return outcome;
}

Outcome Program::evaluate_attached(const uint8_t* input, int row_count, bool ends_batch,
                                   Attached& attached, Evaluation& evaluation) {
  output_.truncate(0);
  output_.shrink(kKeptOutputBytes);
  inexact_.truncate(0);
  evaluation.conversion_nanos = 0;
  Outcome outcome = Outcome::kDone;
  const uint8_t* cursor = input;
  int row = 0;
  if (!enter()) outcome = Outcome::kFailed;
  for (; outcome == Outcome::kDone && row < row_count; ++row) {
    if (slot_.interrupted()) {
      outcome = Outcome::kInterrupted;
      break;
    }
    row_number_ = static_cast<size_t>(row);
    const Region input_row = {cursor + 8, load_le<uint64_t>(cursor)};
    const RowOutcome row_outcome = evaluate_row(input_row, evaluation.conversion_nanos);
    if (row_outcome == RowOutcome::kRefusedImport) {
      PyErr_Clear();
      error_ = refused_names(refused_imports_.get());
      outcome = Outcome::kMoveToShared;
      break;
    }
    if (row_outcome == RowOutcome::kRaised) {
      outcome = Outcome::kFailed;
      break;
    }
    cursor = input_row.data + input_row.size;
  }
  if (outcome == Outcome::kDone && exchange_ == Exchange::kArrow &&
      !(inexact_.settle(runtime_.get(), output_, attached, error_) &&
        (!ends_batch || inexact_.end_batch(runtime_.get())))) {
    outcome = Outcome::kFailed;
  }
  inexact_.truncate(0);
  if (outcome == Outcome::kFailed) outcome = failure();
  evaluation.rows_done = row;
  evaluation.input_bytes_done = cursor - input;
  return outcome;
}

inline Program::RowOutcome Program::evaluate_row(const Region& row, int64_t& conversion_nanos) {
  const bool sampled = rows_until_sample_ == 0;
  rows_until_sample_ = sampled ? kSampleEvery - 1 : rows_until_sample_ - 1;
  PyObject* const refused_imports = refused_imports_.get();
  const size_t output_before = output_.size();
  const size_t inexact_before = inexact_.count();
  const size_t output_row = output_before + kFrameBytes;
  const int64_t start = sampled ? monotonic_nanos() : 0;
  const size_t decoded = decode_arguments(row);
  const int64_t decoded_at = sampled ? monotonic_nanos() : 0;
  int64_t encoding_nanos = 0;
  size_t called = 0;
  bool done = decoded == arguments_.size() && begin_row() &&
              call_functions(output_row, called, sampled ? &encoding_nanos : nullptr);
  const int64_t called_at = sampled ? monotonic_nanos() : 0;
  done = done && PyList_GET_SIZE(refused_imports) == 0;
  done = done && encode_rest(row, output_row);
  release_arguments(decoded);
  for (size_t i = 0; i < called; ++i) Py_DECREF(results_[i]);
  if (sampled) {
    const int64_t measured =
        decoded_at - start + encoding_nanos + monotonic_nanos() - called_at - 2 * clock_cost();
    conversion_nanos += std::max<int64_t>(measured, 0) * kSampleEvery;
  }
  if (done) return RowOutcome::kDone;
  output_.truncate(output_before);
  inexact_.truncate(inexact_before);
  return PyList_GET_SIZE(refused_imports) != 0 ? RowOutcome::kRefusedImport : RowOutcome::kRaised;
}

// How many arguments could be decoded: owned references in values_.
inline size_t Program::decode_arguments(const Region& row) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    Argument& argument = arguments_[i];
    if (argument.type->kind == Kind::kLong && !is_null(row.data, argument.ordinal)) {
      const uint8_t* slot = row.data + bit_set_bytes(input_fields_) + 8 * argument.ordinal;
      values_[i] = argument.spare.make(load_le<int64_t>(slot));
    } else {
      values_[i] = codec_.decode_field(*argument.type, row, input_fields_, argument.ordinal);
    }
    if (values_[i] == nullptr) return i;
  }
  return arguments_.size();
}

inline void Program::release_arguments(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (arguments_[i].type->kind == Kind::kLong) {
      arguments_[i].spare.give_back(values_[i]);
    } else {
      Py_DECREF(values_[i]);
    }
  }
}

// `called` functions returned: owned references in results_. The row begins at `row` in output_.
inline bool Program::call_functions(size_t row, size_t& called, int64_t* conversion_nanos) {
  PyObject** const arguments = call_.data() + 1;
  for (size_t f = 0; f < functions_.size(); ++f) {
    const Function& function = functions_[f];
    const size_t count = function.arguments.size();
    for (size_t i = 0; i < count; ++i) arguments[i] = values_[function.arguments[i]];
    PyObject* result = PyObject_Vectorcall(function.chain[0].get(), arguments,
                                           function.positional | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                           function.keywords.get());
    for (size_t i = 1; result != nullptr && i < function.chain.size(); ++i) {
      PyObject* inner = result;
      arguments[0] = inner;
      result = PyObject_Vectorcall(function.chain[i].get(), arguments,
                                   1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
      Py_DECREF(inner);
    }
    if (result == nullptr) return false;
    results_[f] = result;
    ++called;
    if (function.converted_at_once && !encode_at_once(f, row, conversion_nanos)) return false;
  }
  return true;
}

bool Program::encode_at_once(size_t function, size_t row, int64_t* conversion_nanos) {
  const int64_t start = conversion_nanos != nullptr ? monotonic_nanos() : 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const OutputColumn& column = columns_[i];
    if (column.source == OutputColumn::Source::kFunction && column.index == function &&
        !encode_result(i, row)) {
      return false;
    }
  }
  if (conversion_nanos != nullptr) *conversion_nanos += monotonic_nanos() - start - clock_cost();
  return true;
}

// Room for the frame and for the fixed part of the row.
inline bool Program::begin_row() {
  deferred_.clear();
  if (output_.extend_zeroed(kFrameBytes + fixed_bytes(columns_.size()))) return true;
  PyErr_NoMemory();
  return false;
}

// The columns that are not there yet, and the ordinals of the deferred ones behind the row.
inline bool Program::encode_rest(const Region& input, size_t row) {
  const size_t fields = columns_.size();
  for (size_t i = 0; i < fields; ++i) {
    const OutputColumn& column = columns_[i];
    const bool written = column.source == OutputColumn::Source::kInput
                             ? copy_field(input, input_fields_, column.index, column.variable,
                                          output_, row, fields, i)
                             : functions_[column.index].converted_at_once || encode_result(i, row);
    if (!written) return false;
  }
  const size_t frame = row - kFrameBytes;
  const size_t size = output_.size() - row;
  if (size > kMaxRowBytes) {
    PyErr_SetString(PyExc_OverflowError,
                    "the result does not fit into a Spark row: a row holds at most 2 GiB");
    return false;
  }
  store_le<int32_t>(output_.at(frame), static_cast<int32_t>(size));
  if (!deferred_.empty()) {
    std::sort(deferred_.begin(), deferred_.end());
    store_le<int32_t>(output_.at(frame + 4), static_cast<int32_t>(deferred_.size()));
    if (!output_.append_padded(deferred_.data(), deferred_.size() * sizeof(int32_t))) {
      PyErr_NoMemory();
      return false;
    }
  }
  return true;
}

inline bool Program::encode_result(size_t index, size_t row) {
  const size_t f = columns_[index].index;
  switch (codec_.encode_field(*functions_[f].result, results_[f], true, output_, row,
                              columns_.size(), index)) {
    case Encoded::kExact:
      return true;
    case Encoded::kFailed:
      return false;
    case Encoded::kInexact:
      break;
  }
  return settle_inexact(index, row);
}

// A result of another type than the exact one: pickled, the JVM converts what PySpark would have
// sent it; with Arrow, PySpark converts whole columns, so the value waits for the end of the
// bundle.
bool Program::settle_inexact(size_t index, size_t row) {
  const size_t f = columns_[index].index;
  PyObject* value = results_[f];
  if (exchange_ == Exchange::kArrow) {
    inexact_.add(row_number_, index, value);
    set_null(output_.at(row), index);
    return true;
  }
  PyRef pickled = PyRef::steal(PyObject_CallMethod(runtime_.get(), "pickle_result", "nO",
                                                   static_cast<Py_ssize_t>(f), value));
  if (!pickled) return false;
  const size_t start = output_.size();
  const auto size = static_cast<size_t>(PyBytes_GET_SIZE(pickled.get()));
  if (!output_.append_padded(PyBytes_AS_STRING(pickled.get()), size)) {
    PyErr_NoMemory();
    return false;
  }
  const size_t slot = row + bit_set_bytes(columns_.size()) + 8 * index;
  store_le<uint64_t>(output_.at(slot), (static_cast<uint64_t>(start - row) << 32) | size);
  deferred_.push_back(static_cast<int32_t>(index));
  return true;
}

}  // namespace pyflow
