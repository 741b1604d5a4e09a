"""Where data streams begin, and where programs are run."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from pyflow.common.configuration import Configuration
from pyflow.common.execution_config import ExecutionConfig
from pyflow.common.watermark_strategy import WatermarkStrategy
from pyflow.datastream.checkpoint_config import CheckpointConfig
from pyflow.datastream.checkpointing_mode import CheckpointingMode
from pyflow.datastream.connectors.base import Source
from pyflow.datastream.connectors.file_system import FileSource, StreamFormat
from pyflow.datastream.connectors.flink_jars import say_what_is_needed
from pyflow.datastream.data_stream import CloseableIterator, DataStream
from pyflow.datastream.execution_mode import RuntimeExecutionMode
from pyflow.datastream.graph import plan
from pyflow.datastream.graph.collection import CollectionSource
from pyflow.datastream.graph.driver_sinks import CollectSink, DiscardingSink
from pyflow.datastream.graph.execution import Program
from pyflow.datastream.graph.transformations import (
    Input,
    Output,
    SinkOf,
    SourceOf,
    Transformation,
)
from pyflow.datastream.slot_sharing_group import SlotSharingGroup
from pyflow.datastream.time_characteristic import TimeCharacteristic
from pyflow.session.context import Context
from pyflow.session.flink_jars import replaced, without_flink
from pyflow.session.given import given_settings
from pyflow.session.planning import end_with_plan

if TYPE_CHECKING:
    from pyflow.common.job_client import JobClient
    from pyflow.common.job_execution_result import JobExecutionResult
    from pyflow.common.restart_strategy import RestartStrategyConfiguration
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.graph.attached import Attached
    from pyflow.datastream.state_backend import StateBackend
    from pyflow.streaming.jobs.job import Job

__all__ = ["OF_STREAMS", "StreamExecutionEnvironment"]

_logger = logging.getLogger(__name__)

_JOB = "Flink Streaming Job"
_CHAINING = "pipeline.operator-chaining.enabled"
_CHAINING_MAX = "pipeline.operator-chaining.chain-operators-with-different-max-parallelism"
_BUFFER = "execution.buffer-timeout.interval"
_CHANGELOG = "state.changelog.enabled"
_SAVEPOINTS = "execution.checkpointing.savepoint-dir"
_JARS = "pipeline.jars"
_CLASSPATHS = "pipeline.classpaths"
_PYTHON_FILES = ("python.files", "python.archives", "python.requirements")

#: Settings of data streams, which sessions of tables refuse.
OF_STREAMS = ("execution.savepoint.", "execution.state-recovery.")


class StreamExecutionEnvironment:
    """Makes data streams, holds the settings of a program, and runs it.

    Parameters
    ----------
    configuration : Configuration
        The settings.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._sinks: list[SinkOf] = []
        #: Operators of the next program, whether they lead to a sink or not.
        self._operators: list[Transformation] = []
        #: The numbers of those whose elements tables or other streams take.
        self._taken_elsewhere: set[int] = set()
        #: What is run with the sinks, with a number for each of its tables.
        self._attached: list[tuple[Attached, list[int]]] = []
        self._numbers = 0
        self._context_of_session: Context | None = None
        self._before_session: list[Callable[[Context], None]] = []

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a StreamExecutionEnvironment belongs to the program; functions cannot use it"
        )

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
    ) -> StreamExecutionEnvironment:
        """Return a new environment with these settings, over those that the program is given.

        ``pyflow run`` gives it settings, and ``spark-defaults.conf``.
        """
        return StreamExecutionEnvironment(given_settings(configuration))

    def _next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _context(self) -> Context:
        """Return the session with the settings; it is started when it is first needed."""
        if self._context_of_session is None:
            from pyflow.session.options import value_of
            from pyflow.session.session_configuration import add_files
            from pyflow.session.start import active_session, begin_python

            settings = self._configuration.to_dict()
            of_session = {k: v for k, v in settings.items() if not k.startswith(OF_STREAMS)}
            session = active_session(Configuration.from_dict(of_session))
            begin_python(session)
            self._context_of_session = Context(session, self._configuration, True)
            for key in _PYTHON_FILES:
                add_files(session, key, value_of(self._configuration, key) or [])
            for prepare in self._before_session:
                prepare(self._context_of_session)
        return self._context_of_session

    def _parallelism(self) -> int:
        return self._context().parallelism()

    # Settings

    def get_config(self) -> ExecutionConfig:
        """Return the settings of how programs are run; what is set there is set here."""
        return ExecutionConfig(self._configuration)

    def configure(self, configuration: Configuration) -> None:
        """Take these settings, too."""
        self._configuration.add_all(configuration)

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """Set how many subtasks operators have, and return the environment.

        Raises
        ------
        ValueError
            If the number is less than 1, and not -1 for the session's default.
        """
        self.get_config().set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        """Return how many subtasks operators have."""
        return self._parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """Set the number of groups of keys of state, and return the environment."""
        self.get_config().set_max_parallelism(max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of groups of keys of state; -1 for the default."""
        return self.get_config().get_max_parallelism()

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """Set how programs are run, and return the environment."""
        self._configuration.set_string("execution.runtime-mode", execution_mode.name)
        return self

    def set_stream_time_characteristic(
        self, characteristic: TimeCharacteristic
    ) -> StreamExecutionEnvironment:
        """Return the environment.

        Programs for older versions said so which time they use; now both are always there.
        """
        return self

    def set_restart_strategy(
        self, restart_strategy_configuration: RestartStrategyConfiguration
    ) -> StreamExecutionEnvironment:
        """Return the environment; Spark runs failed tasks again: ``spark.task.maxFailures``."""
        return self

    def set_state_backend(self, state_backend: StateBackend) -> StreamExecutionEnvironment:
        """Return the environment; state is in RocksDB, and that of bounded input in memory."""
        return self

    def register_slot_sharing_group(
        self, slot_sharing_group: SlotSharingGroup
    ) -> StreamExecutionEnvironment:
        """Return the environment; Spark has no slots that are shared."""
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> StreamExecutionEnvironment:
        """Set after how long buffers are sent, which Spark does not have."""
        self._configuration.set_string(_BUFFER, f"{timeout_millis} ms")
        return self

    def get_buffer_timeout(self) -> int:
        """Return after how many milliseconds buffers are sent in Flink; 100 by default."""
        text = self._configuration.get_string(_BUFFER, None) or "100 ms"
        return int(text.split()[0])

    def disable_operator_chaining(self) -> StreamExecutionEnvironment:
        """Return the environment; chains are as long as they can be."""
        self._configuration.set_boolean(_CHAINING, False)
        return self

    def is_chaining_enabled(self) -> bool:
        """Return whether operators may be chained."""
        return self._configuration.get_boolean(_CHAINING, True)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """Return whether operators of different maximum parallelism may be chained."""
        return self._configuration.get_boolean(_CHAINING_MAX, True)

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the settings of checkpoints; what is set there is set here."""
        return CheckpointConfig(self._configuration)

    def enable_checkpointing(
        self, interval: int, mode: CheckpointingMode | None = None
    ) -> StreamExecutionEnvironment:
        """Have state kept, in ``execution.checkpointing.dir``, and return the environment.

        Parameters
        ----------
        interval : int
            In milliseconds. Spark has a checkpoint at the end of each batch.
        mode : CheckpointingMode, optional
        """
        config = self.get_checkpoint_config()
        config.set_checkpoint_interval(interval)
        if mode is not None:
            config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the interval of checkpoints in milliseconds; -1 without any."""
        return self.get_checkpoint_config().get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return what checkpoints guarantee."""
        return self.get_checkpoint_config().get_checkpointing_mode()

    get_checkpointing_consistency_mode = get_checkpointing_mode

    def enable_changelog_state_backend(self, enabled: bool) -> StreamExecutionEnvironment:
        """Have changes of state written rather than all of it, and return the environment."""
        self._configuration.set_boolean(_CHANGELOG, enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """Return whether changes of state are written; None where nothing is set."""
        if not self._configuration.contains_key(_CHANGELOG):
            return None
        return self._configuration.get_boolean(_CHANGELOG, False)

    def set_default_savepoint_directory(self, directory: str) -> StreamExecutionEnvironment:
        """Set where savepoints are written, and return the environment."""
        self._configuration.set_string(_SAVEPOINTS, directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """Return where savepoints are written; None where nothing is set."""
        return self._configuration.get_string(_SAVEPOINTS, None)

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints may be unaligned, which has no meaning in Spark."""
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return whether checkpoints must be unaligned, which has no meaning in Spark."""
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def get_default_local_parallelism(self) -> int:
        """Return how many subtasks operators have by default."""
        return self._parallelism()

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set how many subtasks operators have by default."""
        self.set_parallelism(parallelism)

    # What functions need

    def _with_session(self, prepare: Callable[[Context], None]) -> None:
        """Do something with the session, when it is there."""
        if self._context_of_session is None:
            self._before_session.append(prepare)
        else:
            prepare(self._context_of_session)

    def add_python_file(self, file_path: str) -> None:
        """Let functions import from a Python file, a package's archive or a directory."""
        from pyflow.session.dependencies import add_file

        self._with_session(lambda context: add_file(context.session, file_path))

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Let functions import packages of a requirements file, installed once where this runs."""
        from pyflow.session.dependencies import add_requirements

        self._with_session(
            lambda context: add_requirements(
                context.session, requirements_file_path, requirements_cache_dir
            )
        )

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpack an archive into the working directory of functions."""
        from pyflow.session.dependencies import add_archive

        self._with_session(lambda context: add_archive(context.session, archive_path, target_dir))

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python whose environment functions have, before the session is started."""
        self._configuration.set_string("python.executable", python_exec)

    def add_jars(self, *jars_path: str) -> None:
        """Have jars in the session that is started.

        Those of Flink's own connectors and formats are left out: Spark's and ours are here. Where
        the session lacks a module of Spark that they need, as for Kafka, a warning names it.

        Parameters
        ----------
        jars_path : str
            Addresses, such as ``file:///path/of.jar``.
        """
        self._add_jars(_JARS, jars_path)

    def add_classpaths(self, *classpaths: str) -> None:
        """Have jars in the session that is started, as :meth:`add_jars`."""
        self._add_jars(_CLASSPATHS, classpaths)

    def _add_jars(self, key: str, paths: Sequence[str]) -> None:
        before = self._configuration.get_string(key, None)
        kept = [] if not before else before.split(";")
        kept += without_flink(paths)
        for path in paths:
            if replaced(path):
                self._with_session(functools.partial(say_what_is_needed, path))
        if kept:
            self._configuration.set_string(key, ";".join(kept))

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Give functions a file or directory, which ``pyspark.SparkFiles.get`` finds by a name.

        Parameters
        ----------
        file_path : str
            A path, or an address of a file system that Spark knows.
        name : str
            What functions call it.
        executable : bool
            Spark makes every file executable.

        Raises
        ------
        TableException
            If there is no such file, or it is of another file system and has another name there.
        """
        from pyflow.session.dependencies import add_cached_file

        self._with_session(lambda context: add_cached_file(context.session, file_path, name))

    # Streams

    def from_collection(
        self, collection: Sequence[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of the elements of a collection, in their order.

        Parameters
        ----------
        collection : sequence
        type_info : TypeInformation, optional
            Their type; any objects without it.

        Raises
        ------
        TypeError
            If an element is not of the type.
        """
        from pyflow.datastream.runtime.values import of_collection

        elements = list(collection)
        coerce = of_collection(type_info)
        if coerce is not None:
            elements = list(map(coerce, elements))
        source = CollectionSource(elements, type_info)
        return self._from("Collection Source", source, type_info)

    def from_source(
        self,
        source: Source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of what a source reads.

        Parameters
        ----------
        source : Source
            Of ``pyflow.datastream.connectors``.
        watermark_strategy : WatermarkStrategy
        source_name : str
        type_info : TypeInformation, optional
            Of the elements; that of the source without it.
        """
        if not isinstance(source, Source):
            raise TypeError(f"expected a source of pyflow.datastream.connectors, got {source!r}")
        stream = self._from(source_name, source, type_info or source.produced_type())
        if watermark_strategy == WatermarkStrategy.no_watermarks():
            return stream
        stamped = stream.assign_timestamps_and_watermarks(watermark_strategy)
        stamped._transformation.side_outputs_of = stream._transformation
        return stamped

    def add_source(
        self,
        source_func: Source,
        source_name: str = "Custom Source",
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of what a source reads, as programs for older versions say it."""
        strategy = WatermarkStrategy.no_watermarks()
        return self.from_source(source_func, strategy, source_name, type_info)

    def create_input(
        self, input_format: Any, type_info: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of what an input format reads.

        Parameters
        ----------
        input_format
            Of ``pyflow.datastream.formats``.
        type_info : TypeInformation, optional
        """
        source = FileSource.for_bulk_file_format(input_format).build()
        strategy = WatermarkStrategy.no_watermarks()
        return self.from_source(source, strategy, "Input Format", type_info)

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataStream:
        """Return the stream of the lines of a file, as programs for older versions say it."""
        reader = StreamFormat.text_line_format(charset_name)
        source = FileSource.for_record_stream_format(reader, file_path).build()
        strategy = WatermarkStrategy.no_watermarks()
        return self.from_source(source, strategy, "Text File")

    def _from(self, name: str, source: Source, type_info: TypeInformation | None) -> DataStream:
        made = SourceOf(self._next_number(), name, _known(type_info), source=source)
        return DataStream(self, Output(made))

    # Programs

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the program, and return when it has ended.

        Parameters
        ----------
        job_name : str, optional

        Raises
        ------
        RuntimeError
            If nothing is written anywhere.
        KeyboardInterrupt
            On Ctrl-C; the job is cancelled, and has ended.
        """
        job = self._started(job_name or _JOB, *self._taken())
        job.wait(None)
        return job.client().get_job_execution_result().result()

    def execute_async(self, job_name: str = _JOB) -> JobClient:
        """Start the program, and return what it is watched and ended by."""
        return self._started(job_name, *self._taken()).client()

    def get_execution_plan(self) -> str:
        """Return the program's graph as JSON, in Flink's form."""
        self._check()
        return self._plan_of(self._all_sinks(), self._attached)

    def explain(self) -> str:
        """Return how Spark would run the program: its queries, their stages, the chains in them.

        PyFlink has no such method; its form of a plan is that of `get_execution_plan`. Tables that
        are written beside the streams have plans of their own, see `Table.explain`.
        """
        self._check()
        return Program(self._all_sinks(), self._context()).explanation()

    def _plan_of(
        self, sinks: Sequence[SinkOf], attached: Sequence[tuple[Attached, list[int]]]
    ) -> str:
        tables = [pair for each, numbers in attached for pair in zip(numbers, each.names)]
        return plan.of(sinks, self.get_parallelism(), tables)

    def _attach(self, attached: Attached) -> None:
        """Have something run as a part of the next program."""
        self._attached.append((attached, [self._next_number() for _ in attached.names]))

    def _all_sinks(self) -> list[SinkOf]:
        """Return the sinks, and one for each operator without any behind it, which runs, too."""
        consumed = set(self._taken_elsewhere)
        for each in (*self._operators, *self._sinks):
            consumed.update(output.of.number for entry in each.inputs() for output in entry.outputs)
        made = [
            SinkOf(
                -each.number, "Discard", None, input=Input((Output(each),)), sink=DiscardingSink()
            )
            for each in self._operators
            if each.number not in consumed
        ]
        return [*self._sinks, *made]

    def _check(self) -> None:
        if not self._all_sinks() and not self._attached:
            raise RuntimeError(
                "No operators defined in streaming topology. Cannot execute: call a sink, such as "
                "print(), sink_to() or execute_and_collect(), of a stream first."
            )

    def _taken(self) -> tuple[list[SinkOf], list[tuple[Attached, list[int]]]]:
        """Return the sinks, and what is attached; the next program begins without them."""
        self._check()
        taken = self._all_sinks(), self._attached
        self._sinks, self._attached, self._operators = [], [], []
        return taken

    def _started(
        self,
        name: str,
        sinks: list[SinkOf],
        attached: Sequence[tuple[Attached, list[int]]] = (),
        others: Sequence[SinkOf] = (),
    ) -> Job:
        """Run what leads to sinks, of which others are not run, and return the job."""
        end_with_plan(lambda: {"name": name, **json.loads(self._plan_of(sinks, attached))})
        parts = [each for each, _ in attached]
        return Program(sinks, self._context(), others, parts, name).run()

    def _collected(
        self, job_name: str | None, made: SinkOf, sink: CollectSink
    ) -> CloseableIterator:
        """Run what leads to one sink, whose elements are returned; as in Flink, others are not."""
        others, self._sinks, self._operators = self._sinks, [], []
        attached, self._attached = self._attached, []
        names = [each.name for each in others] + [n for each, _ in attached for n in each.names]
        if names:
            _logger.warning(
                "execute_and_collect() runs its own stream alone, and the next program begins "
                "without what is written to %s: call execute() before it.",
                ", ".join(f"'{name}'" for name in names),
            )
        job = self._started(job_name or _JOB, [made], others=others)
        job.on_end(sink.end)

        def close() -> None:
            if not sink.is_at_end():
                sink.close()
                job.client().cancel().result()

        def elements() -> Iterator[Any]:
            try:
                yield from sink.elements()
            except KeyboardInterrupt:
                close()
                raise

        return CloseableIterator(elements(), close)

    def _values_frame(self, outputs: tuple[Output, ...]) -> Any:
        """Return pickled elements with their timestamps, of a bounded stream."""
        from pyflow.datastream.graph.frames import values_of

        return values_of(outputs, self._next_number(), self._context())

    def close(self) -> None:
        """Forget what streams keep that are cached."""


def _known(type_info: TypeInformation | None) -> TypeInformation | None:
    from pyflow.common.typeinfo import PickledBytesTypeInfo

    return None if isinstance(type_info, PickledBytesTypeInfo) else type_info
