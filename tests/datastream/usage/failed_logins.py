"""Sequences of events: three failed logins or more, then one that succeeds, within a minute.

Events wait until the watermark has passed them, so that they are matched in the order of their
times.
"""

from pyflow.common import Duration, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import KeyedProcessFunction, OutputTag
from pyflow.datastream.state import ListStateDescriptor, MapStateDescriptor

LATE = OutputTag("late", Types.PICKLED_BYTE_ARRAY())
MINUTE, DELAY = 60_000, 3_000


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value["at"]


class Sequence(KeyedProcessFunction):
    def open(self, runtime_context):
        self.events = runtime_context.get_map_state(
            MapStateDescriptor("events", Types.LONG(), Types.PICKLED_BYTE_ARRAY())
        )
        self.failures = runtime_context.get_list_state(
            ListStateDescriptor("failures", Types.LONG())
        )

    def process_element(self, value, ctx):
        if value["at"] <= ctx.timer_service().current_watermark():
            yield LATE, value
            return
        events = self.events.get(value["at"]) or []
        self.events.put(value["at"], [*events, value])
        ctx.timer_service().register_event_time_timer(value["at"])

    def on_timer(self, timestamp, ctx):
        for event in self.events.get(timestamp):
            failures = [at for at in self.failures.get() if at > timestamp - MINUTE]
            if not event["ok"]:
                self.failures.update([*failures, timestamp])
                continue
            if len(failures) >= 3:
                yield ctx.get_current_key(), failures, timestamp
            self.failures.clear()
        self.events.remove(timestamp)


def build(logins):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DELAY))
    found = (
        logins.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(EventTime()))
        .key_by(lambda event: event["user"])
        .process(Sequence())
    )
    return found, found.get_side_output(LATE)
