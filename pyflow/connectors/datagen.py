"""The connector ``datagen``: rows of random values and of sequences, made by Spark itself."""

from __future__ import annotations

import itertools
import random
import zlib
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.connectors.connector import (
    Connector,
    DescribedTable,
    Option,
    boolean,
    duration,
    fraction,
    integer,
)
from pyflow.table.columns.times_of_day import time_of_local
from pyflow.types.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)
from pyflow.types.parts import parts_of, with_parts
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType as SparkType

    from pyflow.session.context import Context

_INTEGERS: dict[type[DataType], int] = {
    TinyIntType: 8,
    SmallIntType: 16,
    IntType: 32,
    BigIntType: 64,
}
# Of numbers of 64 bits, and the differences of two.
_WIDE = "decimal(20,0)"
# The number of a row, and when it was made.
_ID, _NOW = "id", "now"


def _kind(text: str) -> str:
    if text not in ("random", "sequence"):
        raise ValueError(text)
    return text


class DataGen(Connector):
    """A table of a given number of rows; without a number of rows it is unbounded."""

    identifier = "datagen"
    options = (
        Option("rows-per-second", integer, "an integer", default=10_000),
        Option("number-of-rows", integer, "an integer"),
        Option("scan.parallelism", integer, "an integer"),
        Option("fields.#.kind", _kind, "random or sequence"),
        Option("fields.#.min"),
        Option("fields.#.max"),
        Option("fields.#.max-past", duration, "a duration such as 10 s"),
        Option("fields.#.length", integer, "an integer"),
        Option("fields.#.var-len", boolean, "true or false"),
        Option("fields.#.start"),
        Option("fields.#.end"),
        Option("fields.#.null-rate", fraction, "a number from 0 to 1"),
    )

    def __init__(self, table: DescribedTable) -> None:
        super().__init__(table)
        self._draws = itertools.count()
        self._seed = 0

    def read(self, context: Context) -> DataFrame:
        """Return the rows: without a number of rows those of Spark's source ``rate``.

        Bounded rows have other random values each time that they are read; those of a stream have
        the same ones, so that they stay the same when the query goes on after a failure.
        """
        self._check_paths()
        count = self._count()
        if count is None:
            self._seed = zlib.crc32(self.table.identifier.encode())
            frame = self._stream(context)
        else:
            self._seed = random.getrandbits(63)
            frame = context.session.range(0, count, 1, self["scan.parallelism"])
            frame = frame.withColumn(_NOW, F.current_timestamp())
        columns = [
            self._column(name, data_type).cast(_nullable(data_type)).alias(name)
            for name, data_type in self.table.columns
        ]
        return frame.select(*columns)

    def _stream(self, context: Context) -> DataFrame:
        reader = context.session.readStream.format("rate")
        reader = reader.option("rowsPerSecond", self["rows-per-second"])
        if self["scan.parallelism"] is not None:
            reader = reader.option("numPartitions", self["scan.parallelism"])
        return reader.load().select(F.col("value").alias(_ID), F.col("timestamp").alias(_NOW))

    def _option(self, path: str, name: str) -> Any:
        return self.values.get(f"fields.{path}.{name}")

    def _check_paths(self) -> None:
        names = {name for name, _ in self.table.columns}
        for key in self.values:
            if key.startswith("fields.") and key.split(".")[1] not in names:
                raise TableException(
                    f"Table {self.table.identifier}: option {key!r} is for a column "
                    f"{key.split('.')[1]!r}, which the table does not have."
                )

    def _count(self) -> int | None:
        """Return the number of rows: that of the shortest sequence; None for an unbounded table."""
        counts = [self["number-of-rows"]] if self["number-of-rows"] is not None else []
        for name, data_type in self.table.columns:
            if self._option(name, "kind") == "sequence":
                start, end = self._bounds_of_sequence(name, data_type)
                counts.append(max(end - start + 1, 0))
        return int(min(counts)) if counts else None

    def _bounds_of_sequence(self, path: str, data_type: DataType) -> tuple[int, int]:
        bounds = []
        for name in ("start", "end"):
            text = self._option(path, name)
            key = f"fields.{path}.{name}"
            if text is None:
                raise TableException(
                    f"Table {self.table.identifier}: could not find required property {key!r} "
                    "for the sequence generator."
                )
            try:
                bounds.append(int(text))
            except ValueError:
                raise self.wrong(key, text, "a whole number") from None
        return bounds[0], bounds[1]

    def _column(self, path: str, data_type: DataType) -> Column:
        if self._option(path, "kind") == "sequence":
            start, _ = self._bounds_of_sequence(path, data_type)
            if not isinstance(
                data_type, (*_INTEGERS, FloatType, DoubleType, DecimalType, VarCharType)
            ):
                raise self.wrong(f"fields.{path}.kind", "sequence", f"random for {data_type.sql}")
            return F.col(_ID) + F.lit(start)
        value = self._random(path, data_type)
        rate = self._option(path, "null-rate")
        return F.when(self._share() >= rate, value) if rate else value

    def _random(self, path: str, data_type: DataType) -> Column:
        if type(data_type) in _INTEGERS:
            return self._random_integer(path, _INTEGERS[type(data_type)])
        if isinstance(data_type, (FloatType, DoubleType)):
            top = (
                3.4028234663852886e38
                if isinstance(data_type, FloatType)
                else 1.7976931348623157e308
            )
            least, most = self._limits(path, -top, top, float)
            # least + rand * (most - least) would overflow for the whole range.
            share = self._share()
            return share * F.lit(most) + (F.lit(1.0) - share) * F.lit(least)
        if isinstance(data_type, DecimalType):
            whole = 10 ** (data_type.precision - data_type.scale)
            least, most = self._limits(path, -whole + 1, whole - 1, float)
            share = F.lit(least) + self._share() * F.lit(float(most) - float(least))
            return F.round(share.cast(f"decimal(38,{min(data_type.scale, 18)})"), data_type.scale)
        if isinstance(data_type, (CharType, VarCharType)):
            return self._random_text(path, data_type)
        if isinstance(data_type, (BinaryType, VarBinaryType)):
            length = self._length(path, data_type, 100)
            return F.unhex(self._hex(2 * length)).cast("binary")
        if isinstance(data_type, BooleanType):
            return self._share() < 0.5
        time = self._random_time(path, data_type)
        return self._random_nested(path, data_type) if time is None else time

    def _limits(self, path: str, least: Any, most: Any, read: Any) -> tuple[Any, Any]:
        values = []
        for name, otherwise in (("min", least), ("max", most)):
            text = self._option(path, name)
            try:
                values.append(otherwise if text is None else read(text))
            except ValueError:
                raise self.wrong(f"fields.{path}.{name}", text, "a number") from None
        if values[0] > values[1]:
            raise self.wrong(f"fields.{path}.min", values[0], f"at most the max, {values[1]}")
        return values[0], values[1]

    def _random_integer(self, path: str, bits: int) -> Column:
        bound = 1 << (bits - 1)
        least, most = self._limits(path, -bound, bound - 1, int)
        number = self._hash()
        for name, limit in (("min", least), ("max", most)):
            if not -bound <= limit < bound:
                what = f"from {-bound} to {bound - 1}"
                raise self.wrong(f"fields.{path}.{name}", str(limit), what)
        span = most - least + 1
        if span == 1 << 64:
            return number
        if span < 1 << 63:
            return F.pmod(number, F.lit(span)) + F.lit(least)
        wide = F.pmod(number.cast(_WIDE), F.lit(str(span)).cast(_WIDE)) + F.lit(least).cast(_WIDE)
        return wide.cast("bigint")

    def _length(self, path: str, data_type: DataType, otherwise: int) -> int:
        length = self._option(path, "length")
        own = getattr(data_type, "length", None)
        if length is None:
            return otherwise if own is None or own > 1 << 20 else int(own)
        if length < 0 or (own is not None and length > own):
            raise self.wrong(f"fields.{path}.length", length, f"what fits into {data_type.sql}")
        return int(length)

    def _random_text(self, path: str, data_type: DataType) -> Column:
        length = self._length(path, data_type, 100)
        text = self._hex(length)
        if not self._option(path, "var-len"):
            return text
        if not isinstance(data_type, VarCharType):
            raise self.wrong(f"fields.{path}.var-len", "true", f"false for {data_type.sql}")
        taken = F.floor(self._share() * F.lit(length)).cast("int") + 1
        return text.substr(F.lit(1), taken)

    def _random_time(self, path: str, data_type: DataType) -> Column | None:
        past = self._option(path, "max-past") or 0
        now = F.col(_NOW) - F.make_dt_interval(
            secs=(self._share() * F.lit(past / 1000.0)).cast("decimal(18,6)")
        )
        if isinstance(data_type, (TimestampType, LocalZonedTimestampType)):
            return now
        if isinstance(data_type, DateType):
            return F.col(_NOW).cast("date")
        if isinstance(data_type, TimeType):
            return time_of_local(F.col(_NOW).cast("timestamp_ntz"))
        if isinstance(data_type, DayTimeIntervalType):
            milliseconds = self._random_integer(path, 32)
            return F.make_dt_interval(secs=(milliseconds / 1000).cast("decimal(18,6)"))
        if isinstance(data_type, YearMonthIntervalType):
            return F.make_ym_interval(
                F.lit(0), F.pmod(self._random_integer(path, 32), F.lit(120_000)).cast("int")
            )
        return None

    def _random_nested(self, path: str, data_type: DataType) -> Column:
        if isinstance(data_type, RowType):
            return F.struct(
                *(
                    self._column(f"{path}.{part.name}", part.data_type)
                    .cast(_nullable(part.data_type))
                    .alias(part.name)
                    for part in data_type.fields
                )
            )
        length = self._option(path, "length")
        count = 3 if length is None else length
        if isinstance(data_type, ArrayType):
            element = data_type.element_type
            values = [
                self._column(f"{path}.element", element).cast(_nullable(element))
                for _ in range(count)
            ]
            return F.array(*values)
        if isinstance(data_type, (MapType, MultisetType)):
            key = data_type.key_type if isinstance(data_type, MapType) else data_type.element_type
            entries = [
                F.struct(
                    self._column(f"{path}.key", key).cast(_nullable(key)),
                    self._column(f"{path}.value", data_type.value_type).cast(
                        _nullable(data_type.value_type)
                    )
                    if isinstance(data_type, MapType)
                    else F.lit(1),
                )
                for _ in range(count)
            ]
            return F.map_from_entries(F.array(*entries))
        raise TableException(
            f"Table {self.table.identifier}: the connector 'datagen' has no values of type "
            f"{data_type.sql} for column {path.split('.')[0]!r}."
        )

    def _hex(self, length: int) -> Column:
        """Return a random string of a number of hexadecimal digits."""
        parts = [F.md5(self._hash().cast("string")) for _ in range(-(-length // 32))]
        return F.concat(F.lit(""), *parts).substr(1, length)

    def _hash(self) -> Column:
        """Return a random whole number of 64 bits, another one for each call and row.

        It is made of the row's number: Spark may compute a row more than once, for several sinks
        or after a failure, and must find the same values.
        """
        # One call of the JVM; the functions of Column take nine.
        seed = f"{self._seed}L" if self._seed >= 1 << 31 else self._seed
        return F.expr(f"xxhash64({_ID}, {seed}, {next(self._draws)})")

    def _share(self) -> Column:
        """Return a random number from 0 to 1, without 1."""
        return F.shiftrightunsigned(self._hash(), 11) * F.lit(2.0**-53)


def _nullable(data_type: DataType) -> SparkType:
    """Return Spark's type, in which anything may be null: Spark does not know what is not."""
    return to_spark(_with_nulls(data_type))


def _with_nulls(data_type: DataType) -> DataType:
    return with_parts(data_type.nullable(), list(map(_with_nulls, parts_of(data_type))))
