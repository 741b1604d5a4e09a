"""Alerts where a card is tried with a small payment and used for a large one within a minute."""

from pyflow.common import Row, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import KeyedProcessFunction, RuntimeContext
from pyflow.datastream.state import ValueStateDescriptor

SMALL, LARGE, MINUTE = 1.0, 500.0, 60_000

PAYMENT = Types.ROW_NAMED(["card", "amount", "at"], [Types.INT(), Types.DOUBLE(), Types.LONG()])
ALERT = Types.ROW_NAMED(["card", "amount", "at"], [Types.INT(), Types.DOUBLE(), Types.LONG()])


class PaymentTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value.at


class FraudDetector(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.flag = runtime_context.get_state(ValueStateDescriptor("flag", Types.BOOLEAN()))
        self.timer = runtime_context.get_state(ValueStateDescriptor("timer", Types.LONG()))

    def process_element(self, value, ctx: "KeyedProcessFunction.Context"):
        if self.flag.value() is not None:
            if value.amount > LARGE:
                yield Row(card=ctx.get_current_key(), amount=value.amount, at=value.at)
            self.clean_up(ctx)
        if value.amount < SMALL:
            self.flag.update(True)
            timer = ctx.timestamp() + MINUTE
            ctx.timer_service().register_event_time_timer(timer)
            self.timer.update(timer)

    def on_timer(self, timestamp, ctx: "KeyedProcessFunction.OnTimerContext"):
        self.timer.clear()
        self.flag.clear()

    def clean_up(self, ctx):
        ctx.timer_service().delete_event_time_timer(self.timer.value())
        self.timer.clear()
        self.flag.clear()


def build(payments):
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    return (
        payments.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(PaymentTime()))
        .key_by(lambda payment: payment.card, key_type=Types.INT())
        .process(FraudDetector(), output_type=ALERT)
        .name("fraud detector")
        .uid("fraud-detector")
    )
