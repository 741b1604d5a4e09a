// See program.h.
//
// A bundle crosses into Python once: the GIL is taken, every row is decoded, handed to the
// functions by vectorcall and its results encoded, and the GIL is given up again. Nothing in
// between calls the JVM.

#include "program.h"

#include <algorithm>
#include <cstring>

#include "calendar.h"

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

// What refused the interpreter after the first `known` that did.
std::string refused_imports(const InterpreterState& state, Py_ssize_t known) {
  std::string names;
  for (Py_ssize_t i = known; i < PyList_GET_SIZE(state.refused_imports.get()); ++i) {
    const char* name = PyUnicode_AsUTF8(PyList_GET_ITEM(state.refused_imports.get(), i));
    if (name == nullptr) PyErr_Clear();
    if (!names.empty()) names += ", ";
    names += name != nullptr ? name : "?";
  }
  return names;
}

constexpr size_t kFrameBytes = 8;  // int32 row size, int32 number of deferred columns

Region row_at(const Buffer& output, size_t frame) {
  const auto size = static_cast<size_t>(load_le<int32_t>(output.data() + frame));
  return {output.data() + frame + kFrameBytes, size};
}

// Copies field `from` of an input row to field `to` of the output row at offset `row`; false with
// an error set.
bool copy_field(const Region& input, size_t input_fields, size_t from, bool variable, Buffer& out,
                size_t row, size_t fields, size_t to) {
  if (is_null(input.data, from)) {
    set_null(out.at(row), to);
    return true;
  }
  const size_t slot = row + bit_set_bytes(fields) + 8 * to;
  const uint8_t* word = input.data + bit_set_bytes(input_fields) + 8 * from;
  if (!variable) {
    store_le<uint64_t>(out.at(slot), load_le<uint64_t>(word));
    return true;
  }
  Region value;
  if (!input.variable(word, value)) {
    PyErr_SetString(PyExc_ValueError, "malformed row: a value does not lie within its row");
    return false;
  }
  const size_t start = out.size();
  if (!out.append_padded(value.data, value.size)) {
    PyErr_NoMemory();
    return false;
  }
  store_le<uint64_t>(out.at(slot), (static_cast<uint64_t>(start - row) << 32) | value.size);
  return true;
}

}  // namespace

std::unique_ptr<Program> Program::load(Slot& slot, const std::string& specification,
                                       std::string& error, bool& needs_shared) {
  std::unique_ptr<Program> program;
  local_zone_may_have_changed();
  const std::string refused = slot.run([&] {
    Attached attached(slot.interpreter());
    const InterpreterState& state = *slot.interpreter().state;
    const Py_ssize_t refused_before = PyList_GET_SIZE(state.refused_imports.get());
    slot.begin_python();
    PyRef loaded =
        PyRef::steal(PyObject_CallFunction(state.load_program.get(), "y#", specification.data(),
                                           static_cast<Py_ssize_t>(specification.size())));
    slot.end_python();
    if (PyList_GET_SIZE(state.refused_imports.get()) != refused_before) {
      PyErr_Clear();
      error = refused_imports(state, refused_before);
      needs_shared = true;
      return;
    }
    if (loaded) {
      PyObject* tuple = loaded.get();
      const auto exchange = static_cast<Exchange>(PyLong_AsLong(PyTuple_GET_ITEM(tuple, 0)));
      const bool binary_as_bytes = PyTuple_GET_ITEM(tuple, 1) == Py_True;
      program.reset(new Program(slot, exchange, binary_as_bytes));
      if (program->build(tuple)) return;
      program.reset();
    }
    error = take_error_text(&state, nullptr);
  });
  if (!refused.empty()) error = refused;
  return program;
}

void Program::close(std::unique_ptr<Program> program) {
  Slot& slot = program->slot_;
  // Destructors of the functions' objects are Python code too.
  const std::string refused = slot.run([&] {
    Attached attached(slot.interpreter());
    slot.begin_python();
    program.reset();
    slot.end_python();
  });
  if (!refused.empty()) static_cast<void>(program.release());
}

Program::Program(Slot& slot, Exchange exchange, bool binary_as_bytes)
    : Functions(slot),
      exchange_(exchange),
      codec_(*slot.interpreter().state, exchange, binary_as_bytes) {}

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
    PyObject* column = PyTuple_GET_ITEM(columns, i);
    columns_.push_back({static_cast<Column::Source>(PyLong_AsLong(PyTuple_GET_ITEM(column, 0))),
                        static_cast<size_t>(PyLong_AsSsize_t(PyTuple_GET_ITEM(column, 1))),
                        PyObject_IsTrue(PyTuple_GET_ITEM(column, 2)) == 1});
  }
  return !PyErr_Occurred();
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

