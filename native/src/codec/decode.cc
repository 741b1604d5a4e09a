// Binary rows to Python objects. See codec.h.

#include "codec/calendar.h"
#include "codec/codec.h"
#include "codec/java_map_order.h"
#include "codec/jvm_text.h"
#include "runtime/datetime_api.h"
#include "runtime/no_memory.h"

namespace pyflow {
namespace {

int64_t floor_div(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0);
}

int64_t floor_mod(int64_t value, int64_t divisor) {
  const int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

bool is_ascii(const uint8_t* data, size_t size) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  uint64_t bits = 0;
  size_t i = 0;
  for (; i + 8 <= size; i += 8) bits |= load_le<uint64_t>(data + i);
  for (; i < size; ++i) bits |= data[i];
  return (bits & kHighBits) == 0;
}

// Big-endian two's complement, as java.math.BigInteger.toByteArray gives it.
__int128 load_big_endian(const uint8_t* data, size_t size) {
  unsigned __int128 value =
      size != 0 && (data[0] & 0x80) != 0 ? ~static_cast<unsigned __int128>(0) : 0;
  for (size_t i = 0; i < size; ++i) value = (value << 8) | data[i];
  return static_cast<__int128>(value);
}

// The JVM pickles a decimal as BigDecimal.toEngineeringString gives it. Below 10^-6 that has an
// exponent, a multiple of three, and zeros up to the decimal point: 1E-10 becomes 100E-12.
void as_pickled(unsigned __int128& magnitude, int& scale) {
  if (magnitude == 0 || magnitude > 99) return;
  const int digits = magnitude > 9 ? 2 : 1;
  const int adjusted = digits - 1 - scale;
  if (adjusted >= -6) return;
  const int integer_digits = (adjusted % 3 + 3) % 3 + 1;
  for (int i = digits; i < integer_digits; ++i) {
    magnitude *= 10;
    ++scale;
  }
}

PyObject* malformed(const char* what) {
  PyErr_Format(PyExc_ValueError, "malformed row: %s does not lie within its row", what);
  return nullptr;
}

// Java's hash code of the object that a map key is pickled from; false where that changes from run
// to run.
bool java_hash_of_key(const Type& type, const Region& base, const uint8_t* slot, int32_t& hash) {
  Region value = {nullptr, 0};
  if (type.variable && !base.variable(slot, value)) return false;
  switch (type.kind) {
    case Kind::kBoolean:
      hash = java_hash(*slot != 0);
      return true;
    case Kind::kByte:
      hash = load_le<int8_t>(slot);
      return true;
    case Kind::kShort:
      hash = load_le<int16_t>(slot);
      return true;
    case Kind::kInteger:
    case Kind::kDate:
      hash = load_le<int32_t>(slot);
      return true;
    case Kind::kLong:
    case Kind::kTimestamp:
    case Kind::kTimestampNtz:
    case Kind::kTime:
    case Kind::kDayTimeInterval:
      hash = java_hash(load_le<int64_t>(slot));
      return true;
    case Kind::kFloat:
      hash = java_hash(load_le<float>(slot));
      return true;
    case Kind::kDouble:
      hash = java_hash(load_le<double>(slot));
      return true;
    case Kind::kDecimal:
      hash = java_hash(
          type.variable ? load_big_endian(value.data, value.size) : load_le<int64_t>(slot),
          type.scale);
      return true;
    case Kind::kString:
      hash = java_hash(replace_malformed_as_jvm(value.data, value.size));
      return true;
    case Kind::kUserDefined:
      return java_hash_of_key(*type.children[0].type, base, slot, hash);
    default:
      return false;
  }
}

// The positions of a pickled map's entries in the order in which a function gets them; empty for
// the order in which they are stored.
std::vector<size_t> pickled_order(const Type& key, const Region& keys) {
  const auto count = load_le<uint64_t>(keys.data);
  const uint8_t* slot = keys.data + 8 + bit_set_bytes(count);
  std::vector<int32_t> hashes(count);
  for (size_t i = 0; i < count; ++i, slot += key.element_width) {
    if (!java_hash_of_key(key, keys, slot, hashes[i])) return {};
  }
  return java_map_order(hashes);
}

}  // namespace

