"""Reads types in Flink's form: ``ROW<id BIGINT NOT NULL, tags ARRAY<STRING>>``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from pyflow.types import logical_types as types
from pyflow.types.logical_types import MAX_LENGTH, DataType, Resolution, RowField
from pyflow.util.exceptions import TableException

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<word>[^\W\d]\w*)
    | (?P<number>\d+)
    | `(?P<name>(?:[^`]|``)*)`
    | '(?P<string>(?:[^']|'')*)'
    | (?P<sign>[<>(),])
    | (?P<end>$)
    )""",
    re.VERBOSE,
)


def parse(text: str, in_sql: bool = False) -> DataType:
    """Return the type that a string describes, in SQL's words of any case.

    Parameters
    ----------
    text : str
        For example ``BIGINT``, ``DECIMAL(10, 2) NOT NULL``, ``TIMESTAMP(3) WITH LOCAL TIME ZONE``,
        ``ROW<a INT, b ARRAY<STRING>>``, ``INTERVAL DAY(2) TO SECOND(3)``.
    in_sql : bool
        Whether it is part of a statement. There VARCHAR and VARBINARY without a length are STRING
        and BYTES, of length 1 elsewhere, and a precision that is too great is the greatest.

    Raises
    ------
    TableException
        If it is not a valid type. The message has the column, counted from 1.
    """
    if not isinstance(text, str):
        raise TypeError(f"a type is read from a str, not from {text!r}")
    reader = _Reader(text, in_sql)
    data_type = reader.data_type()
    if reader.token.kind != "end":
        reader.fail("the end of the type")
    return data_type


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    column: int


_SIMPLE: dict[str, Callable[[], DataType]] = {
    "STRING": lambda: types.VarCharType(MAX_LENGTH),
    "BYTES": lambda: types.VarBinaryType(MAX_LENGTH),
    "BITMAP": types.BitmapType,
    "BOOLEAN": types.BooleanType,
    "TINYINT": types.TinyIntType,
    "SMALLINT": types.SmallIntType,
    "INT": types.IntType,
    "INTEGER": types.IntType,
    "BIGINT": types.BigIntType,
    "FLOAT": types.FloatType,
    "DATE": types.DateType,
    "NULL": types.NullType,
}
# The most numbers in parentheses after a word.
_WITH_NUMBERS: dict[str, tuple[Callable[..., DataType], int]] = {
    "VARCHAR": (types.VarCharType, 1),
    "VARBINARY": (types.VarBinaryType, 1),
    "DECIMAL": (types.DecimalType, 2),
    "DEC": (types.DecimalType, 2),
    "NUMERIC": (types.DecimalType, 2),
    "TIMESTAMP_LTZ": (types.LocalZonedTimestampType, 1),
}
# The greatest precision in a statement.
_GREATEST: dict[Callable[..., DataType], int] = {
    types.DecimalType: types.MAX_DECIMAL_PRECISION,
    types.TimeType: 3,
    types.TimestampType: types.MAX_PRECISION,
    types.LocalZonedTimestampType: types.MAX_PRECISION,
}


