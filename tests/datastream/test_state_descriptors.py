"""Descriptions of state, and of how long it lives."""

from __future__ import annotations

import pickle

import pytest

from pyflow.common import Duration, Time, Types
from pyflow.datastream.functions import AggregateFunction, ReduceFunction
from pyflow.datastream.state import (
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

LONG, STRING = Types.LONG(), Types.STRING()


class Largest(ReduceFunction):
    def reduce(self, value1, value2):
        return max(value1, value2)


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


DESCRIPTORS = [
    (ValueStateDescriptor("value", LONG), LONG),
    (ListStateDescriptor("list", LONG), Types.LIST(LONG)),
    (MapStateDescriptor("map", STRING, LONG), Types.MAP(STRING, LONG)),
    (ReducingStateDescriptor("reducing", Largest(), LONG), LONG),
    (AggregatingStateDescriptor("aggregating", Count(), LONG), LONG),
]


@pytest.mark.parametrize(("descriptor", "type_info"), DESCRIPTORS)
def test_a_descriptor_has_name_and_type_on_executors_too(descriptor, type_info):
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())

    found = pickle.loads(pickle.dumps(descriptor))

    assert found.get_name() == descriptor.name
    assert found.type_info == type_info
    assert found._ttl_config.get_ttl() == Time.hours(1)


@pytest.mark.parametrize("function", [Largest(), max])
def test_state_is_reduced_by_a_function_or_a_callable(function):
    descriptor = pickle.loads(pickle.dumps(ReducingStateDescriptor("a", function, LONG)))

    assert isinstance(descriptor.get_reduce_function(), ReduceFunction)
    assert descriptor.get_reduce_function().reduce(1, 2) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: ReducingStateDescriptor("a", 1, LONG),
        lambda: AggregatingStateDescriptor("a", max, LONG),
        lambda: ValueStateDescriptor("a", int),
        lambda: ListStateDescriptor("a", "BIGINT"),
        lambda: MapStateDescriptor("a", LONG, None),
    ],
)
def test_what_is_no_function_and_no_type_is_refused(make):
    with pytest.raises(TypeError, match="must be a"):
        make()


class Numbers(ListState):
    clear = update = add = add_all = None

    def get(self):
        return [1, 2]


class Ages(MapState):
    clear = is_empty = items = values = put_all = None

    def __init__(self, entries):
        self.entries = entries

    def get(self, key):
        return self.entries.get(key)

    def put(self, key, value):
        self.entries[key] = value

    def remove(self, key):
        self.entries.pop(key, None)

    def contains(self, key):
        return key in self.entries

    def keys(self):
        return self.entries.keys()


def test_lists_are_iterated_over():
    assert list(Numbers()) == [1, 2]


def test_maps_are_used_as_dicts():
    ages = Ages({"a": 1})

    ages["b"] = 2
    del ages["a"]

    assert (ages["b"], ages["a"], "a" in ages, list(ages)) == (2, None, False, ["b"])


def test_values_live_on_by_default_when_they_are_written():
    config = StateTtlConfig.new_builder(Time.seconds(1)).build()

    assert config.is_enabled()
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.NeverReturnExpired
    strategies = config.get_cleanup_strategies()
    assert strategies.is_cleanup_in_background()
    assert not strategies.in_full_snapshot()
    assert strategies.get_incremental_cleanup_strategy().get_cleanup_size() == 5
    rocksdb = strategies.get_rocksdb_compact_filter_cleanup_strategy()
    assert rocksdb.get_query_time_after_num_entries() == 1000
    assert rocksdb.get_periodic_compaction_time() == Duration.of_days(30)


def test_a_builder_says_how_long_values_live():
    config = (
        StateTtlConfig.new_builder(Time.seconds(1))
        .set_ttl(Duration.of_minutes(1))
        .update_ttl_on_read_and_write()
        .return_expired_if_not_cleaned_up()
        .use_processing_time()
        .cleanup_full_snapshot()
        .cleanup_incrementally(10, True)
        .disable_cleanup_in_background()
        .build()
    )

    found = pickle.loads(pickle.dumps(config))

    assert found.get_ttl() == Time.minutes(1)
    assert found.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
    strategies = found.get_cleanup_strategies()
    assert strategies.in_full_snapshot()
    assert strategies.get_incremental_cleanup_strategy().run_cleanup_for_every_record()
    assert strategies.get_rocksdb_compact_filter_cleanup_strategy() is None


def test_a_description_is_not_changed_by_its_builder():
    builder = StateTtlConfig.new_builder(Time.seconds(1))
    config = builder.build()

    builder.cleanup_full_snapshot()

    assert not config.get_cleanup_strategies().in_full_snapshot()


def test_values_live_for_some_time():
    with pytest.raises(ValueError, match="TTL is expected to be positive"):
        StateTtlConfig.new_builder(Time.seconds(0)).build()


def test_expiry_can_be_switched_off():
    disabled = StateTtlConfig.UpdateType.Disabled

    assert (
        not StateTtlConfig.new_builder(Time.days(1)).set_update_type(disabled).build().is_enabled()
    )
