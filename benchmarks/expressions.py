"""Python functions in lambdas and join conditions: ``python -m benchmarks.expressions``.

Time per call of a plain function where Spark takes no Python function, beside what a program has
to do instead in process mode. Writes expressions.json and expressions.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from benchmarks.modes import start_session
from benchmarks.page import Page, new_results
from benchmarks.report import nanos_text, table

ELEMENTS = 100
ROWS = 10_000
LEFT, RIGHT = 1_000, 1_000

_PROCESS = {"spark.pyflow.execution-mode": "process"}
_SHARED = {"spark.pyflow.execution-mode": "thread", "spark.pyflow.interpreter": "shared"}
_ISOLATED = {"spark.pyflow.execution-mode": "thread", "spark.pyflow.interpreter": "auto"}


def _increment(x: int) -> int:
    return x + 1


def _increment_all(xs: list[int]) -> list[int]:
    return [x + 1 for x in xs]


def _is_near(x: int, y: int) -> bool:
    return x - y == 1


def _transformed(session: SparkSession, rows: int, make: Callable[[], Column]) -> DataFrame:
    arrays = session.range(rows, numPartitions=1).select(
        sf.transform(sf.sequence(sf.lit(1), sf.lit(ELEMENTS)), lambda x: x + sf.col("id")).alias(
            "xs"
        )
    )
    return arrays.select(make())


def _element_by_element() -> Column:
    f = sf.udf(_increment, "long", useArrow=True)
    return sf.transform("xs", lambda x: f(x))


def _array_by_array() -> Column:
    return sf.udf(_increment_all, "array<long>", useArrow=True)("xs")


def _built_in() -> Column:
    return sf.transform("xs", lambda x: x + 1)


def _joined(session: SparkSession, rows: int, how: str, condition: str) -> DataFrame:
    left = session.range(rows * LEFT // ROWS, numPartitions=1).withColumnRenamed("id", "x")
    right = session.range(RIGHT, numPartitions=1).withColumnRenamed("id", "y")
    near = sf.udf(_is_near, "boolean", useArrow=True)
    return left.join(
        right.hint("broadcast"),
        near("x", "y") if condition == "python" else sf.expr(condition),
        how,
    )


# What is done, by the settings under which it is, and how often the function is called per row.
CASES: dict[str, tuple[int, dict[str, tuple[dict[str, str], Callable[..., DataFrame]]]]] = {
    f"`transform` over arrays of {ELEMENTS} longs, `x + 1`": (
        ELEMENTS,
        {
            "built-in expression": (_PROCESS, lambda s, n: _transformed(s, n, _built_in)),
            "lambda, isolated": (_ISOLATED, lambda s, n: _transformed(s, n, _element_by_element)),
            "lambda, shared": (_SHARED, lambda s, n: _transformed(s, n, _element_by_element)),
            "function of the array, thread mode": (
                _ISOLATED,
                lambda s, n: _transformed(s, n, _array_by_array),
            ),
            "function of the array, process mode": (
                _PROCESS,
                lambda s, n: _transformed(s, n, _array_by_array),
            ),
        },
    ),
    f"join of {LEFT:,} by {RIGHT:,} rows on `x - y == 1`": (
        LEFT * RIGHT // ROWS,
        {
            "built-in expression": (
                _PROCESS,
                lambda s, n: _joined(s, n, "left", "x - y = 1 or x < 0"),
            ),
            "left join, isolated": (_ISOLATED, lambda s, n: _joined(s, n, "left", "python")),
            "left join, shared": (_SHARED, lambda s, n: _joined(s, n, "left", "python")),
            "inner join, thread mode": (_ISOLATED, lambda s, n: _joined(s, n, "inner", "python")),
            "inner join, process mode": (_PROCESS, lambda s, n: _joined(s, n, "inner", "python")),
        },
    ),
}


def _nanos_per_call(session: SparkSession, case: str, way: str, rows: int) -> float:
    calls_per_row, ways = CASES[case]
    settings, make = ways[way]
    for key, value in settings.items():
        session.conf.set(key, value)
    frame = make(session, rows)
    start = time.perf_counter_ns()
    frame.write.format("noop").mode("overwrite").save()
    return (time.perf_counter_ns() - start) / (rows * calls_per_row)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all cases."""
    session = start_session("local[1]", conf={"spark.sql.crossJoin.enabled": "true"})
    raw = new_results(session, options.rounds)
    rows = int(ROWS * options.scale)
    for case, (_, ways) in CASES.items():
        for way in ways:
            _nanos_per_call(session, case, way, rows)
        for round_number in range(1, options.rounds + 1):
            figures = {way: _nanos_per_call(session, case, way, rows) for way in ways}
            raw["samples"].append({"case": case, "rows": rows, "ways": figures})
            print(f"{case} {round_number}/{options.rounds}", file=sys.stderr, flush=True)
    session.stop()
    return raw


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "Time per call of the function on `local[1]`, planning included: per element of the "
        f"arrays, per pair of rows of the join. Medians of {raw['rounds']} rounds, each of which "
        "measures all. Process mode has no functions in lambdas and in conditions of outer joins: "
        "it is shown with a function that takes the whole array, and with an inner join, after "
        "which Spark filters."
    )
    for case, (_, ways) in CASES.items():
        yield ""
        samples = [sample["ways"] for sample in raw["samples"] if sample["case"] == case]
        yield from table(
            (case, "time per call"),
            ([way, nanos_text(median(sample[way] for sample in samples))] for way in ways),
        )


PAGE = Page(
    "expressions", "benchmarks.expressions", "Functions in lambdas and join conditions", _body
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, scale=1.0)


if __name__ == "__main__":
    main()
