"""Arrays, maps and rows."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.conversion import convert
from pyflow.table.columns.type_rules import common, with_nulls
from pyflow.table.functions.builtins.definition import (
    BOOLEAN,
    INT,
    STRING,
    Arguments,
    argument,
    define,
    error,
    require_common,
)
from pyflow.table.functions.builtins.maps import map_of_last
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    ArrayType,
    DataType,
    IntegralType,
    MapType,
    MultisetType,
    NullType,
    RowField,
    RowType,
)

# --- Constructors -----------------------------------------------------------------------------


def _array_type(a: Arguments) -> DataType:
    return DataTypes.ARRAY(require_common(a, a.types))


def _array(a: Arguments) -> Column:
    element = _element(a.result)
    return F.array(*(a.as_type(position, element) for position in range(len(a))))


define(
    "array ARRAY", "any, any...", _array_type, _array, "The array of the arguments.", nulls="never"
)


def _map_type(a: Arguments) -> DataType:
    if len(a) % 2:
        raise a.fail("keys and values must alternate")
    return DataTypes.MAP(require_common(a, a.types[::2]), require_common(a, a.types[1::2]))


def _map(a: Arguments) -> Column:
    data_type = a.result
    assert isinstance(data_type, MapType)
    keys = F.array(*(a.as_type(i, data_type.key_type) for i in range(0, len(a), 2)))
    values = F.array(*(a.as_type(i, data_type.value_type) for i in range(1, len(a), 2)))
    return map_of_last(keys, values)


define(
    "map MAP", "any, any, any...", _map_type, _map, "The map of alternating keys and values.",
    nulls="never",
)  # fmt: skip


def _row_type(a: Arguments) -> DataType:
    return RowType([RowField(f"f{i}", data_type) for i, data_type in enumerate(a.types)])


define(
    "row ROW", "any, any...", _row_type,
    lambda a: F.struct(*(column.alias(f"f{i}") for i, column in enumerate(a.columns))),
    "The row of the arguments.", nulls="never",
)  # fmt: skip


def _type_of_map_of_arrays(a: Arguments) -> DataType:
    return DataTypes.MAP(_element(a.types[0]), _element(a.types[1]))


def _map_of_arrays(a: Arguments) -> Column:
    differ = F.array_size(a[0]) != F.array_size(a[1])
    failure = error(
        "Invalid function MAP_FROM_ARRAYS call: The length of the keys array {} is not equal to "
        "the length of the values array {}",
        *(F.array_size(array).cast("string") for array in a.columns),
    )
    made = map_of_last(a[0], a[1])
    return F.when(differ, F.map_from_arrays(F.array(), F.array(failure))).otherwise(made)


define(
    "MAP_FROM_ARRAYS MAP_FROM_ARRAYS", "array, array", _type_of_map_of_arrays, _map_of_arrays,
    "The map of an array of keys and an array of their values.",
)  # fmt: skip

# --- Access -----------------------------------------------------------------------------------


def _element(data_type: DataType) -> DataType:
    return data_type.element_type if isinstance(data_type, ArrayType) else DataTypes.NULL()


def _type_at(a: Arguments) -> DataType:
    collection = a.types[0]
    if isinstance(collection, ArrayType):
        if not isinstance(a.types[1], (IntegralType, NullType)):
            raise a.fail("the position in an array must be a whole number, counted from 1")
        if a.is_constant(1) and isinstance(a.constant(1), int) and a.constant(1) < 1:
            raise a.fail(
                f"Array element access needs an index starting at 1 but was {a.constant(1)}."
            )
        return collection.element_type
    if isinstance(collection, MapType):
        return collection.value_type
    return INT


def _at(a: Arguments) -> Column:
    collection = a.types[0]
    if isinstance(collection, ArrayType):
        return F.get(a[0], a[1].cast("int") - 1)
    key = collection.key_type if isinstance(collection, MapType) else collection.element_type  # type: ignore[attr-defined]
    return F.try_element_at(a[0], a.as_type(1, key))


define(
    "at ITEM", "array|map, any", _type_at, _at,
    "The element of an array at a position, counted from 1, or the value of a key in a map; null "
    "if there is none.",
    nulls="always",
)  # fmt: skip


def _field(a: Arguments) -> RowField:
    row, key = a.types[0], a.constant(1)
    assert isinstance(row, RowType)
    if isinstance(key, int) and 0 <= key < len(row.fields):
        return row.fields[key]
    found = next((field for field in row.fields if field.name == key), None)
    if found is None:
        names = ", ".join(field.name for field in row.fields)
        raise a.fail(f"the row has no field {key!r}, only {names}")
    return found


define(
    "get", "row, string|int",
    lambda a: with_nulls(_field(a).data_type, a.types[0], _field(a).data_type),
    lambda a: a[0].getField(_field(a).name),
    "The field of a row, by its name or by its position, counted from 0.", nulls="own",
)  # fmt: skip


def _cardinality(a: Arguments) -> Column:
    is_array = isinstance(a.types[0], ArrayType)
    return F.array_size(a[0] if is_array else F.map_keys(a[0]))


define(
    "cardinality CARDINALITY", "array|map", INT, _cardinality,
    "The number of elements or entries.",
)  # fmt: skip


def _only_element(a: Arguments) -> Column:
    several = F.array_size(a[0]) > 1
    failure = F.raise_error(F.lit("ELEMENT: the array has more than one element"))
    return F.when(several, failure).otherwise(F.get(a[0], 0))


define(
    "element ELEMENT", "array", lambda a: _element(a.types[0]), _only_element,
    "The only element; null for an empty array. An array with more than one fails the query.",
    nulls="always",
)  # fmt: skip

# --- Arrays -----------------------------------------------------------------------------------


def _type_with_element(a: Arguments) -> DataType:
    element = common([_element(a.types[0]), a.types[1]])
    if element is None:
        raise a.fail("the elements of the array are of another type; cast the value")
    if isinstance(element, NullType):
        return DataTypes.ARRAY(element)
    nulls = _element(a.types[0])._nullable or a.types[1]._nullable
    return with_nulls(DataTypes.ARRAY(element if nulls else element.not_null()), a.types[0])


def _array_of(a: Arguments, array_type: DataType) -> Column:
    return a.as_type(0, array_type)


def _appended(a: Arguments) -> Column:
    array = _array_of(a, a.result)
    value = F.array(a.as_type(1, _element(a.result)))
    pair = (array, value) if a.function.name == "ARRAY_APPEND" else (value, array)
    return F.when(array.isNotNull(), F.concat(*pair))


define(
    "ARRAY_APPEND ARRAY_APPEND", "array, any", _type_with_element, _appended,
    "The array with another element at its end.", nulls="own",
)  # fmt: skip
define(
    "ARRAY_PREPEND ARRAY_PREPEND", "array, any", _type_with_element, _appended,
    "The array with another element at its beginning.", nulls="own",
)  # fmt: skip


def _needle(a: Arguments) -> tuple[Column, Column]:
    """Return the array and the value to find in it, as values of one type."""
    array_type = _type_with_element(a)
    return _array_of(a, array_type), a.as_type(1, _element(array_type))


def _contains(a: Arguments) -> Column:
    array, needle = _needle(a)
    return F.exists(array, lambda element: element.eqNullSafe(needle))


define(
    "ARRAY_CONTAINS ARRAY_CONTAINS", "array, any",
    lambda a: with_nulls(BOOLEAN, a.types[0]), _contains,
    "Whether a value, or null, is an element of the array.", nulls="own",
)  # fmt: skip


def _position(a: Arguments) -> Column:
    array, needle = _needle(a)
    return F.array_position(array, needle).cast("int")


define(
    "ARRAY_POSITION ARRAY_POSITION", "array, any", INT, _position,
    "The position, counted from 1, of the first element equal to a value; 0 if there is none.",
)  # fmt: skip


def _without(a: Arguments) -> Column:
    array, needle = _needle(a)
    return F.filter(array, lambda element: ~element.eqNullSafe(needle))


define(
    "ARRAY_REMOVE ARRAY_REMOVE", "array, any", _type_with_element, _without,
    "The array without the elements equal to a value.", nulls="own",
)  # fmt: skip
define(
    "ARRAY_DISTINCT ARRAY_DISTINCT", "array", argument(0), lambda a: F.array_distinct(a[0]),
    "The array without duplicates.",
)  # fmt: skip
define(
    "ARRAY_REVERSE ARRAY_REVERSE", "array", argument(0), lambda a: F.reverse(a[0]),
    "The array, reversed.",
)  # fmt: skip


def _slice(a: Arguments) -> Column:
    array, size = a[0], F.array_size(a[0])

    def from_first(offset: Column) -> Column:
        return F.when(offset < 0, size + offset + 1).when(offset == 0, 1).otherwise(offset)

    start = from_first(a[1])
    end = F.least(from_first(a[2]), size) if len(a) > 2 else size
    start = F.greatest(start, F.lit(1))
    present = array.isNotNull() & a[1].isNotNull()
    if len(a) > 2:
        present = present & a[2].isNotNull()
    length = F.greatest(end - start + 1, F.lit(0))
    return F.when(present, F.slice(array, start, length))


define(
    "ARRAY_SLICE ARRAY_SLICE", "array, int, int?", argument(0), _slice,
    "The elements from one position to another. Positions count from 1; negative ones count from "
    "the end.",
)  # fmt: skip


def _sorted(a: Arguments) -> Column:
    ascending = a.constant(1) if len(a) > 1 else True
    nulls_first = a.constant(2) if len(a) > 2 else ascending
    if ascending is None or nulls_first is None:
        return F.when(F.lit(False), a[0])
    ordered = F.sort_array(a[0], ascending)
    if ascending == nulls_first:
        return ordered
    nulls = F.filter(ordered, lambda element: element.isNull())
    values = F.filter(ordered, lambda element: element.isNotNull())
    return F.concat(nulls, values) if nulls_first else F.concat(values, nulls)


define(
    "ARRAY_SORT ARRAY_SORT", "array, boolean?, boolean?", argument(0), _sorted,
    "The elements in ascending order, or in descending order if a second argument is false. A "
    "third argument says whether nulls come first; by default, they do in ascending order.",
    difference="The order must be given by literals.",
)  # fmt: skip


def _common_array(a: Arguments) -> list[Column]:
    data_type = require_common(a, a.types)
    return [a.as_type(position, data_type) for position in range(len(a))]


def _first_array(a: Arguments) -> list[Column]:
    require_common(a, a.types)
    return [a[0], *(convert(c, t, a.types[0]) for c, t in zip(a.columns[1:], a.types[1:]))]


define(
    "ARRAY_UNION ARRAY_UNION", "array, array", lambda a: require_common(a, a.types),
    lambda a: F.array_union(*_common_array(a)), "The elements of both arrays, each once.",
)  # fmt: skip
define(
    "ARRAY_CONCAT ARRAY_CONCAT", "array, array...", lambda a: require_common(a, a.types),
    lambda a: F.concat(*_common_array(a)), "The elements of all arrays one after the other.",
)  # fmt: skip
define(
    "ARRAY_EXCEPT ARRAY_EXCEPT", "array, array", argument(0),
    lambda a: F.array_except(*_first_array(a)), "The elements that are not in the other array.",
)  # fmt: skip
define(
    "ARRAY_INTERSECT ARRAY_INTERSECT", "array, array", lambda a: require_common(a, a.types),
    lambda a: F.array_intersect(*_common_array(a)), "The elements that are in both, each once.",
)  # fmt: skip
define(
    "ARRAY_MAX ARRAY_MAX", "array", lambda a: _element(a.types[0]), lambda a: F.array_max(a[0]),
    "The greatest element.", nulls="always",
)  # fmt: skip
define(
    "ARRAY_MIN ARRAY_MIN", "array", lambda a: _element(a.types[0]), lambda a: F.array_min(a[0]),
    "The least element.", nulls="always",
)  # fmt: skip
define(
    "ARRAY_JOIN ARRAY_JOIN", "array, string, string?", STRING,
    lambda a: F.call_function("array_join", *a.columns),
    "The concatenation of the strings in the array, separated by a second argument. Nulls are left "
    "out, or replaced by a third.",
)  # fmt: skip

# --- Maps -------------------------------------------------------------------------------------


def _entry_types(data_type: DataType) -> tuple[DataType, DataType]:
    if isinstance(data_type, MultisetType):
        return data_type.element_type, INT.not_null()
    assert isinstance(data_type, MapType)
    return data_type.key_type, data_type.value_type


define(
    "MAP_KEYS MAP_KEYS", "map", lambda a: DataTypes.ARRAY(_entry_types(a.types[0])[0]),
    lambda a: F.map_keys(a[0]), "The keys.",
)  # fmt: skip
define(
    "MAP_VALUES MAP_VALUES", "map", lambda a: DataTypes.ARRAY(_entry_types(a.types[0])[1]),
    lambda a: F.map_values(a[0]), "The values.",
)  # fmt: skip


def _entries_type(a: Arguments) -> DataType:
    key, value = _entry_types(a.types[0])
    return DataTypes.ARRAY(RowType([RowField("key", key), RowField("value", value)]))


define(
    "MAP_ENTRIES MAP_ENTRIES", "map", _entries_type, lambda a: F.map_entries(a[0]),
    "The entries, as rows of key and value.",
)  # fmt: skip


def _map_union(a: Arguments) -> Column:
    data_type = require_common(a, a.types)
    maps = [a.as_type(position, data_type) for position in range(len(a))]
    keys = F.concat(*map(F.map_keys, maps))
    return map_of_last(keys, F.concat(*map(F.map_values, maps)))


define(
    "MAP_UNION MAP_UNION", "map, map...", lambda a: require_common(a, a.types), _map_union,
    "The entries of all maps. If several maps have a key, the entry of the last one.",
)  # fmt: skip
