#include "codec/types.h"

namespace pyflow {
namespace {

bool has_arity(PyObject* descriptor, Py_ssize_t size) {
  if (PyTuple_GET_SIZE(descriptor) == size) return true;
  PyErr_Format(PyExc_ValueError, "malformed type descriptor %R", descriptor);
  return false;
}

bool add_child(Type& type, PyObject* descriptor, bool nullable) {
  std::unique_ptr<Type> child = Type::from_descriptor(descriptor);
  if (child == nullptr) return false;
  type.children.push_back({std::move(child), nullable});
  return true;
}

bool fill_array(Type& type, PyObject* descriptor) {
  return has_arity(descriptor, 3) &&
         add_child(type, PyTuple_GET_ITEM(descriptor, 1),
                   PyObject_IsTrue(PyTuple_GET_ITEM(descriptor, 2)) == 1);
}

bool fill_map(Type& type, PyObject* descriptor) {
  return has_arity(descriptor, 4) && add_child(type, PyTuple_GET_ITEM(descriptor, 1), false) &&
         add_child(type, PyTuple_GET_ITEM(descriptor, 2),
                   PyObject_IsTrue(PyTuple_GET_ITEM(descriptor, 3)) == 1);
}

// (kind, [name, ...], ((descriptor, nullable), ...))
bool fill_struct(Type& type, PyObject* descriptor) {
  if (!has_arity(descriptor, 3)) return false;
  PyObject* names = PyTuple_GET_ITEM(descriptor, 1);
  PyObject* fields = PyTuple_GET_ITEM(descriptor, 2);
  if (!PyList_CheckExact(names) || !PyTuple_CheckExact(fields) ||
      PyList_GET_SIZE(names) != PyTuple_GET_SIZE(fields)) {
    PyErr_Format(PyExc_ValueError, "malformed type descriptor %R", descriptor);
    return false;
  }
  type.names = PyRef::borrow(names);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields); ++i) {
    PyObject* field = PyTuple_GET_ITEM(fields, i);
    if (!PyTuple_CheckExact(field) || PyTuple_GET_SIZE(field) != 2) {
      PyErr_Format(PyExc_ValueError, "malformed type descriptor %R", descriptor);
      return false;
    }
    if (!add_child(type, PyTuple_GET_ITEM(field, 0),
                   PyObject_IsTrue(PyTuple_GET_ITEM(field, 1)) == 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::unique_ptr<Type> Type::from_descriptor(PyObject* descriptor) {
  if (!PyTuple_CheckExact(descriptor) || PyTuple_GET_SIZE(descriptor) == 0) {
    PyErr_Format(PyExc_ValueError, "malformed type descriptor %R", descriptor);
    return nullptr;
  }
  const long number = PyLong_AsLong(PyTuple_GET_ITEM(descriptor, 0));
  if (number == -1 && PyErr_Occurred()) return nullptr;
  auto type = std::make_unique<Type>();
  type->kind = static_cast<Kind>(number);
  switch (type->kind) {
    case Kind::kBoolean:
    case Kind::kByte:
      type->element_width = 1;
      break;
    case Kind::kShort:
      type->element_width = 2;
      break;
    case Kind::kInteger:
    case Kind::kFloat:
    case Kind::kDate:
      type->element_width = 4;
      break;
    case Kind::kNull:
    case Kind::kLong:
    case Kind::kDouble:
    case Kind::kTimestamp:
    case Kind::kTimestampNtz:
    case Kind::kTime:
    case Kind::kDayTimeInterval:
      break;
    case Kind::kDecimal: {
      if (!has_arity(descriptor, 3)) return nullptr;
      const long precision = PyLong_AsLong(PyTuple_GET_ITEM(descriptor, 1));
      const long scale = PyLong_AsLong(PyTuple_GET_ITEM(descriptor, 2));
      if (PyErr_Occurred()) return nullptr;
      if (precision < 1 || precision > 38 || scale < 0 || scale > precision) {
        PyErr_Format(PyExc_ValueError, "decimal(%ld,%ld) is not a Spark type", precision, scale);
        return nullptr;
      }
      type->precision = static_cast<uint8_t>(precision);
      type->scale = static_cast<uint8_t>(scale);
      type->variable = precision > kMaxLongDigits;
      break;
    }
    case Kind::kString:
    case Kind::kBinary:
    case Kind::kVariant:
      type->variable = true;
      break;
    case Kind::kArray:
      type->variable = true;
      if (!fill_array(*type, descriptor)) return nullptr;
      break;
    case Kind::kMap:
      type->variable = true;
      if (!fill_map(*type, descriptor)) return nullptr;
      break;
    case Kind::kStruct:
      type->variable = true;
      if (!fill_struct(*type, descriptor)) return nullptr;
      break;
    case Kind::kUserDefined:
      if (!has_arity(descriptor, 3) || !add_child(*type, PyTuple_GET_ITEM(descriptor, 1), true)) {
        return nullptr;
      }
      type->user_defined = PyRef::borrow(PyTuple_GET_ITEM(descriptor, 2));
      type->variable = type->children[0].type->variable;
      type->element_width = type->children[0].type->element_width;
      break;
    default:
      PyErr_Format(PyExc_ValueError, "unknown type descriptor %R", descriptor);
      return nullptr;
  }
  return type;
}

}  // namespace pyflow
