// See codec_test.h. Part of the codec's test library only.

#include "codec_test.h"

#include <string>

#include "codec/calendar.h"
#include "codec/codec.h"

using pyflow::Buffer;
using pyflow::Codec;
using pyflow::Encoded;
using pyflow::Exchange;
using pyflow::InterpreterState;
using pyflow::PyRef;
using pyflow::Type;

struct pyflow_codec {
  pyflow_codec(std::unique_ptr<InterpreterState> state_, std::unique_ptr<Type> type_,
               Exchange exchange, bool binary_as_bytes)
      : state(std::move(state_)),
        type(std::move(type_)),
        codec(*state, exchange, binary_as_bytes) {}

  std::unique_ptr<InterpreterState> state;
  std::unique_ptr<Type> type;
  Codec codec;
  Buffer row;
  std::string error;
};

namespace {

class Gil {
 public:
  // Tests change the time zone between calls.
  Gil() : state_(PyGILState_Ensure()) { pyflow::local_zone_may_have_changed(); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;
  ~Gil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

PyObject* object_at(uintptr_t address) { return reinterpret_cast<PyObject*>(address); }

int failed(pyflow_codec& codec) {
  PyRef exception = PyRef::steal(pyflow::take_exception());
  PyRef text = PyRef::steal(PyObject_Repr(exception.get()));
  const char* chars = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  codec.error = chars != nullptr ? chars : "an exception without a text";
  PyErr_Clear();
  return PYFLOW_FAILED;
}

}  // namespace

#define PYFLOW_EXPORT extern "C" __attribute__((visibility("default")))

PYFLOW_EXPORT pyflow_codec* pyflow_codec_open(uintptr_t descriptor, int arrow,
                                              int binary_as_bytes) {
  Gil gil;
  std::unique_ptr<InterpreterState> state = InterpreterState::create();
  std::unique_ptr<Type> type = Type::from_descriptor(object_at(descriptor));
  if (state == nullptr || type == nullptr || type->kind != pyflow::Kind::kStruct) {
    PyErr_Print();
    return nullptr;
  }
  return new pyflow_codec(std::move(state), std::move(type),
                          arrow != 0 ? Exchange::kArrow : Exchange::kPickle, binary_as_bytes != 0);
}

PYFLOW_EXPORT void pyflow_codec_close(pyflow_codec* codec) {
  Gil gil;
  delete codec;
}

PYFLOW_EXPORT int pyflow_codec_encode(pyflow_codec* codec, uintptr_t values, const uint8_t** row,
                                      size_t* size) {
  Gil gil;
  const std::vector<Type::Child>& fields = codec->type->children;
  const size_t count = fields.size();
  codec->row.truncate(0);
  if (!codec->row.extend_zeroed(pyflow::fixed_bytes(count))) return PYFLOW_FAILED;
  int outcome = PYFLOW_EXACT;
  for (size_t i = 0; i < count; ++i) {
    PyObject* value = PyTuple_GET_ITEM(object_at(values), static_cast<Py_ssize_t>(i));
    switch (codec->codec.encode_field(*fields[i].type, value, fields[i].nullable, codec->row, 0,
                                      count, i)) {
      case Encoded::kExact:
        break;
      case Encoded::kInexact:
        pyflow::set_null(codec->row.at(0), i);
        outcome = PYFLOW_INEXACT;
        break;
      case Encoded::kFailed:
        return failed(*codec);
    }
  }
  *row = codec->row.data();
  *size = codec->row.size();
  return outcome;
}

PYFLOW_EXPORT int pyflow_codec_decode(pyflow_codec* codec, const uint8_t* row, size_t size,
                                      uintptr_t values) {
  Gil gil;
  const std::vector<Type::Child>& fields = codec->type->children;
  for (size_t i = 0; i < fields.size(); ++i) {
    PyRef value =
        PyRef::steal(codec->codec.decode_field(*fields[i].type, {row, size}, fields.size(), i));
    if (!value || PyList_Append(object_at(values), value.get()) != 0) return failed(*codec);
  }
  return PYFLOW_EXACT;
}

PYFLOW_EXPORT const char* pyflow_codec_error(const pyflow_codec* codec) {
  return codec->error.c_str();
}
