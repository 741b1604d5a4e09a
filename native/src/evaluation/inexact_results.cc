#include "evaluation/inexact_results.h"

#include <new>

#include "runtime/error_text.h"
#include "runtime/start.h"

namespace pyflow {
namespace {

std::string bytes_of(const PyRef& bytes) {
  return std::string(PyBytes_AS_STRING(bytes.get()),
                     static_cast<size_t>(PyBytes_GET_SIZE(bytes.get())));
}

// Has the shared interpreter convert packed values; false with its exception as the answer. Throws
// nothing: it is called without the GIL that whoever catches an exception would need.
bool convert_in_shared_interpreter(const std::string& packed, std::string& answer) {
  Attached shared(shared_interpreter());
  try {
    PyRef module = PyRef::steal(PyImport_ImportModule("pyflow.thread_mode.results"));
    PyRef bytes;
    if (module) {
      bytes = PyRef::steal(PyObject_CallMethod(module.get(), "convert_packed", "y#", packed.data(),
                                               static_cast<Py_ssize_t>(packed.size())));
    }
    answer = bytes ? bytes_of(bytes) : take_error_text(shared_interpreter().state.get(), nullptr);
    return static_cast<bool>(bytes);
  } catch (const std::bad_alloc&) {
    answer = "MemoryError";
    return false;
  }
}

}  // namespace

void InexactResults::truncate(size_t count) {
  values_.erase(values_.begin() + static_cast<ptrdiff_t>(count), values_.end());
}

InexactResults::Seen& InexactResults::seen(size_t column) {
  const size_t function = columns_[column].index;
  if (function >= seen_.size()) seen_.resize(function + 1, Seen::kNothing);
  return seen_[function];
}

bool InexactResults::settle(PyObject* runtime, Buffer& output, Attached& attached,
                            std::string& error) {
  for (const Value& each : values_) seen(each.column) = Seen::kInexact;
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (columns_[column].source != OutputColumn::Source::kFunction) continue;
    switch (seen(column)) {
      case Seen::kNothing:
        if (!keep_example(runtime, column, output)) return false;
        break;
      case Seen::kExact:
        break;
      case Seen::kInexact:
        if (!convert(runtime, column, output, attached, error)) return false;
        break;
    }
  }
  return true;
}

bool InexactResults::end_batch(PyObject* runtime) {
  seen_.clear();
  PyRef begun = PyRef::steal(PyObject_CallMethod(runtime, "begin_batch", nullptr));
  return static_cast<bool>(begun);
}

// The first result that is not null stands for the exact ones when another type comes later.
bool InexactResults::keep_example(PyObject* runtime, size_t column, const Buffer& output) {
  for (size_t frame = 0; frame < output.size();) {
    const Region row = row_at(output, frame);
    if (!is_null(row.data, column)) {
      const Codec reader(*interpreter_.state, Exchange::kArrow, true, Codec::Timestamps::kUtc);
      PyRef value =
          PyRef::steal(reader.decode_field(*columns_[column].type, row, columns_.size(), column));
      if (!value) return false;
      seen(column) = Seen::kExact;
      PyRef kept = PyRef::steal(PyObject_CallMethod(runtime, "add_example", "nO",
                                                    static_cast<Py_ssize_t>(columns_[column].index),
                                                    value.get()));
      return static_cast<bool>(kept);
    }
    frame += kFrameBytes + row.size;
  }
  return true;
}

bool InexactResults::convert(PyObject* runtime, size_t column, Buffer& output, Attached& attached,
                             std::string& error) {
  PyRef values = column_values(column, output);
  if (!values) return false;
  PyRef converted = convert_values(runtime, columns_[column].index, values.get(), attached, error);
  return converted && rewrite_column(column, converted.get(), output);
}

// All results of a column in this bundle: those already encoded are read back.
PyRef InexactResults::column_values(size_t column, const Buffer& output) const {
  const Codec reader(*interpreter_.state, Exchange::kArrow, true, Codec::Timestamps::kUtc);
  PyRef values = PyRef::steal(PyList_New(0));
  if (!values) return values;
  size_t next = 0;
  size_t frame = 0;
  for (size_t number = 0; frame < output.size(); ++number) {
    const Region row = row_at(output, frame);
    PyObject* waiting = find(next, number, column);
    PyRef value = waiting != nullptr ? PyRef::borrow(waiting)
                                     : PyRef::steal(reader.decode_field(*columns_[column].type, row,
                                                                        columns_.size(), column));
    if (!value || PyList_Append(values.get(), value.get()) != 0) return PyRef();
    frame += kFrameBytes + row.size;
  }
  return values;
}

// The value of a row and column, null if it is not here. Asked for row after row; `from` is where
// the values of the row begin.
PyObject* InexactResults::find(size_t& from, size_t row, size_t column) const {
  while (from < values_.size() && values_[from].row < row) ++from;
  for (size_t i = from; i < values_.size() && values_[i].row == row; ++i) {
    if (values_[i].column == column) return values_[i].value.get();
  }
  return nullptr;
}

// PySpark's conversion needs pyarrow, which refuses isolated interpreters: there the values travel
// to the shared one and back.
PyRef InexactResults::convert_values(PyObject* runtime, size_t function, PyObject* values,
                                     Attached& attached, std::string& error) const {
  const auto index = static_cast<Py_ssize_t>(function);
  if (!interpreter_.isolated) {
    return PyRef::steal(PyObject_CallMethod(runtime, "convert_results", "nO", index, values));
  }
  PyRef packed = PyRef::steal(PyObject_CallMethod(runtime, "pack_results", "nO", index, values));
  if (!packed) return PyRef();
  const std::string request = bytes_of(packed);
  std::string answer;
  attached.release();
  const bool converted = convert_in_shared_interpreter(request, answer);
  attached.retake();
  if (!converted) {
    error = answer;
    return PyRef();
  }
  return PyRef::steal(PyObject_CallMethod(runtime, "unpack_results", "y#", answer.data(),
                                          static_cast<Py_ssize_t>(answer.size())));
}

// Writes all rows of the bundle again with `values` in `column`.
bool InexactResults::rewrite_column(size_t column, PyObject* values, Buffer& output) const {
  Buffer rewritten;
  size_t frame = 0;
  for (Py_ssize_t number = 0; frame < output.size(); ++number) {
    const Region before = row_at(output, frame);
    if (!rewrite_row(before, column, PyList_GET_ITEM(values, number), rewritten)) return false;
    frame += kFrameBytes + before.size;
  }
  output.swap(rewritten);
  return true;
}

bool InexactResults::rewrite_row(const Region& before, size_t column, PyObject* value,
                                 Buffer& out) const {
  const size_t fields = columns_.size();
  const size_t frame = out.size();
  const size_t row = frame + kFrameBytes;
  if (!out.extend_zeroed(kFrameBytes + fixed_bytes(fields))) {
    PyErr_NoMemory();
    return false;
  }
  for (size_t i = 0; i < fields; ++i) {
    if (i != column) {
      if (!copy_field(before, fields, i, columns_[i].variable, out, row, fields, i)) return false;
      continue;
    }
    const Encoded encoded =
        codec_.encode_field(*columns_[i].type, value, true, out, row, fields, i);
    if (encoded == Encoded::kInexact) {
      PyErr_Format(PyExc_SystemError, "a converted result still has the type %s",
                   Py_TYPE(value)->tp_name);
    }
    if (encoded != Encoded::kExact) return false;
  }
  store_le<int32_t>(out.at(frame), static_cast<int32_t>(out.size() - row));
  return true;
}

}  // namespace pyflow
