"""What a Table is made of: a lazy frame of Spark with the names and Flink types of its columns.

A relation that changes (``updating``) has two more columns than its fields: the kind of each change
(:data:`KIND`, the number of a RowKind) and its position in the order of all changes
(:data:`SEQUENCE`). Changes of one row follow each other in that order, whatever partition Spark
keeps them in, so that every operator and sink can restore it by sorting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import functions as F

from pyflow.table.columns.nodes import Field, field_names, transformed
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.columns.nodes import Node
    from pyflow.types.logical_types import DataType

KIND = "$kind"
SEQUENCE = "$sequence"
DELETED = "$deleted"

# Where Spark keeps, in the metadata of a column, the delay of its watermark in milliseconds.
WATERMARK = "spark.watermarkDelayMs"

# Numbers of RowKind: what a KIND column holds.
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3


@dataclass(frozen=True)
class TimeAttribute:
    """A column by whose time windows are made.

    Parameters
    ----------
    kind
        ``rowtime``: the time when something happened; ``proctime``: the time of processing.
    delay_ms
        How far the watermark stays behind the latest time seen, in milliseconds; None where a
        generator of a data stream says it.
    """

    kind: Literal["rowtime", "proctime"]
    delay_ms: int | None = 0


@dataclass(frozen=True)
class WindowColumns:
    """The columns that tell to which window each row belongs.

    Parameters
    ----------
    start, end
        Their names; both are of type TIMESTAMP.
    zoned
        Whether they show the wall clock of instants.
    by_clock
        Whether they are windows of a processing time.
    """

    start: str
    end: str
    zoned: bool
    by_clock: bool = False

    def renamed(self, names: Mapping[str, str]) -> WindowColumns | None:
        """Return them under other names; None where one of them has none."""
        if self.start not in names or self.end not in names:
            return None
        return replace(self, start=names[self.start], end=names[self.end])


@dataclass(frozen=True)
class SortKey:
    """An expression that rows are ordered by."""

    node: Node
    ascending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Order:
    """The order of a relation whose rows may still be limited.

    Parameters
    ----------
    by_time
        Whether the first column of the order is a time attribute, ascending; such an order needs
        no limit in streaming mode.
    sorted
        Whether there is an order at all.
    offset
        How many of the first rows are left out; None where this has not been said.
    keys
        What the rows are to be ordered by when they are limited, where the first rows change.
    """

    by_time: bool = False
    sorted: bool = True
    offset: int | None = None
    keys: tuple[SortKey, ...] = ()


@dataclass(frozen=True)
class Pushdown:
    """How a relation is made again of fewer rows.

    Parameters
    ----------
    frame
        That of the relation. One with another frame is another relation, for which this says
        nothing.
    take
        Returns the relation of those rows for which conditions are true that it takes, and the
        other conditions.
    """

    frame: DataFrame
    take: Callable[[Sequence[Node]], tuple[Relation, list[Node]]]


@dataclass(frozen=True)
class Declared:
    """The schema that a relation was declared with.

    Parameters
    ----------
    frame
        That of the relation. Of one with another frame this says nothing.
    schema
        A `Schema`, with the expressions of columns, the watermark and the key.
    """

    frame: DataFrame
    schema: Any


@dataclass(frozen=True)
class Relation:
    """Rows of Spark, their columns in Flink's types, and how they change."""

    frame: DataFrame
    fields: tuple[tuple[str, DataType], ...]
    time_attributes: Mapping[str, TimeAttribute] = field(default_factory=dict)
    key: tuple[str, ...] | None = None
    updating: bool = False
    order: Order | None = None
    window: WindowColumns | None = None
    pushdown: Pushdown | None = field(default=None, compare=False, repr=False)
    declared: Declared | None = field(default=None, compare=False, repr=False)

    @property
    def unbounded(self) -> bool:
        """Whether the rows are unbounded: those of a stream."""
        return self.frame.isStreaming

    def refuse_unbounded(self, operation: str) -> None:
        """Raise if the rows are unbounded, for an operation on bounded rows only."""
        if self.unbounded:
            raise TableException(
                f"{operation} over unbounded tables is not supported yet. Bound the input, as with "
                "the option 'number-of-rows' of a datagen table or files without "
                "'source.monitor-interval'."
            )

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [name for name, _ in self.fields]

    @property
    def types(self) -> list[DataType]:
        """Return the types of the columns."""
        return [data_type for _, data_type in self.fields]

    @property
    def changes(self) -> list[Column]:
        """Return the columns that tell kind and order of changes, none where nothing changes."""
        return [column(KIND), column(SEQUENCE)] if self.updating else []

    @property
    def columns(self) -> list[Column]:
        """Return the columns of the fields."""
        return [column(name) for name in self.names]

    def rows(self, *more: Column) -> DataFrame:
        """Return the frame with the fields' columns and those given."""
        return self.frame.select(*self.columns, *more)

    def renamed(self, names: Sequence[str]) -> Relation:
        """Return the same rows with other names of the columns."""
        new = dict(zip(self.names, names))
        columns = [column(old).alias(name) for old, name in new.items()]
        renamed = replace(
            self,
            frame=self.frame.select(*columns, *self.changes),
            fields=tuple((new[name], data_type) for name, data_type in self.fields),
            time_attributes={new[name]: time for name, time in self.time_attributes.items()},
            key=None if self.key is None else tuple(new[name] for name in self.key),
            order=None,
            window=None if self.window is None else self.window.renamed(new),
        )
        old = {after: before for before, after in new.items()}
        return made_again(renamed, self, lambda rows: rows.renamed(names), old)


