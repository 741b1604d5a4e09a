"""The format ``raw``: the bytes of one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.connectors.connector import DescribedTable, Option, one_of
from pyflow.connectors.formats.format import Format
from pyflow.connectors.formats.text_values import BYTES, TEXTS
from pyflow.table.changes.relation import column
from pyflow.types.logical_types import BigIntType, BooleanType, IntType, SmallIntType, TinyIntType
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.connectors.formats.format import Fields
    from pyflow.types.logical_types import DataType

_BYTES: dict[type[DataType], int] = {
    BooleanType: 1,
    TinyIntType: 1,
    SmallIntType: 2,
    IntType: 4,
    BigIntType: 8,
}


class Raw(Format):
    """The bytes of a table's only column."""

    identifier = "raw"
    options = (
        Option("charset", default="UTF-8"),
        Option(
            "endianness",
            one_of("big-endian", "little-endian"),
            "big-endian or little-endian",
            default="big-endian",
        ),
    )

    def __init__(self, table: DescribedTable, values: Mapping[str, Any]) -> None:
        super().__init__(table, values)
        self._charset = values["charset"]
        self._little = values["endianness"] == "little-endian"

    def check(self, fields: Fields) -> None:
        """Raise for several columns, and for types without bytes of their own."""
        if len(fields) != 1:
            raise TableException(
                f"Table {self.table.identifier}: the format 'raw' has one column, not "
                f"{', '.join(name for name, _ in fields) or 'none'}."
            )
        for name, data_type in fields:
            if not isinstance(data_type, (*TEXTS, *BYTES, *_BYTES)):
                raise self.refused(name, data_type)

    def decoded(
        self,
        frame: DataFrame,
        value: str,
        fields: Fields,
        kept: Sequence[str],
        nulls: bool = False,
    ) -> DataFrame:
        """Return a row for each value; no bytes are a null."""
        ((name, data_type),) = fields
        found = self._value(column(value).cast("binary"), data_type)
        return frame.select(*map(column, kept), found.alias(name))

    def _value(self, value: Column, data_type: DataType) -> Column:
        if isinstance(data_type, BYTES):
            return value
        if isinstance(data_type, TEXTS):
            return F.decode(value, self._charset)
        size = _BYTES[type(data_type)]
        digits = self._turned(F.hex(value))
        unsigned = F.conv(digits, 16, 10).cast("decimal(20,0)")
        above = unsigned >= F.lit(str(1 << 8 * size - 1)).cast("decimal(20,0)")
        surplus = F.when(above, F.lit(str(1 << 8 * size)).cast("decimal(20,0)")).otherwise(0)
        number = unsigned != 0 if isinstance(data_type, BooleanType) else unsigned - surplus
        error = self.wrong(F.hex(value), f"expected the {size} bytes of a {data_type.sql}, not")
        return F.when(F.length(value) != size, error).otherwise(number).cast(to_spark(data_type))

    def _turned(self, digits: Column) -> Column:
        if not self._little:
            return digits
        return F.regexp_replace(F.reverse(digits), "(.)(.)", "$2$1")

    def encoded(self, fields: Fields, source: Callable[[str], Column] = column) -> Column:
        """Return the bytes of the column."""
        ((name, data_type),) = fields
        value = source(name)
        if isinstance(data_type, BYTES):
            return value
        if isinstance(data_type, TEXTS):
            return F.encode(value, self._charset)
        digits = F.lpad(F.hex(value.cast("bigint")), 16, "0")
        return F.unhex(self._turned(F.right(digits, F.lit(2 * _BYTES[type(data_type)]))))
