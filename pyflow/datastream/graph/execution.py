"""Programs that run: bounded components as one batch, others as streaming queries."""

from __future__ import annotations

import functools
import logging
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflow.datastream.connectors.base import LATEST, Boundedness, Source, SourceRows
from pyflow.datastream.execution_mode import RuntimeExecutionMode
from pyflow.datastream.graph.checkpoints import CheckpointDirectory
from pyflow.datastream.graph.closing import KEPT_INTERPRETERS, close_functions
from pyflow.datastream.graph.components import Component, branching, components
from pyflow.datastream.graph.driver_sinks import DriverSink
from pyflow.datastream.graph.explanation import stages_of
from pyflow.datastream.graph.fitting import Fitted, fitted
from pyflow.datastream.graph.hints import log_hints
from pyflow.datastream.graph.lowering import Lowered, lowered
from pyflow.datastream.graph.lowering_settings import EventTime, Settings
from pyflow.datastream.graph.real_time import RealTime
from pyflow.datastream.graph.recovery import (
    Recovery,
    begin_checkpoints,
    has_checkpoints,
    recoveries,
    savepoint_directory,
)
from pyflow.datastream.graph.temporary_settings import temporary_settings
from pyflow.datastream.graph.transformations import (
    SinkOf,
    SourceOf,
    Stateful,
)
from pyflow.datastream.runtime.clock import Clock, system_clock
from pyflow.datastream.runtime.contexts import ContextFactory
from pyflow.datastream.runtime.life_cycle import close_all
from pyflow.session.context import Context
from pyflow.session.local_rows import local_rows
from pyflow.session.options import session_settings, value_of
from pyflow.session.package import provide
from pyflow.session.queries import has_checkpoint_in_use, has_ended, unused_name
from pyflow.streaming.jobs.job import Job, end_after_error
from pyflow.streaming.plan.state_store import keep_state_in_rocksdb, state_store_settings
from pyflow.streaming.runtime.log_levels import LogLevels
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from pyflow.datastream.graph.attached import Attached

__all__ = ["Program", "RunningComponent"]

_PARTITIONS = "spark.sql.shuffle.partitions"
_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
_CHUNK = "spark.sql.execution.arrow.transformWithStateInPySpark.maxStateRecordsPerBatch"
_INTERPRETER = "spark.pyflow.interpreter"
_EXECUTION_MODE = "spark.pyflow.execution-mode"
_PYTHON_CHAINING = "python.operator-chaining.enabled"
_JOB_GROUP = "spark.jobGroup.id"
_TIMERS_AT_ONCE = 1000
# How many milliseconds timers of the processing time wait for a batch of sources looked at rarely.
_LONGEST_WAIT = 1000

_logger = logging.getLogger(__name__)


