// Python objects to binary rows. See codec.h.

#include <climits>
#include <cmath>
#include <string_view>
#include <vector>

#include "codec/calendar.h"
#include "codec/codec.h"
#include "runtime/datetime_api.h"

namespace pyflow {
namespace {

Encoded out_of_memory() {
  PyErr_NoMemory();
  return Encoded::kFailed;
}

Encoded too_large() {
  PyErr_SetString(PyExc_OverflowError,
                  "the result does not fit into a Spark row: a row holds at most 2 GiB");
  return Encoded::kFailed;
}

// Leaves (offset, size) of the bytes from `start` to the end of `out` in `slot`.
Encoded point_slot(Buffer& out, size_t base, size_t slot, size_t start, size_t size) {
  if (out.size() - base > kMaxRowBytes) return too_large();
  store_le<uint64_t>(out.at(slot), (static_cast<uint64_t>(start - base) << 32) | size);
  return Encoded::kExact;
}

Encoded append_bytes(const void* data, size_t size, Buffer& out, size_t base, size_t slot) {
  if (size > kMaxRowBytes) return too_large();
  const size_t start = out.size();
  if (!out.append_padded(data, size)) return out_of_memory();
  return point_slot(out, base, slot, start, size);
}

constexpr size_t kWideDecimalBytes = 16;
constexpr int kMinArrowDays = -106751991;  // of a 64-bit number of microseconds

unsigned __int128 power_of_ten(int exponent) {
  unsigned __int128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

struct DecimalText {
  bool negative = false;
  unsigned __int128 digits = 0;
  int exponent = 0;
};

// Reads what str(Decimal) writes; false for NaN, infinities and numbers of more than 38 digits.
bool parse_decimal(std::string_view text, DecimalText& number) {
  size_t i = 0;
  if (i < text.size() && text[i] == '-') {
    number.negative = true;
    ++i;
  }
  int significant = 0;
  bool point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      point = true;
    } else if (c >= '0' && c <= '9') {
      if (number.digits != 0 || c != '0') {
        if (++significant > 38) return false;
        number.digits = number.digits * 10 + static_cast<unsigned>(c - '0');
      }
      if (point) --number.exponent;
    } else {
      break;
    }
  }
  if (i == text.size()) return true;
  if (text[i] != 'E') return false;
  ++i;
  const bool negative_exponent = i < text.size() && text[i] == '-';
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  int exponent = 0;
  for (; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9' || exponent > 100000) return false;
    exponent = exponent * 10 + (text[i] - '0');
  }
  number.exponent += negative_exponent ? -exponent : exponent;
  return true;
}

// The digits at exponent -scale. Pickled results are rounded by the JVM (half up), Arrow's by
// Decimal.quantize (half even). False when they exceed the precision.
bool rescale(const DecimalText& number, int precision, int scale, Exchange exchange,
             unsigned __int128& unscaled) {
  const unsigned __int128 limit = power_of_ten(precision);
  const unsigned __int128 tenth = power_of_ten(precision - 1);
  const int shift = number.exponent + scale;
  unsigned __int128 value = number.digits;
  if (shift >= 0) {
    for (int i = 0; i < shift && value != 0; ++i) {
      if (value >= tenth) return false;
      value *= 10;
    }
  } else if (shift < -38) {
    value = 0;  // 38 digits are less than half of 10^39
  } else {
    const unsigned __int128 half = power_of_ten(-shift) / 2;
    const unsigned __int128 remainder = value % (half * 2);
    value /= half * 2;
    const bool up = exchange == Exchange::kPickle
                        ? remainder >= half
                        : remainder > half || (remainder == half && (value & 1) != 0);
    if (up) ++value;
  }
  if (value >= limit) return false;
  unscaled = value;
  return true;
}

// Big-endian two's complement in as few bytes as it takes, as java.math.BigInteger.toByteArray
// gives it.
size_t store_big_endian(__int128 value, uint8_t* bytes) {
  size_t size = 16;
  while (size > 1) {
    const auto top = static_cast<int8_t>(value >> (8 * (size - 1)));
    const bool next_sign = ((value >> (8 * (size - 2) + 7)) & 1) != 0;
    if (!((top == 0 && !next_sign) || (top == -1 && next_sign))) break;
    --size;
  }
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * (size - 1 - i)));
  return size;
}

