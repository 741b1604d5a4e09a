"""Where every kind of function runs under every setting, in batch and in streaming queries.

The tables of docs/kinds.md are what this test has seen, in the newest Spark and in each:
``pytest tests/test_matrix.py --write-docs`` writes the first one, and a column of the second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.functions import PandasUDFType, arrow_udf, col, pandas_udf, udf, udtf
from pyspark.sql.pandas.functions import ArrowUDFType
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout

from comparison import INTERPRETERS, in_process, in_thread, settings
from pyflow.cli.doctor import SPARK_MINORS
from sessions import INTERPRETER, MODE, OWN_GIL, SPARK
from stateful_streams import ROCKSDB

PAGE = Path(__file__).parent.parent / "docs" / "kinds.md"
BEGIN = "<!-- written by tests/test_matrix.py --write-docs -->\n"
BEGIN_OF_VERSIONS = "<!-- versions, written by tests/test_matrix.py --write-docs -->\n"
END = "<!-- end -->\n"

VERSIONS = [f"Spark {minor}" for minor in SPARK_MINORS]
THIS_SPARK = "Spark {}.{}".format(*SPARK)
WORKS, IN_PROCESS_MODE, NOT_THERE = "works", "process mode", "not in this Spark"

MODES = {
    "process": {MODE: "process"},
    "thread, shared": {MODE: "thread", INTERPRETER: "shared"},
    "thread, isolated": {MODE: "thread", INTERPRETER: "isolated"},
}
REFUSED = "-"


class Words:
    def eval(self, text: str):
        yield from ((word,) for word in text.split())


class Sum:
    def __init__(self):
        self._sum = 0

    def eval(self, row):
        self._sum += row["n"]

    def terminate(self):
        yield (str(self._sum),)


class Upper:
    def eval(self, table: pa.RecordBatch):
        yield pa.table({"word": pc.utf8_upper(table["s"])})


def lateral(function: Callable[..., DataFrame], frame: DataFrame) -> DataFrame:
    return frame.lateralJoin(function(col("s").outer())).select("n", "word")


def of_table(frame: DataFrame) -> DataFrame:
    function = udtf(Sum, returnType="word string", useArrow=False)
    return function(frame.asTable().partitionBy("k"))


class Counter(StatefulProcessor):
    """Counts the rows of a key."""

    def init(self, handle):
        self._count = handle.getValueState("count", "n long")

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803
        yield Row(k=int(key[0]), rows=self.added(sum(1 for _ in rows)))

    def added(self, rows):
        (count,) = self._count.get() or (0,)
        self._count.update((count + rows,))
        return count + rows


class FrameCounter(Counter):
    """The same of data frames; pandas, which it mentions, needs the shared interpreter."""

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803
        counted = self.added(sum(map(len, rows)))
        yield pd.DataFrame([{"k": int(key[0]), "rows": counted}])


def with_state(key, frames, state):
    total = (state.get[0] if state.exists else 0) + sum(len(frame) for frame in frames)
    state.update((total,))
    yield pd.DataFrame({"k": [key[0]], "rows": [total]})


def rows_in_batches(batches: Iterator[pd.Series]) -> int:
    return sum(map(len, batches))


def rows_in_arrow_batches(batches: Iterator[pa.Array]) -> int:
    return sum(map(len, batches))


PROGRAMS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "`udf`, pickled": lambda f: f.select(udf(str.upper, useArrow=False)("s")),
    "`udf`, Arrow-optimised": lambda f: f.select(udf(str.upper, useArrow=True)("s")),
    "`pandas_udf`": lambda f: f.select(
        pandas_udf(lambda n: n + 1, "long", PandasUDFType.SCALAR)("n")
    ),
    "`pandas_udf`, iterator": lambda f: f.select(
        pandas_udf(lambda parts: (n + 1 for n in parts), "long", PandasUDFType.SCALAR_ITER)("n")
    ),
    "`arrow_udf`": lambda f: f.select(
        arrow_udf(lambda n: pc.add(n, 1), "long", ArrowUDFType.SCALAR)("n")
    ),
    "`arrow_udf`, iterator": lambda f: f.select(
        arrow_udf(lambda parts: (pc.add(n, 1) for n in parts), "long", ArrowUDFType.SCALAR_ITER)(
            "n"
        )
    ),
    "`pandas_udf`, aggregate": lambda f: f.groupBy("k").agg(
        pandas_udf(lambda n: n.mean(), "double", PandasUDFType.GROUPED_AGG)("n")
    ),
    "`arrow_udf`, aggregate": lambda f: f.groupBy("k").agg(
        arrow_udf(lambda n: pc.max(n), "long", ArrowUDFType.GROUPED_AGG)("n")
    ),
    "`pandas_udf`, aggregate of an iterator": lambda f: f.groupBy("k").agg(
        pandas_udf(rows_in_batches, "long")("n")
    ),
    "`arrow_udf`, aggregate of an iterator": lambda f: f.groupBy("k").agg(
        arrow_udf(rows_in_arrow_batches, "long")("n")
    ),
    "`pandas_udf`, window": lambda f: f.withColumn(
        "m",
        pandas_udf(lambda n: n.mean(), "double", PandasUDFType.GROUPED_AGG)("n").over(
            Window.partitionBy("k").orderBy("n").rowsBetween(-1, 0)
        ),
    ),
    "`arrow_udf`, window": lambda f: f.withColumn(
        "m",
        arrow_udf(lambda n: pc.max(n), "long", ArrowUDFType.GROUPED_AGG)("n").over(
            Window.partitionBy("k")
        ),
    ),
    "`udtf`": lambda f: lateral(udtf(Words, returnType="word string", useArrow=False), f),
    "`udtf`, Arrow-optimised": lambda f: lateral(
        udtf(Words, returnType="word string", useArrow=True), f
    ),
    "`udtf` of a table, by partition": of_table,
    "`arrow_udtf` of a table": lambda f: F.arrow_udtf(Upper, returnType="word string")(f.asTable()),
    "`mapInPandas`": lambda f: f.mapInPandas(lambda parts: parts, f.schema),
    "`mapInArrow`": lambda f: f.mapInArrow(lambda parts: parts, f.schema),
    "`applyInPandas`": lambda f: f.groupBy("k").applyInPandas(lambda group: group, f.schema),
    "`applyInArrow`": lambda f: f.groupBy("k").applyInArrow(lambda group: group, f.schema),
    "`cogroup().applyInPandas`": lambda f: (
        f.groupBy("k").cogroup(f.groupBy("k")).applyInPandas(lambda one, other: one, f.schema)
    ),
    "`cogroup().applyInArrow`": lambda f: (
        f.groupBy("k").cogroup(f.groupBy("k")).applyInArrow(lambda one, other: one, f.schema)
    ),
    "`transformWithState`": lambda f: f.groupBy("k").transformWithState(
        Counter(), "k long, rows long", "append", "none"
    ),
    "`transformWithStateInPandas`": lambda f: f.groupBy("k").transformWithStateInPandas(
        FrameCounter(), "k long, rows long", "append", "none"
    ),
    "`applyInPandasWithState`": lambda f: f.groupBy("k").applyInPandasWithState(
        with_state, "k long, rows long", "rows long", "update", GroupStateTimeout.NoTimeout
    ),
}


#: Kinds whose queries have no other output mode.
UPDATING = {"`applyInPandasWithState`"}

FOREACH = "`foreach` of a stream"
PROGRAMS[FOREACH] = lambda f: f.select("k", "n")


def where(plan: str, mode: str) -> str:
    """Where the functions of a plan run; the plan says it, not the setting."""
    if not in_thread(plan):
        assert in_process(plan) or "ForeachWrite" in plan, plan
        assert (mode == "thread") == bool(re.search(r"ProcessMode .* reason: ", plan)), plan
        return "workers"
    assert not in_process(plan), plan
    (interpreter,) = set(re.findall(r"interpreter: (\w+)", plan))
    return interpreter


class ToFile:
    """A sink of `foreach` that appends rows to a file."""

    def __init__(self, path: Path):
        self._path = path

    def process(self, row):
        with self._path.open("a") as file:
            file.write(f"{row}\n")


def in_batch(spark: SparkSession, kind: str, stored: str):
    if kind == FOREACH:
        return REFUSED, None
    frame = PROGRAMS[kind](spark.read.parquet(stored))
    rows = sorted(frame.collect(), key=repr)
    plan = frame._jdf.queryExecution().executedPlan().toString()
    return where(plan, spark.conf.get(MODE)), rows


def in_stream(spark: SparkSession, kind: str, stored: str):
    source = spark.readStream.schema("k long, n long, s string").parquet(stored)
    writer = PROGRAMS[kind](source).writeStream.trigger(availableNow=True)
    written = Path(f"{stored}-written")
    if kind == FOREACH:
        written.unlink(missing_ok=True)
        writer = writer.foreach(ToFile(written))
    else:
        writer = writer.format("memory").queryName("matrix")
    query = writer.outputMode("update" if kind in UPDATING else "append").start()
    query.awaitTermination()
    if kind == FOREACH:
        rows = sorted(written.read_text().splitlines())
    else:
        rows = sorted(spark.table("matrix").collect(), key=repr)
    plan = query._jsq.streamingQuery().lastExecution().executedPlan().toString()
    return where(plan, spark.conf.get(MODE)), rows


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return str(tmp_path_factory.mktemp("matrix") / "rows")


def observed(spark: SparkSession, kind: str, stored: str) -> list[str]:
    if not Path(stored).exists():
        spark.range(20, numPartitions=1).selectExpr(
            "id % 3 as k", "id as n", "concat('a word ', id) as s"
        ).write.parquet(stored)
    cells = []
    for run in (in_batch, in_stream):
        expected = None
        for mode, conf in MODES.items():
            if "isolated" in mode and len(INTERPRETERS) == 1:
                continue
            with settings(spark, {**conf, **ROCKSDB, "spark.sql.shuffle.partitions": "1"}):
                try:
                    cell, rows = run(spark, kind, stored)
                except (AnalysisException, PySparkException, Py4JJavaError) as error:
                    # Spark has no such query, whatever the mode.
                    text = str(error)
                    assert "UNSUPPORTED" in text.upper() or "not supported" in text, text
                    cell, rows = REFUSED, None
                cells.append(cell)
                expected = rows if mode == "process" else expected
                assert rows == expected, mode
    return cells


def summary(cells: list[str]) -> str:
    """What thread mode does with a kind in this version of Spark."""
    # Of a batch and of a stream; without own GILs there are no isolated interpreters.
    modes = len(cells) // 2
    in_thread_mode = {cell for i, cell in enumerate(cells) if i % modes} - {REFUSED}
    if not in_thread_mode:
        return NOT_THERE
    return IN_PROCESS_MODE if "workers" in in_thread_mode else WORKS


@pytest.mark.complete("iterator", "InPandas", "InArrow", "window", "by partition")
@pytest.mark.slice
@pytest.mark.parametrize("kind", PROGRAMS)
def test_where_it_runs(spark, kind, stored, request):
    cells = observed(spark, kind, stored)
    if request.config.getoption("--write-docs"):
        write(kind, cells)
    of_versions = dict(zip(VERSIONS, table(BEGIN_OF_VERSIONS)[kind]))
    assert summary(cells) == of_versions[THIS_SPARK]
    if of_versions[THIS_SPARK] == of_versions[VERSIONS[0]]:
        documented = table(BEGIN)[kind]
        if not OWN_GIL:
            documented = [cell for i, cell in enumerate(documented) if i % 3 != 2]
        assert cells == documented


def table(begin: str) -> dict[str, list[str]]:
    """The documented cells, by kind."""
    text = PAGE.read_text().split(begin)[1].split(END)[0]
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines()]
    return {row[0]: row[1:] for row in rows[2:]}


def write(kind: str, cells: list[str]) -> None:
    """Write the row of a kind, that of the versions as far as it is of this one."""
    of_versions = dict(zip(VERSIONS, table(BEGIN_OF_VERSIONS).get(kind, [""] * len(VERSIONS))))
    of_versions[THIS_SPARK] = summary(cells)
    write_row(BEGIN_OF_VERSIONS, VERSIONS, kind, list(of_versions.values()))
    if VERSIONS[0] == THIS_SPARK:
        columns = [f"{run}: {mode}" for run in ("batch", "stream") for mode in MODES]
        write_row(BEGIN, columns, kind, cells)


def write_row(begin: str, columns: list[str], kind: str, cells: list[str]) -> None:
    """Replace or add a row of a table."""
    before, rest = PAGE.read_text().split(begin)
    rows = {**table(begin), kind: cells}
    lines = [["", *columns], ["---"] * (1 + len(columns))]
    lines += [[name, *rows[name]] for name in PROGRAMS if name in rows]
    written = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    PAGE.write_text(before + begin + written + END + rest.split(END, 1)[1])


@pytest.mark.slice
@pytest.mark.parametrize("begin", [BEGIN, BEGIN_OF_VERSIONS], ids=["modes", "versions"])
def test_no_kind_is_missing(begin):
    assert list(table(begin)) == list(PROGRAMS)
