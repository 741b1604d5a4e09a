"""State with a time to live answers as PyFlink's does, over batches and restarts."""

from __future__ import annotations

import pytest
import recordings
from ttl_cases import SLEEP, TTL, calls, function_of
from window_cases import api

from pyflow.common import Time, Types, WatermarkStrategy
from pyflow.datastream import KeyedProcessFunction
from pyflow.datastream.runtime.state import StateFactory
from pyflow.datastream.runtime.storage import ABSENT, MemoryStorage
from pyflow.datastream.state import StateTtlConfig, ValueStateDescriptor
from pyflow.datastream.testing import TestStream

NOTHING = WatermarkStrategy.no_watermarks()


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def parts_of_calls():
    """Return the calls between which time passes, and how much of it."""
    parts, part = [], []
    for call in calls():
        if call[1] == SLEEP:
            parts.append((part, call[2][0]))
            part = []
        else:
            part.append(call)
    return parts


@pytest.mark.complete
def test_state_answers_as_in_pyflink(make_env, mode):
    source = TestStream().advance_processing_time(0)
    for part, passed in parts_of_calls():
        source.add_elements(part).advance_processing_time(passed)
    ds = make_env(mode=mode).from_source(source, NOTHING, "calls").key_by(lambda value: "k")

    assert collected(ds.process(function_of(api("pyflow")))) == recordings.load("datastream/ttl")


@pytest.mark.complete
def test_state_answers_so_after_restarts(make_env, mode, tmp_path):
    source, found = TestStream().advance_processing_time(0), []
    for part, passed in parts_of_calls():
        source.add_elements(part).advance_processing_time(passed)
        env = make_env(mode=mode, execution_checkpointing_dir=tmp_path.as_uri())
        ds = env.from_source(source, NOTHING, "calls").key_by(lambda value: "k")
        found += collected(ds.process(function_of(api("pyflow"))))

    assert found == recordings.load("datastream/ttl")


class Expiring(KeyedProcessFunction):
    """State that shows whether it has expired, or has been swept; declared with an element."""

    def process_element(self, value, ctx):
        config = (
            StateTtlConfig.new_builder(Time.milliseconds(TTL))
            .set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)
            .build()
        )
        descriptor = ValueStateDescriptor("last", Types.LONG())
        descriptor.enable_time_to_live(config)
        last = self.context.get_state(descriptor)
        yield value, last.value()
        last.update(value[1])

    def open(self, runtime_context):
        self.context = runtime_context


def test_expired_values_are_swept(make_env, mode):
    source = TestStream().advance_processing_time(100)
    for key in "ab":
        source.add_elements([(key, 1)])
    source.advance_processing_time(TTL).add_elements([("a", 2)])
    source.advance_processing_time(TTL // 2).add_elements([("b", 2)])
    ds = make_env(mode=mode).from_source(source, NOTHING, "test").key_by(lambda value: value[0])

    found = collected(ds.process(Expiring()))

    # That of a has expired just then, and that of b a second ago.
    assert found == [(("a", 1), None), (("b", 1), None), (("a", 2), 1), (("b", 2), None)]


def test_values_are_swept_that_a_program_has_not_declared_since_its_start(make_env, tmp_path):
    def run():
        env = make_env(execution_checkpointing_dir=tmp_path.as_uri(), parallelism=1)
        ds = env.from_source(source, NOTHING, "test").key_by(lambda value: value[0])
        return collected(ds.process(Expiring()))

    source = TestStream().advance_processing_time(0).add_elements([("a", 1)])
    assert run() == [(("a", 1), None)]
    # No element has come when the value expires.
    source.advance_processing_time(2 * TTL)
    assert run() == []

    source.add_elements([("b", 1)]).advance_processing_time(3_600_000).add_elements([("a", 2)])

    assert run() == [(("b", 1), None), (("a", 2), None)]


def test_state_of_a_window_that_was_forgotten_is_swept():
    now, sweeps = 0, []
    descriptor = ValueStateDescriptor("last", Types.LONG())
    config = StateTtlConfig.new_builder(Time.milliseconds(TTL)).build()
    descriptor.enable_time_to_live(config)
    storage = MemoryStorage()

    def factory():
        return StateFactory(
            storage, lambda: now, lambda name, at: sweeps.append(name), lambda _: None
        )

    factory().state(descriptor, b"window\0").update(1)
    (name,) = sweeps
    now = TTL
    again = factory()
    assert not again.sweep(name)
    again.state(descriptor, b"another")

    assert again.sweep(name)

    assert storage.get(name) is ABSENT
