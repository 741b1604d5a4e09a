"""Queries over unbounded tables: how they start, and how their batches reach several tables.

The insertions of a job are one streaming query of Spark, with one log of offsets and one
checkpoint: the union of their rows, each with the number of its insertion, is split again where a
batch is written. Only a table that Spark has a streaming writer of its own for, which takes no
batches, gets a query of its own.
"""

from __future__ import annotations

import atexit
import queue
import re
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from pyflow.connectors.connector import Connector
from pyflow.datastream.graph.closing import KEPT_INTERPRETERS, close_functions
from pyflow.datastream.graph.temporary_settings import temporary_settings
from pyflow.session.options import value_of
from pyflow.session.plugin import PLUGIN
from pyflow.session.queries import (
    end_after_batches,
    has_checkpoint_in_use,
    has_ended,
    unused_name,
)
from pyflow.streaming.jobs.job import Job, end_after_error
from pyflow.streaming.jobs.query_manifest import check_query
from pyflow.streaming.plan.clocks import Clocks, clocks_of
from pyflow.streaming.runtime.ticks import attach, with_ticks
from pyflow.table.changes.relation import KIND, SEQUENCE, Relation, column
from pyflow.table.relations.explanation import WITHOUT_EQUALITY
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from pyflow.common.types import Row
    from pyflow.table.context import TableContext
    from pyflow.table.relations.tables import Insertion

_INSERTION = "$insertion"

# Rows of a query that wait for the program to take them.
_WAITING_ROWS = 1000
_POLL_SECONDS = 0.2

# Whether Spark runs batches that have no rows, for what the watermark has passed and for timers.
_EMPTY_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"

_EXECUTION_MODE = "spark.pyflow.execution-mode"

# A source of the plugin's jar that has no rows.
_TICKS = "io.pyflow.connectors.TickSource"

# Between two such batches of a query with timers of a clock that lacks this source: Spark runs them
# one after the other.
_CLOCK_MS = 1000


@dataclass(frozen=True)
class _Stream:
    """A query before it starts.

    Parameters
    ----------
    name
        Its part of the name of the job's checkpoint.
    frame
        Its rows.
    clocks
        The times of its operators.
    writer
        What it writes to.
    interval_ms
        The time between the starts of two batches; None for as soon as there are rows.
    connector
        Whose writer it is; None where batches are written.
    ticks
        The file of a source that has batches run without the plugin, see `with_ticks`.
    path
        Of the directory that Spark keeps a log of, if it writes files.
    """

    name: str
    frame: DataFrame
    clocks: Clocks
    writer: DataStreamWriter
    interval_ms: int | None
    connector: Connector | None = None
    ticks: str | None = None
    path: str | None = None


def start_insertions(
    insertions: Sequence[Insertion], context: TableContext
) -> list[StreamingQuery]:
    """Start insertions of unbounded rows.

    Returns
    -------
    list of StreamingQuery
        What runs; one query, and one more for each table that Spark itself writes.

    Raises
    ------
    TableException
        If Spark cannot run one of them; then none runs.
    """
    job = job_name(insertions, context)
    streams = _streams(insertions, context)
    root = _checkpoints(context)
    started: list[StreamingQuery] = []
    try:
        for stream in streams:
            name = job if len(streams) == 1 else f"{job}/{stream.name}"
            checkpoint = None if root is None else f"{root}/{_file(job)}/{_file(stream.name)}"
            if stream.connector is not None:
                checkpoint = stream.connector.checkpoint(checkpoint, context)
            started.append(_started(stream, name, checkpoint, context))
    except BaseException:
        for query in started:
            query.stop()
        raise
    return started


def queries_text(insertions: Sequence[Insertion]) -> str:
    """Return, for people, which queries insertions of unbounded rows are, and what they read."""
    names: dict[str, list[str]] = {}
    for insertion in insertions:
        if insertion.rows.unbounded:
            own = insertion.name if _has_writer(insertion.connector) else ""
            names.setdefault(own, []).append(insertion.name)
    if not names:
        return ""
    lines = [
        f"- {', '.join(written)}" + (": each reads its sources" if len(written) > 1 else "")
        for written in names.values()
    ]
    text = "\n".join(["== Streaming Queries ==", *lines])
    if len(names) > 1:
        text += "\nA source of several queries is read by each of them, with an offset of its own."
    if any(len(written) > 1 for written in names.values()):
        text += "\nWithin a query a source has one offset, and is read once for each table written."
    return text + "\n\n"


