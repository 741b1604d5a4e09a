"""The three most frequent words of each ten seconds."""

from pyflow.common import Duration, Time, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import AggregateFunction, KeyedProcessFunction, ProcessWindowFunction
from pyflow.datastream.state import ListStateDescriptor
from pyflow.datastream.window import TumblingEventTimeWindows

WORD = Types.TUPLE([Types.STRING(), Types.INT()])
COUNTED = Types.TUPLE([Types.LONG(), Types.STRING(), Types.LONG()])
TOP, SIZE, DELAY = 3, 10_000, 1_000


class LineTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0]


def split(line):
    for word in line[1].lower().split():
        yield word, 1


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class OfWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().end, key, next(iter(elements))


class Top(KeyedProcessFunction):
    """Waits for all words of a window, which have come when its end has passed."""

    def open(self, runtime_context):
        self.counts = runtime_context.get_list_state(ListStateDescriptor("counts", COUNTED))

    def process_element(self, value, ctx):
        self.counts.add(value)
        ctx.timer_service().register_event_time_timer(value[0] + 1)

    def on_timer(self, timestamp, ctx):
        counts = sorted(self.counts.get(), key=lambda each: (-each[2], each[1]))
        self.counts.clear()
        yield ctx.get_current_key(), [(word, count) for _, word, count in counts[:TOP]]


def build(lines):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DELAY))
    return (
        lines.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(LineTime()))
        .flat_map(split, output_type=WORD)
        .key_by(lambda each: each[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(SIZE)))
        .aggregate(Count(), OfWindow(), output_type=COUNTED)
        .key_by(lambda each: each[0], key_type=Types.LONG())
        .process(Top())
    )
