"""Jobs of the Table API that run in PyFlow and in PyFlink alike.

``python table_cases.py PACKAGE`` runs those it is asked for: each line of standard input is a JSON
object with ``case``, ``mode`` (``thread`` or ``process``) and ``rows``; each answer has ``seconds``
from the submission of the job to its end. The package is ``pyflow`` or ``pyflink``.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any

KEYS = 100_000


@dataclass(frozen=True)
class TableCase:
    """A job: a query over the numbers of its rows.

    Attributes
    ----------
    name, title : str
    rows : int
        How many, in a whole run.
    columns : str
        Of the table that ``query`` reads, of a column ``id``.
    query : str
        Over a table ``numbers``, with a function ``f``.
    result : str
        The columns of the sink.
    """

    name: str
    title: str
    rows: int
    columns: str
    query: str
    result: str


CASES = {
    case.name: case
    for case in (
        TableCase("long", "`x + 1`", 5_000_000, "id", "SELECT f(id) FROM numbers", "r BIGINT"),
        TableCase(
            "json",
            "JSON of 1 kB",
            300_000,
            """CONCAT('{"ID": ', CAST(id AS STRING), ', "TEXT": "', REPEAT('x', 970), '"}') AS x""",
            "SELECT f(x) FROM numbers",
            "r STRING",
        ),
        TableCase(
            "table-function",
            "table function, four rows of one",
            1_000_000,
            "CONCAT('a b c ', CAST(id AS STRING)) AS x",
            "SELECT word FROM numbers, LATERAL TABLE(f(x)) AS t(word)",
            "r STRING",
        ),
        TableCase(
            "aggregate",
            f"aggregate per key, {KEYS:,} keys",
            1_000_000,
            f"MOD(id, {KEYS}) AS k, id AS x",
            "SELECT k, f(x) FROM numbers GROUP BY k",
            "k BIGINT, r DOUBLE",
        ),
    )
}


def functions_of(package: str) -> dict[str, Any]:
    """Return the function of each case, made by a package."""
    api = import_module(f"{package}.table.udf")

    def increment(x: int) -> int:
        return x + 1

    def lower_keys(x: str) -> str:
        return json.dumps({key.lower(): value for key, value in json.loads(x).items()})

    def split(x: str) -> Any:
        yield from x.split(" ")

    class Mean(api.AggregateFunction):  # type: ignore[misc, name-defined]
        def create_accumulator(self) -> Any:
            return [0, 0]

        def accumulate(self, accumulator: Any, x: int) -> None:
            accumulator[0] += x
            accumulator[1] += 1

        def get_value(self, accumulator: Any) -> float | None:
            # PyFlink asks for the value of no rows, too.
            return accumulator[0] / accumulator[1] if accumulator[1] else None

        def get_result_type(self) -> str:
            return "DOUBLE"

        def get_accumulator_type(self) -> str:
            return "ARRAY<BIGINT>"

    return {
        "long": api.udf(increment, result_type="BIGINT"),
        "json": api.udf(lower_keys, result_type="STRING"),
        "table-function": api.udtf(split, result_types="STRING"),
        "aggregate": api.udaf(Mean(), result_type="DOUBLE", accumulator_type="ARRAY<BIGINT>"),
    }


class Jobs:
    """Runs cases in one package.

    Parameters
    ----------
    package : str
    """

    def __init__(self, package: str) -> None:
        self._api = import_module(f"{package}.table")
        self._functions = functions_of(package)

    def seconds(self, name: str, mode: str, rows: int) -> float:
        """Run a case in an execution mode over so many rows."""
        case = CASES[name]
        environment = self._api.TableEnvironment.create(
            self._api.EnvironmentSettings.in_streaming_mode()
        )
        for key, value in {
            "parallelism.default": "2",
            "python.execution-mode": mode,
            "pipeline.object-reuse": "true",
        }.items():
            environment.get_config().set(key, value)
        environment.create_temporary_system_function("f", self._functions[name])
        environment.execute_sql(
            "CREATE TEMPORARY TABLE source (id BIGINT) WITH ('connector' = 'datagen', "
            "'rows-per-second' = '1000000000', 'fields.id.kind' = 'sequence', "
            f"'fields.id.start' = '1', 'fields.id.end' = '{rows}')"
        )
        environment.execute_sql(
            f"CREATE TEMPORARY TABLE sink ({case.result}) WITH ('connector' = 'blackhole')"
        )
        numbers = environment.sql_query(f"SELECT {case.columns} FROM source")
        environment.create_temporary_view("numbers", numbers)
        start = time.perf_counter()
        environment.execute_sql(f"INSERT INTO sink {case.query}").wait()
        return time.perf_counter() - start


def main() -> None:
    """Answer requests until standard input ends."""
    jobs = Jobs(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        seconds = jobs.seconds(request["case"], request["mode"], request["rows"])
        print(json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