PyObject* Codec::decode_slot(const Type& type, const Region& base, const uint8_t* slot) const {
  switch (type.kind) {
    case Kind::kNull:
      return Py_NewRef(Py_None);
    case Kind::kBoolean:
      return Py_NewRef(*slot != 0 ? Py_True : Py_False);
    case Kind::kByte:
      return PyLong_FromLong(load_le<int8_t>(slot));
    case Kind::kShort:
      return PyLong_FromLong(load_le<int16_t>(slot));
    case Kind::kInteger:
      return PyLong_FromLong(load_le<int32_t>(slot));
    case Kind::kLong:
      return PyLong_FromLong(load_le<int64_t>(slot));
    case Kind::kFloat:
      return PyFloat_FromDouble(load_le<float>(slot));
    case Kind::kDouble:
      return PyFloat_FromDouble(load_le<double>(slot));
    case Kind::kDate:
      return decode_date(load_le<int32_t>(slot));
    case Kind::kTimestamp:
      return decode_timestamp(load_le<int64_t>(slot));
    case Kind::kTimestampNtz:
      return decode_timestamp_ntz(load_le<int64_t>(slot));
    case Kind::kTime:
      return decode_time(load_le<int64_t>(slot));
    case Kind::kDayTimeInterval:
      return decode_interval(load_le<int64_t>(slot));
    case Kind::kDecimal:
      if (!type.variable) return decode_decimal(load_le<int64_t>(slot), type.scale);
      break;
    case Kind::kUserDefined: {
      PyRef value = PyRef::steal(decode_slot(*type.children[0].type, base, slot));
      if (!value) return nullptr;
      PyRef deserialize =
          PyRef::steal(PyObject_GetAttrString(type.user_defined.get(), "deserialize"));
      if (!deserialize) return nullptr;
      return PyObject_CallOneArg(deserialize.get(), value.get());
    }
    default:
      break;
  }
  Region value;
  if (!base.variable(slot, value)) return malformed("a value");
  return decode_variable(type, value);
}

PyObject* Codec::decode_variable(const Type& type, const Region& value) const {
  switch (type.kind) {
    case Kind::kString:
      return decode_string(value.data, value.size);
    case Kind::kBinary:
      return decode_binary(value.data, value.size, binary_as_bytes_);
    case Kind::kDecimal:
      return decode_decimal(load_big_endian(value.data, value.size), type.scale);
    case Kind::kArray:
      return decode_array(*type.children[0].type, value);
    case Kind::kMap:
      return decode_map(type, value);
    case Kind::kStruct:
      return decode_struct(type, value);
    case Kind::kVariant:
      return decode_variant(value);
    default:
      PyErr_Format(PyExc_SystemError, "type %d has no variable-length form",
                   static_cast<int>(type.kind));
      return nullptr;
  }
}

// ASCII, by far the most common, is copied without a decoder.
//
// Spark strings may hold bytes that are not UTF-8. Pickled, the JVM has replaced them before Python
// sees them; with Arrow they arrive as they are, and decoding them is an error.
PyObject* Codec::decode_string(const uint8_t* data, size_t size) const {
  if (size > 1 && is_ascii(data, size)) {
    PyObject* string = PyUnicode_New(static_cast<Py_ssize_t>(size), 127);
    if (string != nullptr) std::memcpy(PyUnicode_1BYTE_DATA(string), data, size);
    return string;
  }
  PyObject* string = PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(data),
                                          static_cast<Py_ssize_t>(size), nullptr);
  if (string != nullptr || exchange_ == Exchange::kArrow ||
      !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
    return string;
  }
  PyErr_Clear();
  return or_memory_error([&] {
    const std::string replaced = replace_malformed_as_jvm(data, size);
    return PyUnicode_FromStringAndSize(replaced.data(), static_cast<Py_ssize_t>(replaced.size()));
  });
}

PyObject* Codec::decode_binary(const uint8_t* data, size_t size, bool as_bytes) const {
  const auto* chars = reinterpret_cast<const char*>(data);
  return as_bytes ? PyBytes_FromStringAndSize(chars, static_cast<Py_ssize_t>(size))
                  : PyByteArray_FromStringAndSize(chars, static_cast<Py_ssize_t>(size));
}

