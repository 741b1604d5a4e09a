// See row_codec.h.

#include "evaluation/row_codec.h"

#include <memory>
#include <utility>

#include "codec/calendar.h"
#include "codec/codec.h"
#include "evaluation/arrow_c_data.h"

namespace pyflow {
namespace {

constexpr const char* kStateCapsule = "pyflow.InterpreterState";
constexpr const char* kCodecCapsule = "pyflow.RowCodec";

class RowCodec {
 public:
  RowCodec(const InterpreterState& state, std::unique_ptr<Type> type, Exchange exchange,
           bool binary_as_bytes)
      : state_(state), type_(std::move(type)), codec_(state, exchange, binary_as_bytes) {}

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

  PyRef decode(Region rows) const {
    PyRef list = PyRef::steal(PyList_New(0));
    if (!list) return list;
    while (rows.size > 0) {
      const size_t row_size = rows.size >= 8 ? load_le<uint64_t>(rows.data) : 0;
      if (row_size < fixed_bytes(type_->children.size()) || !rows.holds(8, row_size)) {
        PyErr_SetString(PyExc_ValueError, "malformed rows: one does not lie within the bytes");
        return PyRef();
      }
      PyRef value = PyRef::steal(codec_.decode_row(*type_, {rows.data + 8, row_size}));
      if (!value || PyList_Append(list.get(), value.get()) != 0) return PyRef();
      rows = rows.from(8 + row_size);
    }
    return list;
  }

  PyRef encode(PyObject* value) const {
    const size_t fields = type_->children.size();
    const bool is_row = PyTuple_CheckExact(value) ||
                        Py_TYPE(value) == reinterpret_cast<PyTypeObject*>(state_.row_type.get());
    if (!is_row || static_cast<size_t>(PyTuple_GET_SIZE(value)) != fields) {
      return PyRef::borrow(Py_None);
    }
    Buffer out;
    if (!out.extend_zeroed(fixed_bytes(fields))) return PyRef::steal(PyErr_NoMemory());
    for (size_t i = 0; i < fields; ++i) {
      const Type::Child& field = type_->children[i];
      const Encoded encoded =
          codec_.encode_field(*field.type, PyTuple_GET_ITEM(value, static_cast<Py_ssize_t>(i)),
                              field.nullable, out, 0, fields, i);
      if (encoded == Encoded::kFailed) return PyRef();
      if (encoded == Encoded::kInexact) return PyRef::borrow(Py_None);
    }
    return PyRef::steal(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(out.data()),
                                                  static_cast<Py_ssize_t>(out.size())));
  }

 private:
  const InterpreterState& state_;
  const std::unique_ptr<Type> type_;
  const Codec codec_;
};

RowCodec* codec_in(PyObject* capsule) {
  return static_cast<RowCodec*>(PyCapsule_GetPointer(capsule, kCodecCapsule));
}

PyObject* read(PyObject* capsule, PyObject* address) {
  RowCodec* codec = codec_in(capsule);
  if (codec == nullptr) return nullptr;
  const auto* array = static_cast<const ArrowArray*>(PyLong_AsVoidPtr(address));
  if (array == nullptr) return nullptr;
  return codec->read(static_cast<const uint8_t*>(array->buffers[0]), array->length).release();
}

PyObject* decode(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count) {
  RowCodec* codec = codec_in(capsule);
  if (codec == nullptr) return nullptr;
  if (count != 3 || !PyBytes_Check(arguments[0])) {
    PyErr_SetString(PyExc_TypeError, "rows are decoded from bytes, from an offset to another");
    return nullptr;
  }
  const Py_ssize_t from = PyLong_AsSsize_t(arguments[1]);
  const Py_ssize_t to = PyLong_AsSsize_t(arguments[2]);
  if (PyErr_Occurred()) return nullptr;
  if (from < 0 || from > to || to > PyBytes_GET_SIZE(arguments[0])) {
    PyErr_SetString(PyExc_ValueError, "rows do not lie within the bytes");
    return nullptr;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(arguments[0]));
  return codec->decode({bytes + from, static_cast<size_t>(to - from)}).release();
}

PyObject* encode(PyObject* capsule, PyObject* value) {
  RowCodec* codec = codec_in(capsule);
  return codec == nullptr ? nullptr : codec->encode(value).release();
}

void destroy(PyObject* capsule) { delete codec_in(capsule); }

PyObject* open(PyObject* capsule, PyObject* arguments) {
  static PyMethodDef read_method = {"read", read, METH_O, nullptr};
  static PyMethodDef decode_method = {
      "decode", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(decode)), METH_FASTCALL,
      nullptr};
  static PyMethodDef encode_method = {"encode", encode, METH_O, nullptr};
  auto* state = static_cast<const InterpreterState*>(PyCapsule_GetPointer(capsule, kStateCapsule));
  PyObject* descriptor = nullptr;
  int exchange = 0;
  int binary_as_bytes = 0;
  if (state == nullptr ||
      !PyArg_ParseTuple(arguments, "Oip", &descriptor, &exchange, &binary_as_bytes)) {
    return nullptr;
  }
  std::unique_ptr<Type> type = Type::from_descriptor(descriptor);
  if (type == nullptr) return nullptr;
  if (type->kind != Kind::kStruct) {
    PyErr_SetString(PyExc_TypeError, "rows have a struct type");
    return nullptr;
  }
  local_zone_may_have_changed();
  auto codec = std::make_unique<RowCodec>(*state, std::move(type), static_cast<Exchange>(exchange),
                                          binary_as_bytes != 0);
  PyRef held = PyRef::steal(PyCapsule_New(codec.get(), kCodecCapsule, destroy));
  if (!held) return nullptr;
  static_cast<void>(codec.release());
  PyRef reader = PyRef::steal(PyCFunction_New(&read_method, held.get()));
  PyRef decoder = PyRef::steal(PyCFunction_New(&decode_method, held.get()));
  PyRef encoder = PyRef::steal(PyCFunction_New(&encode_method, held.get()));
  if (!reader || !decoder || !encoder) return nullptr;
  return PyTuple_Pack(3, reader.get(), decoder.get(), encoder.get());
}

}  // namespace

PyRef row_codec_factory(const InterpreterState& state) {
  static PyMethodDef method = {"row_codec", open, METH_VARARGS, nullptr};
  // States live as long as the process.
  PyRef capsule =
      PyRef::steal(PyCapsule_New(const_cast<InterpreterState*>(&state), kStateCapsule, nullptr));
  if (!capsule) return PyRef();
  return PyRef::steal(PyCFunction_New(&method, capsule.get()));
}

}  // namespace pyflow
