"""What a statement returns, shown while it comes.

Rows of a bounded query are printed when they are there; until then Spark shows its progress. Of an
unbounded one the first rows are shown and brought up to date until Ctrl-C: in a terminal by
drawing them again, in a notebook in one output, elsewhere each change is printed.
"""

from __future__ import annotations

import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from pyflow.common.types import Row, RowKind
from pyflow.table.result_kind import ResultKind
from pyflow.table.table_result import Form
from pyflow.types import tableau

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyflow.table import TableEnvironment, TableResult
    from pyflow.table.table_result import CloseableIterator

__all__ = ["RESULT_MODE", "show"]

#: How rows of unbounded queries are shown: ``table``, ``changelog`` or ``tableau``.
RESULT_MODE = "sql-client.execution.result-mode"
_ROWS = "sql-client.execution.max-table-result.rows"
_SECONDS = 0.5
_ADDS = (RowKind.INSERT, RowKind.UPDATE_AFTER)


def show(t_env: TableEnvironment, result: TableResult) -> None:
    """Show what a statement returns, and return when it has no more to show.

    Ctrl-C ends a query; an insertion goes on by itself.
    """
    client = result.get_job_client()
    if result.get_result_kind() == ResultKind.SUCCESS:
        result.print()
    elif client is None:
        with _cancelled_by_interrupt(t_env._context.session):
            _print_bounded(result)
    elif result._query is None:
        print(f"Job has been submitted with JobID {client.get_job_id()}", flush=True)
    else:
        _show_unbounded(t_env, result)


@contextmanager
def _cancelled_by_interrupt(session: SparkSession) -> Iterator[None]:
    """Have Ctrl-C end the jobs of this query, and no others as PySpark has it."""
    tag = f"pyflow-query-{time.monotonic_ns()}"
    session.addTag(tag)
    try:
        with _interruptible():
            yield
    except KeyboardInterrupt:
        session.interruptTag(tag)
        print("Query cancelled.", flush=True)
    finally:
        session.removeTag(tag)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Have Ctrl-C raise KeyboardInterrupt, and do nothing else."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _print_bounded(result: TableResult) -> None:
    if not sys.stdout.isatty():
        result.print()
        return
    form = Form(result._fields, result._context, result._shows_kinds)
    with result.collect() as rows:
        for line in tableau.lines_of(form.names, map(form.texts, rows), form.widths):
            # In place of the bar by which Spark shows its progress.
            print(f"\r\x1b[K{line}", flush=True)


class _Canvas(Protocol):
    """Where a table is drawn again and again."""

    #: How many rows there is room for.
    height: int

    def draw(self, form: Form, rows: list[list[str]], note: str) -> None:
        """Draw a table in place of the one before."""


class _Terminal:
    """Draws over the lines that it has drawn before."""

    def __init__(self) -> None:
        # Without the lines around the rows, the note, and that of the cursor.
        self.height = max(shutil.get_terminal_size().lines - 6, 3)
        self._lines = 0

    def draw(self, form: Form, rows: list[list[str]], note: str) -> None:
        """Draw a table; lines are cut at the edge, since one that wraps would be two."""
        *lines, _count = list(tableau.lines_of(form.names, rows, form.widths))
        width = shutil.get_terminal_size().columns
        up = f"\x1b[{self._lines}F\x1b[J" if self._lines else ""
        drawn = [*(line[:width] for line in lines), note[:width]]
        print(up + "\n".join(drawn), flush=True)
        self._lines = len(drawn)


class _Notebook:
    """Draws in one output of a notebook."""

    height = 50

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, form: Form, rows: list[list[str]], note: str) -> None:
        """Draw a table."""
        from IPython.display import HTML, display

        html = HTML(tableau.html_of(form.names, rows, note))
        if self._handle is None:
            self._handle = display(html, display_id=True)
        else:
            self._handle.update(html)


def _canvas() -> _Canvas | None:
    """Where tables can be drawn, if they can."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None and hasattr(shell, "kernel"):
        return _Notebook()
    return _Terminal() if sys.stdout.isatty() else None


class _Rows:
    """The rows that an unbounded query has, brought up to date on a thread of its own."""

    def __init__(self, rows: CloseableIterator, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._current: list[Row] = []
        self.changes = 0
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._read, args=(rows,), daemon=True)
        self.thread.start()

    def _read(self, rows: CloseableIterator) -> None:
        try:
            for row in rows:
                with self._lock:
                    self._change(row)
                    self.changes += 1
        except BaseException as error:
            self.error = error

    def _change(self, row: Row) -> None:
        if row.get_row_kind() in _ADDS:
            if len(self._current) < self._limit:
                self._current.append(row)
            return
        for place in range(len(self._current) - 1, -1, -1):
            if list(self._current[place]) == list(row):
                del self._current[place]
                break

    def first(self, count: int) -> tuple[list[Row], int, int]:
        """Return the first rows, how many there are, and how many changes have come."""
        with self._lock:
            return self._current[:count], len(self._current), self.changes


def _show_unbounded(t_env: TableEnvironment, result: TableResult) -> None:
    config = t_env.get_config()
    canvas = _canvas()
    with _interruptible():
        if canvas is None or (config.get(RESULT_MODE, "") or "table").lower() != "table":
            _print_changes(result)
            return
        form = Form(result._fields, result._context, shows_kinds=False)
        with result.collect() as iterator:
            rows = _Rows(iterator, int(config.get(_ROWS, "") or 1_000_000))
            try:
                _draw(canvas, form, rows)
            except KeyboardInterrupt:
                print(f"\nQuery terminated, received a total of {_counted(rows.changes, 'row')}")
    if rows.error is not None:
        raise rows.error


def _draw(canvas: _Canvas, form: Form, rows: _Rows) -> None:
    """Draw the rows when they have changed, until there are no more."""
    drawn = 0
    runs = True
    while runs:
        runs = rows.thread.is_alive()
        first, count, changes = rows.first(canvas.height)
        if changes != drawn or (drawn and not runs):
            shown = "" if len(first) == count else f", the first {len(first)} are shown"
            note = f"{_counted(count, 'row')}{shown}; updated {time.strftime('%H:%M:%S')}"
            note += "; Ctrl-C ends the query" if runs else ""
            canvas.draw(form, [form.texts(row) for row in first], note)
            drawn = changes
        rows.thread.join(_SECONDS)
    if not drawn:
        print("Empty set")


def _print_changes(result: TableResult) -> None:
    try:
        result.print()
    except KeyboardInterrupt:
        print("\nQuery terminated")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
