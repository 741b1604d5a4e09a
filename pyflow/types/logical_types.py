"""The types of the Table API. `pyflow.table.types` has all of them, and what is done with them.

A type is a value: equal to another by what it says, and never changed once it is used (only
`RowType.add`, which builds one, changes it). ``str`` gives its kind, ``BIGINT``, as in PyFlink, and
`DataType.sql` all of it, ``BIGINT NOT NULL``.
"""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Iterator, Sequence
from copy import copy
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from pyflow.common.types import Row, RowKind, _create_row
from pyflow.types import internal_values as internal

MAX_LENGTH = 0x7FFFFFFF
MAX_PRECISION = 9
MAX_DECIMAL_PRECISION = 38

Type = TypeVar("Type", bound="DataType")


class DataType:
    """A type of the values of a column, a literal, or an argument.

    Parameters
    ----------
    nullable : bool
        Whether None is a value of the type.
    """

    def __init__(self, nullable: bool = True) -> None:
        self._nullable = nullable
        self._conversion_cls = ""

    def __repr__(self) -> str:
        arguments = [*map(str, self._parameters()), str(self._nullable).lower()]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def __str__(self) -> str:
        return self.type_name()

    @property
    def sql(self) -> str:
        """Flink's form of the type, as statements and texts of types have it."""
        return self._syntax() if self._nullable else f"{self._syntax()} NOT NULL"

    def _parameters(self) -> tuple[Any, ...]:
        """Return what ``repr`` shows before the nullability."""
        return ()

    def _syntax(self) -> str:
        """Return Flink's form without the nullability."""
        return self.type_name()

    def __hash__(self) -> int:
        return hash(self.sql)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.__dict__ == other.__dict__

    def not_null(self: Type) -> Type:
        """Return the type without None among its values."""
        return self._with(_nullable=False)

    def nullable(self: Type) -> Type:
        """Return the type with None among its values."""
        return self._with(_nullable=True)

    def _with(self: Type, **attributes: Any) -> Type:
        changed = copy(self)
        changed.__dict__.update(attributes)
        return changed

    @classmethod
    def type_name(cls) -> str:
        """Return the name of the kind of type, as in SQL and without parameters."""
        return cls.__name__[:-4].upper()

    def bridged_to(self: Type, conversion_cls: str) -> Type:
        """Return the type with the name of a Java class for its values.

        Nothing here reads it: values are Python's, or Spark's own.
        """
        return self._with(_conversion_cls=conversion_cls)

    def need_conversion(self) -> bool:
        """Return whether `to_sql_type` and `from_sql_type` change values."""
        return False

    def to_sql_type(self, obj: Any) -> Any:
        """Return the internal form of a Python value: numbers for dates and times."""
        return obj

    def from_sql_type(self, obj: Any) -> Any:
        """Return the Python value of an internal form."""
        return obj


class AtomicType(DataType):
    """A type without types inside."""


class NullType(AtomicType):
    """The type of None alone."""

    def __init__(self) -> None:
        super().__init__(True)


class NumericType(AtomicType):
    """A type of numbers."""


class IntegralType(NumericType):
    """A type of whole numbers."""

    BITS: ClassVar[int]


class FractionalType(NumericType):
    """A type of numbers with a fraction."""


class BooleanType(AtomicType):
    """True and False."""


class TinyIntType(IntegralType):
    """Whole numbers of 8 bits."""

    BITS = 8


class SmallIntType(IntegralType):
    """Whole numbers of 16 bits."""

    BITS = 16


class IntType(IntegralType):
    """Whole numbers of 32 bits."""

    BITS = 32


class BigIntType(IntegralType):
    """Whole numbers of 64 bits."""

    BITS = 64


class FloatType(FractionalType):
    """Floating-point numbers of 32 bits."""


class DoubleType(FractionalType):
    """Floating-point numbers of 64 bits."""


