"""The end of a query: its functions are closed in each Python where they are open.

Tasks come to where there is room; a Python cannot be addressed. So tasks are run, as many at once
as there are slots, until all executors have had one. An executor gives them the isolated
interpreters first that it has kept for the query, each once. In process mode they are run until no
worker comes that has had none: an executor gives its idle workers tasks in turn. It has some of
them for plain functions, and others for processors, which differ in a setting of tracebacks.
"""

from __future__ import annotations

import os
import socket
import time
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.datastream.graph.temporary_settings import temporary_settings
from pyflow.datastream.runtime.errors import OperatorError
from pyflow.datastream.runtime.life_cycle import close_run
from pyflow.streaming.runtime.life_cycle import in_isolated_interpreter, in_thread_mode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from pyflow.session.context import Context

__all__ = ["KEPT_INTERPRETERS", "close_functions"]

_EXECUTION_MODE = "spark.pyflow.execution-mode"
_INTERPRETER = "spark.pyflow.interpreter"
#: Settings of Spark for queries whose functions stay open.
KEPT_INTERPRETERS = {"spark.pyflow.interpreter.kept": "true"}
#: Local property that has an executor give its tasks what it has kept for queries.
_ENDED = "pyflow.ended.queries"
_SIMPLIFIED = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled"
_MODES = {"auto": ("thread", "process")}
_ROUNDS = 10
# A slot takes one task of a round where others are free.
_TASK_SECONDS = 0.02


def close_functions(context: Context, queries: Sequence[StreamingQuery], mode: str) -> None:
    """Close what is open of queries on all executors.

    Parameters
    ----------
    context : Context
    queries : sequence of StreamingQuery
    mode : str
        The execution mode that they have run in.

    Raises
    ------
    OperatorError
        If a function fails in ``close()``; the others are closed.
    """
    session = context.session
    # So many run at once, and as many again where each has an interpreter of its own.
    tasks = 2 * max(context.parallelism(), session.sparkContext.defaultParallelism)
    rows = _closing(session, [str(query.runId) for query in queries], tasks)
    names = [str(query.id) for query in queries]
    errors: list[str] = []
    for each in _MODES.get(mode, (mode,)):
        for simplified in ("true", "false"):
            settings = {_EXECUTION_MODE: each, _INTERPRETER: "auto", _SIMPLIFIED: simplified}
            with temporary_settings(session, settings):
                in_thread, found = _closed(session, rows, names)
            errors += found
            if in_thread:
                break
    if errors:
        raise OperatorError(f"a function failed in close():\n{errors[0]}")


def _closing(session: SparkSession, runs: Sequence[str], tasks: int) -> DataFrame:
    """Return a row of each of some tasks, which close what is open where they run."""

    def closed(_: int) -> tuple[str, bool, bool, str | None]:
        error = None
        for run in runs:
            try:
                close_run(run)
            except Exception:
                error = traceback.format_exc()
        time.sleep(_TASK_SECONDS)
        python = f"{socket.gethostname()} {os.getpid()}"
        return python, in_thread_mode(), in_isolated_interpreter(), error

    returned = "python STRING, in_thread BOOLEAN, is_isolated BOOLEAN, error STRING"
    function = F.udf(closed, returned, useArrow=False).asNondeterministic()
    return session.range(0, tasks, 1, tasks).select(function("id").alias("closed"))


def _closed(
    session: SparkSession, rows: DataFrame, queries: Sequence[str]
) -> tuple[bool, list[str]]:
    """Close what is open; return whether all was in thread mode, and the errors."""
    met: set[str] = set()
    errors: list[str] = []
    in_thread = True
    context = session.sparkContext
    context.setLocalProperty(_ENDED, ",".join(queries))
    try:
        for _ in range(_ROUNDS):
            found = [row.closed for row in rows.collect()]
            errors += [each.error for each in found if each.error is not None]
            in_thread = in_thread and all(each.in_thread for each in found)
            before = len(met)
            met.update(each.python for each in found if not each.is_isolated)
            if len(met) >= _executors(session) and (in_thread or len(met) == before):
                break
    finally:
        context.setLocalProperty(_ENDED, None)  # type: ignore[arg-type]  # removes it
    return in_thread, errors


def _executors(session: SparkSession) -> int:
    """How many there are; in local mode the driver is one."""
    of_jvm: Any = session.sparkContext._jsc
    return max(int(of_jvm.sc().getExecutorMemoryStatus().size()) - 1, 1)
