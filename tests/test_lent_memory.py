"""Memory that functions keep of their input: not the heap, and freed when they let go of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from comparison import MODE, operator, settings
from deployments import PROGRAMS, run
from sessions import SPARK, wait_until


def kept(where, *arguments):
    """What a program prints whose function keeps groups."""
    program = [sys.executable, PROGRAMS / "lent_memory.py", *arguments]
    # Lines of Spark's log begin with a number, too.
    lines = re.findall(r"^(?:after )?\d+(?: \d+)?$", run(program, where), re.M)
    return [int(number) for line in lines for number in re.findall(r"\d+", line)]


def numbers_of(rows):
    """What is printed of a group: its rows, its bytes, and how many rows come after it."""
    return [rows, rows * 22 * 8 + rows * 4, 100]


@pytest.mark.complete
def test_groups_larger_than_direct_memory(tmp_path):
    """Of small batches, and of large ones."""
    groups = {100_000: 4096, 500_000: 1 << 20}
    cases = [f"{rows}/{batch_bytes}" for rows, batch_bytes in groups.items()]
    printed = kept(tmp_path, "-XX:MaxDirectMemorySize=40m", *cases)
    assert printed == [number for rows in groups for number in numbers_of(rows)]


@pytest.mark.complete
def test_a_group_larger_than_the_heap(tmp_path):
    rows = 7_000_000
    assert kept(tmp_path, f"{rows}/{64 << 20}") == numbers_of(rows)


@pytest.mark.complete
def test_more_than_there_is_fails_the_task(tmp_path):
    lines = run([sys.executable, PROGRAMS / "lent_memory_limit.py"], tmp_path).splitlines()
    group = "keep_column (up to row N of the group k = 7, day = 2024-02-29, number 1 of"
    cases = {"stream": "keep (up to row N of", "group": group, "batch": group}
    if SPARK < (4, 3):
        # PySpark makes pandas data of each batch when it comes, for which memory ends earlier.
        del cases["group"]
    for case, what in cases.items():
        (refused,) = [line for line in lines if line.startswith(f"{case}: ")]
        told = re.sub(r"up to row \d+", "up to row N", refused)
        assert told.startswith(f"{case}: The executor has no memory")
        assert f"MiB of input of the Python function {what} the partition): " in told
        assert "spark.executor.memoryOverhead" in refused
        assert f"after {case}: 1000" in lines


@pytest.mark.complete
def test_rows_and_results_that_there_is_no_memory_for_fail_the_task(tmp_path):
    lines = run([sys.executable, PROGRAMS / "refused_memory.py"], tmp_path).splitlines()
    assert "EXECUTOR LIVES" in lines
    told = dict(line.split(": ", 1) for line in lines if re.match(r"an? [^:]*: ", line))
    assert len(told) == 10
    refused = {case for case, error in told.items() if error.startswith("The executor has no")}
    assert refused >= {"a row", "a row in a lambda", "a row of a batch", "a row for foreach"}
    for case in refused:
        assert re.search(r"\d MiB of input of the Python function \w+ \(", told[case]), case
        assert "spark.executor.memoryOverhead" in told[case], case
    assert {told[case] for case in told.keys() - refused} == {"MemoryError"}


def lent_now(spark):
    return spark._jvm.io.pyflow.bridge.LentMemory.bytesOfAllTasks()


def resident_mb(spark):
    """The resident memory of the JVM."""
    process = spark._jvm.java.lang.ProcessHandle.current().pid()
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def peak(frame, name):
    """The most that one of the tasks of an operator has lent, once the frame has run."""
    plan = frame._jdf.queryExecution().executedPlan()
    return operator(plan, name).metrics().apply("lentMemory").value()


def test_a_peak_of_little_more_than_the_values(spark):
    def counted(table):
        return pa.table({"bytes": [table.nbytes]})

    conf = {
        MODE: "thread",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
        "spark.sql.adaptive.enabled": "false",
    }
    with settings(spark, conf):
        copies = [F.col("id").alias(name) for name in "abc"]
        numbers = spark.range(50_000).select(F.lit(0).alias("k"), *copies)
        frame = numbers.groupBy("k").applyInArrow(counted, "bytes long")
        (row,) = frame.collect()
        assert row.bytes <= peak(frame, "ThreadFlatMapGroupsInBatch") <= 1.4 * row.bytes


def test_batches_kept_beyond_a_task(spark):
    """They are whole, and freed when the last is let go, with no task to do it."""

    def keeping(batches):
        import builtins

        builtins.kept_batches = list(batches)
        yield pa.RecordBatch.from_pydict({"n": [len(builtins.kept_batches)]})

    def summing(batches):
        import builtins

        yield pa.RecordBatch.from_pydict(
            {"n": [sum(sum(batch["id"].to_pylist()) for batch in builtins.kept_batches)]}
        )

    def letting_go(batches):
        import builtins

        del builtins.kept_batches
        yield from ()

    conf = {MODE: "thread", "spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
    with settings(spark, conf):
        before = lent_now(spark)
        one = spark.range(0, 10_000, 1, 1)
        assert one.mapInArrow(keeping, "n long").first().n == 10
        assert lent_now(spark) - before >= 80_000
        assert one.mapInArrow(summing, "n long").first().n == sum(range(10_000))
        one.mapInArrow(letting_go, "n long").collect()
        assert lent_now(spark) == before


@pytest.mark.complete
def test_freed_memory_goes_back_to_the_system(spark):
    """The function keeps what it has allocated last, so that its arena does not end before that."""

    def allocate(_):
        import builtins

        blocks = [bytearray(100_000) for _ in range(4_000)]
        builtins.last_block = blocks[-1]
        return len(blocks)

    with settings(spark, {MODE: "thread"}):
        assert spark.range(1).select(F.udf(allocate, "long")("id")).collect() == [(4_000,)]
    kept = resident_mb(spark)
    wait_until(lambda: resident_mb(spark) < kept - 300, "the memory is free")
