"""Sessions of a Spark Connect server with different modules of one name, in turn and at once.

    python modules_of_sessions.py URL

Prints what was wrong, and ALL RIGHT if nothing was.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from findings import report
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf, udf, udtf
from pyspark.sql.pandas.functions import PandasUDFType

import sessions

ROUNDS = 3
ROWS = 20


def version(n):
    try:
        import versioned
        from versioned_package import part
    except ImportError as error:
        return f"{error.name} is not there"
    return f"{versioned.NUMBER} {part.NUMBER}"


def place(n):
    return f"{version(n)} in {os.path.basename(os.path.realpath('/proc/self/exe'))}"


def with_extension(n):
    import numpy as np

    return f"{int(np.int64(1))} {place(n)}"


class Versions:
    def eval(self, n: int):
        yield (place(n),)


def of_series(column):
    return column.map(version)


class Client:
    """A session, with modules unless it has no number."""

    def __init__(self, url: str, number: int | None, where: Path) -> None:
        self.spark = SparkSession.builder.remote(url).create()
        self.spark.conf.set(sessions.MODE, "thread")
        self.wrong: list[str] = []
        self._expected = "versioned is not there"
        if number is not None:
            self._expected = f"{number} {number}"
            where.mkdir()
            (where / "versioned.py").write_text(f"NUMBER = {number}\n")
            with zipfile.ZipFile(where / "package.zip", "w") as file:
                file.writestr("versioned_package/__init__.py", "")
                file.writestr("versioned_package/part.py", f"NUMBER = {number}\n")
            paths = (str(where / name) for name in ("versioned.py", "package.zip"))
            self.spark.addArtifacts(*paths, pyfile=True)
        self._has_modules = number is not None

    def run(self) -> None:
        python = os.path.basename(os.path.realpath(sys.executable))
        workers = python if self._has_modules else "java"
        for use_arrow in (True, False):
            self._check(udf(place, useArrow=use_arrow), f"{self._expected} in java")
            extension = udf(with_extension, useArrow=use_arrow)
            self._check(extension, f"1 {self._expected} in {workers}")
        self._check(pandas_udf(of_series, "string", PandasUDFType.SCALAR), self._expected)
        self.spark.udtf.register("versions", udtf(Versions, returnType="v string", useArrow=False))
        query = "SELECT v FROM range(5), LATERAL versions(id)"
        self._compare("table function", self.spark.sql(query), f"{self._expected} in java")

    def _check(self, function, expected: str) -> None:
        rows = self.spark.range(ROWS, numPartitions=2).select(function("id"))
        self._compare(function.__name__, rows, expected)

    def _compare(self, name: str, rows, expected: str) -> None:
        try:
            found = {row[0] for row in rows.collect()}
        except Exception as error:
            found = {str(error)[:2000]}
        if found != {expected}:
            self.wrong.append(f"{name}: {sorted(found)} is not {expected!r}")


def main(url: str) -> None:
    with tempfile.TemporaryDirectory() as where:
        numbers = (1, 2, None)
        clients = [Client(url, number, Path(where) / str(number)) for number in numbers]
        for _ in range(ROUNDS):
            for client in clients:
                client.run()
        threads = [threading.Thread(target=client.run) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wrong = [each for client in clients for each in client.wrong]
        for client in clients:
            client.spark.stop()
    report(wrong)


if __name__ == "__main__":
    main(sys.argv[1])