class Program:
    """The sinks of an environment, to be run once.

    Parameters
    ----------
    sinks
        What the program writes to.
    context
        The session, and the settings.
    others
        Sinks of the environment that do not run, but are part of its graph.
    attached
        What else is part of the job.
    name
        Of the job; None where it does not run.
    """

    def __init__(
        self,
        sinks: Sequence[SinkOf],
        context: Context,
        others: Sequence[SinkOf] = (),
        attached: Sequence[Attached] = (),
        name: str | None = None,
    ) -> None:
        self._context = context
        self._name = name
        self._attached = attached
        self._id = uuid.uuid4().hex
        found = components(sinks)
        log_hints(each for component in found for each in component.transformations)
        branches = branching([*sinks, *others])
        self._components = [
            RunningComponent(each, context, f"{self._id}-{place}", place, branches, name)
            for place, each in enumerate(found)
        ]

    def run(self) -> Job:
        """Start the program; return its job."""
        name = self._name or ""
        provide(self._context.session)
        unbounded = [each for each in self._components if not each.is_bounded]
        bounded = [each for each in self._components if each.is_bounded]
        queries: list[StreamingQuery] = []
        if unbounded:
            _refuse_connect(self._context.session)
            self._find_checkpoints()
            self._refuse_part_of_savepoint(unbounded)
            # All are compared before the first one starts.
            for each in unbounded:
                each.fit()
                each.refuse_checkpoint_in_use()
            begin_checkpoints((each.recovery for each in unbounded if each.recovery), self._context)

        def stop() -> None:
            for query in queries:
                query.stop()

        def end() -> None:
            stop()
            close_all([*unbounded, *self._attached])

        try:
            for each in unbounded:
                queries.append(each.started(name))
            for other in self._attached:
                queries.extend(other.start())
        except BaseException:
            end_after_error(end)
            raise

        def work() -> None:
            try:
                for each in bounded:
                    each.run()
                for other in self._attached:
                    other.run()
                _await(queries)
            except BaseException:
                end_after_error(end)
                raise
            end()

        # Queries of tables have no end.
        has_own_end = len(queries) == len(unbounded) and all(each.ends() for each in unbounded)
        session = self._context.session
        stops = stop if queries else None
        job = Job(session, work, stop=stops, ends=has_own_end, name=name, queries=queries)
        if len(queries) == len(unbounded):
            job.savepoint = functools.partial(self._savepoint, unbounded)
        return job

    def _find_checkpoints(self) -> None:
        """Say what each query has in its checkpoint, or savepoint."""
        parts = {each.place: each for each in self._components if not each.is_bounded}
        programs = {place: each.fitted.manifest for place, each in parts.items()}
        for place, recovery in recoveries(programs, self._context).items():
            parts[place].recovery = recovery

    def _refuse_part_of_savepoint(self, unbounded: Iterable[RunningComponent]) -> None:
        """Refuse to start streams from a savepoint beside tables that begin without state."""
        names = [name for each in self._attached if each.is_unbounded for name in each.names]
        if names and any(each.recovery and each.recovery.savepoint for each in unbounded):
            raise TableException(
                f"The job starts from a savepoint, and insertions of tables ({', '.join(names)}) "
                "have none: they would begin without state. Run them as a job of their own, or "
                "start this one without execution.state-recovery.path."
            )

    def explanation(self) -> str:
        """Return how the program would run."""
        self._find_checkpoints()
        lines = []
        for place, each in enumerate(self._components, 1):
            lines.append(f"Query {place} of {len(self._components)}: {each.summary()}")
            stages = stages_of(each.component, each.subtasks())
            lines += [f"  {line}" for line in stages]
        return "\n".join(lines)

    def _savepoint(
        self, unbounded: Sequence[RunningComponent], directory: str | None
    ) -> Callable[[], str]:
        """Return what copies the checkpoints of queries that are stopped, and returns the path."""
        if not unbounded:
            raise TableException("bounded input leaves no state to go on from: cancel the job")
        chosen = directory or savepoint_directory(self._context)
        if chosen is None:
            raise TableException(
                "there is no directory for savepoints: name one, or set "
                "execution.checkpointing.savepoint-dir"
            )
        if any(each.recovery is None for each in unbounded):
            raise TableException(
                "there is no checkpoint to make a savepoint of: set execution.checkpointing.dir"
            )
        path = f"{chosen.rstrip('/')}/savepoint-{uuid.uuid4().hex[:12]}"

        def copy() -> str:
            with CheckpointDirectory(self._context.session, path).begun():
                for each in unbounded:
                    each.saved(path)
            return path

        return copy


