"""Functions that import late what isolated interpreters refuse: `late_imports.py MASTER`.

None of what they do happens twice, and nothing that they keep is lost.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "modules"))

from pyspark import TaskContext
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

import comparison
import lazy_roots
import sessions

ROWS = 1000


def in_body(n):
    import numpy as np

    return float(np.sqrt(n * n))


def in_helper(n):
    return in_body(n)


class Method:
    def root(self, n):
        return in_body(n)


def in_method(n, method=Method()):  # noqa: B008
    return method.root(n)


def in_module(n):
    return lazy_roots.root(n)


def in_module_imported_late(n):
    from lazy_roots import Roots

    return Roots().of(n)


def dynamic(n):
    return float(importlib.import_module("num" + "py").sqrt(n * n))


def dynamic_late(n):
    if n % (ROWS // 2) < 300:
        return float(n)
    return dynamic(n)


def evaluated(n):
    return float(eval("__import__('numpy').sqrt(n * n)"))


KINDS = [
    in_body,
    in_helper,
    in_method,
    in_module,
    in_module_imported_late,
    dynamic,
    dynamic_late,
    evaluated,
]


def check(spark, kind, use_arrow):
    """Each row runs once in a task that succeeds."""
    counter = spark.sparkContext.accumulator(0)
    lines = Path(tempfile.mkdtemp()) / "lines"
    seen = []

    def observed(n):
        nonlocal counter
        counter += 1
        task = TaskContext.get()
        with lines.open("a") as file:
            file.write(f"{task.partitionId()} {task.attemptNumber()} {n}\n")
        seen.append(n)
        return (len(seen) - 1, kind(n))

    f = udf(observed, "number long, root double", useArrow=use_arrow)
    frame = spark.range(ROWS, numPartitions=2).select("id", f("id").alias("r"))
    rows = frame.select("id", "r.*").collect()
    assert [row.root for row in rows] == [float(row.id) for row in rows]
    assert sorted(row.number for row in rows) == sorted([*range(ROWS // 2)] * 2), "state is lost"
    assert counter.value == ROWS, counter.value
    written = Counter(lines.read_text().splitlines())
    assert set(written.values()) == {1}, "an attempt ran a row twice"
    return max(int(line.split()[1]) for line in written)


def check_chain(spark, use_arrow):
    counter = spark.sparkContext.accumulator(0)

    def counts(n):
        nonlocal counter
        counter += 1
        return n

    inner = udf(counts, "long", useArrow=use_arrow)
    outer = udf(dynamic, "double", useArrow=use_arrow)
    frame = spark.range(100, numPartitions=1).select(outer(inner("id")).alias("root"))
    assert frame.agg(F.sum("root")).collect() == [(4950.0,)]
    assert counter.value == 100, counter.value


class Sums:
    """A table function that imports in one of its methods."""

    when = ""

    def __init__(self):
        self.sum = self.root("__init__", 0)

    def root(self, when, n):
        return dynamic(n) if when == self.when else in_body(n) if "!" + when == self.when else n

    def eval(self, n):
        self.sum += self.root("eval", n)
        yield (float(self.sum),)

    def terminate(self):
        yield (float(self.root("terminate", self.sum)),)


def check_table_functions(spark):
    for when in ("__init__", "eval", "terminate", "!__init__", "!eval", "!terminate"):
        handler = type("Sums", (Sums,), {"when": when})
        function = F.udtf(handler, returnType="sum double", useArrow=False)
        spark.udtf.register("sums", function)
        frame = spark.sql("SELECT s.sum FROM range(0, 100, 1, 1) AS r, LATERAL sums(r.id) AS s")
        rows = [row.sum for row in frame.collect()]
        assert len(rows) == 101, (when, len(rows))
        assert rows[-1] == 4950.0, (when, rows[-3:])


def main() -> None:
    spark = sessions.start(sys.argv[1], conf={"spark.executor.memory": "512m"})
    local = sys.argv[1].startswith("local[")
    with comparison.settings(spark, {sessions.MODE: "thread", sessions.FALLBACK: "false"}):
        for kind in KINDS:
            attempts = check(spark, kind, use_arrow=kind is not dynamic)
            known = kind in (in_body, in_helper, in_method, in_module)
            if local or known:
                assert attempts == 0, f"{kind.__name__} was tried again"
            print("DONE", kind.__name__, attempts, flush=True)
        for use_arrow in (True, False):
            check_chain(spark, use_arrow)
        check_table_functions(spark)
    spark.stop()
    print("ENDED", os.getpid(), flush=True)


if __name__ == "__main__":
    main()