class _Reader:
    def __init__(self, text: str, in_sql: bool) -> None:
        self.text = text
        self.in_sql = in_sql
        self.position = 0
        self.token = self._next()

    def _next(self) -> _Token:
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            rest = self.text[self.position :]
            column = self.position + 1 + len(rest) - len(rest.lstrip())
            raise TableException(
                f"the type {self.text!r} has {self.text[column - 1]!r} at column {column},"
                " which begins no word, name, number or sign of a type"
            )
        self.position = found.end()
        kind = str(found.lastgroup)
        quoted = {"name": 1, "string": 1}.get(kind, 0)
        text = found[kind]
        if quoted:
            quote = "`" if kind == "name" else "'"
            text = text.replace(quote * 2, quote)
        return _Token(kind, text, found.start(kind) - quoted + 1)

    def fail(self, expected: str) -> NoReturn:
        """Raise what was expected where the reader stands."""
        token = self.token
        found = "its end" if token.kind == "end" else repr(token.text)
        raise TableException(
            f"the type {self.text!r} has {found} at column {token.column} where {expected} is"
            " expected"
        )

    def take(self) -> _Token:
        """Return the next token and step over it."""
        token = self.token
        self.token = self._next()
        return token

    def accept(self, *words: str) -> bool:
        """Step over these words or signs if all of them come next."""
        position, token = self.position, self.token
        for word in words:
            if self.token.kind not in ("word", "sign") or self.token.text.upper() != word:
                self.position, self.token = position, token
                return False
            self.take()
        return True

    def expect(self, *words: str) -> None:
        """Step over these words or signs, which must come next."""
        for word in words:
            if not self.accept(word):
                self.fail(repr(word))

    def data_type(self) -> DataType:
        """Read a type with what follows it: NOT NULL, NULL, ARRAY, MULTISET."""
        data_type = self._nullability(self._plain())
        while True:
            if self.accept("ARRAY"):
                data_type = self._nullability(types.ArrayType(data_type))
            elif self.accept("MULTISET"):
                data_type = self._nullability(types.MultisetType(data_type))
            else:
                return data_type

    def _nullability(self, data_type: DataType) -> DataType:
        if self.accept("NOT", "NULL"):
            return data_type.not_null()
        self.accept("NULL")
        return data_type

    def _plain(self) -> DataType:
        start = self.token
        word = start.text.upper()
        known = start.kind == "word" and word in {*_SIMPLE, *_WITH_NUMBERS, *_OF_WORDS}
        if not known or (self.in_sql and word == "NULL"):
            self.fail("a type")
        self.take()
        try:
            if word in _SIMPLE:
                return _SIMPLE[word]()
            if word in _WITH_NUMBERS:
                make, most = _WITH_NUMBERS[word]
                return self._with_numbers(make, most)
            return _OF_WORDS[word](self)
        except ValueError as error:
            raise TableException(
                f"the type {self.text!r} is wrong at column {start.column}: {error}"
            ) from None

    def _char(self) -> DataType:
        make = types.VarCharType if self.accept("VARYING") else types.CharType
        return self._with_numbers(make, 1)

    def _binary(self) -> DataType:
        make = types.VarBinaryType if self.accept("VARYING") else types.BinaryType
        return self._with_numbers(make, 1)

    def _double(self) -> DataType:
        self.accept("PRECISION")
        return types.DoubleType()

    def _time(self) -> DataType:
        data_type = self._with_numbers(types.TimeType, 1)
        self.accept("WITHOUT", "TIME", "ZONE")
        return data_type

    def _with_numbers(self, make: Callable[..., DataType], most: int) -> DataType:
        return self._with(make, self._numbers(most))

    def _with(self, make: Callable[..., DataType], numbers: list[int]) -> DataType:
        if not self.in_sql:
            return make(*numbers)
        if not numbers and make in (types.VarCharType, types.VarBinaryType):
            return make(MAX_LENGTH)
        if numbers and make in _GREATEST:
            numbers = [min(numbers[0], _GREATEST[make]), *numbers[1:]]
        return make(*numbers)

    def _numbers(self, most: int) -> list[int]:
        numbers: list[int] = []
        if self.accept("("):
            while True:
                if self.token.kind != "number":
                    self.fail("a number")
                numbers.append(int(self.take().text))
                if len(numbers) == most or not self.accept(","):
                    break
            self.expect(")")
        return numbers

    def _timestamp(self) -> DataType:
        precision = self._numbers(1)
        if self.accept("WITH", "LOCAL", "TIME", "ZONE"):
            return self._with(types.LocalZonedTimestampType, precision)
        if self.accept("WITH", "TIME", "ZONE"):
            return _made(types.ZonedTimestampType, precision)
        self.accept("WITHOUT", "TIME", "ZONE")
        return self._with(types.TimestampType, precision)

    def _interval(self) -> DataType:
        upper = self._resolution()
        return types.interval_type(upper, self._resolution() if self.accept("TO") else None)

    def _resolution(self) -> Resolution:
        units = Resolution.IntervalUnit.__members__
        unit = units.get(self.token.text.upper()) if self.token.kind == "word" else None
        if unit is None:
            self.fail("YEAR, MONTH, DAY, HOUR, MINUTE or SECOND")
        self.take()
        default = {
            "YEAR": types.YearMonthIntervalType.DEFAULT_PRECISION,
            "DAY": types.DayTimeIntervalType.DEFAULT_DAY_PRECISION,
            "SECOND": types.DayTimeIntervalType.DEFAULT_FRACTIONAL_PRECISION,
        }
        if unit.name not in default:
            return Resolution(unit)
        return Resolution(unit, *(self._numbers(1) or [default[unit.name]]))

    def _array(self) -> DataType:
        return _made(types.ArrayType, self._inside(1))

    def _multiset(self) -> DataType:
        return _made(types.MultisetType, self._inside(1))

    def _map(self) -> DataType:
        return _made(types.MapType, self._inside(2))

    def _inside(self, count: int) -> list[DataType]:
        self.expect("<")
        inside = [self.data_type()]
        while len(inside) < count:
            self.expect(",")
            inside.append(self.data_type())
        self.expect(">")
        return inside

    def _row(self) -> DataType:
        close = {"<": ">", "(": ")"}.get(self.token.text)
        if close is None or self.token.kind != "sign":
            self.fail("'<' or '('")
        self.take()
        fields: list[RowField] = []
        while not self.accept(close):
            if fields:
                self.expect(",")
            if self.token.kind not in ("word", "name"):
                self.fail("the name of a field")
            name = self.take().text
            data_type = self.data_type()
            description = self.take().text if self.token.kind == "string" else None
            fields.append(RowField(name, data_type, description))
        return types.RowType(fields)

    def _raw(self) -> DataType:
        # RAW('class', 'snapshot of its serializer') says nothing about pickles.
        if self.accept("("):
            while not self.accept(")"):
                if self.token.kind != "string" and not self.accept(","):
                    self.fail("a string")
                if self.token.kind == "string":
                    self.take()
        return types.RawType()


def _made(make: Callable[..., DataType], arguments: Sequence[object]) -> DataType:
    return make(*arguments)


_OF_WORDS: dict[str, Callable[[_Reader], DataType]] = {
    "CHAR": _Reader._char,
    "CHARACTER": _Reader._char,
    "BINARY": _Reader._binary,
    "DOUBLE": _Reader._double,
    "TIME": _Reader._time,
    "TIMESTAMP": _Reader._timestamp,
    "INTERVAL": _Reader._interval,
    "ARRAY": _Reader._array,
    "MULTISET": _Reader._multiset,
    "MAP": _Reader._map,
    "ROW": _Reader._row,
    "RAW": _Reader._raw,
}