// Decimal has no C constructor, so the digits go through a string.
PyObject* Codec::decode_decimal(__int128 unscaled, int scale) const {
  char text[48];
  char* const end = text + sizeof text;
  char* cursor = end;
  const bool negative = unscaled < 0;
  auto magnitude = static_cast<unsigned __int128>(unscaled);
  if (negative) magnitude = -magnitude;
  if (exchange_ == Exchange::kPickle) as_pickled(magnitude, scale);
  int digits = 0;
  do {
    if (digits == scale && scale != 0) *--cursor = '.';
    *--cursor = static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
    ++digits;
  } while (magnitude != 0 || digits <= scale);
  if (negative) *--cursor = '-';
  PyRef number = PyRef::steal(PyUnicode_FromStringAndSize(cursor, end - cursor));
  if (!number) return nullptr;
  return PyObject_CallOneArg(state_.decimal_type.get(), number.get());
}

PyObject* Codec::decode_date(int32_t days) const {
  if (days < kMinPythonDay || days > kMaxPythonDay) {
    return PyObject_CallFunction(state_.date_beyond_python.get(), "iO", days,
                                 exchange_ == Exchange::kArrow ? Py_True : Py_False);
  }
  const CivilDate date = civil_from_days(days);
  const PyDateTime_CAPI& api = datetime_api(state_);
  return api.Date_FromDate(date.year, date.month, date.day, api.DateType);
}

PyObject* Codec::new_datetime(int64_t wall_clock_seconds, int micros, PyObject* zone,
                              bool fold) const {
  const int64_t days = floor_div(wall_clock_seconds, kSecondsPerDay);
  const auto rest = static_cast<int>(wall_clock_seconds - days * kSecondsPerDay);
  const CivilDate date = civil_from_days(days);
  const PyDateTime_CAPI& api = datetime_api(state_);
  return api.DateTime_FromDateAndTimeAndFold(date.year, date.month, date.day, rest / 3600,
                                             rest / 60 % 60, rest % 60, micros, zone, fold ? 1 : 0,
                                             api.DateTimeType);
}

// A naive datetime in the process's local time zone. Pickled values come from
// datetime.fromtimestamp, which sets `fold`; Arrow's come from astimezone(), which does not.
PyObject* Codec::decode_timestamp(int64_t micros) const {
  const int64_t seconds = floor_div(micros, kMicrosPerSecond);
  const auto fraction = static_cast<int>(floor_mod(micros, kMicrosPerSecond));
  if (timestamps_ == Timestamps::kUtc && is_in_calendar(seconds)) {
    return new_datetime(seconds, fraction, datetime_api(state_).TimeZone_UTC, false);
  }
  const LocalSeconds local =
      is_well_inside_calendar(seconds) ? local_from_utc(seconds) : LocalSeconds{0, false};
  if (!local.valid) {
    return PyObject_CallFunction(state_.timestamp_beyond_python.get(), "LOO",
                                 static_cast<long long>(micros),
                                 exchange_ == Exchange::kArrow ? Py_True : Py_False, Py_True);
  }
  const bool fold = exchange_ == Exchange::kPickle && is_fold(seconds, local.seconds);
  return new_datetime(local.seconds, fraction, Py_None, fold);
}

PyObject* Codec::decode_timestamp_ntz(int64_t micros) const {
  const int64_t seconds = floor_div(micros, kMicrosPerSecond);
  if (!is_in_calendar(seconds)) {
    return PyObject_CallFunction(state_.timestamp_beyond_python.get(), "LOO",
                                 static_cast<long long>(micros),
                                 exchange_ == Exchange::kArrow ? Py_True : Py_False, Py_False);
  }
  return new_datetime(seconds, static_cast<int>(floor_mod(micros, kMicrosPerSecond)), Py_None,
                      false);
}

PyObject* Codec::decode_time(int64_t nanos) const {
  const int64_t seconds = nanos / 1000000000;
  const PyDateTime_CAPI& api = datetime_api(state_);
  return api.Time_FromTime(static_cast<int>(seconds / 3600), static_cast<int>(seconds / 60 % 60),
                           static_cast<int>(seconds % 60),
                           static_cast<int>(nanos % 1000000000 / 1000), Py_None, api.TimeType);
}

PyObject* Codec::decode_interval(int64_t micros) const {
  const int64_t days = floor_div(micros, kSecondsPerDay * kMicrosPerSecond);
  const int64_t rest = floor_mod(micros, kSecondsPerDay * kMicrosPerSecond);
  const PyDateTime_CAPI& api = datetime_api(state_);
  return api.Delta_FromDelta(static_cast<int>(days), static_cast<int>(rest / kMicrosPerSecond),
                             static_cast<int>(rest % kMicrosPerSecond), 0, api.DeltaType);
}

