"""What a statement returns: rows, or the end of an insertion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from pyflow.common.types import Row, RowKind
from pyflow.connectors.formats.text_values import mapped
from pyflow.session.local_rows import local_rows
from pyflow.session.options import value_of
from pyflow.session.planning import end_with_plan
from pyflow.streaming.jobs.job import Job
from pyflow.table.changes.changelog import in_order, settled
from pyflow.table.changes.relation import Relation
from pyflow.table.relations.explanation import explain
from pyflow.table.relations.queries import CollectedRows, job_of, queries_text, start_insertions
from pyflow.table.result_kind import ResultKind
from pyflow.types import tableau
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType, YearMonthIntervalType
from pyflow.types.parts import types_in
from pyflow.types.strings import cast_text
from pyflow.types.values import from_spark_value

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.common.job_client import JobClient
    from pyflow.table.catalogs.resolved_schema import ResolvedSchema
    from pyflow.table.context import TableContext
    from pyflow.table.relations.tables import Insertion
    from pyflow.table.table_schema import TableSchema

__all__ = ["CloseableIterator", "Form", "Style", "TableResult", "html_of"]

# How many rows a table has in a notebook.
_SHOWN_ROWS = 20

Fields = Sequence[tuple[str, DataType]]


class Style(Enum):
    """How `TableResult.print` shows rows."""

    #: As a table, whose columns are as wide as their types say.
    OF_QUERY = 0
    #: As a table, whose columns are as wide as the values are.
    OF_STATEMENT = 1
    #: Each row alone.
    RAW = 2


class TableResult:
    """What a statement returns.

    The rows of a query are computed when they are first asked for, and can be read once. An
    insertion runs by itself; :meth:`wait` returns when it has ended.
    """

    def __init__(
        self,
        fields: Fields,
        context: TableContext,
        rows: Callable[[], Iterator[Row]],
        kind: int = ResultKind.SUCCESS_WITH_CONTENT,
        job: Job | None = None,
        shows_kinds: bool = False,
        query: Job | None = None,
        style: Style = Style.OF_QUERY,
    ) -> None:
        self._fields = tuple(fields)
        self._context = context
        self._make_rows = rows
        self._kind = kind
        self._job = job
        self._shows_kinds = shows_kinds
        self._query = query
        self._style = style
        self._iterator: CloseableIterator | None = None

    @classmethod
    def of_rows(cls, relation: Relation, context: TableContext) -> TableResult:
        """Return the result of a query; one of unbounded rows starts now."""
        end_with_plan(lambda: {"name": "collect", "text": explain([("", relation)], ())})
        streaming = context.is_streaming
        if streaming and relation.unbounded:
            collected = CollectedRows(relation, rows_of, context)
            return cls(
                relation.fields,
                context,
                lambda: collected,
                shows_kinds=True,
                query=collected.job,
            )

        def rows() -> Iterator[Row]:
            return rows_of(relation)

        return cls(relation.fields, context, rows, shows_kinds=streaming)

    @classmethod
    def of_insertions(cls, names: Sequence[str], job: Job, context: TableContext) -> TableResult:
        """Return the result of insertions into the tables of these names."""

        def rows() -> Iterator[Row]:
            job.wait(None)
            yield Row(*(-1 for _ in names))

        fields = [(name, DataTypes.BIGINT()) for name in names]
        return cls(fields, context, rows, job=job, style=Style.RAW)

    @classmethod
    def ok(cls, context: TableContext) -> TableResult:
        """Return the result of a statement that has no rows to show."""
        fields = [("result", DataTypes.STRING())]
        return cls(fields, context, lambda: iter([Row("OK")]), kind=ResultKind.SUCCESS)

    def get_job_client(self) -> JobClient | None:
        """Return the client of the job that inserts, or that runs an unbounded query.

        None for other statements.
        """
        job = self._job or self._query
        return None if job is None else job.client()

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait until an insertion has ended, or the first row of a query is there.

        Parameters
        ----------
        timeout_ms : int, optional
            The longest time to wait for an insertion, in milliseconds.

        Raises
        ------
        TimeoutError
            If it has not ended in that time; it goes on.
        TableException
            If it has failed, with the reason.
        """
        if self._job is not None:
            self._job.wait(timeout_ms)
        else:
            self._rows().look_ahead()

    def get_table_schema(self) -> TableSchema:
        """Return names and types of the rows; newer programs use :meth:`get_resolved_schema`."""
        from pyflow.table.table_schema import TableSchema

        return TableSchema([name for name, _ in self._fields], [t for _, t in self._fields])

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return names and types of the rows."""
        from pyflow.table.catalogs.resolved_schema import ResolvedSchema

        return ResolvedSchema.physical(
            [name for name, _ in self._fields], [t for _, t in self._fields]
        )

    def get_result_kind(self) -> int:
        """Return ``SUCCESS_WITH_CONTENT``, or ``SUCCESS`` where there is nothing to show."""
        return self._kind

    def collect(self) -> CloseableIterator:
        """Return the rows, each with its kind of change; of an insertion -1 per table.

        Returns
        -------
        CloseableIterator
            Closing it ends the query.
        """
        return self._rows()

    def print(self) -> None:
        """Print the rows as a table; in streaming mode with a column for the kind of change."""
        if self._kind == ResultKind.SUCCESS:
            print("OK")
            return
        form = Form(self._fields, self._context, self._shows_kinds)
        with self._rows() as rows:
            for line in self._lines(form, rows):
                print(line, flush=self._query is not None)

    def _lines(self, form: Form, rows: Iterator[Row]) -> Iterator[str]:
        if self._style == Style.OF_QUERY:
            return tableau.lines_of(form.names, map(form.texts, rows), form.widths)
        if self._style == Style.RAW:
            return (", ".join(form.texts(row)) for row in rows)
        texts = [form.texts(row, null="") for row in rows]
        return tableau.lines_of(form.names, texts, tableau.widths_of_texts(form.names, texts))

    def _rows(self) -> CloseableIterator:
        if self._iterator is None:
            self._iterator = CloseableIterator(self._make_rows())
        return self._iterator


class Form:
    """How rows are shown as a table.

    Parameters
    ----------
    fields : sequence of tuple
        Names and types of the columns.
    context : TableContext
    shows_kinds : bool
        Whether there is a column for the kind of change.
    """

    def __init__(self, fields: Fields, context: TableContext, shows_kinds: bool) -> None:
        names = [name for name, _ in fields]
        self._types = [data_type for _, data_type in fields]
        self._zone = context.time_zone()
        self._shows_kinds = shows_kinds
        max_width = value_of(context.config.get_configuration(), "table.display.max-column-width")
        widths = tableau.widths_of_types(names, self._types, max_width)
        self.names = [tableau.KIND_COLUMN, *names] if shows_kinds else names
        self.widths = [len(tableau.KIND_COLUMN), *widths] if shows_kinds else widths

    def texts(self, row: Row, null: str = tableau.NULL) -> list[str]:
        """Return the values of a row as strings."""
        kind = [str(row.get_row_kind())] if self._shows_kinds else []
        values = zip(row, self._types)
        return [*kind, *(cast_text(v, t, self._zone, null) for v, t in values)]


class CloseableIterator(AbstractContextManager["CloseableIterator"]):
    """Rows of a result; in a ``with`` statement they are closed at its end."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._ahead: list[Row] = []
        self._closed = False

    def __iter__(self) -> CloseableIterator:
        return self

    def __next__(self) -> Row:
        if self._ahead:
            return self._ahead.pop()
        if self._closed:
            raise StopIteration
        return next(self._rows)

    def next(self) -> Row:
        """Return the next row.

        Raises
        ------
        StopIteration
            If there is none.
        """
        return self.__next__()

    def look_ahead(self) -> None:
        """Wait until a row is there, or none will be."""
        if not self._ahead and not self._closed:
            self._ahead.extend(row for row in [next(self._rows, None)] if row is not None)

    def close(self) -> None:
        """End the query; further rows are not returned."""
        self._closed = True
        self._ahead.clear()
        close = getattr(self._rows, "close", None)
        if close is not None:
            close()

    def __exit__(self, *_: object) -> None:
        self.close()


