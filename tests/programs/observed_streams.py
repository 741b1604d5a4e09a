"""Jobs of a table and of data streams that Spark's UI tells of, until the program's input ends.

Prints the address of the UI when all have been started.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sessions
from pyflow.common import Time, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflow.datastream.connectors.datagen import DataGeneratorSource
from pyflow.datastream.state import ValueStateDescriptor
from pyflow.datastream.window import TumblingEventTimeWindows
from pyflow.table import EnvironmentSettings, TableEnvironment


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{ctx.get_current_key()} has {self.count.value()}"


class Falling(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return 1_000_000_000 - value * 3_600_000


def main() -> None:
    conf = {sessions.MODE: "thread", "spark.ui.enabled": "true", "spark.ui.port": "0"}
    spark = sessions.start(conf=conf)
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.execute_sql(
        "CREATE TABLE numbers (id BIGINT, third AS MOD(id, 3)) WITH ('connector' = 'datagen', "
        "'rows-per-second' = '20', 'fields.id.min' = '1', 'fields.id.max' = '400')"
    )
    tables.execute_sql("CREATE TABLE counts (third BIGINT, n BIGINT) WITH ('connector' = 'print')")
    tables.execute_sql("INSERT INTO counts SELECT third, COUNT(*) FROM numbers GROUP BY third")
    environment = StreamExecutionEnvironment.get_execution_environment()
    source = DataGeneratorSource(lambda number: number, rate=20)
    numbers = environment.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    numbers.key_by(lambda number: number % 3).process(Count()).name("count thirds").print()
    environment.execute_async("thirds")
    # After the first batch of a partition all others are an hour late.
    late = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Falling())
    falling = environment.from_source(source, late, "falling").key_by(lambda number: number % 3)
    window = TumblingEventTimeWindows.of(Time.seconds(1))
    falling.window(window).reduce(max).name("windows").print()
    environment.execute_async("late")
    print(spark.sparkContext.applicationId, spark.sparkContext.uiWebUrl, flush=True)
    sys.stdin.read()
    for query in spark.streams.active:
        query.stop()
    spark.stop()


main()