Encoded changed_size(const char* container) {
  PyErr_Format(PyExc_RuntimeError, "%s changed size during conversion", container);
  return Encoded::kFailed;
}

// The elements of a list in a tuple that no other thread can change. PyList_AsTuple would read
// freed memory when its allocation runs a finalizer that empties the list.
PyRef snapshot(PyObject* list) {
  const Py_ssize_t count = PyList_GET_SIZE(list);
  PyRef items = PyRef::steal(PyTuple_New(count));
  if (!items) return items;
  const CriticalSection unchanged(list);
  if (PyList_GET_SIZE(list) != count) {
    changed_size("list");
    return PyRef();
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(items.get(), i, Py_NewRef(PyList_GET_ITEM(list, i)));
  }
  return items;
}

// The same for the entries of a dict; false with an error set.
bool snapshot(PyObject* dict, PyRef& keys, PyRef& values) {
  const Py_ssize_t count = PyDict_GET_SIZE(dict);
  keys = PyRef::steal(PyTuple_New(count));
  values = PyRef::steal(PyTuple_New(count));
  if (!keys || !values) return false;
  const CriticalSection unchanged(dict);
  if (PyDict_GET_SIZE(dict) != count) {
    changed_size("dictionary");
    return false;
  }
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t i = 0; PyDict_Next(dict, &position, &key, &value); ++i) {
    PyTuple_SET_ITEM(keys.get(), i, Py_NewRef(key));
    PyTuple_SET_ITEM(values.get(), i, Py_NewRef(value));
  }
  return true;
}

PyObject* const* items_of(const PyRef& tuple) {
  return reinterpret_cast<PyTupleObject*>(tuple.get())->ob_item;
}

// Whether encoding a value of the type may run Python code or wait for a lock.
bool may_let_others_run(const Type& type) {
  return type.variable || type.kind == Kind::kUserDefined || type.kind == Kind::kDecimal;
}

bool is_wide_decimal(const Type& type) {
  if (type.kind == Kind::kUserDefined) return is_wide_decimal(*type.children[0].type);
  return type.kind == Kind::kDecimal && type.variable;
}

int64_t seconds_of_day(PyObject* datetime) {
  return PyDateTime_DATE_GET_HOUR(datetime) * 3600 + PyDateTime_DATE_GET_MINUTE(datetime) * 60 +
         PyDateTime_DATE_GET_SECOND(datetime);
}

int64_t wall_clock_seconds(PyObject* datetime) {
  return days_from_civil(PyDateTime_GET_YEAR(datetime), PyDateTime_GET_MONTH(datetime),
                         PyDateTime_GET_DAY(datetime)) *
             kSecondsPerDay +
         seconds_of_day(datetime);
}

}  // namespace

Encoded Codec::encode_any_field(const Type& type, PyObject* value, bool nullable, Buffer& out,
                                size_t row, size_t fields, size_t index) const {
  const size_t end = out.size();
  const size_t slot = row + bit_set_bytes(fields) + 8 * index;
  if (value == Py_None) {
    if (!nullable) return Encoded::kInexact;
    if (is_wide_decimal(type)) {
      // Spark keeps room for a value; rows are compared byte by byte.
      if (!out.extend_zeroed(kWideDecimalBytes)) return out_of_memory();
      const Encoded pointed = point_slot(out, row, slot, end, 0);
      if (pointed != Encoded::kExact) return pointed;
    }
    set_null(out.at(row), index);
    return Encoded::kExact;
  }
  const Encoded encoded = encode_slot(type, value, out, row, slot);
  if (encoded != Encoded::kExact) {
    out.truncate(end);
    store_le<uint64_t>(out.at(slot), 0);
  }
  return encoded;
}

