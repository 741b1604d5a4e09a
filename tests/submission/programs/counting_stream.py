"""An unbounded data stream with state, which counts; `two` starts a second one beside it."""

import sys

from pyflow.common import Types, WatermarkStrategy
from pyflow.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflow.datastream.connectors.datagen import DataGeneratorSource
from pyflow.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"count {count}"


def stream(env):
    source = DataGeneratorSource(lambda number: number, rate=20)
    ds = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    ds.key_by(lambda value: 0).process(Count()).print()


env = StreamExecutionEnvironment.get_execution_environment()
if "two" in sys.argv:
    for name in ("first", "second"):
        stream(env)
        env.execute_async(name)
    print("both started", flush=True)
else:
    stream(env)
    try:
        env.execute("counts")
        print("executed", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        raise