class DecimalType(FractionalType):
    """Decimal numbers.

    Parameters
    ----------
    precision : int
        Digits in all, 1 to 38.
    scale : int
        Digits behind the point, 0 to `precision`.
    nullable : bool
        Whether None is a value of the type.
    """

    def __init__(self, precision: int = 10, scale: int = 0, nullable: bool = True) -> None:
        super().__init__(nullable)
        _check_range("the precision of DECIMAL", precision, 1, MAX_DECIMAL_PRECISION)
        _check_range("the scale of DECIMAL", scale, 0, precision)
        self.precision = precision
        self.scale = scale

    has_precision_info = True

    def _parameters(self) -> tuple[Any, ...]:
        return self.precision, self.scale

    def _syntax(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


class _LengthType(AtomicType):
    # How the type is written that has the greatest length.
    UNBOUNDED: ClassVar[str | None] = None

    def __init__(self, length: int = 1, nullable: bool = True) -> None:
        super().__init__(nullable)
        _check_range(f"the length of {self.type_name()}", length, 1, MAX_LENGTH)
        self.length = length

    def _parameters(self) -> tuple[Any, ...]:
        return (self.length,)

    def _syntax(self) -> str:
        if self.UNBOUNDED and self.length == MAX_LENGTH:
            return self.UNBOUNDED
        return f"{self.type_name()}({self.length})"


class CharType(_LengthType):
    """Texts of exactly so many code points: ``CHAR(n)``."""


class VarCharType(_LengthType):
    """Texts of at most so many code points: ``VARCHAR(n)``, the longest one ``STRING``."""

    UNBOUNDED = "STRING"


class BinaryType(_LengthType):
    """Exactly so many bytes: ``BINARY(n)``."""


class VarBinaryType(_LengthType):
    """At most so many bytes: ``VARBINARY(n)``, the longest one ``BYTES``."""

    UNBOUNDED = "BYTES"


class BitmapType(AtomicType):
    """Sets of unsigned whole numbers of 32 bits, each given as the INT of the same bits."""


class DateType(AtomicType):
    """Dates."""

    EPOCH_ORDINAL = internal.EPOCH_DAY

    def need_conversion(self) -> bool:
        """Return True: a date becomes days since 1970-01-01."""
        return True

    def to_sql_type(self, d: datetime.date | None) -> int | None:
        """Return the days since 1970-01-01."""
        return None if d is None else internal.days_of_date(d)

    def from_sql_type(self, v: int | None) -> datetime.date | None:
        """Return the date so many days after 1970-01-01."""
        return None if v is None else internal.date_of_days(v)


class _PrecisionType(AtomicType):
    NAME: ClassVar[str]
    ZONE: ClassVar[str] = ""

    def __init__(self, precision: int = 6, nullable: bool = True) -> None:
        super().__init__(nullable)
        _check_range(f"the precision of {self.NAME}{self.ZONE}", precision, 0, MAX_PRECISION)
        self.precision = precision

    def _parameters(self) -> tuple[Any, ...]:
        return (self.precision,)

    def _syntax(self) -> str:
        return f"{self.NAME}({self.precision}){self.ZONE}"

    def need_conversion(self) -> bool:
        """Return True: a time becomes a number of microseconds."""
        return True


class TimeType(_PrecisionType):
    """Times of a day without a zone, with so many digits of a second's fraction.

    Spark and Python's ``datetime.time`` carry six of them.
    """

    NAME = "TIME"
    EPOCH_ORDINAL = internal.EPOCH_OFFSET

    def __init__(self, precision: int = 0, nullable: bool = True) -> None:
        super().__init__(precision, nullable)

    def to_sql_type(self, t: datetime.time | None) -> int | None:
        """Return the microseconds since midnight in UTC."""
        return None if t is None else internal.micros_of_time(t)

    def from_sql_type(self, t: int | None) -> datetime.time | None:
        """Return the local time at these microseconds since midnight in UTC."""
        return None if t is None else internal.time_of_micros(t)


class TimestampType(_PrecisionType):
    """Dates with a time of day, as a calendar and a clock show them: ``TIMESTAMP(p)``.

    Spark and Python's ``datetime.datetime`` carry six digits of a second's fraction.
    """

    NAME = "TIMESTAMP"

    def to_sql_type(self, dt: datetime.datetime | None) -> int | None:
        """Return the microseconds since the epoch."""
        return None if dt is None else internal.micros_of_datetime(dt)

    def from_sql_type(self, ts: int | None) -> datetime.datetime | None:
        """Return the local time so many microseconds after the epoch."""
        return None if ts is None else internal.datetime_of_micros(ts)


class LocalZonedTimestampType(_PrecisionType):
    """Instants, shown in the session's time zone: ``TIMESTAMP_LTZ(p)``."""

    NAME = "TIMESTAMP_LTZ"
    EPOCH_ORDINAL = internal.EPOCH_OFFSET

    def to_sql_type(self, dt: datetime.datetime | None) -> int | None:
        """Return the microseconds since the epoch, by the local clock at the epoch."""
        return None if dt is None else internal.micros_of_datetime(dt) + self.EPOCH_ORDINAL

    def from_sql_type(self, ts: int | None) -> datetime.datetime | None:
        """Return the time of which `to_sql_type` made this number."""
        return None if ts is None else internal.datetime_of_micros(ts - self.EPOCH_ORDINAL)


class ZonedTimestampType(_PrecisionType):
    """Instants with a time zone each: ``TIMESTAMP(p) WITH TIME ZONE``.

    Neither Flink nor Spark has it in tables.
    """

    NAME = "TIMESTAMP"
    ZONE = " WITH TIME ZONE"

    def to_sql_type(self, dt: datetime.datetime | None) -> tuple[int, int] | None:
        """Return microseconds by the clock of the zone, and the zone's offset in seconds."""
        if dt is None:
            return None
        zone = dt.tzinfo or datetime.datetime.now(datetime.timezone.utc).astimezone().tzinfo
        offset = internal.micros_of_interval(cast(datetime.tzinfo, zone).utcoffset(dt))
        return internal.micros_of_datetime(dt) + offset, offset // internal.MICROS

    def from_sql_type(self, zoned_ts: tuple[int, int] | None) -> datetime.datetime | None:
        """Return the time of which `to_sql_type` made these numbers."""
        if zoned_ts is None:
            return None
        micros, offset = zoned_ts
        seconds, microsecond = divmod(micros - offset * internal.MICROS, internal.MICROS)
        zone = datetime.timezone(datetime.timedelta(seconds=offset))
        return datetime.datetime.fromtimestamp(seconds, zone).replace(microsecond=microsecond)


class Resolution:
    """One end of the fields of an interval, as ``DataTypes.DAY(2)``.

    Parameters
    ----------
    unit : Resolution.IntervalUnit
        The field.
    precision : int
        Digits of years, of days, or of a second's fraction; -1 where there is none.
    """

    class IntervalUnit(Enum):
        """The fields of intervals."""

        SECOND = 0
        MINUTE = 1
        HOUR = 2
        DAY = 3
        MONTH = 4
        YEAR = 5

    def __init__(self, unit: Resolution.IntervalUnit, precision: int = -1) -> None:
        self._unit = unit
        self._precision = precision

    @property
    def unit(self) -> Resolution.IntervalUnit:
        """The field."""
        return self._unit

    @property
    def precision(self) -> int:
        """The number of digits, or -1."""
        return self._precision

    def __str__(self) -> str:
        return f"{self._unit}({self._precision})"


class YearMonthIntervalType(AtomicType):
    """Intervals of months.

    Parameters
    ----------
    resolution : int
        One of `YearMonthResolution`.
    precision : int
        Digits of the years, 1 to 4.
    nullable : bool
        Whether None is a value of the type.
    """

    class YearMonthResolution:
        """The fields that an interval of months can have."""

        YEAR = 1
        MONTH = 2
        YEAR_TO_MONTH = 3

    DEFAULT_PRECISION = 2

    def __init__(
        self, resolution: int, precision: int = DEFAULT_PRECISION, nullable: bool = True
    ) -> None:
        super().__init__(nullable)
        _check_range("the resolution of an interval of months", resolution, 1, 3)
        if resolution == self.YearMonthResolution.MONTH and precision != self.DEFAULT_PRECISION:
            raise ValueError("an interval of MONTH has no precision")
        _check_range("the precision of years", precision, 1, 4)
        self._resolution = resolution
        self._precision = precision

    @property
    def resolution(self) -> int:
        """The fields of the interval."""
        return self._resolution

    @property
    def precision(self) -> int:
        """Digits of the years."""
        return self._precision

    def _syntax(self) -> str:
        if self._resolution == self.YearMonthResolution.MONTH:
            return "INTERVAL MONTH"
        to = " TO MONTH" if self._resolution == self.YearMonthResolution.YEAR_TO_MONTH else ""
        return f"INTERVAL YEAR({self._precision}){to}"


class DayTimeIntervalType(AtomicType):
    """Intervals of days, hours, minutes and seconds.

    Parameters
    ----------
    resolution : DayTimeIntervalType.DayTimeResolution
        The fields of the interval.
    day_precision : int
        Digits of the days, 1 to 6; 2 where the interval has no days.
    fractional_precision : int
        Digits of a second's fraction, 0 to 9; 6 where the interval has no seconds.
    nullable : bool
        Whether None is a value of the type.
    """

    class DayTimeResolution(Enum):
        """The fields that an interval of days and times can have."""

        DAY = 1
        DAY_TO_HOUR = 2
        DAY_TO_MINUTE = 3
        DAY_TO_SECOND = 4
        HOUR = 5
        HOUR_TO_MINUTE = 6
        HOUR_TO_SECOND = 7
        MINUTE = 8
        MINUTE_TO_SECOND = 9
        SECOND = 10

    DEFAULT_DAY_PRECISION = 2
    DEFAULT_FRACTIONAL_PRECISION = 6

    def __init__(
        self,
        resolution: DayTimeIntervalType.DayTimeResolution,
        day_precision: int = DEFAULT_DAY_PRECISION,
        fractional_precision: int = DEFAULT_FRACTIONAL_PRECISION,
        nullable: bool = True,
    ) -> None:
        super().__init__(nullable)
        if not isinstance(resolution, self.DayTimeResolution):
            raise TypeError(f"the resolution must be a DayTimeResolution, not {resolution!r}")
        fields = resolution.name.split("_TO_")
        if "DAY" not in fields and day_precision != self.DEFAULT_DAY_PRECISION:
            raise ValueError(f"an interval of {resolution.name} has no precision of days")
        if "SECOND" not in fields and fractional_precision != self.DEFAULT_FRACTIONAL_PRECISION:
            raise ValueError(f"an interval of {resolution.name} has no precision of seconds")
        _check_range("the precision of days", day_precision, 1, 6)
        _check_range("the precision of seconds", fractional_precision, 0, MAX_PRECISION)
        self._resolution = resolution
        self._day_precision = day_precision
        self._fractional_precision = fractional_precision

    @property
    def resolution(self) -> DayTimeIntervalType.DayTimeResolution:
        """The fields of the interval."""
        return self._resolution

    @property
    def day_precision(self) -> int:
        """Digits of the days."""
        return self._day_precision

    @property
    def fractional_precision(self) -> int:
        """Digits of a second's fraction."""
        return self._fractional_precision

    def _syntax(self) -> str:
        digits = {"DAY": self._day_precision, "SECOND": self._fractional_precision}
        fields = self._resolution.name.split("_TO_")
        return "INTERVAL " + " TO ".join(
            f"{field}({digits[field]})" if field in digits else field for field in fields
        )

    def need_conversion(self) -> bool:
        """Return True: an interval becomes a number of microseconds."""
        return True

    def to_sql_type(self, timedelta: datetime.timedelta | None) -> int | None:
        """Return the length in microseconds."""
        return None if timedelta is None else internal.micros_of_interval(timedelta)

    def from_sql_type(self, ts: int | None) -> datetime.timedelta | None:
        """Return the interval of so many microseconds."""
        return None if ts is None else datetime.timedelta(microseconds=ts)


def interval_type(
    upper: Resolution, lower: Resolution | None = None
) -> DayTimeIntervalType | YearMonthIntervalType:
    """Return the type of the intervals between two resolutions; one alone is both.

    Raises
    ------
    ValueError
        If no interval has these fields.
    """
    name = upper.unit.name if lower is None else f"{upper.unit.name}_TO_{lower.unit.name}"
    months = getattr(YearMonthIntervalType.YearMonthResolution, name, None)
    if months is not None:
        years = upper.unit is Resolution.IntervalUnit.YEAR
        default = YearMonthIntervalType.DEFAULT_PRECISION
        return YearMonthIntervalType(months, upper.precision if years else default)
    try:
        resolution = DayTimeIntervalType.DayTimeResolution[name]
    except KeyError:
        raise ValueError(
            f"there is no interval of {name.replace('_', ' ')}: it goes from YEAR to MONTH, or"
            " from one of DAY, HOUR, MINUTE, SECOND to a later one of them"
        ) from None
    precision = {end.unit.name: end.precision for end in (upper, lower) if end is not None}
    return DayTimeIntervalType(
        resolution,
        precision.get("DAY", DayTimeIntervalType.DEFAULT_DAY_PRECISION),
        precision.get("SECOND", DayTimeIntervalType.DEFAULT_FRACTIONAL_PRECISION),
    )


class _CollectionType(DataType):
    def __init__(self, element_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.element_type = _checked_type("the type of the elements", element_type)

    def _parameters(self) -> tuple[Any, ...]:
        return (repr(self.element_type),)

    def _syntax(self) -> str:
        return f"{self.type_name()}<{self.element_type.sql}>"

    def need_conversion(self) -> bool:
        """Return whether the elements are converted."""
        return self.element_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        """Return the elements in their internal form."""
        if not self.need_conversion():
            return obj
        return obj and [self.element_type.to_sql_type(element) for element in obj]

    def from_sql_type(self, obj: Any) -> Any:
        """Return the elements as Python values."""
        if not self.need_conversion():
            return obj
        return obj and [self.element_type.from_sql_type(element) for element in obj]


class ArrayType(_CollectionType):
    """Lists of values of one type: ``ARRAY<t>``."""


class MultisetType(_CollectionType):
    """Values of one type, each any number of times: ``MULTISET<t>``."""


class MapType(DataType):
    """Keys of one type with values of another: ``MAP<k, v>``. No key is None."""

    def __init__(self, key_type: DataType, value_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.key_type = _checked_type("the type of the keys", key_type)
        self.value_type = _checked_type("the type of the values", value_type)

    def _parameters(self) -> tuple[Any, ...]:
        return repr(self.key_type), repr(self.value_type)

    def _syntax(self) -> str:
        return f"MAP<{self.key_type.sql}, {self.value_type.sql}>"

    def need_conversion(self) -> bool:
        """Return whether keys or values are converted."""
        return self.key_type.need_conversion() or self.value_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        """Return keys and values in their internal form."""
        if not self.need_conversion():
            return obj
        key, value = self.key_type.to_sql_type, self.value_type.to_sql_type
        return obj and {key(k): value(v) for k, v in obj.items()}

    def from_sql_type(self, obj: Any) -> Any:
        """Return keys and values as Python values."""
        if not self.need_conversion():
            return obj
        key, value = self.key_type.from_sql_type, self.value_type.from_sql_type
        return obj and {key(k): value(v) for k, v in obj.items()}


class _ViewType(DataType):
    def to_sql_type(self, obj: Any) -> Any:
        """Raise: a view is no value.

        Raises
        ------
        TypeError
            Always. (PyFlink raises a bare ``Exception``.)
        """
        raise TypeError(
            f"{type(self).__name__} can only be used in the accumulator type of an aggregate"
            " function"
        )

    from_sql_type = to_sql_type


class ListViewType(_ViewType):
    """The type of a `pyflow.table.ListView`, in an accumulator type alone."""

    def __init__(self, element_type: DataType) -> None:
        super().__init__(False)
        self._element_type = _checked_type("the type of the elements", element_type)

    def __repr__(self) -> str:
        return f"ListViewType({self._element_type!r})"

    def _syntax(self) -> str:
        return f"LIST_VIEW<{self._element_type.sql}>"


class MapViewType(_ViewType):
    """The type of a `pyflow.table.MapView`, in an accumulator type alone."""

    def __init__(self, key_type: DataType, value_type: DataType) -> None:
        super().__init__(False)
        self._key_type = _checked_type("the type of the keys", key_type)
        self._value_type = _checked_type("the type of the values", value_type)

    def __repr__(self) -> str:
        return f"MapViewType({self._key_type!r}, {self._value_type!r})"

    def _syntax(self) -> str:
        return f"MAP_VIEW<{self._key_type.sql}, {self._value_type.sql}>"


class RowField:
    """A field of a `RowType`.

    Parameters
    ----------
    name : str
        Its name.
    data_type : DataType
        The type of its values.
    description : str, optional
        What it means; ``...`` when it is not said.
    """

    def __init__(self, name: str, data_type: DataType, description: str | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a field must be a str, not {name!r}")
        if description is not None and not isinstance(description, str):
            raise TypeError(f"the description of {name!r} must be a str, not {description!r}")
        self.name = name
        self.data_type = _checked_type(f"the type of field {name!r}", data_type)
        self.description = "..." if description is None else description

    def __repr__(self) -> str:
        return f"RowField({self.name}, {self.data_type!r}, {self.description})"

    def __str__(self) -> str:
        return f"RowField({self.name}, {self.data_type})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.name, self.data_type))

    def _syntax(self) -> str:
        name = self.name.replace("`", "``")
        description = self.description.replace("'", "''")
        comment = "" if self.description == "..." else f" '{description}'"
        return f"`{name}` {self.data_type.sql}{comment}"

    def need_conversion(self) -> bool:
        """Return whether the values are converted."""
        return self.data_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        """Return the internal form of a value."""
        return self.data_type.to_sql_type(obj)

    def from_sql_type(self, obj: Any) -> Any:
        """Return the Python value of an internal form."""
        return self.data_type.from_sql_type(obj)


class RowType(DataType):
    """Rows of named fields: ``ROW<`id` BIGINT, `name` STRING>``.

    Iterating gives its fields; ``row_type["id"]``, ``row_type[0]`` and slices take some of them.

    Parameters
    ----------
    fields : list of RowField, optional
        The fields, in order.
    nullable : bool
        Whether None is a value of the type.
    """

    def __init__(self, fields: Sequence[RowField] | None = None, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.fields = list(fields or ())
        for field in self.fields:
            if not isinstance(field, RowField):
                raise TypeError(f"a row has fields, made by DataTypes.FIELD, not {field!r}")

    @property
    def names(self) -> list[str]:
        """The names of the fields."""
        return [field.name for field in self.fields]

    def add(self, field: RowField | str, data_type: DataType | None = None) -> RowType:
        """Append a field to this type while it is being built.

        Parameters
        ----------
        field : RowField or str
            The field, or its name.
        data_type : DataType, optional
            Its type, where `field` is a name.

        Returns
        -------
        RowType
            This type.

        Raises
        ------
        ValueError
            If there is a name and no type.
        """
        if isinstance(field, str):
            if data_type is None:
                raise ValueError(f"field {field!r} needs a type: add({field!r}, data_type)")
            field = RowField(field, data_type)
        self.fields.append(field)
        return self

    def _with(self, **attributes: Any) -> RowType:
        return super()._with(**{"fields": list(self.fields), **attributes})

    def __iter__(self) -> Iterator[RowField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, key: str | int | slice) -> RowField | RowType:
        if isinstance(key, str):
            for field in self.fields:
                if field.name == key:
                    return field
            raise KeyError(f"there is no field {key!r} in {self.sql}")
        if isinstance(key, slice):
            return RowType(self.fields[key])
        if isinstance(key, int):
            return self.fields[key]
        raise TypeError(f"a field is taken by name, position or slice, not by {key!r}")

    def __repr__(self) -> str:
        return f"RowType({','.join(map(repr, self.fields))})"

    def _syntax(self) -> str:
        return f"ROW<{', '.join(field._syntax() for field in self.fields)}>"

    def field_names(self) -> list[str]:
        """Return the names of the fields."""
        return self.names

    def field_types(self) -> list[DataType]:
        """Return the types of the fields."""
        return [field.data_type for field in self.fields]

    def need_conversion(self) -> bool:
        """Return True: a row becomes a tuple."""
        return True

    def to_sql_type(self, obj: Any) -> tuple[Any, ...] | None:
        """Return the number of the row's kind and its values in their internal form."""
        if obj is None:
            return None
        kind, values = internal.row_values(obj, self.names)
        types = (field.data_type for field in self.fields)
        return (kind.value, *(type_.to_sql_type(value) for type_, value in zip(types, values)))

    def from_sql_type(self, obj: Any) -> Row | None:
        """Return the row of values in their internal form."""
        if obj is None or isinstance(obj, Row):
            return obj
        values = [field.from_sql_type(value) for field, value in zip(self.fields, obj)]
        return _create_row(self.names, values, RowKind.INSERT)


class RawType(DataType):
    """Python objects of any kind, pickled."""

    def from_sql_type(self, obj: bytes) -> Any:
        """Return the object of a pickle."""
        return pickle.loads(obj)


class UserDefinedType(DataType):
    """Base of types of objects of a program's own classes.

    A subclass says in `sql_type` how the objects are kept, in `serialize` and `deserialize` how
    they become that and come back. The class of the objects has it as attribute ``__UDT__``.
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def type_name(cls) -> str:
        """Return the name of the class in lower case."""
        return cls.__name__.lower()

    @classmethod
    def sql_type(cls) -> DataType:
        """Return the type as which the objects are kept."""
        raise NotImplementedError(f"{cls.__name__} must implement sql_type()")

    @classmethod
    def module(cls) -> str:
        """Return the name of the module that has the class."""
        raise NotImplementedError(f"{cls.__name__} must implement module()")

    @classmethod
    def java_udt(cls) -> str:
        """Return the name of a Java class for the same type; none here."""
        return ""

    def need_conversion(self) -> bool:
        """Return True."""
        return True

    def to_sql_type(self, obj: Any) -> Any:
        """Return the internal form of an object."""
        return None if obj is None else self.sql_type().to_sql_type(self.serialize(obj))

    def from_sql_type(self, obj: Any) -> Any:
        """Return the object of an internal form."""
        value = self.sql_type().from_sql_type(obj)
        return None if value is None else self.deserialize(value)

    def serialize(self, obj: Any) -> Any:
        """Return a value of `sql_type` for an object."""
        raise NotImplementedError(f"{type(self).__name__} must implement serialize()")

    def deserialize(self, datum: Any) -> Any:
        """Return the object for a value of `sql_type`."""
        raise NotImplementedError(f"{type(self).__name__} must implement deserialize()")


def _checked_type(subject: str, data_type: DataType) -> DataType:
    if not isinstance(data_type, DataType):
        raise TypeError(f"{subject} must be a DataType, as DataTypes.INT(), not {data_type!r}")
    return data_type


def _check_range(subject: str, value: int, least: int, greatest: int) -> None:
    if not least <= value <= greatest:
        raise ValueError(f"{subject} must be between {least} and {greatest}, not {value}")