Encoded Codec::encode_slot(const Type& type, PyObject* value, Buffer& out, size_t base,
                           size_t slot) const {
  switch (type.kind) {
    case Kind::kNull:
      return Encoded::kInexact;
    case Kind::kBoolean:
      if (value != Py_True && value != Py_False) return Encoded::kInexact;
      *out.at(slot) = value == Py_True ? 1 : 0;
      return Encoded::kExact;
    case Kind::kByte:
    case Kind::kShort:
    case Kind::kInteger:
    case Kind::kLong:
      return encode_integer(type, value, out.at(slot));
    case Kind::kFloat:
      if (!PyFloat_CheckExact(value)) return Encoded::kInexact;
      store_le<float>(out.at(slot), static_cast<float>(PyFloat_AS_DOUBLE(value)));
      return Encoded::kExact;
    case Kind::kDouble:
      if (!PyFloat_CheckExact(value)) return Encoded::kInexact;
      store_le<double>(out.at(slot), PyFloat_AS_DOUBLE(value));
      return Encoded::kExact;
    case Kind::kDecimal:
      return encode_decimal(type, value, out, base, slot);
    case Kind::kString:
      return encode_string(value, out, base, slot);
    case Kind::kBinary:
      return encode_binary(value, out, base, slot);
    case Kind::kDate:
      return encode_date(value, out.at(slot));
    case Kind::kTimestamp:
      return encode_timestamp(value, true, out.at(slot));
    case Kind::kTimestampNtz:
      return encode_timestamp(value, false, out.at(slot));
    case Kind::kTime:
      return encode_time(value, out.at(slot));
    case Kind::kDayTimeInterval:
      return encode_interval(value, out.at(slot));
    case Kind::kArray:
      return encode_array(type, value, out, base, slot);
    case Kind::kMap:
      return encode_map(type, value, out, base, slot);
    case Kind::kStruct:
      return encode_struct(type, value, out, base, slot);
    case Kind::kVariant:
      return encode_variant(value, out, base, slot);
    case Kind::kUserDefined:
      return encode_user_defined(type, value, out, base, slot);
  }
  PyErr_Format(PyExc_SystemError, "type %d cannot be encoded", static_cast<int>(type.kind));
  return Encoded::kFailed;
}

// Pickled, the JVM keeps the low bits of an integer that is too wide; Arrow refuses it.
Encoded Codec::encode_integer(const Type& type, PyObject* value, uint8_t* slot) const {
  if (!PyLong_CheckExact(value)) return Encoded::kInexact;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) return Encoded::kInexact;
  const bool arrow = exchange_ == Exchange::kArrow;
  switch (type.kind) {
    case Kind::kByte:
      if (arrow && (number < INT8_MIN || number > INT8_MAX)) return Encoded::kInexact;
      store_le<int8_t>(slot, static_cast<int8_t>(number));
      return Encoded::kExact;
    case Kind::kShort:
      if (arrow && (number < INT16_MIN || number > INT16_MAX)) return Encoded::kInexact;
      store_le<int16_t>(slot, static_cast<int16_t>(number));
      return Encoded::kExact;
    case Kind::kInteger:
      if (arrow && (number < INT32_MIN || number > INT32_MAX)) return Encoded::kInexact;
      store_le<int32_t>(slot, static_cast<int32_t>(number));
      return Encoded::kExact;
    default:
      store_le<int64_t>(slot, number);
      return Encoded::kExact;
  }
}

Encoded Codec::encode_decimal(const Type& type, PyObject* value, Buffer& out, size_t base,
                              size_t slot) const {
  if (Py_TYPE(value) != reinterpret_cast<PyTypeObject*>(state_.decimal_type.get())) {
    return Encoded::kInexact;
  }
  PyRef text = PyRef::steal(PyObject_Str(value));
  if (!text) return Encoded::kFailed;
  Py_ssize_t size = 0;
  const char* chars = PyUnicode_AsUTF8AndSize(text.get(), &size);
  if (chars == nullptr) return Encoded::kFailed;
  DecimalText number;
  unsigned __int128 magnitude = 0;
  if (!parse_decimal({chars, static_cast<size_t>(size)}, number) ||
      !rescale(number, type.precision, type.scale, exchange_, magnitude)) {
    return Encoded::kInexact;
  }
  const auto unscaled =
      number.negative ? -static_cast<__int128>(magnitude) : static_cast<__int128>(magnitude);
  if (!type.variable) {
    store_le<int64_t>(out.at(slot), static_cast<int64_t>(unscaled));
    return Encoded::kExact;
  }
  // A row reserves room for any wide decimal, however few bytes this one takes.
  const size_t start = out.size();
  if (!out.extend_zeroed(kWideDecimalBytes)) return out_of_memory();
  return point_slot(out, base, slot, start, store_big_endian(unscaled, out.at(start)));
}