def job_name(insertions: Sequence[Insertion], context: TableContext) -> str:
    """Return the name of a job: as set, or made of the tables that it writes."""
    chosen = context.config.get("pipeline.name", None)
    return chosen or "insert-into_" + ",".join(insertion.name for insertion in insertions)


def _checkpoints(context: TableContext) -> str | None:
    config = context.config
    root = config.get("execution.checkpointing.dir", None) or config.get(
        "state.checkpoints.dir", None
    )
    return None if root is None else root.rstrip("/")


def _file(name: str) -> str:
    """Return a name as the name of a directory."""
    safe = re.sub(r"[^\w.,@-]", "_", name)[:150]
    return safe if safe == name else f"{safe}-{zlib.crc32(name.encode()):08x}"


def _streams(insertions: Sequence[Insertion], context: TableContext) -> list[_Stream]:
    streams = []
    by_batch = []
    latency = _latency_ms(context)
    checkpoints = _duration_ms(context, "execution.checkpointing.interval")
    for insertion in insertions:
        connector, rows, writer = insertion.connector, insertion.rows, None
        if _has_writer(connector):
            clocks = _clocks(rows.frame)
            frame, ticks = _ticking(rows.frame, clocks, context)
            writer = connector.stream_writer(replace(rows, frame=frame), context)
        if writer is None:
            by_batch.append(insertion)
        else:
            # Rows that Flink, too, shows when a checkpoint is complete.
            interval = checkpoints or latency
            streams.append(
                _Stream(
                    insertion.name,
                    frame,
                    clocks,
                    writer,
                    interval,
                    connector,
                    ticks,
                    connector.table.options.get("path"),
                )
            )
    if by_batch:
        frame = _united([insertion.rows for insertion in by_batch])
        clocks = _clocks(frame)
        frame, ticks = _ticking(frame, clocks, context)
        writer = _batches(frame, _write_all(by_batch, context), context)
        streams.append(_Stream("tables", frame, clocks, writer, latency, ticks=ticks))
    return streams


def _has_writer(connector: Connector) -> bool:
    """Return whether unbounded rows may be written by Spark itself."""
    return type(connector).stream_writer is not Connector.stream_writer


def _ticking(
    frame: DataFrame, clocks: Clocks, context: TableContext
) -> tuple[DataFrame, str | None]:
    """Return the rows of a query that runs a batch when one is due, and after a restart.

    Such a batch may have no rows. It gives what a clock or the watermark has passed, that of tables
    which are idle left out; without it Spark waits for rows. Beside it is the file of a source in
    Python.
    """
    session = frame.sparkSession
    waits = clocks.emits_later or _has_idle_tables(context)
    if not waits or not _has_ticks(session, clocks):
        return frame, None
    if not _has_plugin(session):
        return with_ticks(frame)
    return frame.union(session.readStream.format(_TICKS).schema(frame.schema).load()), None


def _has_idle_tables(context: TableContext) -> bool:
    """Return whether tables without rows are left out of the watermark."""
    timeout = _duration_ms(context, "table.exec.source.idle-timeout")
    return timeout is not None and hasattr(context.session, "_jsparkSession")


def _has_ticks(session: SparkSession, clocks: Clocks) -> bool:
    """Return whether there is a source for these clocks: of the watermark the plugin's alone."""
    return _has_plugin(session) or (clocks.closes_windows and not clocks.has_event_time)


def _has_plugin(session: SparkSession) -> bool:
    return PLUGIN in str(session.conf.get("spark.plugins", ""))


def _latency_ms(context: TableContext) -> int | None:
    """Return how long rows may wait for more: the latency of mini-batches, where it is set."""
    configuration = context.config.get_configuration()
    if not value_of(configuration, "table.exec.mini-batch.enabled"):
        return None
    return _duration_ms(context, "table.exec.mini-batch.allow-latency")


def _duration_ms(context: TableContext, key: str) -> int | None:
    duration = value_of(context.config.get_configuration(), key)
    return None if duration is None else duration.to_millis() or None


