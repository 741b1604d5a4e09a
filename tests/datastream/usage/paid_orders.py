"""Orders joined with their payments; what has no partner within a minute goes aside."""

from pyflow.common import Duration, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import KeyedCoProcessFunction, OutputTag
from pyflow.datastream.state import ValueStateDescriptor

PAIR = Types.TUPLE([Types.INT(), Types.STRING(), Types.LONG()])
JOINED = Types.TUPLE([Types.INT(), Types.STRING(), Types.STRING()])
UNPAID = OutputTag("unpaid", PAIR)
UNKNOWN = OutputTag("unknown", PAIR)
MINUTE, DELAY = 60_000, 1_000


class At(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Join(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.order = runtime_context.get_state(ValueStateDescriptor("order", PAIR))
        self.payment = runtime_context.get_state(ValueStateDescriptor("payment", PAIR))

    def process_element1(self, value, ctx):
        payment = self.payment.value()
        if payment is None:
            self.order.update(value)
            ctx.timer_service().register_event_time_timer(value[2] + MINUTE)
        else:
            ctx.timer_service().delete_event_time_timer(payment[2] + MINUTE)
            self.payment.clear()
            yield value[0], value[1], payment[1]

    def process_element2(self, value, ctx):
        order = self.order.value()
        if order is None:
            self.payment.update(value)
            ctx.timer_service().register_event_time_timer(value[2] + MINUTE)
        else:
            ctx.timer_service().delete_event_time_timer(order[2] + MINUTE)
            self.order.clear()
            yield order[0], order[1], value[1]

    def on_timer(self, timestamp, ctx):
        for tag, state in ((UNPAID, self.order), (UNKNOWN, self.payment)):
            if state.value() is not None:
                yield tag, state.value()
                state.clear()


def build(orders, payments):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DELAY))
    strategy = strategy.with_timestamp_assigner(At())
    joined = (
        orders.assign_timestamps_and_watermarks(strategy)
        .connect(payments.assign_timestamps_and_watermarks(strategy))
        .key_by(lambda order: order[0], lambda payment: payment[0], key_type=Types.INT())
        .process(Join(), output_type=JOINED)
    )
    return joined, joined.get_side_output(UNPAID), joined.get_side_output(UNKNOWN)
