"""Records what PyFlink emits for pipelines that are made by chance. Takes a quarter of an hour.

Each runs in thread mode, without watermarks until the end, and with those between the bursts. The
latter are periodic: the program sleeps where one has to come.
"""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

import cloudpickle
import pipelines
import recordings
from job_processes import JOBS, answers_of
from pyflink.common import Configuration, Duration, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from window_cases import api

#: In which the periodic watermark comes, and for how long the program sleeps for one.
_INTERVAL_MS = 150
_SLEEP_S = 0.4

_MARK = ("", 0, -1000)


class ThirdField(TimestampAssigner):
    """The timestamps of elements."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the third field."""
        return int(value[2])


def _paused(value: Any) -> Any:
    if value == _MARK:
        time.sleep(_SLEEP_S)
    return value


def results(number: int, is_midway: bool) -> Any:
    """Run a pipeline."""
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    configuration.set_string("pipeline.auto-watermark-interval", f"{_INTERVAL_MS} ms")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1).set_buffer_timeout(5)
    elements = []
    for burst in pipelines.bursts():
        elements += [*burst, _MARK] if is_midway else burst
    strategy = WatermarkStrategy.no_watermarks()
    if is_midway:
        delay = Duration.of_millis(pipelines.DELAY)
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(delay)
    strategy = strategy.with_timestamp_assigner(ThirdField())
    # Another task than the one that sleeps emits the watermark.
    stream = env.from_collection(elements).map(_paused).map(lambda value: value).start_new_chain()
    stream = stream.assign_timestamps_and_watermarks(strategy)
    stream = stream.filter(lambda value: value[0] != "")
    made = pipelines.build(api("pyflink"), stream, number)
    with made.execute_and_collect() as found:
        return pipelines.answers(number, list(found))


def answer_of(run: tuple[str, str], output: TextIO) -> Any:
    """Return what a pipeline emits, or an error."""
    # What runs the functions cannot import these modules.
    for module in (__name__, "pipelines"):
        cloudpickle.register_pickle_by_value(sys.modules[module])
    number, when = run
    try:
        return results(int(number), when == "midway")
    except Exception as error:
        return {"error": str(error)[-1500:]}


def record(only: list[str]) -> None:
    recorded = recordings.known("datastream/pipelines", {})
    numbers = only or list(map(str, range(pipelines.COUNT)))
    runs = [(number, when) for number in numbers for when in ("end", "midway")]
    while runs:
        step = runs[:JOBS]
        answers = answers_of(answer_of, step)
        runs = runs[len(answers) :]
        for (number, when), answer in zip(step, answers):
            recorded.setdefault(number, {})[when] = answer
        # What was recorded before an interruption stays.
        ordered = dict(sorted(recorded.items(), key=lambda item: int(item[0])))
        recordings.write("datastream/pipelines", ordered)