def _started(
    stream: _Stream, name: str, checkpoint: str | None, context: TableContext
) -> StreamingQuery:
    unused = unused_name(context.session, name)
    if unused != name and checkpoint is not None:
        raise TableException(
            f"A job of the name {name!r} runs already, and its checkpoint is {checkpoint!r}. "
            "Cancel it, or give this one another name by 'pipeline.name'."
        )
    if checkpoint is not None and hasattr(context.session, "_jsparkSession"):
        if has_checkpoint_in_use(context.session, checkpoint):
            raise TableException(
                f"A job runs whose checkpoint is {checkpoint!r}. Cancel it, or give this one "
                "another name by 'pipeline.name'."
            )
        check_query(stream.frame, checkpoint, stream.path or "")
    writer = stream.writer.queryName(unused).outputMode("append")
    if checkpoint is None and stream.connector is not None:
        # Spark itself makes one only where batches are written.
        checkpoint = _temporary_checkpoint(context)
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", checkpoint)
    clocks, interval = stream.clocks, stream.interval_ms
    if clocks.joins_all_pairs:
        warnings.warn(f"{name}: {WITHOUT_EQUALITY}", stacklevel=2)
    empty_batches = _needs_empty_batches(clocks, context.session)
    if clocks.has_processing_time and empty_batches:
        interval = interval or _CLOCK_MS
    if interval is not None:
        writer = writer.trigger(processingTime=f"{interval} milliseconds")
    # Functions that are open stay in the interpreter of their subtask.
    settings = KEPT_INTERPRETERS if context.has_open_functions else {}
    try:
        with _empty_batches(context, empty_batches), temporary_settings(context.session, settings):
            query = writer.start()
    except AnalysisException as error:
        raise TableException(f"Spark cannot run {name!r} over unbounded tables: {error}") from error
    if stream.ticks is not None:
        attach(query.id, stream.ticks)
    return query


def _clocks(frame: DataFrame) -> Clocks:
    if not hasattr(frame.sparkSession, "_jsparkSession"):
        return Clocks(False, False, False, False)
    return clocks_of(frame)


def _needs_empty_batches(clocks: Clocks, session: SparkSession) -> bool:
    """Return whether Spark has to run batches without rows.

    With timers of a clock it runs them one after the other. Where a source of ours has them run
    when they are due, or where timers only sweep state, they are not needed: state is swept with
    the next batch.
    """
    if not clocks.has_processing_time:
        return True
    return clocks.emits_later and not _has_ticks(session, clocks)


@contextmanager
def _empty_batches(context: TableContext, needed: bool) -> Iterator[None]:
    """Have Spark run no batches without rows for a query that is started and does not need them."""
    conf = context.session.conf
    if needed:
        yield
        return
    before = conf.get(_EMPTY_BATCHES)
    conf.set(_EMPTY_BATCHES, "false")
    try:
        yield
    finally:
        assert before is not None
        conf.set(_EMPTY_BATCHES, before)


