"""What operators that keep state are called in Spark's plans and UI."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql.types import StructField, StructType

__all__ = ["named"]

# As in StatefulOperator.scala.
_KEY = "pyflow.operator"
#: What begins the names of columns that no sink gets.
_INTERNAL = ("$", "pyflow_")


def named(emitted: Iterable[StructField], name: str) -> StructType:
    """Return what an operator emits, with its name in the metadata of an internal column.

    Parameters
    ----------
    emitted
        The columns. Without an internal one among them the operator has no name.
    name
        Of the operator.
    """
    fields = list(emitted)
    for number, field in enumerate(fields):
        if field.name.startswith(_INTERNAL):
            metadata = {**field.metadata, _KEY: name}
            fields[number] = StructField(field.name, field.dataType, field.nullable, metadata)
            break
    return StructType(fields)
