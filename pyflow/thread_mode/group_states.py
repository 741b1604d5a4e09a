"""Adds the states of groups to their rows, where PySpark's worker code expects them.

A batch of ``applyInPandasWithState`` has the rows of several groups, or some of a large one. A last
column has an entry for each of these, from the batch's first row on: the state of the group, and
which rows are its. They are known when the batch is full, so they are asked for then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflow.thread_mode import pyspark_worker
from pyflow.thread_mode.types import PICKLE_EXCHANGE, describe

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["adder"]

# There is one request: see GroupChunks.scala.
_CHUNKS = 0


def adder(
    chunk_schema: str,
    call_jvm: Callable[[int, bytes], bytes | None],
    row_codec: Any,
) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Make a function that adds the column to the batch that the JVM lent last.

    Parameters
    ----------
    chunk_schema : str
        JSON: of an entry.
    call_jvm, row_codec : callable
        As :func:`~pyflow.thread_mode.program.load` has them.
    """
    import pyarrow as pa

    schema = pyspark_worker.data_type_of(chunk_schema)
    field = pa.field("__state", pyspark_worker.arrow_type(schema, large_var_types=False))
    _, decode, _ = row_codec(describe(schema), PICKLE_EXCHANGE, True)

    def with_states(batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = call_jvm(_CHUNKS, b"")
        assert rows is not None
        chunks = pa.array(decode(rows, 0, len(rows)), type=field.type)
        rest = pa.nulls(batch.num_rows - len(chunks), type=field.type)
        states = pa.concat_arrays([chunks, rest])
        columns = [*batch.columns, states]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema.append(field))

    return with_states
