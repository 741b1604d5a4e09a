"""Records what PyFlink emits for windows. Takes two minutes.

Recorded are the values, sorted, since timers of one time have no order. Their timestamps are
those of Flink's Java operator in neither of PyFlink's execution modes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

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


if __name__ == "__main__":
    target = Path(__file__).with_name("windows.json")
    recorded = json.loads(target.read_text()) if target.exists() else {}
    for name in sys.argv[1:] or CASES:
        try:
            recorded[name] = results(CASES[name])
        except Exception as error:
            print(name, str(error)[-1500:])
            continue
        print(name, len(recorded[name]), flush=True)
        target.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