// Where the input column is among those that are decoded; a column is decoded once for all
// functions.
size_t Program::argument_index(size_t ordinal, PyObject* input_types) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].ordinal == ordinal) return i;
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
  evaluation.output_bytes = static_cast<int64_t>(output_.size());
  return outcome;
}

Outcome Program::evaluate_attached(const uint8_t* input, int row_count, bool ends_batch,
                                   Attached& attached, Evaluation& evaluation) {
  output_.truncate(0);
  output_.shrink(kKeptOutputBytes);
  inexact_.clear();
  evaluation.conversion_nanos = 0;
  Outcome outcome = Outcome::kDone;
  const InterpreterState& state = *slot_.interpreter().state;
  const Py_ssize_t refused_before = PyList_GET_SIZE(state.refused_imports.get());
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
      error_ = refused_imports(state, refused_before);
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
      !(settle_columns(attached) && (!ends_batch || end_batch()))) {
    outcome = Outcome::kFailed;
  }
  inexact_.clear();
  if (outcome == Outcome::kFailed) outcome = failure();
  evaluation.rows_done = row;
  evaluation.input_bytes_done = cursor - input;
  return outcome;
}

inline Program::RowOutcome Program::evaluate_row(const Region& row, int64_t& conversion_nanos) {
  const bool sampled = rows_until_sample_ == 0;
  rows_until_sample_ = sampled ? kSampleEvery - 1 : rows_until_sample_ - 1;
  PyObject* const refused_imports = slot_.interpreter().state->refused_imports.get();
  const Py_ssize_t refused_before = PyList_GET_SIZE(refused_imports);
  const size_t output_before = output_.size();
  const size_t inexact_before = inexact_.size();
  const size_t output_row = output_before + kFrameBytes;
  const int64_t start = sampled ? monotonic_nanos() : 0;
  const size_t decoded = decode_arguments(row);
  const int64_t decoded_at = sampled ? monotonic_nanos() : 0;
  int64_t encoding_nanos = 0;
  size_t called = 0;
  bool done = decoded == arguments_.size() && begin_row() &&
              call_functions(output_row, called, sampled ? &encoding_nanos : nullptr);
  const int64_t called_at = sampled ? monotonic_nanos() : 0;
  done = done && PyList_GET_SIZE(refused_imports) == refused_before;
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
  inexact_.erase(inexact_.begin() + static_cast<ptrdiff_t>(inexact_before), inexact_.end());
  return PyList_GET_SIZE(refused_imports) != refused_before ? RowOutcome::kRefusedImport
                                                            : RowOutcome::kRaised;
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
    const Column& column = columns_[i];
    if (column.source == Column::Source::kFunction && column.index == function &&
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
    const Column& column = columns_[i];
    const bool written = column.source == Column::Source::kInput
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
    inexact_.push_back({row_number_, index, PyRef::borrow(value)});
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

// Arrow converts a column of a batch at a time: one value of another type decides how all others
// are read, those of the bundles before and after too. So from then on the batch's results are put
// together again, converted by PySpark, and written anew.
bool Program::settle_columns(Attached& attached) {
  for (const Inexact& each : inexact_) {
    functions_[columns_[each.column].index].seen = Seen::kInexact;
  }
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (columns_[column].source != Column::Source::kFunction) continue;
    switch (functions_[columns_[column].index].seen) {
      case Seen::kNothing:
        if (!keep_example(column)) return false;
        break;
      case Seen::kExact:
        break;
      case Seen::kInexact:
        if (!convert_inexact(column, attached)) return false;
        break;
    }
  }
  return true;
}

bool Program::convert_inexact(size_t column, Attached& attached) {
  PyRef values = column_values(column);
  if (!values) return false;
  PyRef converted = convert_column(columns_[column].index, values.get(), attached);
  return converted && rewrite_column(column, converted.get());
}

// The first result that is not null stands for the exact ones when another type comes later.
bool Program::keep_example(size_t column) {
  const size_t index = columns_[column].index;
  for (size_t frame = 0; frame < output_.size();) {
    const Region row = row_at(output_, frame);
    if (!is_null(row.data, column)) {
      const Codec reader(*slot_.interpreter().state, Exchange::kArrow, true,
                         Codec::Timestamps::kUtc);
      PyRef value = PyRef::steal(
          reader.decode_field(*functions_[index].result, row, columns_.size(), column));
      if (!value) return false;
      functions_[index].seen = Seen::kExact;
      PyRef kept = PyRef::steal(PyObject_CallMethod(runtime_.get(), "add_example", "nO",
                                                    static_cast<Py_ssize_t>(index), value.get()));
      return static_cast<bool>(kept);
    }
    frame += kFrameBytes + row.size;
  }
  return true;
}

bool Program::end_batch() {
  for (Function& function : functions_) function.seen = Seen::kNothing;
  PyRef begun = PyRef::steal(PyObject_CallMethod(runtime_.get(), "begin_batch", nullptr));
  return static_cast<bool>(begun);
}

// All results of a column in this bundle: those already encoded are read back.
PyRef Program::column_values(size_t column) {
  const Codec reader(*slot_.interpreter().state, Exchange::kArrow, true, Codec::Timestamps::kUtc);
  const Type& type = *functions_[columns_[column].index].result;
  PyRef values = PyRef::steal(PyList_New(0));
  if (!values) return values;
  size_t next = 0;
  size_t frame = 0;
  for (size_t row = 0; frame < output_.size(); ++row) {
    while (next < inexact_.size() &&
           (inexact_[next].row < row ||
            (inexact_[next].row == row && inexact_[next].column < column))) {
      ++next;
    }
    const bool waiting =
        next < inexact_.size() && inexact_[next].row == row && inexact_[next].column == column;
    PyRef value = waiting ? PyRef::borrow(inexact_[next].value.get())
                          : PyRef::steal(reader.decode_field(type, row_at(output_, frame),
                                                             columns_.size(), column));
    if (!value || PyList_Append(values.get(), value.get()) != 0) return PyRef();
    frame += kFrameBytes + static_cast<size_t>(load_le<int32_t>(output_.data() + frame));
  }
  return values;
}

// PySpark's conversion needs pyarrow, which refuses isolated interpreters: there the values travel
// to the shared one and back.
PyRef Program::convert_column(size_t function, PyObject* values, Attached& attached) {
  const auto index = static_cast<Py_ssize_t>(function);
  if (!slot_.interpreter().isolated) {
    return PyRef::steal(
        PyObject_CallMethod(runtime_.get(), "convert_results", "nO", index, values));
  }
  PyRef packed =
      PyRef::steal(PyObject_CallMethod(runtime_.get(), "pack_results", "nO", index, values));
  if (!packed) return PyRef();
  const std::string request(PyBytes_AS_STRING(packed.get()),
                            static_cast<size_t>(PyBytes_GET_SIZE(packed.get())));
  std::string answer;
  bool converted = false;
  attached.release();
  {
    Attached shared(shared_interpreter());
    PyRef module = PyRef::steal(PyImport_ImportModule("pyflow.thread_mode.results"));
    PyRef bytes;
    if (module) {
      bytes = PyRef::steal(PyObject_CallMethod(module.get(), "convert_packed", "y#", request.data(),
                                               static_cast<Py_ssize_t>(request.size())));
    }
    converted = static_cast<bool>(bytes);
    if (converted) {
      answer.assign(PyBytes_AS_STRING(bytes.get()),
                    static_cast<size_t>(PyBytes_GET_SIZE(bytes.get())));
    } else {
      answer = take_error_text(shared_interpreter().state.get(), nullptr);
    }
  }
  attached.retake();
  if (!converted) {
    error_ = answer;
    return PyRef();
  }
  return PyRef::steal(PyObject_CallMethod(runtime_.get(), "unpack_results", "y#", answer.data(),
                                          static_cast<Py_ssize_t>(answer.size())));
}

// Writes all rows of the bundle again with `values` in `column`.
bool Program::rewrite_column(size_t column, PyObject* values) {
  const size_t fields = columns_.size();
  Buffer rewritten;
  size_t frame = 0;
  for (Py_ssize_t number = 0; frame < output_.size(); ++number) {
    const Region before = row_at(output_, frame);
    const size_t new_frame = rewritten.size();
    const size_t row = new_frame + kFrameBytes;
    if (!rewritten.extend_zeroed(kFrameBytes + fixed_bytes(fields))) {
      PyErr_NoMemory();
      return false;
    }
    for (size_t i = 0; i < fields; ++i) {
      if (i != column) {
        const bool variable = columns_[i].source == Column::Source::kInput
                                  ? columns_[i].variable
                                  : functions_[columns_[i].index].result->variable;
        if (!copy_field(before, fields, i, variable, rewritten, row, fields, i)) return false;
        continue;
      }
      PyObject* value = PyList_GET_ITEM(values, number);
      const Encoded encoded = codec_.encode_field(*functions_[columns_[i].index].result, value,
                                                  true, rewritten, row, fields, i);
      if (encoded == Encoded::kInexact) {
        PyErr_Format(PyExc_SystemError, "a converted result still has the type %s",
                     Py_TYPE(value)->tp_name);
      }
      if (encoded != Encoded::kExact) return false;
    }
    store_le<int32_t>(rewritten.at(new_frame), static_cast<int32_t>(rewritten.size() - row));
    frame += kFrameBytes + static_cast<size_t>(load_le<int32_t>(output_.data() + frame));
  }
  output_.swap(rewritten);
  return true;
}

}  // namespace pyflow
