"""Names, strings and types as Spark's SQL writes them."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import types as spark

from pyflow.table.schema import UnresolvedPhysicalColumn
from pyflow.types.spark_types import to_spark
from pyflow.util.identifiers import quoted


def literal(text: str) -> str:
    """Return a string between quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def listed(options: Mapping[str, str]) -> str:
    """Return options or properties between parentheses."""
    pairs = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in options.items())
    return f"({pairs})"


def column_text(column: UnresolvedPhysicalColumn) -> str:
    """Return a column as CREATE TABLE and ADD COLUMNS have it."""
    data_type = column.data_type
    null = "" if data_type._nullable else " NOT NULL"
    text = f"{quoted(column.name)} {type_text(to_spark(data_type))}{null}"
    return text if column.comment is None else f"{text} COMMENT {literal(column.comment)}"


def type_text(data_type: spark.DataType) -> str:
    """Return a type, with the names of fields in quotes, which Spark's own string lacks."""
    if isinstance(data_type, spark.StructType):
        return f"struct<{', '.join(map(_field_text, data_type.fields))}>"
    if isinstance(data_type, spark.ArrayType):
        return f"array<{type_text(data_type.elementType)}>"
    if isinstance(data_type, spark.MapType):
        return f"map<{type_text(data_type.keyType)}, {type_text(data_type.valueType)}>"
    return data_type.simpleString()


def _field_text(field: spark.StructField) -> str:
    text = f"{quoted(field.name)}: {type_text(field.dataType)}"
    text += "" if field.nullable else " NOT NULL"
    comment = field.metadata.get("comment")
    return text if comment is None else f"{text} COMMENT {literal(comment)}"
