"""Pairs of tasks: what a function gives beside another in one interpreter, it gives alone.

Functions of a table run one after the other: alone in a worker process, and in two tasks at once in
the shared interpreter, which wait for each other between the steps of each function.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from comparison import assert_thread_plan, executed_plan, process_mode, settings, thread_modes
from lockstep import Case

_SHARED = thread_modes()[-1]


def assert_same_in_pairs(spark: SparkSession, cases: Mapping[str, Case]) -> None:
    """Fails unless two tasks at once give what each gives alone in process mode.

    Parameters
    ----------
    spark : SparkSession
        With two cores.
    cases : mapping of str to callable
        Functions of the number of the task, 0 or 1, and of what to call between the steps. What
        they return is compared as text; they leave nothing behind in their process.
    """
    expected = _results(spark, cases, process_mode(), None)
    got = _results(spark, cases, _SHARED, uuid.uuid4().hex)
    differences = [
        f"{name}, task {who}: {got[who][name]} instead of {expected[who][name]}"
        for name in cases
        for who in (0, 1)
        if got[who][name] != expected[who][name]
    ]
    assert not differences, "\n".join(differences)


def _results(
    spark: SparkSession, cases: Mapping[str, Case], mode: Mapping[str, str], meeting: str | None
) -> list[dict[str, str]]:
    def run(who):
        import lockstep

        return json.dumps(lockstep.run(cases, who, meeting))

    with settings(spark, mode):
        frame = spark.range(2, numPartitions=2).select(udf(run, useArrow=False)("id"))
        rows = frame.collect()
        if meeting is not None:
            assert_thread_plan(executed_plan(frame))
    return [json.loads(row[0]) for row in rows]
