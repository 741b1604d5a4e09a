"""Jobs of the DataStream API that run in PyFlow and in PyFlink alike.

``python stream_cases.py PACKAGE`` runs those it is asked for, as ``beside_pyflink`` says. The
package is ``pyflow`` or ``pyflink``. ``python stream_cases.py start`` runs a small keyed job in
PyFlow, and prints when its first element was there.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any

KEYS = 100_000
#: How many micro-batches PyFlow and PySpark make of a topic.
BATCHES = 4
#: The cases that read a topic.
FROM_KAFKA = ("topics", "busy", "sliding-topics")


@dataclass(frozen=True)
class StreamCase:
    """A job over the numbers from 1 to that of its elements.

    Attributes
    ----------
    name, title : str
    rows : int
        How many elements, in a whole run.
    fails : tuple of tuple
        The packages and modes that it fails in.
    """

    name: str
    title: str
    rows: int
    fails: tuple[tuple[str, str], ...] = ()


CASES = {
    case.name: case
    for case in (
        StreamCase("maps", "five maps, any objects", 5_000_000),
        StreamCase("typed-maps", "five maps, declared types", 5_000_000),
        StreamCase("json-100", "JSON of 100 B", 1_000_000),
        StreamCase("json-1k", "JSON of 1 kB", 300_000),
        StreamCase("json-100k", "JSON of 100 kB", 5_000),
        StreamCase("words", "word count, ten words of an element", 50_000),
        StreamCase("counter", f"keyed state, {KEYS:,} keys", 200_000),
        StreamCase("sliding", "sliding windows with an aggregate, 1,000 keys", 100_000),
        # TypeError: 'float' object is not subscriptable, where it merges accumulators.
        StreamCase("sessions", "session windows, 1,000 keys", 100_000, (("pyflink", "thread"),)),
        StreamCase("topics", f"keyed state from Kafka to Kafka, {KEYS:,} keys", 200_000),
        StreamCase("busy", "a function of 0.1 ms from Kafka to Kafka", 100_000),
        StreamCase("sliding-topics", "sliding windows from Kafka to Kafka, 1,000 keys", 100_000),
        StreamCase("connected", "connected streams with state, 10,000 keys", 100_000),
    )
}


class Jobs:
    """Runs cases in one package.

    Parameters
    ----------
    package : str
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._common = import_module(f"{package}.common")
        self._api = import_module(f"{package}.datastream")
        self._functions = import_module(f"{package}.datastream.functions")
        self._state = import_module(f"{package}.datastream.state")
        self._windows = import_module(f"{package}.datastream.window")
        self._sources = import_module(f"{package}.datastream.connectors.number_seq")
        self._kafka = import_module(f"{package}.datastream.connectors.kafka")
        self._strings = import_module(f"{package}.common.serialization").SimpleStringSchema()

    def seconds(self, request: dict[str, Any]) -> float:
        """Run a case."""
        configuration = self._common.Configuration()
        settings = {
            "python.execution-mode": request["mode"],
            "pipeline.object-reuse": "true",
            # Spark's JVM is started with the jars, for the first job.
            "pipeline.jars": request["jars"],
        }
        for key, value in settings.items():
            configuration.set_string(key, value)
        env = self._api.StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(2)
        if request["case"] in FROM_KAFKA:
            self._topics(env, request)
        else:
            build = getattr(self, "_" + request["case"].replace("-", "_"))
            results = build(env, request["rows"])
            # Nothing is printed: what is measured is not the sink.
            results.filter(lambda _: False).print()
        start = time.perf_counter()
        env.execute(request["case"])
        return time.perf_counter() - start

    def _numbers(self, env: Any, rows: int) -> Any:
        source = self._sources.NumberSequenceSource(1, rows)
        watermarks = self._common.WatermarkStrategy.no_watermarks()
        return env.from_source(source, watermarks, "numbers")

    def _timed(self, numbers: Any, delay: Any) -> Any:
        """A number for each ten milliseconds, and a minute of none after each 10,000."""

        class Assigner(self._common.watermark_strategy.TimestampAssigner):  # type: ignore[misc, name-defined]
            def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
                return int(value) * 10 + int(value) // 10_000 * 60_000

        strategy = self._common.WatermarkStrategy.for_bounded_out_of_orderness(delay)
        stamped = strategy.with_timestamp_assigner(Assigner())
        return numbers.assign_timestamps_and_watermarks(stamped)

    def _maps(self, env: Any, rows: int) -> Any:
        stream = self._numbers(env, rows)
        for _ in range(5):
            stream = stream.map(lambda value: value + 1)
        return stream

    def _typed_maps(self, env: Any, rows: int) -> Any:
        stream = self._numbers(env, rows)
        for _ in range(5):
            stream = stream.map(lambda value: value + 1, self._common.Types.LONG())
        return stream

    def _json_of(self, env: Any, rows: int, size: int) -> Any:
        text = json.dumps({"ID": 1, "TEXT": "x" * (size - 30)})
        types = self._common.Types
        texts = self._numbers(env, rows).map(lambda _: text, types.STRING())

        def lowered(value: str) -> str:
            return json.dumps({key.lower(): each for key, each in json.loads(value).items()})

        return texts.map(lowered, types.STRING())

    def _json_100(self, env: Any, rows: int) -> Any:
        return self._json_of(env, rows, 100)

    def _json_1k(self, env: Any, rows: int) -> Any:
        return self._json_of(env, rows, 1_000)

    def _json_100k(self, env: Any, rows: int) -> Any:
        return self._json_of(env, rows, 100_000)

    def _words(self, env: Any, rows: int) -> Any:
        types = self._common.Types
        pair = types.TUPLE([types.STRING(), types.INT()])

        def words(value: int) -> Any:
            for place in range(10):
                yield f"word{(value * 10 + place) % 1000}", 1

        stream = self._numbers(env, rows).flat_map(words, pair)
        counted = stream.key_by(lambda word: word[0], types.STRING())
        return counted.reduce(lambda one, other: (one[0], one[1] + other[1]))

    def _counter(self, env: Any, rows: int) -> Any:
        types = self._common.Types
        stream = self._numbers(env, rows).key_by(lambda value: value % KEYS, types.LONG())
        return stream.process(self._count(), types.TUPLE([types.LONG(), types.LONG()]))

    def _topics(self, env: Any, request: dict[str, Any]) -> None:
        kafka, types, rows = self._kafka, self._common.Types, request["rows"]
        source = kafka.KafkaSource.builder().set_bootstrap_servers(request["broker"])
        source = source.set_topics(f"topics-{rows}").set_group_id("topics")
        source = source.set_starting_offsets(kafka.KafkaOffsetsInitializer.earliest())
        # PyFlow reads a bounded source at once; a job of Flink does not end at an unbounded one.
        end = source.set_unbounded if self._package == "pyflow" else source.set_bounded
        source = end(kafka.KafkaOffsetsInitializer.latest())
        source = source.set_property("spark.maxOffsetsPerTrigger", str(rows // BATCHES + 1))
        source = source.set_value_only_deserializer(self._strings).build()
        records = kafka.KafkaRecordSerializationSchema.builder().set_topic("counts")
        records = records.set_value_serialization_schema(self._strings).build()
        sink = kafka.KafkaSink.builder().set_bootstrap_servers(request["broker"])
        sink = sink.set_record_serializer(records).build()
        watermarks = self._common.WatermarkStrategy.no_watermarks()
        stream = env.from_source(source, watermarks, "topic")
        if request["case"] == "busy":
            stream.map(_hashed, types.STRING()).sink_to(sink)
            return
        if request["case"] == "sliding-topics":
            # Elements of the two partitions come in chunks.
            delay = self._common.Duration.of_minutes(5)
            timed = self._timed(stream.map(int, types.LONG()), delay)
            self._sliding_of(timed).map(str, types.STRING()).sink_to(sink)
            return
        counted = stream.key_by(lambda value: int(value) % KEYS, types.LONG()).process(
            self._count()
        )
        counted.map(lambda pair: f"{pair[0]} {pair[1]}", types.STRING()).sink_to(sink)

    def _count(self) -> Any:
        functions, state, types = self._functions, self._state, self._common.Types

        class Counter(functions.KeyedProcessFunction):  # type: ignore[misc, name-defined]
            def open(self, runtime_context: Any) -> None:
                descriptor = state.ValueStateDescriptor("count", types.LONG())
                self.count = runtime_context.get_state(descriptor)

            def process_element(self, value: int, ctx: Any) -> Any:
                count = (self.count.value() or 0) + 1
                self.count.update(count)
                yield ctx.get_current_key(), count

        return Counter()

    def _windowed(self, timed: Any, window: Any) -> Any:
        functions, types = self._functions, self._common.Types

        class Mean(functions.AggregateFunction):  # type: ignore[misc, name-defined]
            def create_accumulator(self) -> Any:
                return 0, 0

            def add(self, value: int, accumulator: Any) -> Any:
                return accumulator[0] + value, accumulator[1] + 1

            def get_result(self, accumulator: Any) -> float:
                return float(accumulator[0] / accumulator[1])

            def merge(self, one: Any, other: Any) -> Any:
                return one[0] + other[0], one[1] + other[1]

        keyed = timed.key_by(lambda value: value % 1000, types.LONG())
        pair = types.TUPLE([types.LONG(), types.LONG()])
        return keyed.window(window).aggregate(
            Mean(), accumulator_type=pair, output_type=types.DOUBLE()
        )

    def _in_order(self, env: Any, rows: int) -> Any:
        return self._timed(self._numbers(env, rows), self._common.Duration.of_millis(0))

    def _sliding(self, env: Any, rows: int) -> Any:
        return self._sliding_of(self._in_order(env, rows))

    def _sliding_of(self, timed: Any) -> Any:
        # Ten elements of a key in a window, an element in two windows.
        time_of = self._common.Time.milliseconds
        window = self._windows.SlidingEventTimeWindows.of(time_of(100_000), time_of(50_000))
        return self._windowed(timed, window)

    def _sessions(self, env: Any, rows: int) -> Any:
        # Of ten elements.
        time_of = self._common.Time.milliseconds
        window = self._windows.EventTimeSessionWindows.with_gap(time_of(30_000))
        return self._windowed(self._in_order(env, rows), window)

    def _connected(self, env: Any, rows: int) -> Any:
        functions, state, types = self._functions, self._state, self._common.Types

        class Latest(functions.KeyedCoProcessFunction):  # type: ignore[misc, name-defined]
            def open(self, runtime_context: Any) -> None:
                descriptor = state.ValueStateDescriptor("latest", types.LONG())
                self.latest = runtime_context.get_state(descriptor)

            def process_element1(self, value: int, ctx: Any) -> Any:
                self.latest.update(value)

            def process_element2(self, value: int, ctx: Any) -> Any:
                yield value, self.latest.value()

        long = types.LONG()
        one = self._numbers(env, rows // 2).key_by(lambda value: value % 10_000, long)
        other = self._numbers(env, rows // 2).key_by(lambda value: value % 10_000, long)
        return one.connect(other).process(Latest(), types.TUPLE([long, long]))


def _hashed(value: str) -> str:
    """Compute in Python for about 0.1 ms."""
    found = int(value)
    for _ in range(1500):
        found = (found * 31 + 7) % 1_000_003
    return str(found)


def first_element() -> float:
    """Return when the first element of a small job of PyFlow was there."""
    from pyflow.common import Types
    from pyflow.datastream import StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    stream = env.from_collection([1, 2], Types.LONG())
    counted = stream.key_by(lambda value: value, Types.LONG()).process(Jobs("pyflow")._count())
    with counted.execute_and_collect() as elements:
        next(iter(elements))
        return time.monotonic()


def main() -> None:
    """Answer requests until standard input ends, or say when the first element was there."""
    if sys.argv[1] == "start":
        print(json.dumps({"first row": first_element()}))
        return
    jobs = Jobs(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps({"seconds": jobs.seconds(json.loads(line))}), flush=True)


if __name__ == "__main__":
    main()
