"""Unbounded tables that are known by a key: read as upserts, and written by another key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.table.changes.changelog import numbered
from pyflow.table.changes.relation import DELETE, KIND, SEQUENCE, UPDATE_AFTER, Relation, column
from pyflow.table.relations.operators import Columns, changes_of, lifetime_of
from pyflow.table.runtime.streams.upserts import Conflict, FirstRowOfKey, LatestRow, RowsOfKey

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.context import TableContext
    from pyflow.types.logical_types import DataType

__all__ = ["changes_of_upserts", "rows_by_key"]


def changes_of_upserts(
    frame: DataFrame,
    keys: Sequence[tuple[str, DataType]],
    values: Sequence[tuple[str, DataType]],
    deleted: Column,
    context: TableContext,
) -> DataFrame:
    """Return the changes of a table of which the newest row of each key comes.

    Parameters
    ----------
    frame
        One row per row of the input: keys, values, and SEQUENCE.
    keys, values
        The columns by which rows are known, and the others.
    deleted
        Whether a row says that its key has no values any more.

    Returns
    -------
    DataFrame
        Keys, values, KIND and SEQUENCE.
    """
    by = Columns("k", tuple(each for _, each in keys))
    own = Columns("c", tuple(each for _, each in values))
    kind = F.when(deleted, DELETE).otherwise(UPDATE_AFTER).cast("tinyint").alias(KIND)
    upserts = frame.select(
        *by.encoded([column(name) for name, _ in keys]),
        *own.encoded([column(name) for name, _ in values]),
        kind,
        column(SEQUENCE),
    )
    processor = LatestRow([*by.names, *own.names, KIND, SEQUENCE], lifetime_of(frame, context))
    emitted = [*by.schema, *own.schema]
    changes = changes_of(upserts, by.names, processor, emitted, context)
    return changes.select(
        *by.decoded([name for name, _ in keys]),
        *own.decoded([name for name, _ in values]),
        column(KIND),
        column(SEQUENCE),
    )


def rows_by_key(
    relation: Relation,
    key: Sequence[str],
    own: Sequence[str] | None,
    conflict: Conflict,
    context: TableContext,
) -> Relation:
    """Return the changes of a table whose key is another than that of the changes.

    Of the rows with one key, the one that was added last counts by default.

    Parameters
    ----------
    key
        Of the table.
    own
        By which columns the changes are known; None where that is not so.
    """
    changes = numbered(relation)
    types = dict(relation.fields)
    others = [name for name in relation.names if name not in key]
    by = Columns("k", tuple(types[name] for name in key))
    values = Columns("c", tuple(types[name] for name in others))
    frame = changes.frame.select(
        *by.encoded([column(name) for name in key]),
        *values.encoded([column(name) for name in others]),
        *changes.changes,
    )
    same = None if own is None else [others.index(name) for name in own if name in others]
    names = [*by.names, *values.names, KIND, SEQUENCE]
    lifetime = lifetime_of(frame, context)
    processor: RowsOfKey = RowsOfKey(same, names, lifetime)
    if conflict.strategy != Conflict.LAST:
        processor = FirstRowOfKey(same, names, lifetime, key, conflict)
    emitted = [*by.schema, *values.schema]
    found = changes_of(frame, by.names, processor, emitted, context)
    decoded = found.select(
        *by.decoded(key), *values.decoded(others), column(KIND), column(SEQUENCE)
    )
    ordered = decoded.select(*relation.columns, column(KIND), column(SEQUENCE))
    return replace(changes, frame=ordered, key=tuple(key), updating=True)
