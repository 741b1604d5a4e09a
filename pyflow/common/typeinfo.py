"""The types of the DataStream API.

Each says in `TypeInformation.data_type` of which type of the Table API its values are, and so as
what Spark keeps them.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from pyflow.common.time import Instant
from pyflow.common.types import Row
from pyflow.types import internal_values as internal
from pyflow.util.unsupported import unsupported

if TYPE_CHECKING:
    from pyflow.types.logical_types import DataType

__all__ = ["TypeInformation", "Types"]


class TypeInformation:
    """The type of records, keys and state."""

    @unsupported("there is no JVM of Flink; data_type() says as what Spark keeps the values")
    def get_java_type_info(self) -> Any:
        """Return Flink's Java object of this type."""

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values. PyFlow's own."""
        raise NotImplementedError(f"{type(self).__name__} says no type of the Table API")

    def need_conversion(self) -> bool:
        """Return whether `to_internal_type` and `from_internal_type` change values."""
        return False

    def to_internal_type(self, obj: Any) -> Any:
        """Return the internal form of a Python value: numbers for dates and times."""
        return obj

    def from_internal_type(self, obj: Any) -> Any:
        """Return the Python value of an internal form."""
        return obj

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(repr(self))


class BasicType(Enum):
    """The types without types inside."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


# As what the Table API has them.
_BASIC = {
    BasicType.STRING: "STRING",
    BasicType.BYTE: "TINYINT",
    BasicType.BOOLEAN: "BOOLEAN",
    BasicType.SHORT: "SMALLINT",
    BasicType.INT: "INT",
    BasicType.LONG: "BIGINT",
    BasicType.FLOAT: "FLOAT",
    BasicType.DOUBLE: "DOUBLE",
    BasicType.CHAR: "CHAR(1)",
    BasicType.BIG_INT: "DECIMAL(38, 0)",
    BasicType.BIG_DEC: "DECIMAL(38, 18)",
    BasicType.INSTANT: "TIMESTAMP_LTZ(6)",
}


class BasicTypeInfo(TypeInformation):
    """The type of numbers, texts and booleans.

    Parameters
    ----------
    basic_type : BasicType
        Which of them.
    """

    def __init__(self, basic_type: BasicType) -> None:
        self._basic_type = basic_type

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        return _parsed(_BASIC[self._basic_type])

    def __repr__(self) -> str:
        return self._basic_type.value

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of texts."""
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of True and False."""
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of whole numbers of 8 bits."""
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of whole numbers of 16 bits."""
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of whole numbers of 32 bits."""
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of whole numbers of 64 bits."""
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of floating-point numbers of 32 bits."""
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of floating-point numbers of 64 bits."""
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of single characters."""
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of whole numbers of up to 38 digits."""
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of decimal numbers, with 18 digits behind the point."""
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type of points in time."""
        return InstantTypeInfo(BasicType.INSTANT)


class InstantTypeInfo(BasicTypeInfo):
    """The type of points in time, `pyflow.common.Instant`."""

    def need_conversion(self) -> bool:
        """Return True: a point in time becomes microseconds."""
        return True

    def to_internal_type(self, obj: Instant) -> int:
        """Return the microseconds since the epoch, of whole milliseconds."""
        return obj.to_epoch_milli() * 1000

    def from_internal_type(self, obj: int) -> Instant:
        """Return the point in time so many microseconds after the epoch."""
        return Instant.of_epoch_milli(obj // 1000)


class SqlTimeTypeInfo(TypeInformation):
    """The types of dates and times without a zone."""

    @staticmethod
    def DATE() -> DateTypeInfo:
        """Return the type of dates."""
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:
        """Return the type of times of a day."""
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        """Return the type of dates with a time."""
        return TimestampTypeInfo()


class _ElementsTypeInfo(TypeInformation):
    def __init__(self, element_type: TypeInformation) -> None:
        self._element_type = element_type

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        from pyflow.types.logical_types import ArrayType

        return ArrayType(self._element_type.data_type())

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self._element_type}>"


class PrimitiveArrayTypeInfo(_ElementsTypeInfo):
    """The type of lists of numbers or booleans without None; of bytes, if of 8 bits."""

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        from pyflow.types.logical_types import ArrayType

        if self._element_type == Types.BYTE():
            return _parsed("BYTES")
        return ArrayType(self._element_type.data_type().not_null())


class BasicArrayTypeInfo(_ElementsTypeInfo):
    """The type of lists of numbers, booleans or texts."""


class ObjectArrayTypeInfo(_ElementsTypeInfo):
    """The type of lists of any values."""


class ListTypeInfo(_ElementsTypeInfo):
    """The type of lists of any values."""

    @property
    def elem_type(self) -> TypeInformation:
        """The type of the elements."""
        return self._element_type


class PickledBytesTypeInfo(TypeInformation):
    """The type of Python objects of any kind, pickled."""

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        return _parsed("RAW")

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"


class TupleTypeInfo(TypeInformation):
    """The type of tuples.

    Parameters
    ----------
    field_types : list of TypeInformation
        The types of their values.
    """

    def __init__(self, field_types: Sequence[TypeInformation]) -> None:
        self._field_types = list(field_types)

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the values."""
        return self._field_types

    def _names(self) -> list[str]:
        return [f"f{position}" for position in range(len(self._field_types))]

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values: a row."""
        from pyflow.types.logical_types import RowField, RowType

        types = (field_type.data_type() for field_type in self._field_types)
        return RowType([RowField(name, type_) for name, type_ in zip(self._names(), types)])

    def need_conversion(self) -> bool:
        """Return True."""
        return True

    def to_internal_type(self, obj: Any) -> Any:
        """Return the values in their internal form.

        Raises
        ------
        ValueError
            If the object is no tuple, list or row.
        """
        if obj is None:
            return None
        if not isinstance(obj, (list, tuple, Row)):
            raise ValueError(f"{obj!r} of {type(obj)} does not stand for a tuple")
        return tuple(type_.to_internal_type(value) for type_, value in zip(self._field_types, obj))

    def from_internal_type(self, obj: Any) -> Any:
        """Return the tuple of values in their internal form."""
        if obj is None or isinstance(obj, (tuple, list)):
            return obj
        return tuple(
            type_.from_internal_type(value) for type_, value in zip(self._field_types, obj)
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self._field_types))})"


class RowTypeInfo(TupleTypeInfo):
    """The type of rows. Rows of other names and the same types are of an equal type.

    Parameters
    ----------
    field_types : list of TypeInformation
        The types of their values.
    field_names : list of str, optional
        The names of their fields; ``f0``, ``f1`` and so on if there are none.
    """

    def __init__(
        self, field_types: Sequence[TypeInformation], field_names: list[str] | None = None
    ) -> None:
        super().__init__(field_types)
        self._field_names = field_names

    def _names(self) -> list[str]:
        return self._field_names or super()._names()

    def get_field_names(self) -> list[str]:
        """Return the names of the fields."""
        return self._names()

    def get_field_index(self, field_name: str) -> int:
        """Return the position of a field.

        Returns
        -------
        int
            From 0; -1 if the fields were given no names.

        Raises
        ------
        ValueError
            If there is no field of this name.
        """
        return self._field_names.index(field_name) if self._field_names else -1

    def to_internal_type(self, obj: Any) -> Any:
        """Return the number of the row's kind and its values in their internal form.

        Raises
        ------
        ValueError
            If the object does not stand for a row.
        """
        if obj is None:
            return None
        kind, values = internal.row_values(obj, self._names())
        return (kind.value, *super().to_internal_type(values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowTypeInfo) and self._field_types == other._field_types

    def __hash__(self) -> int:
        return hash(tuple(self._field_types))

    def __repr__(self) -> str:
        if not self._field_names:
            return super().__repr__()
        named = zip(self._field_names, self._field_types)
        return f"RowTypeInfo({', '.join(f'{name}: {type_}' for name, type_ in named)})"


class DateTypeInfo(TypeInformation):
    """The type of dates."""

    EPOCH_ORDINAL = internal.EPOCH_DAY

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        return _parsed("DATE")

    def need_conversion(self) -> bool:
        """Return True: a date becomes days since 1970-01-01."""
        return True

    def to_internal_type(self, d: datetime.date | None) -> int | None:
        """Return the days since 1970-01-01."""
        return None if d is None else internal.days_of_date(d)

    def from_internal_type(self, v: int | None) -> datetime.date | None:
        """Return the date so many days after 1970-01-01."""
        return None if v is None else internal.date_of_days(v)

    def __repr__(self) -> str:
        return "DateTypeInfo"


class TimeTypeInfo(TypeInformation):
    """The type of times of a day."""

    EPOCH_ORDINAL = internal.EPOCH_OFFSET

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        return _parsed("TIME(0)")

    def need_conversion(self) -> bool:
        """Return True: a time becomes microseconds."""
        return True

    def to_internal_type(self, t: datetime.time | None) -> int | None:
        """Return the microseconds since midnight in UTC."""
        return None if t is None else internal.micros_of_time(t)

    def from_internal_type(self, t: int | None) -> datetime.time | None:
        """Return the local time at these microseconds since midnight in UTC."""
        return None if t is None else internal.time_of_micros(t)

    def __repr__(self) -> str:
        return "TimeTypeInfo"


class TimestampTypeInfo(TypeInformation):
    """The type of dates with a time."""

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        return _parsed("TIMESTAMP(3)")

    def need_conversion(self) -> bool:
        """Return True: a timestamp becomes microseconds."""
        return True

    def to_internal_type(self, dt: datetime.datetime | None) -> int | None:
        """Return the microseconds since the epoch."""
        return None if dt is None else internal.micros_of_datetime(dt)

    def from_internal_type(self, ts: int | None) -> datetime.datetime | None:
        """Return the local time so many microseconds after the epoch."""
        return None if ts is None else internal.datetime_of_micros(ts)

    def __repr__(self) -> str:
        return "TimestampTypeInfo"


class MapTypeInfo(TypeInformation):
    """The type of maps.

    Parameters
    ----------
    key_type_info, value_type_info : TypeInformation
        The types of keys and values.
    """

    def __init__(self, key_type_info: TypeInformation, value_type_info: TypeInformation) -> None:
        self._key_type_info = key_type_info
        self._value_type_info = value_type_info

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        from pyflow.types.logical_types import MapType

        return MapType(self._key_type_info.data_type(), self._value_type_info.data_type())

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self._key_type_info}, {self._value_type_info}>"


class LocalTimeTypeInfo(TypeInformation):
    """The types of Java's local dates and times.

    Parameters
    ----------
    time_type : LocalTimeTypeInfo.TimeType
        Which of them.
    """

    class TimeType(Enum):
        """Java's local dates and times."""

        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: LocalTimeTypeInfo.TimeType) -> None:
        self._time_type = time_type

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        return _parsed(("DATE", "TIME(6)", "TIMESTAMP(6)")[self._time_type.value])

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self._time_type.name}>"