class RunningComponent:
    """A component that runs."""

    def __init__(
        self,
        component: Component,
        context: Context,
        job: str,
        place: int,
        branches: frozenset[int],
        name: str | None = None,
    ) -> None:
        self._name = name
        #: Its number in the program.
        self.place = place
        #: From where it goes on, if it has a checkpoint.
        self.recovery: Recovery | None = None
        self._branches = branches
        self.component = component
        self._context = context
        #: The program with what it has in its checkpoint.
        self.fitted = fitted(component, self.parallelism(), job=name)
        self._job = job
        self._query: StreamingQuery | None = None
        #: The execution mode of its functions.
        self._ran_in = ""
        self._temporary: str | None = None
        sources: list[SourceOf] = component.of(SourceOf)
        self.is_bounded = all(
            each.source.boundedness() == Boundedness.BOUNDED for each in sources if each.source
        )

    def _mode(self) -> RuntimeExecutionMode:
        chosen = self._context.configuration.get_string("execution.runtime-mode", "STREAMING")
        mode = RuntimeExecutionMode[str(chosen).upper()]
        if mode == RuntimeExecutionMode.AUTOMATIC:
            return RuntimeExecutionMode.BATCH if self.is_bounded else RuntimeExecutionMode.STREAMING
        return mode

    def parallelism(self) -> int:
        """Return how many subtasks are behind a shuffle."""
        asked = [each.parallelism for each in self.component.transformations]
        return max([self._context.parallelism(), *asked])

    def fit(self) -> None:
        """Compare the program with its checkpoint."""
        if self.recovery is not None:
            self.fitted = self.recovery.fitted(self.component, self.parallelism(), self._name)

    def refuse_checkpoint_in_use(self) -> None:
        """Refuse to start beside a job that has the same checkpoint."""
        checkpoint = None if self.recovery is None else self.recovery.checkpoint
        session = self._context.session
        if checkpoint is not None and has_checkpoint_in_use(session, checkpoint.of_spark.path):
            raise TableException(
                f"a job runs whose checkpoint is {checkpoint.directory}: cancel it, or give this "
                "one another execution.checkpointing.dir"
            )

    def subtasks(self) -> int:
        """Return how many there would be behind a shuffle: as many as in its checkpoint."""
        before = None if self.recovery is None else self.recovery.before
        is_kept = before is not None and bool(before.operators)
        return before.parallelism if before is not None and is_kept else self.parallelism()

    def summary(self) -> str:
        """Return how it would run."""
        functions = f"functions in {self._execution_mode()} mode"
        if self.is_bounded:
            return f"bounded, {functions}"
        recovery = self.recovery
        place = "a temporary directory" if recovery is None else recovery.checkpoint.directory
        kept = f"checkpoints in {place}"
        if self._real_time() is None:
            return f"unbounded, in micro-batches whose stages run in turn, {functions}, {kept}"
        return f"unbounded, in real time, a slot for each subtask at once, {functions}, {kept}"

    def _lowered(
        self,
        program: Fitted | None = None,
        has_ticks: bool = False,
        is_real_time: bool = False,
        event_time: EventTime = EventTime.OF_OPERATORS,
    ) -> Lowered:
        program = program or self.fitted
        session = self._context.session
        mode = self._mode()
        if mode == RuntimeExecutionMode.BATCH and not self.is_bounded:
            raise ValueError(
                "Detected an UNBOUNDED source with the 'execution.runtime-mode' set to 'BATCH'. "
                "This combination is not allowed, please set the 'execution.runtime-mode' to "
                "STREAMING or AUTOMATIC."
            )
        rows = {each.number: self._rows(each, program) for each in self.component.of(SourceOf)}
        configuration = self._context.configuration
        contexts = ContextFactory(
            value_of(configuration, "pipeline.global-job-parameters") or {},
            value_of(configuration, "python.metric.enabled"),
            LogLevels(
                value_of(configuration, "python.logging.default.level"),
                value_of(configuration, "python.logging.level.overrides") or {},
            ),
            self._clock(),
        )
        settings = Settings(
            self._job,
            program.manifest.parallelism,
            self.is_bounded,
            mode == RuntimeExecutionMode.BATCH,
            contexts,
            program,
            has_ticks,
            is_real_time,
            configuration.get_boolean(_PYTHON_CHAINING, True),
            self._branches,
            event_time,
            self._execution_mode() == "process",
        )
        return lowered(self.component, rows, settings, session)

    def _rows(self, each: SourceOf, program: Fitted) -> SourceRows:
        assert each.source is not None
        context = self._context
        place = program.sources.index(each.number)
        if self.recovery is not None:
            kept = self.recovery.checkpoint.rows_of(place, program.manifest)
            context = context.with_kept_rows(kept)
        source = each.source
        if program is self.fitted and source.stop:
            source = source.stopping_at(program.manifest.sources[place].stops_at)
        return source.read(context, not self.is_bounded)

    # Bounded

    def frame(self, sink: SinkOf, event_time: EventTime) -> DataFrame:
        """Return what a sink would write.

        An unbounded frame becomes part of another query, with the session's number of subtasks.
        """
        session = self._context.session
        parallelism = self.parallelism()
        if not self.is_bounded and self.component.of(Stateful):
            _refuse_connect(session)
            parallelism = int(session.conf.get(_PARTITIONS) or 1)
            keep_state_in_rocksdb(session)
        if not self.is_bounded and has_checkpoints(self._context):
            self._warn_of_bounded_sources()
        self._context.has_open_functions |= not self.is_bounded
        query = self._lowered(fitted(self.component, parallelism), event_time=event_time)
        return query.rows_of(sink, query.frame)

    def _warn_of_bounded_sources(self) -> None:
        sources: list[SourceOf] = self.component.of(SourceOf)
        bounded = [
            each.name
            for each in sources
            if each.source and each.source.boundedness() == Boundedness.BOUNDED
        ]
        if bounded:
            _logger.warning(
                "A table is made of a stream with bounded and unbounded sources. A job that "
                "writes it reads the bounded ones again when it resumes from its checkpoint: %s.",
                ", ".join(bounded),
            )

    def run(self) -> None:
        """Run a bounded component to its end."""
        with temporary_settings(self._context.session, self._of_functions()):
            query = self._lowered()
            self._write(query, query.frame, None)

    def _of_functions(self) -> dict[str, str]:
        """Return Spark's settings of how functions run, as far as the program says something."""
        return session_settings(self._context.configuration, "python.")

    def _execution_mode(self) -> str:
        chosen = self._of_functions().get(_EXECUTION_MODE)
        return chosen or self._context.session.conf.get(_EXECUTION_MODE, None) or "process"

    def _write(self, query: Lowered, frame: DataFrame, batch: int | None) -> None:
        here = {
            query.targets[sink.number]: sink.sink
            for sink, _ in query.sinks
            if isinstance(sink.sink, DriverSink)
        }
        others = [sink for sink, _ in query.sinks if not isinstance(sink.sink, DriverSink)]
        is_kept = len(others) + bool(here) > 1
        if is_kept:
            frame = frame.persist()
        try:
            for sink in others:
                assert sink.sink is not None
                with _same_run(self._context.session, batch):
                    sink.sink.write(query.rows_of(sink, frame), self._context, batch)
            if here:
                _take(query.values_of(frame), here, prefetches=batch is None)
        finally:
            if is_kept:
                frame.unpersist()

    # Unbounded

    def started(self, name: str) -> StreamingQuery:
        """Start the query of an unbounded component."""
        session = self._context.session
        real_time = self._real_time()
        checkpoint = None if self.recovery is None else self.recovery.checkpoint
        settings = {
            **self._of_functions(),
            _PARTITIONS: str(self.fitted.manifest.parallelism),
            **state_store_settings(session),
            # Functions that are open stay in the interpreter of their subtask. All tasks of a
            # subtask run at once in real-time mode.
            **(KEPT_INTERPRETERS if real_time is None else {_INTERPRETER: "shared"}),
            # Timers are read until the first that is not due.
            _CHUNK: str(_TIMERS_AT_ONCE),
            # Real-time mode goes on from no other.
            _FORMAT: "2",
            **({} if real_time is None else real_time.settings()),
        }
        with temporary_settings(session, settings):
            self._ran_in = self._execution_mode()
            self._find_ends()
            # Spark runs all that there is as one batch where a source has more at any time.
            query = self._lowered(None, not self.ends(), real_time is not None)
            if checkpoint is not None:
                checkpoint.write(self.fitted.manifest)
                location = checkpoint.of_spark.path
            else:
                location = self._temporary = tempfile.mkdtemp(prefix="pyflow-checkpoint-")
            only = query.sinks[0][0] if len(query.sinks) == 1 else None
            writer = None
            if real_time is not None:
                writer = real_time.writer(query)
            elif only is not None:
                assert only.sink is not None
                writer = only.sink.writer(query.rows_of(only, query.frame), self._context)
            if writer is None:

                def write(batch: DataFrame, number: int) -> None:
                    self._write(query, batch, number)

                writer = query.frame.writeStream.foreachBatch(write)
            if self.ends():
                writer = writer.trigger(availableNow=True)
            elif real_time is None and (interval := self._interval()) is not None:
                writer = writer.trigger(processingTime=f"{interval} milliseconds")
            writer = writer.option("checkpointLocation", location)
            writer = writer.queryName(unused_name(session, name))
            self._query = writer.start()
            return self._query

    def _real_time(self) -> RealTime | None:
        """Return how the query runs record by record, where the program asks for that."""
        if self.ends() or not RealTime.is_wanted(self._context):
            return None
        real_time = RealTime(self.component, self._context)
        real_time.check(self._execution_mode())
        return real_time

    def ends(self) -> bool:
        """Return whether the query ends when it has processed what there is."""
        return all(source.ends for source in self._unbounded())

    def _find_ends(self) -> None:
        """Have sources that end know where, unless the query ends with what there is."""
        program, found = self.fitted, []
        sources = {each.number: each.source for each in self.component.of(SourceOf)}
        for number, entry in zip(program.sources, program.manifest.sources):
            ends_with_query = self.ends() and entry.stop == LATEST
            if entry.stop and not entry.stops_at and not ends_with_query:
                entry = replace(entry, stops_at=sources[number].stops_at(self._context))
            found.append(entry)
        manifest = replace(program.manifest, sources=tuple(found))
        self.fitted = replace(program, manifest=manifest)

    def _unbounded(self) -> list[Source]:
        sources = [each.source for each in self.component.of(SourceOf)]
        return [each for each in sources if each.boundedness() == Boundedness.CONTINUOUS_UNBOUNDED]

    def _clock(self) -> Clock:
        """Return the processing time of the component."""
        clocks = [each.clock for each in self._unbounded() if each.clock is not None]
        if len(clocks) > 1:
            raise TableException(
                "more than one source of the job advances the processing time; have one do it"
            )
        return clocks[0] if clocks else system_clock

    def _interval(self) -> int | None:
        """Return after how many milliseconds sources are looked at again; None for at once.

        Timers of the processing time do not wait for longer than a second.
        """
        intervals = [source.discovery_interval for source in self._unbounded()]
        if self.component.of(Stateful):
            intervals.append(_LONGEST_WAIT)
        known = [each for each in intervals if each is not None]
        return min(known) if len(known) == len(intervals) else None

    def close(self) -> None:
        """Have the functions of an unbounded component closed, where its query has been started."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
        if self._query is not None:
            close_functions(self._context, [self._query], self._ran_in)

    def saved(self, directory: str) -> None:
        """Copy the checkpoint of a query that has been stopped into a directory."""
        assert self.recovery is not None
        self.recovery.checkpoint.copy_to(f"{directory}/{self.recovery.place}")


def _take(frame: DataFrame, sinks: dict[int, Any], prefetches: bool) -> None:
    """Give rows to sinks in the program's own process, as they come."""
    for target, key, value in local_rows(frame, prefetches):
        sinks[target].take(bytes(value), int(key))
    for sink in sinks.values():
        sink.flush()


@contextmanager
def _same_run(session: SparkSession, batch: int | None) -> Iterator[None]:
    """Have later batches of a query in its job group, whatever a sink of the program does."""
    if batch is None:
        yield
        return
    context = session.sparkContext
    group = context.getLocalProperty(_JOB_GROUP)
    try:
        yield
    finally:
        context.setLocalProperty(_JOB_GROUP, group)  # type: ignore[arg-type]  # None removes it


def _refuse_connect(session: SparkSession) -> None:
    """Refuse unbounded streams of a session whose driver is another process."""
    if not hasattr(session, "_jsparkSession"):
        raise TableException(
            "unbounded data streams do not run over Spark Connect: their timers, checkpoints, "
            "print() and execute_and_collect() need the driver in the program's own process. Run "
            "the program where the driver may run, for example by spark-submit, without remote(); "
            "or give it bounded sources."
        )


def _await(queries: Sequence[StreamingQuery]) -> None:
    """Return when all queries have ended, or raise the error of the first that fails."""
    if len(queries) == 1:
        queries[0].awaitTermination()
        return
    running = list(queries)
    while running:
        running = [each for each in running if not has_ended(each)]
