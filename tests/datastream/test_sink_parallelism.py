"""Sinks with a parallelism of their own; what is printed is PyFlink's."""

from __future__ import annotations

import itertools
import re

import pytest

from pyflow.common import Encoder, Types, WatermarkStrategy
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.datastream.connectors.file_system import FileSink
from pyflow.datastream.connectors.number_seq import NumberSequenceSource
from pyflow.datastream.testing import TestStream


@pytest.fixture
def env(spark):
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(4)


def written(stream, directory, parallelism=None):
    """The lines of each file."""
    builder = FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
    sink = stream.sink_to(builder.build())
    if parallelism is not None:
        sink.set_parallelism(parallelism)
    stream.get_execution_environment().execute()
    files = directory.rglob("part-*")
    return [list(map(int, file.read_text().split())) for file in files if file.stat().st_size]


def numbers(env, last=100):
    source = NumberSequenceSource(1, last)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    return stream.map(str, Types.STRING())


@pytest.mark.parametrize(
    ("parallelism", "files"),
    [
        pytest.param(None, 4, marks=pytest.mark.complete),
        (2, 2),
        (1, 1),
        pytest.param(8, 4, marks=pytest.mark.complete),
    ],
)
def test_a_subtask_writes_a_file(env, tmp_path, parallelism, files):
    found = written(numbers(env), tmp_path / "out", parallelism)
    assert len(found) == files
    assert sorted(itertools.chain(*found)) == list(range(1, 101))


def test_a_subtask_writes_in_order(env, tmp_path):
    keyed = numbers(env, 1000).key_by(lambda text: int(text) % 7).map(str, Types.STRING())
    (found,) = written(keyed, tmp_path / "out", 1)
    for key in range(7):
        of_key = [number for number in found if number % 7 == key]
        assert len(of_key) in (142, 143)
        # Four tasks read a range of the numbers each.
        descents = sum(one > other for one, other in itertools.pairwise(of_key))
        assert descents < 4


def test_a_subtask_writes_a_batch(env, tmp_path):
    source = TestStream(Types.STRING()).add_elements(["1", "2", "3"]).add_elements(["4", "5"])
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    keyed = stream.key_by(lambda text: text).map(str, Types.STRING())
    found = written(keyed, tmp_path / "out", 1)
    assert sorted(map(sorted, found)) == [[1, 2, 3], [4, 5]]


def test_lines_say_which_subtask_of_the_sink_prints(env, capsys):
    stream = env.from_collection(list(range(8)), Types.INT())
    stream.print().set_parallelism(1)
    stream.print("one").set_parallelism(1)
    stream.print("two").set_parallelism(2)
    stream.print("all")
    env.execute()
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line for line in lines if ">" not in line) == [str(n) for n in range(8)]
    assert sorted(line for line in lines if line.startswith("one")) == [
        f"one> {n}" for n in range(8)
    ]
    prefixes = {re.sub(r"> \d+", "", line) for line in lines}
    assert prefixes >= {"two:1", "two:2", "all:1", "all:2", "all:3", "all:4"}
    assert "two:3" not in prefixes


def test_a_sink_has_a_subtask(env):
    sink = env.from_collection([1], Types.INT()).print()
    with pytest.raises(ValueError, match="must be at least 1, not 0"):
        sink.set_parallelism(0)