Encoded Codec::encode_string(PyObject* value, Buffer& out, size_t base, size_t slot) const {
  if (!PyUnicode_CheckExact(value)) return Encoded::kInexact;
  Py_ssize_t size = 0;
  const char* chars = PyUnicode_AsUTF8AndSize(value, &size);
  if (chars == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return Encoded::kFailed;
    PyErr_Clear();  // lone surrogates: the evaluation type decides
    return Encoded::kInexact;
  }
  return append_bytes(chars, static_cast<size_t>(size), out, base, slot);
}

Encoded Codec::encode_binary(PyObject* value, Buffer& out, size_t base, size_t slot) const {
  if (PyBytes_CheckExact(value)) {
    return append_bytes(PyBytes_AS_STRING(value), static_cast<size_t>(PyBytes_GET_SIZE(value)), out,
                        base, slot);
  }
  if (PyByteArray_CheckExact(value)) {
    return append_bytes(PyByteArray_AS_STRING(value),
                        static_cast<size_t>(PyByteArray_GET_SIZE(value)), out, base, slot);
  }
  return Encoded::kInexact;
}

// Arrow stores an int for a date or time as it is, though Python's calendar or a day may not hold
// it.
bool Codec::is_arrow_number(PyObject* value, int64_t min, int64_t max, int64_t& number) const {
  if (exchange_ != Exchange::kArrow || !PyLong_CheckExact(value)) return false;
  int overflow = 0;
  number = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow == 0 && number >= min && number <= max;
}

Encoded Codec::encode_date(PyObject* value, uint8_t* slot) const {
  int64_t days = 0;
  if (is_arrow_number(value, INT32_MIN, INT32_MAX, days)) {
    store_le<int32_t>(slot, static_cast<int32_t>(days));
    return Encoded::kExact;
  }
  if (Py_TYPE(value) != datetime_api(state_).DateType) return Encoded::kInexact;
  store_le<int32_t>(slot, static_cast<int32_t>(days_from_civil(PyDateTime_GET_YEAR(value),
                                                               PyDateTime_GET_MONTH(value),
                                                               PyDateTime_GET_DAY(value))));
  return Encoded::kExact;
}

// `local`: a naive value is wall-clock time in the process's zone (TimestampType), otherwise it has
// no zone at all (TimestampNTZType). Pickled, PySpark reads a naive value with time.mktime, which
// ignores fold; with Arrow, with astimezone, which honours it.
Encoded Codec::encode_timestamp(PyObject* value, bool local, uint8_t* slot) const {
  const PyDateTime_CAPI& api = datetime_api(state_);
  if (Py_TYPE(value) != api.DateTimeType) return Encoded::kInexact;
  const auto* datetime = reinterpret_cast<const PyDateTime_DateTime*>(value);
  const int64_t wall_clock = wall_clock_seconds(value);
  LocalSeconds instant{wall_clock, true};
  if (datetime->hastzinfo) {
    if (!local || datetime->tzinfo != api.TimeZone_UTC) return Encoded::kInexact;
  } else if (local) {
    if (!is_well_inside_calendar(wall_clock)) return Encoded::kInexact;
    instant = exchange_ == Exchange::kPickle
                  ? mktime_from_local(wall_clock)
                  : utc_from_local(wall_clock, PyDateTime_DATE_GET_FOLD(value));
    if (!instant.valid) return Encoded::kInexact;
  }
  store_le<int64_t>(slot,
                    instant.seconds * kMicrosPerSecond + PyDateTime_DATE_GET_MICROSECOND(value));
  return Encoded::kExact;
}

Encoded Codec::encode_time(PyObject* value, uint8_t* slot) const {
  int64_t nanos = 0;
  if (is_arrow_number(value, INT64_MIN, INT64_MAX, nanos)) {
    store_le<int64_t>(slot, nanos);
    return Encoded::kExact;
  }
  if (Py_TYPE(value) != datetime_api(state_).TimeType) return Encoded::kInexact;
  if (reinterpret_cast<const PyDateTime_Time*>(value)->hastzinfo) return Encoded::kInexact;
  const int64_t seconds = PyDateTime_TIME_GET_HOUR(value) * 3600 +
                          PyDateTime_TIME_GET_MINUTE(value) * 60 +
                          PyDateTime_TIME_GET_SECOND(value);
  store_le<int64_t>(slot,
                    seconds * 1000000000 + int64_t{PyDateTime_TIME_GET_MICROSECOND(value)} * 1000);
  return Encoded::kExact;
}

