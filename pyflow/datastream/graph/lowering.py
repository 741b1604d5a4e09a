"""From the graph of a program to queries of Spark.

Transformations that are connected make one query. It has a stage for each source, and one for each
number of shuffles that an operator with state is behind; a chain is part of each stage that its
elements come from. Stages follow each other in a line:

    source and chain, source and chain -> union -> shuffle, stage 1 -> shuffle, stage 2 -> sinks

A row says by its target where it goes. It passes stages that its target is not in, so that a
function runs once for an element, however many branches are behind it.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql import types as spark

from pyflow.common.typeinfo import ExternalTypeInfo, RowTypeInfo
from pyflow.datastream.connectors.base import Boundedness
from pyflow.datastream.graph.collection import CollectionSource
from pyflow.datastream.graph.components import Component, levels_of
from pyflow.datastream.graph.driver_sinks import PrintSink
from pyflow.datastream.graph.lowering_settings import EventTime, Settings
from pyflow.datastream.graph.pickling import pickled
from pyflow.datastream.graph.transformations import (
    Chained,
    Input,
    Output,
    ShuffledInput,
    SinkOf,
    SourceOf,
    Stateful,
    Transformation,
)
from pyflow.datastream.runtime.chain import Link, Node, Route, SinkRoute
from pyflow.datastream.runtime.chained import AssignTimestamps
from pyflow.datastream.runtime.deployed import DeployedStage
from pyflow.datastream.runtime.keyed_stage import BoundedStage, KeyedStage
from pyflow.datastream.runtime.operator import WATERMARK_SHIFT
from pyflow.datastream.runtime.real_time_stage import RealTimeStage
from pyflow.datastream.runtime.reserved_keys import reserved_keys
from pyflow.datastream.runtime.source_stage import SourceSpec, SourceStage
from pyflow.datastream.runtime.stage import (
    LAST,
    Stage,
    StageSpec,
    TargetSpec,
)
from pyflow.session.builder import INSTALL_TABLE, import_state_messages
from pyflow.streaming.plan.operator_metadata import with_metadata
from pyflow.streaming.plan.packed_rows import unpacked
from pyflow.streaming.plan.watermarks import with_event_time
from pyflow.streaming.runtime.metrics import to_driver
from pyflow.streaming.runtime.rows import PACKED
from pyflow.streaming.runtime.timers import TimerReports
from pyflow.thread_mode import imports
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from pyflow.datastream.connectors.base import SourceRows

__all__ = ["Lowered", "lowered"]

_TARGET, _KEY, _INPUT, _TIME, _VALUE, _PHASE, _SEQUENCE = (
    "pyflow_target",
    "pyflow_key",
    "pyflow_input",
    "pyflow_time",
    "pyflow_value",
    "pyflow_phase",
    "pyflow_sequence",
)
_TICKS = "io.pyflow.connectors.TickSource"

# What is no operator with state has numbers from here on.
_FIRST_SINK = 1 << 24
_FIRST_CHAINED = 1 << 25

_WATERMARK, _MOMENT = "pyflow_watermark", "pyflow_moment"
_SUBTASK = "pyflow_subtask"


@dataclass
class Lowered:
    """A query.

    Parameters
    ----------
    frame
        Its rows, those of all sinks.
    sinks
        The sinks, and the column of each; None for the value itself.
    targets
        The number of each sink in the rows, by that of the transformation.
    parallelism
        How many subtasks write, unless a sink has fewer.
    """

    frame: DataFrame
    sinks: list[tuple[SinkOf, str | None]]
    targets: dict[int, int]
    parallelism: int

    def rows_of(self, sink: SinkOf, frame: DataFrame) -> DataFrame:
        """Return the rows of a sink in a frame, with its own columns and in its subtasks."""
        name = self._names()[sink.number]
        if len(self.sinks) > 1:
            frame = frame.where(_column(_TARGET) == self.targets[sink.number])
        parallelism = sink.hints.get("parallelism", self.parallelism)
        if parallelism < self.parallelism:
            subtask = F.pmod(F.spark_partition_id(), F.lit(parallelism))
            frame = frame.withColumn(_SUBTASK, subtask).repartitionById(parallelism, _SUBTASK)
        if name is None:
            return frame.select(_column(_VALUE).alias("value"))
        return frame.select(F.col(f"`{name}`.*"))

    def _names(self) -> dict[int, str | None]:
        return {each.number: name for each, name in self.sinks}

    def columns_of(self, sink: SinkOf) -> Column:
        """Return the column that has those of a sink in a struct."""
        return F.col(f"`{self._names()[sink.number]}`")

    def values_of(self, frame: DataFrame) -> DataFrame:
        """Return targets, keys and values, in the order in which they came."""
        return frame.select(*map(_column, (_TARGET, _KEY, _VALUE)))


def lowered(
    component: Component,
    rows: dict[int, SourceRows],
    settings: Settings,
    session: SparkSession,
) -> Lowered:
    """Return the query that a component becomes.

    Parameters
    ----------
    component
        What is connected.
    rows
        Of each source, by its number.
    settings
        How it runs.
    session
        Of Spark.
    """
    return _Lowering(component, settings, session).lowered(rows)


class _Lowering:
    def __init__(self, component: Component, settings: Settings, session: SparkSession) -> None:
        self._component = component
        self._settings = settings
        self._session = session
        self._levels = levels_of(component)
        self._targets = dict(settings.fitted.numbers)
        # Sinks have numbers that no operator has.
        self._targets.update(
            (each.number, _FIRST_SINK + place) for place, each in enumerate(component.of(SinkOf))
        )
        self._consumers: dict[Output, list[tuple[Transformation, int, Input]]] = {}
        for each in component.transformations:
            for number, entry in enumerate(each.inputs()):
                for output in entry.outputs:
                    self._consumers.setdefault(output, []).append((each, number, entry))
        self._sinks: list[tuple[SinkOf, str | None]] = []
        self._sink_fields: list[spark.StructField] = []
        for sink in component.of(SinkOf):
            self._add_sink(sink)

    def _add_sink(self, sink: SinkOf) -> None:
        assert sink.sink is not None
        given = sink.sink.schema(sink.input_type)
        schema: Any = spark.StructType.fromDDL(given) if isinstance(given, str) else given
        fields = schema.fields
        if [(each.name, each.dataType) for each in fields] == [("value", spark.BinaryType())]:
            self._sinks.append((sink, None))
            return
        name = f"pyflow_sink{sink.number}"
        self._sinks.append((sink, name))
        self._sink_fields.append(spark.StructField(name, schema))

    def lowered(self, rows: dict[int, SourceRows]) -> Lowered:
        self._refuse_equal_uids()
        self._needed = self._needs_shared_interpreter(rows)
        self._metrics = to_driver(self._session) if self._settings.contexts.metrics else None
        sources = {each.number: each for each in self._component.of(SourceOf)}
        order = self._settings.fitted.sources
        frames = [self._source(sources[number], rows[number]) for number in order]
        frame = functools.reduce(lambda one, other: one.union(other), frames)
        deepest = max(self._levels.values(), default=0)
        if deepest == 0:
            # Rows that have a watermark alone; a stage leaves them out.
            is_element = _column(_TARGET) != 0
            if self._settings.passes_watermark:
                # Spark does not apply such a condition before it watches times.
                is_element = F.when(F.spark_partition_id() >= 0, is_element)
            frame = frame.where(is_element)
        for level in range(1, deepest + 1):
            frame = self._stage(frame, level)
        if deepest > 0 and self._settings.has_ticks:
            # Has batches run when timers of the processing time are due.
            ticks = self._session.readStream.format(_TICKS).schema(frame.schema).load()
            frame = frame.union(ticks)
        # In real-time mode there is no shuffle before a sink.
        parallelism = 1 if self._settings.is_real_time else self._settings.parallelism
        return Lowered(frame, self._sinks, self._targets, parallelism)

    def _needs_shared_interpreter(self, rows: dict[int, SourceRows]) -> str | None:
        """Return what functions or elements of a program need the shared interpreter for.

        Elements go from stage to stage pickled, so that any stage may import what another one does.
        """
        roots: list[Any] = [each.decoder for each in rows.values()]
        for each in self._component.transformations:
            roots.append(self._operator(each))
            for entry in each.inputs():
                if isinstance(entry, ShuffledInput):
                    roots += [entry.distribution, entry.selector]
            if isinstance(each, SourceOf) and isinstance(each.source, CollectionSource):
                roots.append(each.source.elements)
            elif isinstance(each, SinkOf) and each.sink is not None:
                roots.append(each.sink.encoder(each.input_type))
        return imports.needed_by(roots)

    # Nodes

    def _nodes(self, roots: Iterable[Transformation]) -> dict[int, Node]:
        """Return the operators of a stage by their numbers: roots, and the chains behind them."""
        nodes: dict[int, Node] = {}
        waiting = list(roots)
        while waiting:
            each = waiting.pop()
            if self._node(each) in nodes:
                continue
            node = nodes[self._node(each)] = Node(
                each.name,
                self._operator(each),
                each.type_info,
                dict(each.tag_types),
                passes_on=self._passes_on(each),
            )
            for tag in (None, *each.tag_types):
                for consumer, number, entry in self._consumers.get(Output(each, tag), ()):
                    node.links.append(Link(tag, self._way(consumer, number, entry)))
                    if isinstance(consumer, Chained):
                        waiting.append(consumer)
        return nodes

    def _passes_on(self, each: Transformation) -> bool:
        """Return whether a function's elements go on as they are.

        They do so in PyFlink where one function alone is behind it, in the same chain.
        """
        if isinstance(each, SourceOf) or each.number in self._settings.branching:
            return False
        if isinstance(each, Chained) and each.operator is not None and each.operator.is_foreign:
            return False
        consumers = self._consumers.get(Output(each))
        if consumers is None:
            return False
        ((behind, _, entry),) = consumers
        return (
            self._settings.is_chained
            and entry.outputs == (Output(each),)
            and (isinstance(behind, Chained) or _is_printed_as_it_is(behind))
            and each.hints.get("chaining") is not False
            and "chaining" not in behind.hints
            and _alike(each) == _alike(behind)
        )

    def _node(self, each: Transformation) -> int:
        """Return the number of a transformation in a stage: that of an operator with state."""
        if isinstance(each, Stateful):
            return self._targets[each.number]
        return _FIRST_CHAINED + each.number

    def _operator(self, each: Transformation) -> Any:
        if isinstance(each, Chained):
            return each.operator
        if isinstance(each, Stateful):
            assert each.make is not None
            return each.make(is_batch=self._settings.is_batch)
        return None

    def _way(self, consumer: Transformation, number: int, entry: Input) -> Any:
        target = self._targets.get(consumer.number, 0)
        if isinstance(consumer, SinkOf):
            assert consumer.sink is not None
            place = next(
                (
                    place
                    for place, each in enumerate(self._sink_fields)
                    if each.name == f"pyflow_sink{consumer.number}"
                ),
                None,
            )
            return SinkRoute(target, consumer.sink.encoder(consumer.input_type), place)
        if isinstance(consumer, Stateful):
            assert isinstance(entry, ShuffledInput)
            target = -target if entry.is_broadcast else target
            keys = reserved_keys(target, self._settings.parallelism)
            return Route(target, number, entry.distribution(keys))
        return self._node(consumer)

    # Stages

    def _source(self, source: SourceOf, rows: SourceRows) -> DataFrame:
        nodes = self._nodes([source])
        assigner = self._watermark_assigner(nodes)
        self._refuse_unread_side_outputs(source)
        settings = self._settings
        assert source.source is not None
        is_unbounded = source.source.boundedness() == Boundedness.CONTINUOUS_UNBOUNDED
        # Sources that end hold no watermark back.
        is_watched = is_unbounded and (
            settings.passes_watermark or max(self._levels.values(), default=0) > 0
        )
        if is_watched and settings.event_time == EventTime.OF_TABLE:
            raise TableException(
                "a table declares a watermark of its own behind a shuffle: Spark has one "
                "watermark, that of the sources. Give them a watermark strategy, and declare "
                "SOURCE_WATERMARK() as the watermark of the table."
            )
        spec = SourceSpec(
            rows.decoder,
            self._node(source),
            nodes,
            len(self._sink_fields),
            settings.contexts,
            assigner if is_watched else None,
        )
        function = SourceStage(self._deployed(pickled(spec), source.number, nodes))
        columns = map(_column, rows.frame.columns)
        frame = rows.frame.select(F.inline(self._function(function)(*columns)))
        if is_watched:
            shift = settings.watermark_shift
            # Spark takes no watermark for that of 1970, which is its lowest.
            known = _column(_WATERMARK) > F.lit(-shift)
            shifted = F.least(_column(_WATERMARK), F.lit(WATERMARK_SHIFT)) + F.lit(shift)
            moment = F.timestamp_millis(shifted)
            frame = frame.withColumn(_MOMENT, F.when(known, moment))
            frame = with_event_time(frame, _MOMENT, "0 seconds", _idle_timeout_ms(nodes))
        return self._ordered(frame)

    def _watermark_assigner(self, nodes: dict[int, Node]) -> int | None:
        """Return the number of the operator whose watermark the rows of a source have.

        Spark has one for all of them. Elements that go to sinks alone have none, but for a table
        that has the watermark.
        """
        found: set[int] = set()
        read_by = (Route, SinkRoute) if self._settings.passes_watermark else Route

        def visit(number: int, last: int | None) -> None:
            node = nodes[number]
            if isinstance(node.operator, AssignTimestamps) and node.operator.has_watermarks:
                last = number
            for link in node.links:
                if isinstance(link.to, int):
                    visit(link.to, last)
                elif isinstance(link.to, read_by) and last is not None:
                    found.add(last)

        for number, node in nodes.items():
            if node.operator is None:
                visit(number, None)
        if len(found) > 1:
            raise TableException(
                "watermarks are assigned in several branches behind one source, by the operators "
                f"{', '.join(nodes[number].name for number in sorted(found))}: Spark has one "
                "watermark. Assign it before the stream branches."
            )
        return next(iter(found), None)

    def _refuse_unread_side_outputs(self, source: SourceOf) -> None:
        """A source has side outputs where the program says so: what goes there is not dropped."""
        assert source.source is not None
        for tag in source.source.side_outputs:
            if Output(source, tag) not in self._consumers:
                raise TableException(
                    f"nothing reads the side output '{tag}' of the source '{source.name}': write "
                    "the stream of get_side_output() to a sink."
                )

    def _stage(self, frame: DataFrame, level: int) -> DataFrame:
        roots = [
            each for each in self._component.of(Stateful) if self._levels[each.number] == level
        ]
        nodes = self._nodes(roots)
        self._refuse_late_watermarks(nodes)
        targets = {}
        for each in roots:
            selectors = tuple(entry.selector for entry in each.shuffled)
            target = self._targets[each.number]
            targets[target] = TargetSpec(selectors)
            if any(entry.is_broadcast for entry in each.shuffled):
                targets[-target] = TargetSpec((None,) * len(selectors))
        settings = self._settings
        spec = StageSpec(
            settings.job,
            -level,
            nodes,
            targets,
            len(self._sink_fields),
            settings.is_bounded,
            settings.is_batch,
            settings.contexts,
            settings.watermark_shift,
        )
        made = self._bounded if settings.is_bounded else self._unbounded
        return self._ordered(made(frame, level, pickled(spec), nodes))

    def _bounded(
        self, frame: DataFrame, level: int, spec: bytes, nodes: dict[int, Node]
    ) -> DataFrame:
        """Return what a stage of bounded rows emits: a function of sorted rows."""
        settings = self._settings
        keys = [_column(_TARGET), _column(_KEY)]
        # Elements without a key are in the order in which they came.
        keyed = [
            target
            for each in self._component.of(Stateful)
            for target in [self._targets[each.number]]
            if target in nodes
            and (
                nodes[target].operator.is_keyed_by_itself
                or any(entry.selector is not None for entry in each.shuffled)
            )
        ]
        time = F.when(_column(_TARGET).isin(keyed), _column(_TIME))
        times = [time] if settings.is_batch else []
        frame = frame.union(self._ends(frame)).repartition(settings.parallelism, *keys)
        frame = frame.sortWithinPartitions(*keys, *times, _column(_SEQUENCE))
        function = BoundedStage(self._deployed(spec, -level, nodes))
        return frame.select(F.inline(self._function(function)(*map(_column, frame.columns))))

    def _ends(self, frame: DataFrame) -> DataFrame:
        """Return a row for each partition that comes after all others, with their columns."""
        keys = reserved_keys(LAST, self._settings.parallelism)
        rows = [(LAST, bytearray(key)) for key in keys]
        ends = self._session.createDataFrame(rows, f"{_TARGET} INT, {_KEY} BINARY")
        others = [each for each in frame.schema if each.name not in (_TARGET, _KEY)]
        nulls = [F.lit(None).cast(each.dataType).alias(each.name) for each in others]
        return ends.select(_column(_TARGET), _column(_KEY), *nulls)

    def _unbounded(
        self, frame: DataFrame, level: int, spec: bytes, nodes: dict[int, Node]
    ) -> DataFrame:
        """Return what a stage of unbounded rows emits: a processor that keeps state."""
        try:
            import_state_messages()
        except ImportError as error:
            raise TableException(f"operators with state: {error}; {INSTALL_TABLE}") from error
        param: Any = TimerReports()
        reports = self._session.sparkContext.accumulator([], param)
        stage = RealTimeStage if self._settings.is_real_time else Stage
        deployed = self._deployed(spec, -level, nodes)
        emitted = spark.StructType(self._fields())
        is_packed = self._settings.is_process_mode
        processor: Any = KeyedStage(deployed, emitted, is_packed, reports, stage)
        packed = [spark.StructField(PACKED, spark.BinaryType())]
        frame, schema = with_metadata(
            frame, frame.columns[-1], packed if is_packed else emitted, _named(nodes), processor
        )
        grouped: Any = frame.groupBy(_column(_TARGET), _column(_KEY))
        made: DataFrame = grouped.transformWithState(processor, schema, "Append", "EventTime")
        return made.select(unpacked(emitted)) if is_packed else made

    def _deployed(self, spec: bytes, number: int, nodes: dict[int, Node]) -> DeployedStage:
        return DeployedStage(
            spec, self._settings.job, number, _named(nodes), self._needed, self._metrics
        )

    def _function(self, function: Any) -> Any:
        """Return a function of Spark that emits rows."""
        returned = spark.ArrayType(spark.StructType(self._fields()))
        return F.udf(function, returned, useArrow=False).asNondeterministic()

    def _refuse_equal_uids(self) -> None:
        """As in Flink: state belongs to the operator with a uid."""
        uids = Counter(each.uid for each in self._component.transformations if each.uid is not None)
        for uid, count in uids.items():
            if count > 1:
                names = ", ".join(
                    f"'{each.name}'" for each in self._component.transformations if each.uid == uid
                )
                raise TableException(
                    f"operators {names} have the same uid() {uid!r}: give each another one"
                )

    def _refuse_late_watermarks(self, nodes: dict[int, Node]) -> None:
        for node in nodes.values():
            if isinstance(node.operator, AssignTimestamps) and node.operator.has_watermarks:
                raise TableException(
                    f"operator '{node.name}' assigns watermarks behind a shuffle: Spark has one "
                    "watermark, that of the sources. Assign timestamps and watermarks before the "
                    "first key_by(), connect() or partitioning."
                )

    def _fields(self) -> list[spark.StructField]:
        """Return the columns of rows that stages emit."""
        return [
            spark.StructField(_TARGET, spark.IntegerType()),
            spark.StructField(_INPUT, spark.IntegerType()),
            spark.StructField(_KEY, spark.BinaryType()),
            spark.StructField(_TIME, spark.LongType()),
            spark.StructField(_VALUE, spark.BinaryType()),
            spark.StructField(_WATERMARK, spark.LongType()),
            spark.StructField(_PHASE, spark.IntegerType()),
            spark.StructField(_SEQUENCE, spark.LongType()),
            *self._sink_fields,
        ]

    def _ordered(self, frame: DataFrame) -> DataFrame:
        """Return the columns that stages take, with the order of rows last."""
        names = [_TARGET, _KEY, _INPUT, _TIME, _VALUE, _PHASE]
        names += [each.name for each in self._sink_fields]
        return frame.select(*map(_column, (*names, _SEQUENCE)))


def _idle_timeout_ms(nodes: dict[int, Node]) -> int:
    """Return after which time without elements a source is idle; 0 for never."""
    assigners = [
        node.operator
        for node in nodes.values()
        if isinstance(node.operator, AssignTimestamps) and node.operator.has_watermarks
    ]
    return max((each.idle_timeout_ms for each in assigners), default=0)


def _is_printed_as_it_is(each: Transformation) -> bool:
    """Return whether a sink prints rows, for which PyFlink has a function."""
    return (
        isinstance(each, SinkOf)
        and isinstance(each.sink, PrintSink)
        and isinstance(each.input_type, (RowTypeInfo, ExternalTypeInfo))
    )


def _alike(each: Transformation) -> Any:
    """Return what is the same in a chain of Flink."""
    return each.parallelism, each.max_parallelism, each.hints.get("slot_sharing_group")


def _named(nodes: dict[int, Node]) -> str:
    """Return the names of a stage's operators, for plans and metrics."""
    return " -> ".join(node.name for node in nodes.values())


def _column(name: str) -> Column:
    return F.col(f"`{name}`")