def made_again(
    result: Relation,
    source: Relation,
    made_of: Callable[[Relation], Relation],
    names: Mapping[str, str] | None = None,
) -> Relation:
    """Return a result that takes the conditions that its source takes.

    Parameters
    ----------
    made_of
        Makes the result of other rows of its source.
    names
        The columns that are those of the source, with their names there; all if not given.
    """
    pushdown = source.pushdown
    if pushdown is None or pushdown.frame is not source.frame:
        return result
    known = {name: name for name in source.names} if names is None else names

    def renamed(node: Node) -> Node | None:
        return Field(known[node.name]) if isinstance(node, Field) else None

    def take(conditions: Sequence[Node]) -> tuple[Relation, list[Node]]:
        own = {
            each: transformed(each, renamed)
            for each in conditions
            if known.keys() >= {*field_names(each)}
        }
        below, left = pushdown.take([*own.values()])
        return made_of(below), [each for each in conditions if each not in own or own[each] in left]

    return replace(result, pushdown=Pushdown(result.frame, take))


def column(name: str) -> Column:
    """Return the column of a name, whatever characters are in it."""
    return F.col(quoted(name))


def with_watermark(time: Column, name: str) -> Column:
    """Return a time that Spark's watermark holds for, as the one that it was computed from."""
    return time.alias(name, metadata={WATERMARK: 0})


def with_watermark_of_rows(frame: DataFrame, name: str) -> DataFrame:
    """Return rows that have been watched, with a time for which their watermark holds.

    All rows move the watermark, also those that a condition leaves out: Spark applies conditions
    before it looks at times where it can, but not before a value that is not deterministic.
    """
    here = F.spark_partition_id() >= 0
    return frame.withColumn(name, with_watermark(F.when(here, column(name)), name))


def with_times(frame: DataFrame, times: Mapping[str, TimeAttribute]) -> DataFrame:
    """Return a frame whose time attributes have the watermark of what it was computed from."""
    return frame.select(*columns_with_times({name: column(name) for name in frame.columns}, times))


def columns_with_times(
    columns: Mapping[str, Column], times: Mapping[str, TimeAttribute]
) -> list[Column]:
    """Return columns by name, of which time attributes have the watermark of their origin."""
    rowtimes = {name for name, time in times.items() if time.kind == "rowtime"}
    return [
        with_watermark(each, name) if name in rowtimes else each for name, each in columns.items()
    ]


def without_watermark(name: str) -> Column:
    """Return a column as one that Spark's watermark does not hold for."""
    # Empty metadata would give way to those of the column.
    return column(name).alias(name, metadata={"pyflow.watermark": "none"})


def quoted(name: str) -> str:
    """Return a name as Spark reads it literally."""
    return "`" + name.replace("`", "``") + "`"


def check_unique(names: Sequence[str]) -> None:
    """Raise for names that occur twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise TableException(f"Ambiguous column name: {name}")
        seen.add(name)


def unused(name: str, used: Sequence[str]) -> str:
    """Return the name, or, where it is used, the name with a number that is not."""
    number = 0
    result = name
    while result in used:
        result = f"{result}_{number}"
        number += 1
    return result
