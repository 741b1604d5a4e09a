"""Streams of Python objects, and what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn

from pyflow.common.execution_config import ExecutionConfig
from pyflow.common.typeinfo import (
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from pyflow.common.watermark_strategy import WatermarkStrategy
from pyflow.datastream.connected_streams import (
    BroadcastConnectedStream,
    BroadcastStream,
    ConnectedStreams,
)
from pyflow.datastream.connectors.base import Sink
from pyflow.datastream.functions import (
    AsyncFunctionDescriptor,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
)
from pyflow.datastream.graph.cached import CachedSource
from pyflow.datastream.graph.collection import CollectionSource
from pyflow.datastream.graph.driver_sinks import CollectSink, PrintSink
from pyflow.datastream.graph.frames import delays_of, frame_of
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
from pyflow.datastream.joined_streams import CoGroupedStreams, IntervalJoined, JoinedStreams
from pyflow.datastream.output_tag import OutputTag
from pyflow.datastream.runtime import chained, keyed
from pyflow.datastream.runtime.aggregations import Accumulation, FieldReduce
from pyflow.datastream.runtime.asynchronous import AsyncOperator
from pyflow.datastream.runtime.keys import (
    Broadcast,
    ByKey,
    Custom,
    Distribution,
    Forward,
    RoundRobin,
    Shuffled,
)
from pyflow.datastream.state import MapStateDescriptor
from pyflow.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    WindowAssigner,
)
from pyflow.datastream.windowed_stream import AllWindowedStream, WindowedStream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.datastream.graph.lowering_settings import EventTime
    from pyflow.datastream.slot_sharing_group import SlotSharingGroup
    from pyflow.datastream.stream_execution_environment import StreamExecutionEnvironment
    from pyflow.session.context import Context

__all__ = [
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
]


def _hints(transformation: Transformation, **hints: Any) -> None:
    transformation.hints.update(hints)


def _check_parallelism(parallelism: int) -> None:
    if parallelism < 1:
        raise ValueError(f"the parallelism of an operator must be at least 1, not {parallelism}")


def _with_names(info: TypeInformation) -> TypeInformation:
    """Return a type whose rows have the names that fields have without any."""
    if not isinstance(info, TupleTypeInfo):
        return info
    types = list(map(_with_names, info.get_field_types()))
    if isinstance(info, RowTypeInfo):
        return RowTypeInfo(types, info.get_field_names())
    return TupleTypeInfo(types)


class DataStreamSink:
    """What a stream is written to.

    Parameters
    ----------
    sink : SinkOf
    """

    def __init__(self, sink: SinkOf) -> None:
        self._sink = sink

    def name(self, name: str) -> DataStreamSink:
        """Set the name, and return the sink."""
        self._sink.name = name
        return self

    def uid(self, uid: str) -> DataStreamSink:
        """Set an identifier that stays the same when the program changes."""
        self._sink.uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> DataStreamSink:
        """Set the identifier as a hash."""
        self._sink.uid = uid_hash
        return self

    def set_parallelism(self, parallelism: int) -> DataStreamSink:
        """Set how many subtasks write.

        The rows are shuffled if these are fewer than those of the program.

        Raises
        ------
        ValueError
            If the number is less than 1.
        """
        _check_parallelism(parallelism)
        _hints(self._sink, parallelism=parallelism)
        return self

    def set_description(self, description: str) -> DataStreamSink:
        """Set the description, and return the sink."""
        self._sink.description = description
        return self

    def disable_chaining(self) -> DataStreamSink:
        """Return the sink; Spark decides what it fuses."""
        _hints(self._sink, chaining=False)
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> DataStreamSink:
        """Return the sink; Spark has no slots that are shared."""
        _hints(self._sink, slot_sharing_group=slot_sharing_group)
        return self


class DataStream:
    """Elements of the same kind, bounded or unbounded.

    Parameters
    ----------
    environment : StreamExecutionEnvironment
        What the program is run by.
    outputs : Output
        Where the elements come from, several after a union.
    """

    def __init__(self, environment: StreamExecutionEnvironment, *outputs: Output) -> None:
        self._environment = environment
        self._outputs = outputs

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} belongs to the program that builds the graph; functions "
            "cannot use it"
        )

    # What it is

    @property
    def _transformation(self) -> Transformation:
        return self._outputs[-1].of

    @property
    def _type(self) -> TypeInformation | None:
        output = self._outputs[0]
        if output.tag is None:
            return output.of.type_info
        return output.of.tag_types[output.tag]

    def get_name(self) -> str:
        """Return the name of the operator that the stream comes from."""
        return self._transformation.name

    def name(self, name: str) -> DataStream:
        """Set the name of the operator, for plans, metrics and errors, and return the stream."""
        self._transformation.name = name
        return self

    def uid(self, uid: str) -> DataStream:
        """Set an identifier of the operator that stays the same when the program changes."""
        self._transformation.uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> DataStream:
        """Set the identifier of the operator as a hash."""
        self._transformation.uid = uid_hash
        return self

    def set_description(self, description: str) -> DataStream:
        """Set the description of the operator, and return the stream."""
        self._transformation.description = description
        return self

    def set_parallelism(self, parallelism: int) -> DataStream:
        """Set how many subtasks the operator has.

        All operators behind shuffles have as many: the largest number that is asked for.

        Raises
        ------
        ValueError
            If the number is less than 1.
        """
        _check_parallelism(parallelism)
        self._transformation.parallelism = parallelism
        return self

    def set_max_parallelism(self, max_parallelism: int) -> DataStream:
        """Set the number of groups of keys, which Spark does not have."""
        self._transformation.max_parallelism = max_parallelism
        return self

    def force_non_parallel(self) -> DataStream:
        """Have the operator in one subtask."""
        self._transformation.parallelism = 1
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> DataStream:
        """Return the stream; Spark's batches have no buffers that wait."""
        _hints(self._transformation, buffer_timeout=timeout_millis)
        return self

    def start_new_chain(self) -> DataStream:
        """Return the stream; chains are as long as they can be."""
        _hints(self._transformation, chaining="head")
        return self

    def disable_chaining(self) -> DataStream:
        """Return the stream; chains are as long as they can be."""
        _hints(self._transformation, chaining=False)
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> DataStream:
        """Return the stream; Spark has no slots that are shared."""
        _hints(self._transformation, slot_sharing_group=slot_sharing_group)
        return self

    def get_type(self) -> TypeInformation:
        """Return the type of the elements; pickled bytes where any objects are allowed."""
        return Types.PICKLED_BYTE_ARRAY() if self._type is None else _with_names(self._type)

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return what the program is run by."""
        return self._environment

    def get_execution_config(self) -> ExecutionConfig:
        """Return the settings of how programs are run."""
        return self._environment.get_config()

    # Operators without state

    def map(
        self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of what a function makes of each element.

        Parameters
        ----------
        func : MapFunction or callable
        output_type : TypeInformation, optional
            Of what it returns; any objects without it.
        """
        self._check(func, MapFunction, "a MapFunction or a callable function")
        return self._chained("Map", chained.Map(func), output_type)

    def flat_map(
        self,
        func: Callable[[Any], Any] | FlatMapFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of all elements that a function yields for each."""
        self._check(func, FlatMapFunction, "a FlatMapFunction or a callable function")
        return self._chained("Flat Map", chained.FlatMap(func), output_type)

    def filter(self, func: Callable[[Any], bool] | FilterFunction) -> DataStream:
        """Return the stream of the elements for which a function returns true."""
        self._check(func, FilterFunction, "a FilterFunction or a callable function")
        return self._chained("Filter", chained.Filter(func), self._type)

    def process(
        self, func: ProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of all elements that a function yields for each.

        Parameters
        ----------
        func : ProcessFunction
            It sees timestamps, and yields ``tag, value`` for side outputs.
        output_type : TypeInformation, optional
        """
        if not isinstance(func, ProcessFunction):
            raise TypeError("ProcessFunction is required for DataStream.")
        return self._chained("PROCESS", chained.Process(func), output_type)

    def project(self, *field_indexes: int) -> DataStream:
        """Return the stream of tuples of some fields of each tuple.

        Raises
        ------
        Exception
            If the elements are not of a tuple type.
        """
        info = self._type
        if not isinstance(info, TupleTypeInfo) or isinstance(info, RowTypeInfo):
            raise Exception("Only Tuple DataStreams can be projected.")
        types = info.get_field_types()
        chosen = Types.TUPLE([types[index] for index in field_indexes])

        def fields(value: Any) -> tuple[Any, ...]:
            return tuple(value[index] for index in field_indexes)

        return self._chained("Projection", chained.Project(fields), chosen)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Return the stream with timestamps and watermarks.

        Parameters
        ----------
        watermark_strategy : WatermarkStrategy
        """
        operator = chained.AssignTimestamps(watermark_strategy)
        return self._chained("Timestamps/Watermarks", operator, self._type)

    def _check(self, func: Any, kind: type[Any], expected: str) -> None:
        if not isinstance(func, kind) and not callable(func):
            raise TypeError(f"The input must be {expected}")

    def _chained(self, name: str, operator: Any, type_info: TypeInformation | None) -> DataStream:
        number = self._environment._next_number()
        made = Chained(number, name, _known(type_info), input=Input(self._outputs))
        made.operator = operator
        self._environment._operators.append(made)
        return DataStream(self._environment, Output(made))

    # Shuffles

    def key_by(
        self,
        key_selector: Callable[[Any], Any] | KeySelector,
        key_type: TypeInformation | None = None,
    ) -> KeyedStream:
        """Return the stream whose elements are divided by a key.

        Parameters
        ----------
        key_selector : KeySelector or callable
            Returns the key of an element, any object. Keys of classes of the program are equal if
            their pickled states are.
        key_type : TypeInformation, optional
            Of the keys.
        """
        if not isinstance(key_selector, KeySelector) and not callable(key_selector):
            raise TypeError(
                "Parameter key_selector should be type of KeySelector or a callable function."
            )
        return KeyedStream(self, ByKey(key_selector, _known(key_type)))

    def shuffle(self) -> DataStream:
        """Return the stream whose elements go to subtasks by chance."""
        return self._distributed("shuffle", Shuffled)

    def rebalance(self) -> DataStream:
        """Return the stream whose elements go to subtasks one after the other."""
        return self._distributed("rebalance", RoundRobin)

    def rescale(self) -> DataStream:
        """Return the stream whose elements go to subtasks one after the other."""
        return self._distributed("rescale", RoundRobin)

    def forward(self) -> DataStream:
        """Return the stream; its elements stay in their subtasks."""
        return DataStream(self._environment, *self._outputs)

    def partition_custom(
        self,
        partitioner: Callable[[Any, int], int] | Partitioner,
        key_selector: Callable[[Any], Any] | KeySelector,
    ) -> DataStream:
        """Return the stream whose elements go to the subtasks that a function says.

        Parameters
        ----------
        partitioner : Partitioner or callable
            Returns the number of the subtask for a key and the number of subtasks.
        key_selector : KeySelector or callable
            Returns the key of an element.
        """
        if not isinstance(partitioner, Partitioner) and not callable(partitioner):
            raise TypeError(
                "Parameter partitioner should be type of Partitioner or a callable function."
            )
        if not isinstance(key_selector, KeySelector) and not callable(key_selector):
            raise TypeError(
                "Parameter key_selector should be type of KeySelector or a callable function."
            )
        return self._distributed(
            "partition_custom", lambda reserved: Custom(partitioner, key_selector, reserved)
        )

    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> Any:
        """Return the stream whose elements go to all subtasks.

        Parameters
        ----------
        broadcast_state_descriptor, other_broadcast_state_descriptors : MapStateDescriptor
            With state, it is a stream to be connected with another.

        Returns
        -------
        DataStream or BroadcastStream
        """
        if broadcast_state_descriptor is None:
            return self._distributed("broadcast", Broadcast)
        descriptors = [broadcast_state_descriptor, *other_broadcast_state_descriptors]
        if not all(isinstance(each, MapStateDescriptor) for each in descriptors):
            raise TypeError("broadcast_state_descriptor must be MapStateDescriptor")
        return BroadcastStream(self, descriptors)

    def _distributed(self, name: str, distribution: Callable[[Any], Distribution]) -> DataStream:
        entry = ShuffledInput(self._outputs, distribution)
        return self._stateful(name, (entry,), lambda is_batch: keyed.PassOn(), self._type)

    def _stateful(
        self,
        name: str,
        inputs: tuple[ShuffledInput, ...],
        make: Any,
        type_info: TypeInformation | None,
        operation: str | None = None,
    ) -> DataStream:
        made = Stateful(
            self._environment._next_number(),
            name,
            _known(type_info),
            operation=operation or name,
            shuffled=inputs,
            make=make,
        )
        self._environment._operators.append(made)
        return DataStream(self._environment, Output(made))

    def _forwarded(self) -> ShuffledInput:
        """Return the stream as the input of an operator with state that has no keys."""
        return ShuffledInput(self._outputs, lambda reserved: Forward())

    def _async(
        self, descriptor: AsyncFunctionDescriptor, output_type: TypeInformation | None
    ) -> DataStream:
        """Return what an asynchronous function makes of the elements."""
        make = lambda is_batch: AsyncOperator(descriptor)  # noqa: E731
        return self._stateful("async wait operator", (self._forwarded(),), make, output_type)

    # Several streams

    def union(self, *streams: DataStream) -> DataStream:
        """Return the elements of this stream and others of the same type."""
        outputs = [output for each in (self, *streams) for output in each._values()._outputs]
        return DataStream(self._environment, *outputs)

    def connect(self, ds: DataStream | BroadcastStream) -> Any:
        """Return this stream and another, to be processed by one function.

        Returns
        -------
        ConnectedStreams or BroadcastConnectedStream
        """
        if isinstance(ds, BroadcastStream):
            return BroadcastConnectedStream(self, ds, ds.broadcast_state_descriptors)
        return ConnectedStreams(self, ds)

    def join(self, other: DataStream) -> JoinedStreams:
        """Return this stream and another, to be joined in windows. As in Flink's Java API."""
        return JoinedStreams(self, other)

    def co_group(self, other: DataStream) -> CoGroupedStreams:
        """Return this stream and another, to be grouped in windows. As in Flink's Java API."""
        return CoGroupedStreams(self, other)

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """Return the side output of a tag of the operator that the stream comes from."""
        transformation = self._transformation.side_outputs_of or self._transformation
        transformation.tag_types[output_tag.tag_id] = _known(output_tag.type_info)
        return DataStream(self._environment, Output(transformation, output_tag.tag_id))

    def window_all(self, window_assigner: WindowAssigner[Any, Any]) -> AllWindowedStream:
        """Return the stream with windows over all elements, which one subtask has."""
        return AllWindowedStream(self, window_assigner)

    def _values(self) -> DataStream:
        """Return the stream without its keys."""
        return self

    def _collection(self) -> list[Any] | None:
        """Return the elements of a collection, if the stream has them as they are."""
        if len(self._outputs) > 1 or not isinstance(self._transformation, SourceOf):
            return None
        source = self._transformation.source
        return list(source.elements) if isinstance(source, CollectionSource) else None

    def _columns(self, sink: Sink, context: Context, event_time: EventTime) -> DataFrame:
        """Return the elements as the rows of a sink, for tables."""
        self._environment._taken_elsewhere.update(each.of.number for each in self._outputs)
        number = self._environment._next_number()
        return frame_of(self._outputs, sink, number, context, event_time)

    def _watermark_delays(self) -> set[int | None]:
        """Return how far its watermarks are behind, in milliseconds; None is a generator's."""
        return delays_of(self._outputs)

    # Sinks

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Write the elements to the program's standard output.

        Lines begin with the number of the subtask where there are several.

        Parameters
        ----------
        sink_identifier : str, optional
            What lines begin with.
        """
        of_program = self._environment._parallelism

        def parallelism() -> int:
            own: int = printed._sink.hints.get("parallelism", of_program())
            return min(own, of_program())

        printed = self._sink("Print to Std. Out", PrintSink(sink_identifier, parallelism))
        return printed

    def add_sink(self, sink_func: Sink) -> DataStreamSink:
        """Write the elements to a sink, as programs for older versions say it."""
        return self.sink_to(sink_func)

    def sink_to(self, sink: Sink) -> DataStreamSink:
        """Write the elements to a sink."""
        if not isinstance(sink, Sink):
            raise TypeError(f"expected a sink of pyflow.datastream.connectors, got {sink!r}")
        return self._sink("Sink", sink)

    def _sink(self, name: str, sink: Sink) -> DataStreamSink:
        made = self._sink_of(name, sink)
        self._environment._sinks.append(made)
        return DataStreamSink(made)

    def _sink_of(self, name: str, sink: Sink) -> SinkOf:
        number = self._environment._next_number()
        made = SinkOf(number, name, None, input=Input(self._outputs), sink=sink)
        made.input_type = self._type
        return made

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> Any:
        """Run the program that leads to this stream, and return its elements.

        Parameters
        ----------
        job_execution_name : str, optional
            The name of the job.
        limit : int, optional
            With it, a list of at most so many elements.

        Returns
        -------
        CloseableIterator or list
            The former reads elements as they come, and ends the job when it is closed.
        """
        sink = CollectSink(self._type)
        made = self._sink_of("Collect", sink)
        elements = self._environment._collected(job_execution_name, made, sink)
        if limit is None:
            return elements
        with elements:
            return [element for element, _ in zip(elements, range(limit))]

    def cache(self) -> CachedDataStream:
        """Return the stream, whose elements are kept when they are first computed.

        Raises
        ------
        ValueError
            If the stream is unbounded, when it is executed.
        """
        number = self._environment._next_number()
        source = CachedSource(self._outputs, self._environment)
        self._environment._taken_elsewhere.update(each.of.number for each in self._outputs)
        made = SourceOf(number, "Cache", self._type, source=source)
        return CachedDataStream(self._environment, Output(made))


def _known(type_info: TypeInformation | None) -> TypeInformation | None:
    """Return a type, None for that of any objects; a list of types is that of a row."""
    if isinstance(type_info, list):
        return RowTypeInfo(type_info)
    if type_info is not None and not isinstance(type_info, TypeInformation):
        raise TypeError("output_type must be None, list or TypeInformation")
    return None if isinstance(type_info, PickledBytesTypeInfo) else type_info


def _raising(message: str) -> Any:
    def refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
        raise Exception(message)

    refuse.__doc__ = f"Raise: {message}"
    return refuse


_PARTITIONING = "Cannot override partitioning for KeyedStream."


class KeyedStream(DataStream):
    """A stream whose elements are divided by a key: functions have state and timers of each key.

    Parameters
    ----------
    stream : DataStream
    keys : ByKey
    """

    class AccumulateType(Enum):
        """What is computed of a field."""

        MIN = 1
        MAX = 2
        MIN_BY = 3
        MAX_BY = 4
        SUM = 5

    def __init__(self, stream: DataStream, keys: ByKey) -> None:
        super().__init__(stream._environment, *stream._outputs)
        self._keys = keys

    def _values(self) -> DataStream:
        return DataStream(self._environment, *self._outputs)

    def _keyed_input(self) -> ShuffledInput:
        keys = self._keys
        return ShuffledInput(self._outputs, lambda reserved: keys, keys)

    def _keyed(self, name: str, make: Any, type_info: TypeInformation | None) -> DataStream:
        return self._stateful(name, (self._keyed_input(),), make, type_info)

    def map(
        self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of what a function, which may have state, makes of each element."""
        self._check(func, MapFunction, "a MapFunction or a callable function")
        return self._keyed("Map", lambda is_batch: keyed.KeyedMap(func), output_type)

    def flat_map(
        self,
        func: Callable[[Any], Any] | FlatMapFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of all elements that a function, which may have state, yields."""
        self._check(func, FlatMapFunction, "a FlatMapFunction or a callable function")
        return self._keyed("FlatMap", lambda is_batch: keyed.KeyedFlatMap(func), output_type)

    def filter(self, func: Callable[[Any], bool] | FilterFunction) -> DataStream:
        """Return the stream of the elements for which a function, which may have state, is true."""
        self._check(func, FilterFunction, "a FilterFunction or a callable function")
        return self._keyed("Filter", lambda is_batch: keyed.KeyedFilter(func), self._type)

    def process(  # type: ignore[override]
        self, func: KeyedProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of all elements that a function with state and timers yields.

        Parameters
        ----------
        func : KeyedProcessFunction
        output_type : TypeInformation, optional
        """
        if not isinstance(func, KeyedProcessFunction):
            raise TypeError("KeyedProcessFunction is required for KeyedStream.")
        make = lambda is_batch: keyed.KeyedProcess(func)  # noqa: E731
        return self._keyed("KEYED PROCESS", make, output_type)

    def reduce(self, func: Callable[[Any, Any], Any] | ReduceFunction) -> DataStream:
        """Return, for each element, what the elements of its key until then are combined to.

        In batch mode there is one result for each key.
        """
        self._check(func, ReduceFunction, "a ReduceFunction or a callable function")
        info = self._type
        make = lambda is_batch: keyed.Reduce(func, is_batch)  # noqa: E731
        return self._keyed("Keyed Reduce", make, info)

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """Return the elements with the sum of a field over those of their key until then."""
        return self._accumulated(position_to_sum, Accumulation.SUM)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """Return the first element of each key with the least value of a field until then."""
        return self._accumulated(position_to_min, Accumulation.MIN)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """Return the first element of each key with the greatest value of a field until then."""
        return self._accumulated(position_to_max, Accumulation.MAX)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """Return the element of each key that has the least value of a field until then."""
        return self._accumulated(position_to_min_by, Accumulation.MIN_BY)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        """Return the element of each key that has the greatest value of a field until then."""
        return self._accumulated(position_to_max_by, Accumulation.MAX_BY)

    def _accumulated(self, position: int | str, kind: Accumulation) -> DataStream:
        if not isinstance(position, (int, str)):
            raise TypeError(
                "The field position must be of int or str type to locate the value to calculate "
                f"for min, max, min_by, max_by and sum. The given type is: {type(position)}"
            )
        return self.reduce(FieldReduce(position, kind))

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStream:
        """Return the stream with windows of each key."""
        return WindowedStream(self, window_assigner)

    def interval_join(self, other: KeyedStream) -> IntervalJoined:
        """Return this stream and another, to be joined by their times. As in Flink's Java API."""
        return IntervalJoined(self, other)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream:
        """Return the stream with windows of so many elements of each key.

        Parameters
        ----------
        size : int
        slide : int
            After how many elements the next window begins; 0 for as many as one has.
        """
        if slide == 0:
            return WindowedStream(self, CountTumblingWindowAssigner(size))
        return WindowedStream(self, CountSlidingWindowAssigner(size, slide))

    def project(self, *field_indexes: int) -> DataStream:
        """Return the stream of tuples of some fields of each tuple."""
        return self._values().project(*field_indexes)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Return the stream with timestamps and watermarks, without its keys."""
        return self._values().assign_timestamps_and_watermarks(watermark_strategy)

    shuffle = _raising(_PARTITIONING)
    rescale = _raising(_PARTITIONING)
    rebalance = _raising(_PARTITIONING)
    forward = _raising(_PARTITIONING)
    broadcast = _raising(_PARTITIONING)
    partition_custom = _raising(_PARTITIONING)
    set_parallelism = _raising("Set parallelism for KeyedStream is not supported.")
    name = _raising("Set name for KeyedStream is not supported.")
    get_name = _raising("Get name of KeyedStream is not supported.")
    uid = _raising("Set uid for KeyedStream is not supported.")
    set_uid_hash = _raising("Set uid hash for KeyedStream is not supported.")
    set_max_parallelism = _raising("Set max parallelism for KeyedStream is not supported.")
    force_non_parallel = _raising("Set force non-parallel for KeyedStream is not supported.")
    set_buffer_timeout = _raising("Set buffer timeout for KeyedStream is not supported.")
    start_new_chain = _raising("Start new chain for KeyedStream is not supported.")
    disable_chaining = _raising("Disable chaining for KeyedStream is not supported.")
    slot_sharing_group = _raising("Setting slot sharing group for KeyedStream is not supported.")
    cache = _raising("Cache for KeyedStream is not supported.")


class CachedDataStream(DataStream):
    """A bounded stream whose elements are kept, so that later programs need not compute them."""

    def invalidate(self) -> None:
        """Forget the elements that are kept."""
        source = self._transformation
        assert isinstance(source, SourceOf)
        assert isinstance(source.source, CachedSource)
        source.source.invalidate()

    set_parallelism = _raising("Set parallelism for CachedDataStream is not supported.")
    name = _raising("Set name for CachedDataStream is not supported.")
    get_name = _raising("Get name of CachedDataStream is not supported.")
    uid = _raising("Set uid for CachedDataStream is not supported.")
    set_uid_hash = _raising("Set uid hash for CachedDataStream is not supported.")
    set_max_parallelism = _raising("Set max parallelism for CachedDataStream is not supported.")
    force_non_parallel = _raising("Set force non-parallel for CachedDataStream is not supported.")
    set_buffer_timeout = _raising("Set buffer timeout for CachedDataStream is not supported.")
    start_new_chain = _raising("Start new chain for CachedDataStream is not supported.")
    disable_chaining = _raising("Disable chaining for CachedDataStream is not supported.")
    slot_sharing_group = _raising(
        "Setting slot sharing group for CachedDataStream is not supported."
    )


class CloseableIterator:
    """Elements of a job, as they come. In a ``with`` statement the job ends with it."""

    def __init__(self, elements: Iterator[Any], close: Callable[[], None]) -> None:
        self._elements = elements
        self._close = close

    def __iter__(self) -> CloseableIterator:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    def next(self) -> Any:
        """Return the next element."""
        return next(self)

    def __enter__(self) -> CloseableIterator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the job."""
        self._close()
