"""Pipelines that are made by chance emit what PyFlink's do, in batches and after restarts, too."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice

import pipeline_checkpoints
import pipelines
import pytest
import recordings
from pipeline_runs import NOTHING, NUMBERS, PARTS, add_bursts, emitted, emitted_over

from checkpoint_archives import unpack
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream.testing import TestStream

RECORDED = recordings.load("datastream/pipelines")


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


class ThirdField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


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


@pytest.mark.parametrize("numbers", PARTS, ids=str)
def test_bounded_pipelines_emit_what_pyflinks_do(make_env, mode, numbers):
    stream = make_env(mode=mode).from_collection(list(chain(*pipelines.bursts())))
    strategy = NOTHING.with_timestamp_assigner(ThirdField())

    check(emitted(stream.assign_timestamps_and_watermarks(strategy), numbers), "end", numbers)


@pytest.mark.complete("range(16", "range(32")
@pytest.mark.parametrize("numbers", PARTS, ids=str)
def test_pipelines_emit_in_batches_what_pyflinks_do(make_env, mode, numbers):
    source = TestStream()
    for _ in add_bursts(source):
        pass

    check(emitted_over(make_env(mode=mode), source, numbers), "midway", numbers)


@pytest.mark.complete
@pytest.mark.parametrize("numbers", PARTS, ids=str)
def test_pipelines_emit_so_after_restarts(make_env, mode, tmp_path, numbers):
    source, found = TestStream(), []
    for _ in add_bursts(source):
        env = make_env(mode=mode, execution_checkpointing_dir=tmp_path.as_uri())
        found += emitted_over(env, source, numbers)

    check(found, "midway", numbers)


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
@pytest.mark.parametrize("numbers", PARTS, ids=str)
def test_jobs_go_on_from_recorded_checkpoints(make_env, tmp_path, numbers, mode):
    """Names and schemas of state, and the bytes of keys, timers and values, are in users' jobs."""
    source, found = TestStream(), []
    calls = add_bursts(source)
    for folder, count in (("anew", pipeline_checkpoints.CALLS), ("recorded", None)):
        list(islice(calls, count))
        if folder == "recorded":
            recorded = pipeline_checkpoints.archive(numbers)
            unpack(recorded, tmp_path / folder, stream=source._directory)
        env = make_env(mode=mode, execution_checkpointing_dir=(tmp_path / folder).as_uri())
        found += emitted_over(env, source, numbers)

    check(found, "midway", numbers)


def test_all_pipelines_are_recorded():
    assert list(RECORDED) == list(map(str, NUMBERS))
    errors = [answer for each in RECORDED.values() for answer in each.values() if "error" in answer]
    assert errors == []
