"""Events without those that have been seen before, for as long as their ids are remembered."""

from pyflow.common import Types
from pyflow.datastream import KeyedProcessFunction
from pyflow.datastream.state import StateTtlConfig, ValueStateDescriptor


class FirstOnly(KeyedProcessFunction):
    def __init__(self, ttl):
        self.ttl = ttl

    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("seen", Types.BOOLEAN())
        descriptor.enable_time_to_live(
            StateTtlConfig.new_builder(self.ttl)
            .set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)
            .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
            .build()
        )
        self.seen = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        if self.seen.value() is None:
            self.seen.update(True)
            yield value


def build(events, ttl):
    return events.key_by(lambda event: event["id"]).process(FirstOnly(ttl)).uid("unique")