Encoded Codec::encode_interval(PyObject* value, uint8_t* slot) const {
  if (Py_TYPE(value) != datetime_api(state_).DeltaType) return Encoded::kInexact;
  // pyarrow refuses intervals whose whole days do not fit, though the sum would.
  if (exchange_ == Exchange::kArrow && PyDateTime_DELTA_GET_DAYS(value) < kMinArrowDays) {
    return Encoded::kInexact;
  }
  const __int128 micros =
      (static_cast<__int128>(PyDateTime_DELTA_GET_DAYS(value)) * kSecondsPerDay +
       PyDateTime_DELTA_GET_SECONDS(value)) *
          kMicrosPerSecond +
      PyDateTime_DELTA_GET_MICROSECONDS(value);
  if (micros < INT64_MIN || micros > INT64_MAX) return Encoded::kInexact;
  store_le<int64_t>(slot, static_cast<int64_t>(micros));
  return Encoded::kExact;
}

Encoded Codec::encode_elements(const Type& element, bool nullable, PyObject* const* values,
                               size_t count, Buffer& out) const {
  const size_t start = out.size();
  const size_t bit_set = start + 8;
  size_t slot = bit_set + bit_set_bytes(count);
  const size_t fixed = slot - start + round_up_8(count * element.element_width);
  if (fixed > kMaxRowBytes) return too_large();
  if (!out.extend_zeroed(fixed)) return out_of_memory();
  store_le<uint64_t>(out.at(start), count);
  const bool wide_decimals = is_wide_decimal(element);
  for (size_t i = 0; i < count; ++i, slot += element.element_width) {
    if (values[i] == Py_None) {
      if (!nullable) return Encoded::kInexact;
      set_null(out.at(bit_set), i);
      continue;
    }
    const Encoded encoded = encode_slot(element, values[i], out, start, slot);
    if (encoded != Encoded::kExact) return encoded;
    if (wide_decimals) {
      // Unlike a row, an array holds no more of a wide decimal than the value takes.
      const size_t size = load_le<uint64_t>(out.at(slot)) & 0xffffffff;
      out.truncate(out.size() - kWideDecimalBytes + round_up_8(size));
    }
  }
  return Encoded::kExact;
}

// Where others may run while elements are encoded (a user-defined type's serialize does), the list
// is read through a tuple that no other thread can change.
Encoded Codec::encode_array(const Type& type, PyObject* value, Buffer& out, size_t base,
                            size_t slot) const {
  if (!PyList_CheckExact(value)) return Encoded::kInexact;
  const Type& element = *type.children[0].type;
  const bool nullable = type.children[0].nullable;
  const size_t start = out.size();
  Encoded encoded = Encoded::kFailed;
  if (may_let_others_run(element)) {
    const PyRef items = snapshot(value);
    if (!items) return Encoded::kFailed;
    encoded = encode_elements(element, nullable, items_of(items),
                              static_cast<size_t>(PyTuple_GET_SIZE(items.get())), out);
  } else {
    const CriticalSection unchanged(value);
    encoded = encode_elements(element, nullable, reinterpret_cast<PyListObject*>(value)->ob_item,
                              static_cast<size_t>(PyList_GET_SIZE(value)), out);
  }
  if (encoded != Encoded::kExact) return encoded;
  return point_slot(out, base, slot, start, out.size() - start);
}

// The size of the key array, the key array, the value array. Pickled entries pass through Java's
// HashMap, whose order depends on the JVM's version: the JVM converts them itself.
Encoded Codec::encode_map(const Type& type, PyObject* value, Buffer& out, size_t base,
                          size_t slot) const {
  if (!PyDict_CheckExact(value)) return Encoded::kInexact;
  if (exchange_ == Exchange::kPickle && PyDict_GET_SIZE(value) > 1) return Encoded::kInexact;
  PyRef keys;
  PyRef values;
  if (!snapshot(value, keys, values)) return Encoded::kFailed;
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(keys.get()));
  const size_t start = out.size();
  if (!out.extend_zeroed(8)) return out_of_memory();
  Encoded encoded = encode_elements(*type.children[0].type, false, items_of(keys), count, out);
  if (encoded != Encoded::kExact) return encoded;
  store_le<uint64_t>(out.at(start), out.size() - start - 8);
  encoded = encode_elements(*type.children[1].type, type.children[1].nullable, items_of(values),
                            count, out);
  if (encoded != Encoded::kExact) return encoded;
  return point_slot(out, base, slot, start, out.size() - start);
}