PyObject* Codec::decode_array(const Type& element, const Region& array) const {
  if (!array.holds(0, 8)) return malformed("an array");
  const auto count = load_le<uint64_t>(array.data);
  if (count > array.size * 8 ||
      !array.holds(8, bit_set_bytes(count) + count * element.element_width)) {
    return malformed("an array");
  }
  const uint8_t* bit_set = array.data + 8;
  const uint8_t* slot = bit_set + bit_set_bytes(count);
  PyRef list = PyRef::steal(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) return nullptr;
  for (uint64_t i = 0; i < count; ++i, slot += element.element_width) {
    PyObject* value = is_null(bit_set, i) ? Py_NewRef(Py_None) : decode_slot(element, array, slot);
    if (value == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), value);
  }
  return list.release();
}

PyObject* Codec::decode_map(const Type& type, const Region& map) const {
  if (!map.holds(0, 8)) return malformed("a map");
  const auto key_bytes = load_le<uint64_t>(map.data);
  if (!map.holds(8, key_bytes)) return malformed("a map");
  const Region keys = {map.data + 8, key_bytes};
  PyRef key_list = PyRef::steal(decode_array(*type.children[0].type, keys));
  if (!key_list) return nullptr;
  PyRef value_list = PyRef::steal(decode_array(*type.children[1].type, map.from(8 + key_bytes)));
  if (!value_list) return nullptr;
  if (PyList_GET_SIZE(key_list.get()) != PyList_GET_SIZE(value_list.get())) {
    return malformed("a map");
  }
  PyRef dict = PyRef::steal(PyDict_New());
  if (!dict) return nullptr;
  return or_memory_error([&]() -> PyObject* {
    const auto count = static_cast<size_t>(PyList_GET_SIZE(key_list.get()));
    std::vector<size_t> order;
    if (exchange_ == Exchange::kPickle && count > 1) {
      order = pickled_order(*type.children[0].type, keys);
    }
    for (size_t i = 0; i < count; ++i) {
      const auto entry = static_cast<Py_ssize_t>(order.empty() ? i : order[i]);
      if (PyDict_SetItem(dict.get(), PyList_GET_ITEM(key_list.get(), entry),
                         PyList_GET_ITEM(value_list.get(), entry)) != 0) {
        return nullptr;
      }
    }
    return dict.release();
  });
}

// A pyspark.sql.Row, made as Row.__new__ does, its names set past Row.__setattr__, which forbids
// it.
PyObject* Codec::decode_struct(const Type& type, const Region& row) const {
  const size_t count = type.children.size();
  if (!row.holds(0, fixed_bytes(count))) return malformed("a struct");
  auto* row_type = reinterpret_cast<PyTypeObject*>(state_.row_type.get());
  PyRef tuple = PyRef::steal(row_type->tp_alloc(row_type, static_cast<Py_ssize_t>(count)));
  if (!tuple) return nullptr;
  for (size_t i = 0; i < count; ++i) {
    PyObject* value = decode_field(*type.children[i].type, row, count, i);
    if (value == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), value);
  }
  if (PyObject_GenericSetAttr(tuple.get(), state_.fields_attribute.get(), type.names.get()) != 0) {
    return nullptr;
  }
  return tuple.release();
}

// Four bytes of the value's size, the value, the metadata. The pickler hands over bytearrays.
PyObject* Codec::decode_variant(const Region& variant) const {
  const bool as_bytes = exchange_ == Exchange::kArrow;
  if (!variant.holds(0, 4)) return malformed("a variant");
  const auto value_size = load_le<uint32_t>(variant.data);
  if (!variant.holds(4, value_size)) return malformed("a variant");
  PyRef value = PyRef::steal(decode_binary(variant.data + 4, value_size, as_bytes));
  if (!value) return nullptr;
  const Region rest = variant.from(4 + size_t{value_size});
  PyRef metadata = PyRef::steal(decode_binary(rest.data, rest.size, as_bytes));
  if (!metadata) return nullptr;
  PyObject* const arguments[] = {value.get(), metadata.get()};
  return PyObject_Vectorcall(state_.variant_type.get(), arguments, 2, nullptr);
}

}  // namespace pyflow
