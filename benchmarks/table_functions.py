"""Functions of the Table API beside plain PySpark: ``python -m benchmarks.table_functions``.

Time per row of a ``ScalarFunction`` above that of the same code as a plain ``udf``, in the same
mode. Writes table_functions.json and table_functions.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from benchmarks.modes import BY_NAME, check_plan, choose, start_session
from benchmarks.page import Page, new_results
from benchmarks.report import nanos_text, table
from pyflow.table.functions.settings import FunctionSettings
from pyflow.table.types import from_spark
from pyflow.table.udf import ScalarFunction, udf

cloudpickle.register_pickle_by_value(sys.modules[__name__])

MODES = ("shared", "isolated", "arrow")


class Increment(ScalarFunction):
    def eval(self, x: int) -> int:
        return x + 1


class Upper(ScalarFunction):
    def eval(self, x: str) -> str:
        return x.upper()


class Json(ScalarFunction):
    def eval(self, x: str) -> str:
        return json.dumps({key.lower(): value for key, value in json.loads(x).items()})


_DOCUMENT = json.dumps({f"KEY{i}": "v" * 40 for i in range(18)})

# Rows, the column they have, the function, its type.
CASES: dict[str, tuple[int, Callable[[], Column], ScalarFunction, str]] = {
    "`x + 1` on longs": (3_000_000, lambda: sf.col("id"), Increment(), "BIGINT"),
    "`str.upper`": (2_000_000, lambda: sf.format_string("row %d", "id"), Upper(), "STRING"),
    "JSON of 1 kB": (100_000, lambda: sf.lit(_DOCUMENT), Json(), "STRING"),
}


def _frames(session: SparkSession, case: str, scale: float) -> tuple[int, DataFrame]:
    rows, column, _, _ = CASES[case]
    rows = int(rows * scale)
    frame = session.range(rows, numPartitions=1).select(column().alias("x")).cache()
    frame.write.format("noop").mode("overwrite").save()
    return rows, frame


def _called(frame: DataFrame, case: str, plain: bool) -> DataFrame:
    _, _, function, returns = CASES[case]
    if plain:
        made = sf.udf(function.eval, {"BIGINT": "long"}.get(returns, returns), useArrow=True)
        return frame.select(made("x").alias("result"))
    types = [from_spark(frame.schema["x"].dataType)]
    wrapper = udf(function, result_type=returns)
    settings = FunctionSettings(frame.sparkSession)
    return frame.select(wrapper.column([sf.col("x")], types, settings, ["x"]).alias("result"))


def _nanos_per_row(frame: DataFrame, rows: int) -> float:
    start = time.perf_counter_ns()
    frame.write.format("noop").mode("overwrite").save()
    return (time.perf_counter_ns() - start) / rows


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all cases."""
    session = start_session("local[1]")
    raw = new_results(session, options.rounds)
    for case in CASES:
        rows, frame = _frames(session, case, options.scale)
        for name in MODES:
            mode = BY_NAME[name]
            choose(session, mode)
            both = {
                "udf": _called(frame, case, plain=True),
                "ScalarFunction": _called(frame, case, plain=False),
            }
            for called in both.values():
                check_plan(called, mode)
                _nanos_per_row(called, rows)
            for number in range(options.rounds):
                order = list(both) if number % 2 else list(reversed(both))
                figures = {way: _nanos_per_row(both[way], rows) for way in order}
                raw["samples"].append({"case": case, "mode": name, "ways": figures})
            print(f"{case} {name}", file=sys.stderr, flush=True)
        frame.unpersist()
    session.stop()
    return raw


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "Time per row on `local[1]` over cached rows, planning included. Medians of "
        f"{raw['rounds']} rounds, each of which measures both ways, in turns first; the difference "
        "is the median of those of the rounds."
    )
    yield ""
    rows = []
    for case in CASES:
        for name in MODES:
            ways = [
                sample["ways"]
                for sample in raw["samples"]
                if (sample["case"], sample["mode"]) == (case, name)
            ]
            if ways:
                ratio = median(way["ScalarFunction"] / way["udf"] for way in ways)
                rows.append(
                    [
                        case,
                        BY_NAME[name].title,
                        nanos_text(median(way["udf"] for way in ways)),
                        nanos_text(median(way["ScalarFunction"] for way in ways)),
                        f"{100 * (ratio - 1):+.1f} %",
                    ]
                )
    yield from table(("", "mode", "`udf`", "`ScalarFunction`", "difference"), iter(rows))


PAGE = Page("table_functions", "benchmarks.table_functions", "Functions of the Table API", _body)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, scale=1.0)


if __name__ == "__main__":
    main()