class ExternalTypeInfo(TypeInformation):
    """A type whose values are in the form of programs.

    Parameters
    ----------
    type_info : TypeInformation
        The type.
    """

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = type_info

    def data_type(self) -> DataType:
        """Return the type of the Table API that has the same values."""
        return self._type_info.data_type()

    def __repr__(self) -> str:
        return f"ExternalTypeInfo<{self._type_info}>"


class Types:
    """Makes the types of the DataStream API."""

    @staticmethod
    def STRING() -> TypeInformation:
        """Return the type of texts."""
        return BasicTypeInfo.STRING_TYPE_INFO()

    @staticmethod
    def BYTE() -> TypeInformation:
        """Return the type of whole numbers of 8 bits."""
        return BasicTypeInfo.BYTE_TYPE_INFO()

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        """Return the type of True and False."""
        return BasicTypeInfo.BOOLEAN_TYPE_INFO()

    @staticmethod
    def SHORT() -> TypeInformation:
        """Return the type of whole numbers of 16 bits."""
        return BasicTypeInfo.SHORT_TYPE_INFO()

    @staticmethod
    def INT() -> TypeInformation:
        """Return the type of whole numbers of 32 bits."""
        return BasicTypeInfo.INT_TYPE_INFO()

    @staticmethod
    def LONG() -> TypeInformation:
        """Return the type of whole numbers of 64 bits."""
        return BasicTypeInfo.LONG_TYPE_INFO()

    @staticmethod
    def FLOAT() -> TypeInformation:
        """Return the type of floating-point numbers of 32 bits."""
        return BasicTypeInfo.FLOAT_TYPE_INFO()

    @staticmethod
    def DOUBLE() -> TypeInformation:
        """Return the type of floating-point numbers of 64 bits."""
        return BasicTypeInfo.DOUBLE_TYPE_INFO()

    @staticmethod
    def CHAR() -> TypeInformation:
        """Return the type of single characters."""
        return BasicTypeInfo.CHAR_TYPE_INFO()

    @staticmethod
    def BIG_INT() -> TypeInformation:
        """Return the type of whole numbers of up to 38 digits."""
        return BasicTypeInfo.BIG_INT_TYPE_INFO()

    @staticmethod
    def BIG_DEC() -> TypeInformation:
        """Return the type of decimal numbers, with 18 digits behind the point."""
        return BasicTypeInfo.BIG_DEC_TYPE_INFO()

    @staticmethod
    def INSTANT() -> TypeInformation:
        """Return the type of points in time, `pyflow.common.Instant`."""
        return BasicTypeInfo.INSTANT_TYPE_INFO()

    @staticmethod
    def SQL_DATE() -> TypeInformation:
        """Return the type of dates."""
        return SqlTimeTypeInfo.DATE()

    @staticmethod
    def SQL_TIME() -> TypeInformation:
        """Return the type of times of a day."""
        return SqlTimeTypeInfo.TIME()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation:
        """Return the type of dates with a time."""
        return SqlTimeTypeInfo.TIMESTAMP()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        """Return the type of Python objects of any kind, pickled."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Return the type of rows of values of these types."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: list[str], field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Return the type of rows of fields of these names and types."""
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TupleTypeInfo:
        """Return the type of tuples of values of these types."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> PrimitiveArrayTypeInfo:
        """Return the type of lists of numbers or booleans without None."""
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of lists of numbers, booleans or texts."""
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of lists of any values."""
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation, value_type_info: TypeInformation) -> TypeInformation:
        """Return the type of maps of such keys to such values."""
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:
        """Return the type of lists of any values."""
        return ListTypeInfo(element_type_info)


def _parsed(text: str) -> DataType:
    from pyflow.types.syntax import parse

    return parse(text)
