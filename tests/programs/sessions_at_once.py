"""Sessions of a Spark Connect server, beside each other and in turn, which all use the same names.

    python sessions_at_once.py URL

Prints what was wrong, and ALL RIGHT if nothing was.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from findings import report
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf, udf
from pyspark.sql.pandas.functions import PandasUDFType
from pyspark.sql.types import LongType

import sessions

CLIENTS = 2
TURNS = 2
ROWS = 100


class Client:
    """A session whose functions, files and classes have the names of all the others'."""

    def __init__(self, spark: SparkSession, number: int, where: Path) -> None:
        self.wrong: list[str] = []
        self._spark = spark
        self._number = number
        where.mkdir()
        (where / "at_once.txt").write_text(str(number))
        (where / "at_once.py").write_text(f"NUMBER = {number}\n")
        spark.addArtifacts(str(where / "at_once.txt"), file=True)

    def run(self) -> None:
        for interpreter in ("auto", "shared"):
            self._spark.conf.set(sessions.MODE, "thread")
            self._spark.conf.set(sessions.INTERPRETER, interpreter)
            for function in self._functions():
                self._check(interpreter, function)

    def add_module(self) -> None:
        """Add a Python file, and see that functions import it."""
        where = Path(tempfile.mkdtemp())
        (where / "at_once.py").write_text(f"NUMBER = {self._number}\n")
        self._spark.addArtifacts(str(where / "at_once.py"), pyfile=True)

        def module(n):
            import at_once

            return at_once.NUMBER

        self._check("auto", module)

    def cancel(self) -> None:
        """Have a job that never ends interrupted."""

        def never_ends(n):
            import time

            while True:
                time.sleep(0.01)

        def run() -> None:
            try:
                self._spark.range(1).select(udf(never_ends, LongType())("id")).collect()
            except Exception:
                return
            self.wrong.append(f"session {self._number}: the cancelled job has not failed")

        running = threading.Thread(target=run)
        running.start()
        while running.is_alive():
            self._spark.interruptAll()
            running.join(0.3)

    def stop(self) -> None:
        self._spark.stop()

    def _functions(self):
        number = self._number

        def file(n):
            with open(SparkFiles.get("at_once.txt")) as opened:
                return int(opened.read())

        def root(n):
            with open(os.path.join(SparkFiles.getRootDirectory(), "at_once.txt")) as opened:
                return int(opened.read())

        ballast = os.urandom(3 << 19)

        def large(n):
            return number + 0 * len(ballast)

        held = type("Held", (), {"number": number})

        def class_of_program(n):
            return held.number

        return [file, root, large, class_of_program]

    def _check(self, interpreter: str, function) -> None:
        def of_column(column):
            return column.map(function)

        for kind in ("pickled", "arrow", "pandas"):
            if kind == "pandas":
                made = pandas_udf(of_column, LongType(), PandasUDFType.SCALAR)
            else:
                made = udf(function, LongType(), useArrow=kind == "arrow")
            rows = self._spark.range(ROWS, numPartitions=2).select(made("id"))
            try:
                found = [row[0] for row in rows.collect()]
            except Exception as error:
                found = [str(error)[:2000]]
            if found != [self._number] * ROWS:
                few = sorted(set(found), key=str)[:5]
                self.wrong.append(
                    f"session {self._number}: {function.__name__}, {kind}, {interpreter}: {few}"
                )


def main(url: str) -> None:
    wrong = []
    with tempfile.TemporaryDirectory() as where:
        for turn in range(TURNS):
            clients = [
                Client(SparkSession.builder.remote(url).create(), number, Path(where) / str(number))
                for number in range(turn * CLIENTS, (turn + 1) * CLIENTS)
            ]
            threads = [threading.Thread(target=client.run) for client in clients]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for client in clients:
                client.cancel()
                client.add_module()
                client.stop()
                wrong += client.wrong
    report(wrong)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(240, exit=True)
    main(sys.argv[1])
