"""Pipelines that are made by chance emit what PyFlink's do, in batches and after restarts, too."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pipelines
import pytest
import recordings
from pyspark import cloudpickle
from window_cases import api

from pyflow.common import WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream.testing import TestStream

# What runs the functions cannot import it.
cloudpickle.register_pickle_by_value(pipelines)

RECORDED = recordings.load("datastream/pipelines")
NUMBERS = range(pipelines.COUNT)
NOTHING = WatermarkStrategy.no_watermarks()
#: How many run as one job.
TOGETHER = 16
PARTS = [NUMBERS[first : first + TOGETHER] for first in range(0, pipelines.COUNT, TOGETHER)]


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


class ThirdField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def emitted(stream, numbers):
    """Return what pipelines behind a stream emit, by number."""
    f = api("pyflow")
    parts = [
        pipelines.build(f, stream, number).map(lambda value, number=number: (number, *value))
        for number in numbers
    ]
    return collected(parts[0].union(*parts[1:]))


def check(found, when, numbers):
    wrong = []
    for number in numbers:
        answer = pipelines.answers(number, [each[1:] for each in found if each[0] == number])
        expected = RECORDED[str(number)][when]
        if answer != expected:
            found_only, missing = (Counter(lines(each)) for each in (answer, expected))
            wrong.append(
                f"pipeline {number}, {pipelines.pipeline(number)}:\n"
                f"  not in PyFlink: {sorted((found_only - missing).elements())}\n"
                f"  only in PyFlink: {sorted((missing - found_only).elements())}"
            )
    assert not wrong, "\n".join(wrong)


def lines(answer):
    return answer if isinstance(answer, list) else chain(*answer.values())


def add_bursts(source):
    """Add all elements with their watermarks, and yield after each batch."""
    for burst, watermark in zip(pipelines.bursts(), pipelines.watermarks()):
        yield source.add_elements(burst, [each[2] for each in burst])
        yield source.advance_watermark_to(watermark)
    yield source.advance_watermark_to_infinity()


@pytest.mark.parametrize("numbers", PARTS, ids=str)
def test_bounded_pipelines_emit_what_pyflinks_do(make_env, mode, numbers):
    stream = make_env(mode=mode).from_collection(list(chain(*pipelines.bursts())))
    strategy = NOTHING.with_timestamp_assigner(ThirdField())

    check(emitted(stream.assign_timestamps_and_watermarks(strategy), numbers), "end", numbers)


@pytest.mark.parametrize("numbers", PARTS, ids=str)
def test_pipelines_emit_in_batches_what_pyflinks_do(make_env, mode, numbers):
    source = TestStream()
    for _ in add_bursts(source):
        pass
    stream = make_env(mode=mode).from_source(source, NOTHING, "bursts")

    check(emitted(stream, numbers), "midway", numbers)


@pytest.mark.complete
@pytest.mark.parametrize("numbers", PARTS, ids=str)
def test_pipelines_emit_so_after_restarts(make_env, mode, tmp_path, numbers):
    source, found = TestStream(), []
    for _ in add_bursts(source):
        env = make_env(mode=mode, execution_checkpointing_dir=tmp_path.as_uri())
        found += emitted(env.from_source(source, NOTHING, "bursts"), numbers)

    check(found, "midway", numbers)


def test_all_pipelines_are_recorded():
    assert list(RECORDED) == list(map(str, NUMBERS))
    errors = [answer for each in RECORDED.values() for answer in each.values() if "error" in answer]
    assert errors == []
