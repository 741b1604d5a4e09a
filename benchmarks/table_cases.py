"""Jobs of the Table API that run in PyFlow and in PyFlink alike.

``python table_cases.py PACKAGE`` runs those it is asked for: each line of standard input is a JSON
object with ``case``, ``mode`` (``thread`` or ``process``), ``rows``, ``broker`` (the address of a
Kafka broker whose topic ``numbers-ROWS`` has so many rows) and ``jars`` (of its connector); each
answer has ``seconds`` from the submission of the job to its end. The package is ``pyflow`` or
``pyflink``.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any

KEYS = 100_000

_SEQUENCE = """(id BIGINT) WITH (
    'connector' = 'datagen', 'rows-per-second' = '1000000000', 'fields.id.kind' = 'sequence',
    'fields.id.start' = '1', 'fields.id.end' = '{rows}', 'number-of-rows' = '{rows}')"""
_TOPIC = """(id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH (
    'connector' = 'kafka', 'topic' = 'numbers-{rows}', 'format' = 'json',
    'properties.bootstrap.servers' = '{broker}', 'properties.group.id' = 'numbers',
    'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset')"""


@dataclass(frozen=True)
class TableCase:
    """A job: a query over the numbers of its rows.

    Attributes
    ----------
    name, title : str
    rows : int
        How many, in a whole run.
    columns : str
        Of the table that ``query`` reads, of the columns of ``source``.
    query : str
        Over a table ``numbers``, with a function ``f``.
    result : str
        The columns of the sink.
    source : str
        Columns and options of the table that is read, with ``rows`` and ``broker`` in braces.
    batch : bool
        Whether it runs in batch mode; otherwise in streaming mode.
    fails : tuple of tuple
        The packages and modes that it fails in.
    """

    name: str
    title: str
    rows: int
    columns: str
    query: str
    result: str
    source: str = _SEQUENCE
    batch: bool = False
    fails: tuple[tuple[str, str], ...] = ()

    @property
    def reads_kafka(self) -> bool:
        """Whether it reads a topic."""
        return self.source == _TOPIC


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
            100_000,
            f"MOD(id, {KEYS}) AS k, id AS x",
            "SELECT k, f(x) FROM numbers GROUP BY k",
            "k BIGINT, r DOUBLE",
        ),
        # PyFlink has no other Python aggregates in batch mode.
        TableCase(
            "pandas-aggregate",
            "pandas aggregate per key, 10,000 keys, batch mode",
            100_000,
            "MOD(id, 10000) AS k, id AS x",
            "SELECT k, f(x) FROM numbers GROUP BY k",
            "k BIGINT, r DOUBLE",
            batch=True,
        ),
        TableCase(
            "windows",
            "windowed count from Kafka",
            1_000_000,
            "f(id) AS k, ts",
            """SELECT window_start, k, COUNT(*)
               FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
               GROUP BY window_start, window_end, k""",
            "since TIMESTAMP(3), k BIGINT, n BIGINT",
            _TOPIC,
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

    def last_digit(x: int) -> int:
        return x % 10

    def split(x: str) -> Any:
        yield from x.split(" ")

    def mean(x: Any) -> float:
        return float(x.mean())

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
        "pandas-aggregate": api.udaf(mean, result_type="DOUBLE", func_type="pandas"),
        "windows": api.udf(last_digit, result_type="BIGINT"),
    }


class Jobs:
    """Runs cases in one package.

    Parameters
    ----------
    package : str
    """

    def __init__(self, package: str) -> None:
        self._api = import_module(f"{package}.table")
        self._configuration = import_module(f"{package}.common").Configuration
        self._functions = functions_of(package)

    def seconds(self, request: dict[str, Any]) -> float:
        """Run a case."""
        case = CASES[request["case"]]
        # Spark's JVM is started with the jars, for the first job.
        started = self._configuration().set_string("pipeline.jars", request["jars"])
        builder = self._api.EnvironmentSettings.new_instance().with_configuration(started)
        mode = builder.in_batch_mode() if case.batch else builder.in_streaming_mode()
        environment = self._api.TableEnvironment.create(mode.build())
        for key, value in {
            "parallelism.default": "2",
            "python.execution-mode": request["mode"],
            "pipeline.object-reuse": "true",
        }.items():
            environment.get_config().set(key, value)
        if case.reads_kafka:
            environment.get_config().set("pipeline.jars", request["jars"])
        environment.create_temporary_system_function("f", self._functions[case.name])
        source = case.source.format(rows=request["rows"], broker=request["broker"])
        environment.execute_sql(f"CREATE TEMPORARY TABLE source {source}")
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
        print(json.dumps({"seconds": jobs.seconds(json.loads(line))}), flush=True)


if __name__ == "__main__":
    main()
