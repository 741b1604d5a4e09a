"""The format ``avro``: records of Apache Avro, in the schema that Flink makes of a table.

Spark's Avro module reads and writes them; it has to be among the session's jars.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from pyflow.connectors.connector import DescribedTable, Option, boolean, one_of
from pyflow.connectors.formats.format import PARSED, Format, parsed_rows, present
from pyflow.connectors.formats.text_values import BYTES, TEXTS, entry, mapped
from pyflow.table.changes.relation import column
from pyflow.table.columns.time_values import local_of_micros
from pyflow.types.logical_types import (
    ArrayType,
    BigIntType,
    BooleanType,
    DateType,
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
    TinyIntType,
)
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.connectors.formats.format import Fields
    from pyflow.types.logical_types import DataType

_NAMES: dict[type[DataType], str] = {
    BooleanType: "boolean",
    TinyIntType: "int",
    SmallIntType: "int",
    IntType: "int",
    BigIntType: "long",
    FloatType: "float",
    DoubleType: "double",
}


class Avro(Format):
    """Avro records."""

    identifier = "avro"
    options = (
        Option("encoding", one_of("binary"), "binary", default="binary"),
        Option("codec", default="snappy"),
        Option("timestamp_mapping.legacy", boolean, "true or false", default=True),
    )
    files = "avro"

    def __init__(self, table: DescribedTable, values: Mapping[str, Any]) -> None:
        super().__init__(table, values)
        self._legacy = bool(values["timestamp_mapping.legacy"])

    def check(self, fields: Fields) -> None:
        """Raise for types that Avro does not have."""
        self.schema(fields)

    def schema(self, fields: Fields) -> str:
        """Return the schema of a table's records."""
        return json.dumps(self._record(fields, "record", ""))

    def _record(self, fields: Fields, name: str, path: str) -> dict[str, Any]:
        return {
            "type": "record",
            "name": name,
            "namespace": "org.apache.flink.avro.generated",
            "fields": [
                {
                    "name": part,
                    "type": self._type(data_type, f"{name}_{part}", f"{path}{part}"),
                    **({"default": None} if data_type._nullable else {}),
                }
                for part, data_type in fields
            ],
        }

    def _type(self, data_type: DataType, name: str, path: str) -> Any:
        made = self._plain(data_type, name, path)
        return ["null", made] if data_type._nullable else made

    def _plain(self, data_type: DataType, name: str, path: str) -> Any:
        if type(data_type) in _NAMES:
            return _NAMES[type(data_type)]
        if isinstance(data_type, TEXTS):
            return "string"
        if isinstance(data_type, BYTES):
            return "bytes"
        if isinstance(data_type, DateType):
            return {"type": "int", "logicalType": "date"}
        if isinstance(data_type, DecimalType):
            digits = {"precision": data_type.precision, "scale": data_type.scale}
            return {"type": "bytes", "logicalType": "decimal", **digits}
        if isinstance(data_type, (TimestampType, LocalZonedTimestampType)):
            return {"type": "long", "logicalType": self._time(data_type, path)}
        if isinstance(data_type, RowType):
            fields = list(zip(data_type.field_names(), data_type.field_types()))
            return self._record(fields, name, f"{path}.")
        if isinstance(data_type, ArrayType):
            return {"type": "array", "items": self._type(data_type.element_type, name, path)}
        if isinstance(data_type, (MapType, MultisetType)):
            key, of_value = entry(data_type)
            if isinstance(key, TEXTS):
                return {"type": "map", "values": self._type(of_value, name, path)}
        raise self.refused(path, data_type)

    def _time(self, data_type: TimestampType | LocalZonedTimestampType, path: str) -> str:
        local = isinstance(data_type, TimestampType)
        if data_type.precision > 6 or (self._legacy and (data_type.precision > 3 or not local)):
            raise TableException(
                f"Table {self.table.identifier}: column {path!r} has the type {data_type.sql}. "
                "Avro has TIMESTAMP of precision 3 at most, or, with the option "
                "'avro.timestamp_mapping.legacy' = 'false', TIMESTAMP and TIMESTAMP_LTZ of "
                "precision 6 at most."
            )
        unit = "millis" if data_type.precision <= 3 else "micros"
        return f"local-timestamp-{unit}" if local and not self._legacy else f"timestamp-{unit}"

    def decoded(
        self,
        frame: DataFrame,
        value: str,
        fields: Fields,
        kept: Sequence[str],
        nulls: bool = False,
    ) -> DataFrame:
        """Return a row for each record."""
        # Otherwise a damaged record would be one of nulls.
        options = F.create_map(F.lit("mode"), F.lit("FAILFAST"))
        record = F.call_function("from_avro", column(value), F.lit(self.schema(fields)), options)
        shown = list(map(column, kept))
        found = parsed_rows(present(frame, value, nulls), shown, record, lambda _: F.lit(True))
        parsed = column(PARSED)
        columns = [self.from_avro(parsed.getField(n), t).alias(n) for n, t in fields]
        return found.select(*map(column, kept), *columns)

    def loaded(
        self, reader: Any, path: str, fields: Fields, inside: Fields, metadata: Sequence[Column]
    ) -> DataFrame:
        """Return the rows of files."""
        reader = reader.options(**self.file_options(inside))
        found: DataFrame = reader.load(path)
        names = {name for name, _ in inside}
        if len(names) < len(fields):
            # Spark would make numbers and dates of partitions.
            columns = (
                each if each.name in names else StructField(each.name, StringType())
                for each in found.schema
            )
            found = reader.schema(StructType([*columns])).load(path)
        return found.select(*(self.from_avro(column(n), t).alias(n) for n, t in fields), *metadata)

    def file_columns(self, fields: Fields) -> list[Column]:
        """Return the columns that Spark writes into files for those of a frame."""
        return [self.to_avro(column(name), data_type).alias(name) for name, data_type in fields]

    def file_options(self, fields: Fields) -> dict[str, str]:
        """Return Spark's options of files with these columns."""
        return {"avroSchema": self.schema(fields), "compression": str(self.values["codec"])}

    def from_avro(self, value: Column, data_type: DataType) -> Column:
        """Return the value of what Spark has read."""
        return mapped(value, data_type, self._from_avro)

    def _from_avro(self, value: Column, data_type: DataType, _name: str) -> Column:
        if isinstance(data_type, TimestampType) and self._legacy:
            return local_of_micros(F.unix_micros(value))
        return value.cast(to_spark(data_type))

    def to_avro(self, value: Column, data_type: DataType) -> Column:
        """Return what Spark writes for a value."""
        return mapped(value, data_type, self._to_avro)

    def _to_avro(self, value: Column, data_type: DataType, _name: str) -> Column:
        if isinstance(data_type, TimestampType) and self._legacy:
            return F.concat(value.cast("string"), F.lit("Z")).cast("timestamp")
        if isinstance(data_type, (TinyIntType, SmallIntType)):
            return value.cast("int")
        return value

    def encoded(self, fields: Fields, source: Callable[[str], Column] = column) -> Column:
        """Return the bytes of a record."""
        row = F.struct(*(self.to_avro(source(n), t).alias(n) for n, t in fields))
        return F.call_function("to_avro", row, F.lit(self.schema(fields)))
