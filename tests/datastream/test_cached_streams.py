"""Bounded streams whose elements are kept, and members of streams that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyflow.common import WatermarkStrategy
from pyflow.datastream.testing import TestStream

PARTITIONING = ["shuffle", "rescale", "rebalance", "forward", "broadcast", "partition_custom"]
SETTERS = {
    "set_parallelism": "Set parallelism for {} is not supported.",
    "name": "Set name for {} is not supported.",
    "get_name": "Get name of {} is not supported.",
    "uid": "Set uid for {} is not supported.",
    "set_uid_hash": "Set uid hash for {} is not supported.",
    "set_max_parallelism": "Set max parallelism for {} is not supported.",
    "force_non_parallel": "Set force non-parallel for {} is not supported.",
    "set_buffer_timeout": "Set buffer timeout for {} is not supported.",
    "start_new_chain": "Start new chain for {} is not supported.",
    "disable_chaining": "Disable chaining for {} is not supported.",
    "slot_sharing_group": "Setting slot sharing group for {} is not supported.",
}


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


def collected(stream):
    with stream.execute_and_collect() as elements:
        return sorted(elements)


def counting(path):
    """A function that says how often it is called."""

    def double(value):
        with Path(path).open("a") as file:
            file.write(".")
        return value * 2

    return double


def test_elements_that_are_kept_are_computed_once(env, tmp_path):
    path = str(tmp_path / "calls")
    kept = env.from_collection([1, 2, 3]).map(counting(path)).cache()

    assert collected(kept.map(lambda value: value + 1)) == [3, 5, 7]
    assert collected(kept.filter(lambda value: value > 2)) == [4, 6]
    assert Path(path).read_text() == "..."

    kept.invalidate()
    assert collected(kept) == [2, 4, 6]
    assert Path(path).read_text() == "......"


def test_elements_that_are_kept_are_read_beside_unbounded_ones(env):
    kept = env.from_collection([("a", 1), ("b", 2)]).cache()
    source = TestStream().add_elements([("a", 10)]).add_elements([("b", 20)])
    unbounded = env.from_source(source, WatermarkStrategy.no_watermarks(), "test")

    sums = kept.union(unbounded).key_by(lambda value: value[0]).sum(1)

    assert collected(sums)[-1:] == [("b", 22)]
    assert ("a", 11) in collected(kept.union(env.from_collection([("a", 11)])))


def test_an_unbounded_stream_is_not_kept(make_env):
    env = make_env()
    unbounded = env.from_source(TestStream(), WatermarkStrategy.no_watermarks(), "test")

    with pytest.raises(ValueError, match="unbounded"):
        collected(unbounded.cache())


@pytest.mark.parametrize("member", PARTITIONING)
def test_keyed_streams_have_a_partitioning(make_env, member):
    keyed = make_env().from_collection([1]).key_by(lambda value: value)

    with pytest.raises(Exception, match=r"Cannot override partitioning for KeyedStream\."):
        getattr(keyed, member)()


@pytest.mark.parametrize("member", SETTERS)
def test_streams_that_are_no_operators_have_no_settings(make_env, member):
    ds = make_env().from_collection([1])

    for stream in (ds.key_by(lambda value: value), ds.cache()):
        message = SETTERS[member].format(type(stream).__name__)
        with pytest.raises(Exception, match=message):
            getattr(stream, member)()


def test_keyed_streams_are_not_kept(make_env):
    with pytest.raises(Exception, match=r"Cache for KeyedStream is not supported\."):
        make_env().from_collection([1]).key_by(lambda value: value).cache()
