"""Classic sessions one after another in one JVM, which all use the same names.

    python sessions_in_turn.py

Broadcast ids begin anew, a large function travels as a broadcast, modules and files change under
their names, accumulators are counted from 0, and the jobs and queries of some sessions are
cancelled when they stop. Prints what was wrong, and ALL RIGHT if nothing was.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pandas as pd
from findings import report
from pyspark import SparkFiles, cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf, udf
from pyspark.sql.pandas.functions import PandasUDFType

import comparison
import sessions

SESSIONS = 3

cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Kept:
    """A class that travels by value."""

    number = -1


def add_files(spark: SparkSession, number: int, where: Path) -> None:
    where.mkdir()
    (where / "in_turn.py").write_text(f"NUMBER = {number}\n")
    package = where / "in_turn_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text(f"NUMBER = {number}\n")
    with zipfile.ZipFile(where / "in_turn_package.zip", "w") as packed:
        for file in package.iterdir():
            packed.write(file, f"in_turn_package/{file.name}")
    (where / "in_turn.txt").write_text(str(number))
    spark.sparkContext.addPyFile(str(where / "in_turn.py"))
    spark.sparkContext.addPyFile(str(where / "in_turn_package.zip"))
    spark.sparkContext.addFile(str(where / "in_turn.txt"))


def functions(spark: SparkSession, number: int):
    """Functions that all return `number`, by name."""
    variable = spark.sparkContext.broadcast([number] * 1000)
    Kept.number = number

    def broadcast(n):
        return variable.value[n]

    ballast = os.urandom(3 << 19)

    def large(n):
        return number + 0 * len(ballast)

    def module(n):
        import in_turn

        return in_turn.NUMBER

    def package(n):
        from in_turn_package.part import NUMBER

        return NUMBER

    def file(n):
        with open(SparkFiles.get("in_turn.txt")) as opened:
            return int(opened.read())

    def class_of_program(n):
        return Kept.number

    return [broadcast, large, module, package, file, class_of_program]


def check(spark: SparkSession, number: int) -> list[str]:
    wrong = []
    for function in functions(spark, number):

        def of_column(column: pd.Series, function=function) -> pd.Series:
            return column.map(function)

        kinds = {
            "pickled": udf(function, "long", useArrow=False),
            "arrow": udf(function, "long", useArrow=True),
            "pandas": pandas_udf(of_column, "long", PandasUDFType.SCALAR),
        }
        for kind, made in kinds.items():
            for mode in comparison.thread_modes():
                with comparison.settings(spark, mode):
                    rows = spark.range(20, numPartitions=2).select(made("id"))
                    try:
                        found = {row[0] for row in rows.collect()}
                    except Exception as error:
                        found = {str(error)[:2000]}
                if found != {number}:
                    wrong.append(f"session {number}: {function.__name__}, {kind}, {mode}: {found}")
    wrong += check_accumulator(spark, number)
    return wrong


def check_accumulator(spark: SparkSession, number: int) -> list[str]:
    wrong = []
    for mode in comparison.thread_modes():
        total = spark.sparkContext.accumulator(0)
        add = udf(lambda n, total=total: total.add(1), "long")
        with comparison.settings(spark, mode):
            spark.range(50, numPartitions=2).select(add("id")).collect()
        if total.value != 50:
            wrong.append(f"session {number}: accumulator, {mode}: {total.value}")
    return wrong


def check_memory(spark: SparkSession) -> list[str]:
    """Stop the session, and see that Python lets go of a large variable."""
    numbers = spark.sparkContext.broadcast(list(range(1_000_000)))
    for mode in comparison.thread_modes():
        with comparison.settings(spark, mode):
            f = udf(lambda n: numbers.value[n], "long")
            spark.range(20, numPartitions=2).select(f("id")).collect()
    python = spark._jvm.io.pyflow.bridge.PythonRuntime
    before = python.memoryBytes()
    spark.stop()
    freed = before - python.memoryBytes()
    # Without a GIL CPython has an allocator that nothing counts.
    is_right = before == 0 if sessions.FREE_THREADED else freed > 30 << 20
    return [] if is_right else [f"{freed} of {before} bytes freed after the session"]


def leave_running(spark: SparkSession) -> None:
    """Begin jobs that end when the session is stopped, which fails them."""
    begun = threading.Event()

    def never_ends(n):
        import time

        while True:
            time.sleep(0.01)

    def run() -> None:
        begun.set()
        with contextlib.suppress(Exception):
            spark.range(1, numPartitions=1).select(udf(never_ends)("id")).collect()

    with comparison.settings(spark, {sessions.MODE: "thread"}):
        threading.Thread(target=run, daemon=True).start()
        begun.wait()
        while not spark.sparkContext.statusTracker().getActiveStageIds():
            pass


def leave_query(spark: SparkSession) -> None:
    """Begin a query that has interpreters of its own when the session is stopped."""
    settings = {sessions.MODE: "thread", "spark.pyflow.interpreter.kept": "true"}
    with comparison.settings(spark, settings):
        rows = spark.readStream.format("rate").options(numPartitions=2, rowsPerSecond=20).load()
        made = rows.select(udf(lambda value: value, "long")("value"))
        query = made.writeStream.format("noop").start()

    def has_run():
        return any(progress["numInputRows"] > 0 for progress in query.recentProgress)

    sessions.wait_until(has_run, "a batch with rows has ended", 60)


def interpreters(spark: SparkSession) -> int:
    return spark._jvm.io.pyflow.bridge.PythonRuntime.isolatedInterpreters()


def main() -> None:
    wrong = []
    spark = sessions.start()
    spark.sparkContext.setLogLevel("OFF")
    leave_query(spark)
    of_query = interpreters(spark)
    spark.stop()
    with tempfile.TemporaryDirectory() as where:
        for number in range(SESSIONS):
            spark = sessions.start()
            spark.sparkContext.setLogLevel("OFF")
            add_files(spark, number, Path(where) / str(number))
            wrong += check(spark, number)
            if number == 0 and interpreters(spark) > of_query:
                wrong.append(f"{interpreters(spark)} interpreters, a query had {of_query} before")
            if number % 2:
                leave_running(spark)
            wrong += check_memory(spark)
    report(wrong)


if __name__ == "__main__":
    main()