def _temporary_checkpoint(context: TableContext) -> str:
    session = context.session
    if str(session.conf.get("spark.master", "")).split("[")[0] != "local":
        raise TableException(
            "A query over unbounded tables needs a directory that all executors see for its "
            "checkpoint. Set 'execution.checkpointing.dir'."
        )
    directory = tempfile.mkdtemp(prefix="pyflow-checkpoint-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Path(directory).as_uri()


# Batches


def _united(relations: Sequence[Relation]) -> DataFrame:
    """Return the rows of all relations; those of several as structs, with numbers of relations."""
    if len(relations) == 1:
        return relations[0].rows(*relations[0].changes)
    names = [f"${place}" for place, _ in enumerate(relations)]
    structs = [relation.frame.select(F.struct(*relation.columns)) for relation in relations]
    types = [frame.schema[0].dataType for frame in structs]
    united = None
    for place, relation in enumerate(relations):
        kind, sequence = relation.changes or (F.lit(None), F.lit(None))
        parts = [
            (F.struct(*relation.columns) if place == other else F.lit(None))
            .cast(data_type)
            .alias(name)
            for other, (name, data_type) in enumerate(zip(names, types))
        ]
        rows = relation.frame.select(
            F.lit(place).alias(_INSERTION),
            kind.cast("tinyint").alias(KIND),
            sequence.cast("bigint").alias(SEQUENCE),
            *parts,
        )
        united = rows if united is None else united.union(rows)
    assert united is not None
    return united


def _split(relations: Sequence[Relation], batch: DataFrame) -> Iterator[Relation]:
    """Yield the rows of a batch of united relations for each of them."""
    if len(relations) == 1:
        yield replace(relations[0], frame=batch)
        return
    for place, relation in enumerate(relations):
        row = column(f"${place}")
        columns = [row.getField(name).alias(name) for name in relation.names]
        frame = batch.filter(column(_INSERTION) == place).select(*columns, *relation.changes)
        yield replace(relation, frame=frame)


def _batches(
    frame: DataFrame, write: Callable[[DataFrame, int], None], context: TableContext
) -> DataStreamWriter:
    """Return the writer that gives each batch, computed once, to a function on the driver."""
    if not hasattr(context.session, "_jsparkSession"):
        raise TableException(
            "Over Spark Connect unbounded rows can only be written into tables that Spark "
            "writes itself, such as files: the batches of others would be written on the server. "
            "Use a classic session."
        )

    def write_once(batch: DataFrame, number: int) -> None:
        batch.persist()
        try:
            # Computes all partitions at once; what follows reads them.
            if batch.count():
                write(batch, number)
        finally:
            batch.unpersist()

    return frame.writeStream.foreachBatch(write_once)


def _write_all(
    insertions: Sequence[Insertion], context: TableContext
) -> Callable[[DataFrame, int], None]:
    def write(batch: DataFrame, number: int) -> None:
        parts = _split([insertion.rows for insertion in insertions], batch)
        for insertion, rows in zip(insertions, parts):
            insertion.connector.write_batch(rows, number, context)

    return write


# Jobs


def job_of(
    queries: Sequence[StreamingQuery],
    context: TableContext,
    before: Callable[[], None] = lambda: None,
    daemon: bool = False,
) -> Job:
    """Return the job that running queries are; it ends when one of them does.

    Parameters
    ----------
    before
        Bounded work that is part of the job.
    daemon
        Whether the program may end before the job has.
    """

    def stop() -> None:
        for query in queries:
            query.stop()

    def end() -> None:
        stop()
        close_functions_of(queries, context)

    def work() -> None:
        try:
            before()
            _await_first(queries)
            end_after_batches(queries)
        except BaseException:
            end_after_error(end)
            raise
        close_functions_of(queries, context)

    name = ", ".join(query.name or "" for query in queries)
    return Job(context.session, work, stop=stop, daemon=daemon, name=name, queries=queries)


def close_functions_of(queries: Sequence[StreamingQuery], context: TableContext) -> None:
    """Close the functions of data streams that ended queries have opened."""
    if context.has_open_functions:
        mode = context.session.conf.get(_EXECUTION_MODE, None) or "process"
        close_functions(context, queries, mode)


def _await_first(queries: Sequence[StreamingQuery]) -> None:
    """Return when one of the queries has ended, and raise its error, if it ended by one."""
    if len(queries) == 1:
        queries[0].awaitTermination()
        return
    while not any(has_ended(query) for query in queries):
        pass


class CollectedRows(Iterator["Row"]):
    """The rows of an unbounded query, which the program takes one by one.

    Few rows wait: the query does not run ahead of the program. It ends when the rows are closed.

    Parameters
    ----------
    relation
        The rows.
    rows_of
        Returns the rows of a bounded relation as the program sees them.
    context
        Where the table belongs.
    """

    def __init__(
        self,
        relation: Relation,
        rows_of: Callable[[Relation], Iterator[Row]],
        context: TableContext,
    ) -> None:
        self._rows: queue.Queue[Row] = queue.Queue(_WAITING_ROWS)
        self._closed = False
        self._query: StreamingQuery | None = None

        def take(batch: DataFrame, _number: int) -> None:
            for row in rows_of(replace(relation, frame=batch)):
                if not self._put(row):
                    return

        frame = _united([relation])
        clocks = _clocks(frame)
        ticks = None
        if clocks.has_processing_time or _has_idle_tables(context):
            frame, ticks = _ticking(frame, clocks, context)
        writer = _batches(frame, take, context)
        stream = _Stream("collect", frame, clocks, writer, _latency_ms(context), ticks=ticks)
        self._query = _started(stream, "collect", None, context)
        self.job = job_of([self._query], context, daemon=True)

    def _put(self, row: Row) -> bool:
        """Let a row wait until the program takes one; return whether the query goes on."""
        while self._is_active():
            try:
                self._rows.put(row, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False

    def _is_active(self) -> bool:
        return not self._closed and (self._query is None or self._query.isActive)

    def __next__(self) -> Row:
        while not self._closed:
            try:
                return self._rows.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if not self._is_active() and self._rows.empty():
                    self._end()
        raise StopIteration

    def _end(self) -> None:
        assert self._query is not None
        self._closed = True
        error = self._query.exception()
        if error is not None:
            raise error

    def close(self) -> None:
        """End the query, and wait until its job has ended."""
        self._closed = True
        self.job.client().cancel().result()
