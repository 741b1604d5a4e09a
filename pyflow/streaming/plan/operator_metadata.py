"""What Spark's plans know of operators that keep state: their names, and what they keep."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql.types import StructField, StructType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["with_metadata"]

# As in OperatorMetadata.scala.
_NAME = "pyflow.operator"
_STATE = "pyflow.state"
#: What begins the names of columns that no sink gets.
_INTERNAL = ("$", "pyflow_")


class _Processor(Protocol):
    def declare(self, handle: Any) -> None:
        """Open its state with a handle that only takes down what is opened."""


def with_metadata(
    frame: DataFrame,
    last: str,
    emitted: Iterable[StructField],
    name: str,
    processor: _Processor,
    taken: Mapping[str, Any] | None = None,
) -> tuple[DataFrame, StructType]:
    """Return what an operator takes and emits, with metadata of the operator in a column.

    That is the first internal column that it emits, or else the last one that it takes: no sink
    gets either. Without the state variables in the metadata Spark starts a worker before the first
    batch of a query, and asks it for them.

    Parameters
    ----------
    frame
        What it takes.
    last
        The last column of that.
    emitted
        The columns that it emits.
    name
        Of the operator, for plans and the UI.
    processor
        What `transformWithState` takes.
    taken
        Further metadata, of the last column.
    """
    handle = _Declarations()
    processor.declare(handle)
    metadata = {_NAME: name, _STATE: json.dumps(handle.variables)}
    fields = list(emitted)
    for number, field in enumerate(fields):
        if field.name.startswith(_INTERNAL):
            merged = {**field.metadata, **metadata}
            fields[number] = StructField(field.name, field.dataType, field.nullable, merged)
            of_taken = {**(taken or {})}
            break
    else:
        of_taken = {**(taken or {}), **metadata}
    return frame.withMetadata(last, of_taken) if of_taken else frame, StructType(fields)


class _Declarations:
    """A StatefulProcessorHandle without state, which takes down what a processor opens."""

    def __init__(self) -> None:
        self.variables: list[tuple[str, ...]] = []

    def getValueState(self, name: str, schema: str) -> None:  # noqa: N802
        """Take down a value."""
        self.variables.append(("value", name, schema))

    def getListState(self, name: str, schema: str) -> None:  # noqa: N802
        """Take down a list."""
        self.variables.append(("list", name, schema))

    def getMapState(self, name: str, key_schema: str, value_schema: str) -> None:  # noqa: N802
        """Take down a map."""
        self.variables.append(("map", name, key_schema, value_schema))