// A Row or tuple by position, a dict by name, and, pickled, a list by position.
Encoded Codec::encode_struct(const Type& type, PyObject* value, Buffer& out, size_t base,
                             size_t slot) const {
  const size_t count = type.children.size();
  PyRef items;  // the fields by position; empty when they are looked up by name
  if (PyTuple_CheckExact(value) ||
      Py_TYPE(value) == reinterpret_cast<PyTypeObject*>(state_.row_type.get())) {
    items = PyRef::borrow(value);
  } else if (PyList_CheckExact(value) && exchange_ == Exchange::kPickle) {
    items = snapshot(value);
    if (!items) return Encoded::kFailed;
  } else if (!PyDict_CheckExact(value)) {
    return Encoded::kInexact;
  }
  if (items && static_cast<size_t>(PyTuple_GET_SIZE(items.get())) != count)
    return Encoded::kInexact;

  const size_t start = out.size();
  if (!out.extend_zeroed(bit_set_bytes(count) + 8 * count)) return out_of_memory();
  for (size_t i = 0; i < count; ++i) {
    PyRef field;
    if (items) {
      field = PyRef::borrow(PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)));
    } else {
      field = PyRef::steal(
          dict_item(value, PyList_GET_ITEM(type.names.get(), static_cast<Py_ssize_t>(i))));
      if (!field) {
        if (PyErr_Occurred()) return Encoded::kFailed;
        field = PyRef::borrow(Py_None);
      }
    }
    const Encoded encoded = encode_field(*type.children[i].type, field.get(),
                                         type.children[i].nullable, out, start, count, i);
    if (encoded != Encoded::kExact) return encoded;
  }
  return point_slot(out, base, slot, start, out.size() - start);
}

Encoded Codec::encode_variant(PyObject* value, Buffer& out, size_t base, size_t slot) const {
  if (Py_TYPE(value) != reinterpret_cast<PyTypeObject*>(state_.variant_type.get())) {
    return Encoded::kInexact;
  }
  PyRef bytes = PyRef::steal(PyObject_GetAttr(value, state_.value_attribute.get()));
  if (!bytes) return Encoded::kFailed;
  PyRef metadata = PyRef::steal(PyObject_GetAttr(value, state_.metadata_attribute.get()));
  if (!metadata) return Encoded::kFailed;
  if (!PyBytes_CheckExact(bytes.get()) || !PyBytes_CheckExact(metadata.get())) {
    return Encoded::kInexact;
  }
  const auto value_size = static_cast<size_t>(PyBytes_GET_SIZE(bytes.get()));
  const auto metadata_size = static_cast<size_t>(PyBytes_GET_SIZE(metadata.get()));
  const size_t size = 4 + value_size + metadata_size;
  if (size > kMaxRowBytes) return too_large();
  const size_t start = out.size();
  if (!out.extend_zeroed(round_up_8(size))) return out_of_memory();
  uint8_t* to = out.at(start);
  store_le<uint32_t>(to, static_cast<uint32_t>(value_size));
  std::memcpy(to + 4, PyBytes_AS_STRING(bytes.get()), value_size);
  std::memcpy(to + 4 + value_size, PyBytes_AS_STRING(metadata.get()), metadata_size);
  return point_slot(out, base, slot, start, size);
}

Encoded Codec::encode_user_defined(const Type& type, PyObject* value, Buffer& out, size_t base,
                                   size_t slot) const {
  PyRef serialize = PyRef::steal(PyObject_GetAttrString(type.user_defined.get(), "serialize"));
  if (!serialize) return Encoded::kFailed;
  PyRef sql_value = PyRef::steal(PyObject_CallOneArg(serialize.get(), value));
  if (!sql_value) return Encoded::kFailed;
  if (sql_value.get() == Py_None) return Encoded::kInexact;
  return encode_slot(*type.children[0].type, sql_value.get(), out, base, slot);
}

}  // namespace pyflow
