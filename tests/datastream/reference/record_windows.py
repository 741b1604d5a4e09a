"""Records what PyFlink emits for windows. Takes two minutes.

Recorded are the values, sorted, since timers of one time have no order. Their timestamps are
those of Flink's Java operator in neither of PyFlink's execution modes.
"""

from __future__ import annotations

import sys
from typing import Any, TextIO

import cloudpickle
import recordings
from job_processes import JOBS, answers_of
from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from window_cases import CASES, FUNCTIONS, Case, api


class ThirdField(TimestampAssigner):
    """The timestamps of elements."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the third field."""
        return int(value[2])


def results(case: Case) -> list[str]:
    """Run a program."""
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    environment = StreamExecutionEnvironment.get_execution_environment(configuration)
    environment.set_parallelism(1)
    names = api("pyflink")
    stream = environment.from_collection(case.elements)
    stream = stream.assign_timestamps_and_watermarks(
        WatermarkStrategy.no_watermarks().with_timestamp_assigner(ThirdField())
    )
    assigner = case.assigner(names)
    if case.kind.startswith("all"):
        windows: Any = stream.window_all(assigner)
    else:
        windows = stream.key_by(lambda value: value[0], Types.STRING()).window(assigner)
    if case.trigger is not None:
        windows = windows.trigger(case.trigger(names))
    combine, function = (each and each(names) for each in FUNCTIONS[case.kind])
    operation = case.kind.removeprefix("all ").split()[0]
    arguments = [each for each in (combine, function) if each is not None]
    made = getattr(windows, operation)(*arguments, output_type=Types.PICKLED_BYTE_ARRAY())
    with made.map(repr, Types.STRING()).execute_and_collect() as found:
        return sorted(found)


def answer_of(name: str, output: TextIO) -> Any:
    """Return the results of a case, or an error."""
    # What runs the functions cannot import these modules.
    for module in (__name__, "window_cases"):
        cloudpickle.register_pickle_by_value(sys.modules[module])
    try:
        return results(CASES[name])
    except Exception as error:
        return {"error": str(error)[-1500:]}


def record(only: list[str]) -> None:
    recorded = recordings.known("datastream/windows", {})
    names = only or list(CASES)
    for place in range(0, len(names), JOBS):
        step = names[place : place + JOBS]
        answers = answers_of(answer_of, step)
        failed = [each for each in zip(step, answers) if isinstance(each[1], dict)]
        if failed:
            raise RuntimeError(f"not recorded: {failed}")
        recorded.update(zip(step, answers))
        # What was recorded before an interruption stays.
        recordings.write("datastream/windows", dict(sorted(recorded.items())))
