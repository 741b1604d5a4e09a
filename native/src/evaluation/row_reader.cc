// See row_reader.h.

#include "evaluation/row_reader.h"

#include <memory>
#include <utility>

#include "codec/calendar.h"
#include "codec/codec.h"
#include "evaluation/arrow_c_data.h"

namespace pyflow {
namespace {

constexpr const char* kStateCapsule = "pyflow.InterpreterState";
constexpr const char* kReaderCapsule = "pyflow.RowReader";

class RowReader {
 public:
  RowReader(const InterpreterState& state, std::unique_ptr<Type> type, bool binary_as_bytes)
      : type_(std::move(type)), codec_(state, Exchange::kPickle, binary_as_bytes) {}

  PyRef read(const uint8_t* rows, int64_t count) const {
    PyRef list = PyRef::steal(PyList_New(count));
    if (!list) return list;
    for (int64_t i = 0; i < count; ++i) {
      const Region row = {rows + 8, load_le<uint64_t>(rows)};
      PyObject* value = codec_.decode_row(*type_, row);
      if (value == nullptr) return PyRef();
      PyList_SET_ITEM(list.get(), i, value);
      rows = row.data + row.size;
    }
    return list;
  }

 private:
  const std::unique_ptr<Type> type_;
  const Codec codec_;
};

PyObject* read(PyObject* capsule, PyObject* address) {
  auto* reader = static_cast<RowReader*>(PyCapsule_GetPointer(capsule, kReaderCapsule));
  if (reader == nullptr) return nullptr;
  const auto* array = static_cast<const ArrowArray*>(PyLong_AsVoidPtr(address));
  if (array == nullptr) return nullptr;
  return reader->read(static_cast<const uint8_t*>(array->buffers[0]), array->length).release();
}

void destroy(PyObject* capsule) {
  delete static_cast<RowReader*>(PyCapsule_GetPointer(capsule, kReaderCapsule));
}

PyObject* open(PyObject* capsule, PyObject* arguments) {
  static PyMethodDef method = {"read", read, METH_O, nullptr};
  auto* state = static_cast<const InterpreterState*>(PyCapsule_GetPointer(capsule, kStateCapsule));
  PyObject* descriptor = nullptr;
  int binary_as_bytes = 0;
  if (state == nullptr || !PyArg_ParseTuple(arguments, "Op", &descriptor, &binary_as_bytes)) {
    return nullptr;
  }
  std::unique_ptr<Type> type = Type::from_descriptor(descriptor);
  if (type == nullptr) return nullptr;
  if (type->kind != Kind::kStruct) {
    PyErr_SetString(PyExc_TypeError, "rows have a struct type");
    return nullptr;
  }
  local_zone_may_have_changed();
  auto reader = std::make_unique<RowReader>(*state, std::move(type), binary_as_bytes != 0);
  PyRef held = PyRef::steal(PyCapsule_New(reader.get(), kReaderCapsule, destroy));
  if (!held) return nullptr;
  static_cast<void>(reader.release());
  return PyCFunction_New(&method, held.get());
}

}  // namespace

PyRef row_reader_factory(const InterpreterState& state) {
  static PyMethodDef method = {"row_reader", open, METH_VARARGS, nullptr};
  // States live as long as the process.
  PyRef capsule =
      PyRef::steal(PyCapsule_New(const_cast<InterpreterState*>(&state), kStateCapsule, nullptr));
  if (!capsule) return PyRef();
  return PyRef::steal(PyCFunction_New(&method, capsule.get()));
}

}  // namespace pyflow
