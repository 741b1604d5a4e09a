"""Rows that change: how results follow their input in streaming mode.

A result of bounded input is computed by one batch plan. Where Flink would emit changes while the
input goes by, the plan computes them for all rows at once:

* Aggregates of rows that do not change are window functions of Spark over the rows of a key so
  far, in the order of the input. The value after a row and the value before it, side by side, give
  the changes of that row: ``+I`` for a key's first row, ``-U`` and ``+U`` when the value differs,
  nothing when it is the same. All runs in the JVM, and every aggregate has Spark's exact result.
* Operations on input that itself changes, and the first rows in an order, are the operators that
  unbounded tables have (``relations/streams``), over one batch.
* Python aggregates, and what no operator supports, are computed from the rows that are left when
  all changes of the input have been applied, once per key. PyFlink does the same within a bundle of
  rows; here the bounded input is one bundle.

Applied in order, the changes give the same table as Flink's do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from pyflow.table.changes.relation import (
    DELETE,
    INSERT,
    KIND,
    SEQUENCE,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Relation,
    TimeAttribute,
    column,
)
from pyflow.table.runtime.streams.upserts import Conflict
from pyflow.types.logical_types import MapType, MultisetType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.types.logical_types import DataType

# The distance between the positions of bounded rows: the changes made from a row follow it.
_SPACING = 1024

_POSITION = "$position"
_CHANGES = "$changes"
_ROW = "$row"


def numbered(relation: Relation) -> Relation:
    """Return the relation as one that changes: rows that do not change are insertions, in order."""
    if relation.updating:
        return relation
    kind = F.lit(INSERT).cast("tinyint").alias(KIND)
    frame = relation.rows(kind, places(relation.frame).alias(SEQUENCE))
    return replace(relation, frame=frame, updating=True, order=None)


def places(frame: DataFrame) -> Column:
    """Return a number that grows from row to row of a frame.

    Spark refuses numbers by position on streams: there it is the nanoseconds of the executor's
    clock. Rows of a task are further apart than its resolution.
    """
    if not frame.isStreaming:
        return F.monotonically_increasing_id() * _SPACING
    clock = F.call_function("java_method", F.lit("java.lang.System"), F.lit("nanoTime"))
    return clock.cast("bigint")


def settled(relation: Relation) -> Relation:
    """Return the rows that are left when all changes have been applied, in order of their last."""
    if not relation.updating:
        return relation
    if relation.unbounded:
        raise TableException(
            "this operation on the changes of an unbounded table is not supported: it would need "
            "all of its rows. Run it over bounded input, or before what makes the rows change."
        )
    frame = _last_of_key(relation) if relation.key else _left_of_all(relation)
    ordered = frame.orderBy(column(SEQUENCE)).select(*relation.columns)
    return replace(relation, frame=ordered, updating=False)


def _last_of_key(relation: Relation) -> DataFrame:
    assert relation.key is not None
    last = _last_changes(relation, relation.key)
    return last.filter(column(KIND).isin(INSERT, UPDATE_AFTER))


def _last_changes(relation: Relation, key: Sequence[str]) -> DataFrame:
    """Return the last change of each key."""
    order = Window.partitionBy(*map(column, key)).orderBy(column(SEQUENCE).desc())
    numbered_changes = relation.frame.withColumn(_POSITION, F.row_number().over(order))
    return numbered_changes.filter(column(_POSITION) == 1).drop(_POSITION)


def net_changes(relation: Relation, key: Sequence[str]) -> Relation:
    """Return what a batch of changes makes of the rows of a table that has a key.

    The result tells absolute values, not steps: applied twice it gives the same table, so that a
    batch may be replayed.

    Parameters
    ----------
    relation
        Bounded rows; where they do not change, each replaces the one of its key before it.
    key
        The key of the table that the changes are applied to. Changes of different rows must not
        meet under one key.

    Returns
    -------
    Relation
        One row per key, partitioned by it. KIND is UPDATE_AFTER for the row that the key has after
        the batch, and DELETE, with the last values, where it has none.
    """
    changes = numbered(relation)
    left = column(KIND).isin(INSERT, UPDATE_AFTER)
    kind = F.when(left, UPDATE_AFTER).otherwise(DELETE).cast("tinyint")
    frame = _last_changes(changes, key).withColumn(KIND, kind)
    return replace(changes, frame=frame, key=tuple(key))


def rows_by_key(relation: Relation, key: Sequence[str], conflict: Conflict) -> Relation:
    """Return bounded changes as those of a table whose key is another than theirs.

    If several rows are left with one key, one of them counts, by default the last; a key without
    any is deleted.
    """
    is_first = conflict.strategy != Conflict.LAST
    left = _last_of_key(relation) if relation.key else _left_of_all(relation, is_first)
    if is_first:
        of_key = Window.partitionBy(*map(column, key))
        first = F.row_number().over(of_key.orderBy(column(SEQUENCE))) == 1
        if conflict.strategy == Conflict.ERROR:
            named = (F.concat(F.lit(f"{name}="), column(name).cast("string")) for name in key)
            before, after = conflict.message
            message = F.concat(F.lit(before), F.concat_ws(", ", *named), F.lit(after))
            first = first | F.raise_error(message).cast("boolean")
        left = left.withColumn(_POSITION, first).filter(column(_POSITION))
    rows = left.select(
        *relation.columns,
        F.lit(UPDATE_AFTER).cast("tinyint").alias(KIND),
        column(SEQUENCE).alias(SEQUENCE),
    )
    gone = relation.rows(
        F.lit(DELETE).cast("tinyint").alias(KIND), F.lit(-(1 << 63)).alias(SEQUENCE)
    )
    return replace(relation, frame=rows.union(gone), key=tuple(key))


def _left_of_all(relation: Relation, is_first: bool = False) -> DataFrame:
    """Return the rows without a key that are left, with the position of the last addition.

    Of equal rows, the one that was added first is retracted first.

    Parameters
    ----------
    is_first
        Whether it is the position of the first addition that was not retracted.
    """
    adds = column(KIND).isin(INSERT, UPDATE_AFTER)
    added = F.when(adds, column(SEQUENCE))
    place = F.max(added)
    if is_first:
        place = F.get(F.sort_array(F.collect_list(added)), F.count_if(~adds).cast("int"))
    copies = F.sum(F.when(adds, 1).otherwise(-1)).cast("int")
    counted = relation.frame.groupBy(*relation.columns).agg(
        copies.alias(_POSITION), place.alias(SEQUENCE)
    )
    left = counted.filter(column(_POSITION) > 0)
    return left.select(
        *relation.columns, column(SEQUENCE), F.explode(F.sequence(F.lit(1), column(_POSITION)))
    )


def changes_of_values(
    frame: DataFrame,
    keys: Sequence[str],
    values: Sequence[tuple[str, DataType]],
    deleted: Column | None = None,
) -> DataFrame:
    """Return the changes of values that are kept per key.

    Parameters
    ----------
    frame
        One row per row of the input: its keys, the values after it, and its SEQUENCE.
    keys
        Columns by which values are kept.
    values
        The other columns, with their types.
    deleted
        Whether a row says that its key has no values any more; none does by default.

    Returns
    -------
    DataFrame
        Keys, values, KIND and SEQUENCE.
    """
    order = Window.partitionBy(*map(column, keys)).orderBy(column(SEQUENCE))
    names = [name for name, _ in values]
    after = F.struct(*map(column, names)) if names else F.struct(F.lit(True).alias(_POSITION))
    if deleted is not None:
        after = F.when(~deleted, after)
    before = F.lag(after).over(order)
    same = F.lit(True)
    for name, data_type in values:
        old, new = before.getField(name), column(name)
        same = same & _comparable(old, data_type).eqNullSafe(_comparable(new, data_type))
    # explode() leaves out rows whose array is null: those that change nothing.
    inserted = F.when(after.isNotNull(), F.array(_change(INSERT, after, 0)))
    updated = F.array(_change(UPDATE_BEFORE, before, 0), _change(UPDATE_AFTER, after, 1))
    changes = F.when(before.isNull(), inserted)
    if deleted is not None:
        changes = changes.when(after.isNull(), F.array(_change(DELETE, before, 0)))
    changes = changes.when(~same, updated)
    exploded = frame.select(*map(column, keys), changes.alias(_CHANGES)).select(
        *map(column, keys), F.explode(column(_CHANGES)).alias(_CHANGES)
    )
    change = column(_CHANGES)
    return exploded.select(
        *map(column, keys),
        *(change.getField(_ROW).getField(name).alias(name) for name in names),
        change.getField(KIND).alias(KIND),
        change.getField(SEQUENCE).alias(SEQUENCE),
    )


def _change(kind: int, row: Column, place: int) -> Column:
    """Return one change; a row of the input makes at most two."""
    return F.struct(
        F.lit(kind).cast("tinyint").alias(KIND),
        (column(SEQUENCE) + place).alias(SEQUENCE),
        row.alias(_ROW),
    )


def _comparable(value: Column, data_type: DataType) -> Column:
    """Return what Spark can compare in place of a value."""
    if isinstance(data_type, (MapType, MultisetType)):
        return F.array_sort(F.map_entries(value))
    return value


def first_of_each(relation: Relation) -> Relation:
    """Return the first of all equal rows, as DISTINCT does over rows that do not change."""
    rows = numbered(relation)
    order = Window.partitionBy(*rows.columns).orderBy(column(SEQUENCE))
    frame = rows.frame.withColumn(_POSITION, F.row_number().over(order))
    first = frame.filter(column(_POSITION) == 1).select(*rows.columns, *rows.changes)
    return replace(rows, frame=first, key=tuple(rows.names), time_attributes={})


def inserted_once(relation: Relation) -> Relation:
    """Return a settled result as one that may change: each of its rows is inserted once."""
    return replace(numbered(replace(relation, updating=False)), time_attributes={})


def appended(left: Relation, right: Relation) -> Relation:
    """Return the rows, or the changes, of both relations; those of each stay in their order."""
    if not (left.updating or right.updating):
        frame = left.rows().union(right.rows())
        times = {
            name: time
            for (name, time), other in zip(_times(left), _times(right))
            if time is not None and other[1] is not None and time.kind == other[1].kind
        }
        window = left.window if left.window == right.window else None
        return replace(
            left, frame=frame, time_attributes=times, key=None, order=None, window=window
        )
    sides = []
    for place, side in enumerate((numbered(left), numbered(right))):
        # Streams are numbered by a clock.
        order = column(SEQUENCE) + (0 if side.unbounded else place * _SPACING // 2)
        sides.append(side.rows(column(KIND), order.alias(SEQUENCE)))
    frame = sides[0].union(sides[1])
    return replace(
        left, frame=frame, key=None, updating=True, order=None, time_attributes={}, window=None
    )


def _times(relation: Relation) -> list[tuple[str, TimeAttribute | None]]:
    return [(name, relation.time_attributes.get(name)) for name in relation.names]


def in_order(relation: Relation) -> DataFrame:
    """Return the frame with its changes in their order; rows that do not change as they come."""
    if not relation.updating:
        return relation.frame
    return relation.frame.orderBy(column(SEQUENCE))