def rows_of(relation: Relation) -> Iterator[Row]:
    """Yield the rows of a relation as programs see them, each with its kind of change."""
    types = relation.types
    kinds = list(RowKind)
    ordered = in_order(relation)
    columns = [_collected(c, t) for c, t in zip(relation.columns, types)]
    frame = ordered.select(*columns, *relation.changes[:1])
    for values in local_rows(frame):
        row = Row(*(from_spark_value(value, t) for value, t in zip(values, types)))
        if relation.updating:
            row.set_row_kind(kinds[values[len(types)]])
        yield row


def _collected(value: Column, data_type: DataType) -> Column:
    """Return a column as PySpark collects it, which knows no intervals of months."""
    if not any(isinstance(each, YearMonthIntervalType) for each in types_in(data_type)):
        return value

    def months(part: Column, part_type: DataType, _name: str) -> Column:
        return part.cast("int") if isinstance(part_type, YearMonthIntervalType) else part

    return mapped(value, data_type, months)


def html_of(relation: Relation, context: TableContext) -> str:
    """Return the first rows of a bounded relation as HTML, of an unbounded one the columns."""
    form = Form(relation.fields, context, False)
    if relation.unbounded:
        note = "unbounded: execute().print() shows its rows"
        return tableau.html_of(form.names, [], note)
    last = settled(relation)
    first = replace(last, frame=last.frame.limit(_SHOWN_ROWS + 1))
    rows = [form.texts(row) for row in rows_of(first)]
    more = f"the first {_SHOWN_ROWS} rows" if len(rows) > _SHOWN_ROWS else f"{len(rows)} rows"
    return tableau.html_of(form.names, rows[:_SHOWN_ROWS], more)


def executed(insertions: list[Insertion], context: TableContext) -> TableResult:
    """Start insertions as one job, and return what tells of its end."""
    # Insertions into one table have one column.
    paths = [insertion.path for insertion in insertions]
    names = [
        insertion.name
        for place, insertion in enumerate(insertions)
        if insertion.path is None or insertion.path not in paths[:place]
    ]
    name = f"insert into {', '.join(names)}"
    end_with_plan(lambda: {"name": name, "text": explained(insertions, ())})
    unbounded = [insertion for insertion in insertions if insertion.rows.unbounded]
    bounded = [insertion for insertion in insertions if insertion not in unbounded]

    def work() -> None:
        for insertion in bounded:
            insertion.run(context)

    if unbounded:
        queries = start_insertions(unbounded, context)
        job = job_of(queries, context, before=work)
    else:
        job = Job(context.session, work, name=name)
    return TableResult.of_insertions(names, job, context)


def explained(insertions: Sequence[Insertion], details: Sequence[int]) -> str:
    """Return how the rows of insertions are computed, in Spark's words."""
    plans = explain([(each.name, each.rows) for each in insertions], details)
    return queries_text(insertions) + plans
