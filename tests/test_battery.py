"""What happens to executors on real deployments, and what functions make of it."""

from __future__ import annotations

import itertools
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.sql.functions import col, pandas_udf, udf

from comparison import executed_plan, in_thread, settings
from deployments import PROGRAMS, connect_server, own_url, run, submit
from sessions import MODE, MODULES, crashing_conf

APPLICATION = [*submit(), PROGRAMS / "application.py"]

KINDS = re.findall(r"^def (\w+)\(rows:", (PROGRAMS / "function_kinds.py").read_text(), re.M)
INPUTS = ("rows", "parquet", "cached")
MOMENTS = ("load", "import", "first", "later", "close")

# The last crashes in every task.
FEW = (
    "pickled/parquet/later",
    "arrow_optimised/cached/load",
    "groups_in_pandas/rows/everywhere",
)
# Each kind, each input and each moment, but not each combination.
EACH = (
    *(f"{kind}/{INPUTS[n % 3]}/{MOMENTS[n % 5]}" for n, kind in enumerate(KINDS)),
    "pandas_scalar/rows/everywhere",
)


def battery(where, master, cases):
    """Executors crash in all cases, and all queries end with the rows of process mode."""
    program = [sys.executable, PROGRAMS / "battery.py", master, *cases]
    # A Connect server waits for those of other programs.
    start = 900 if master.startswith("connect:") else 120
    output = run(program, where, seconds=start + 60 * len(cases))
    assert sorted(re.findall(r"PASSED (\S+)", output)) == sorted(cases)


@pytest.mark.complete
def test_crashes_at_every_moment(tmp_path):
    battery(tmp_path, "local-cluster[3,1,1024]", FEW)


@pytest.mark.complete
@pytest.mark.parametrize("source", INPUTS)
def test_crashes_of_every_kind_at_every_moment(tmp_path, source):
    cases = ["/".join(case) for case in itertools.product(KINDS, [source], MOMENTS)]
    assert len(cases) == 70
    battery(tmp_path, "local-cluster[3,1,1024]", cases)


@pytest.mark.complete
def test_crashes_on_a_standalone_cluster(tmp_path, standalone):
    battery(tmp_path, standalone, EACH)


@pytest.mark.complete
def test_crashes_through_connect(tmp_path):
    conf = (f"{key}={value}" for key, value in crashing_conf().items())
    server = connect_server(
        tmp_path, *conf, master="local-cluster[3,1,1024]", PYTHONPATH=str(MODULES)
    )
    with server as address:
        battery(tmp_path, own_url(address), EACH)


@pytest.mark.complete
def test_crashes_in_a_connect_server_that_pyspark_starts(tmp_path):
    battery(tmp_path, "connect:local-cluster[2,1,1024]", ["pickled/rows/first"])


def elastic(where, case, master):
    output = run([sys.executable, PROGRAMS / "elastic.py", case, master], where, seconds=900)
    assert "THE ROWS ARE RIGHT" in output
    assert "quarantined" not in output


@pytest.mark.complete
@pytest.mark.parametrize("case", ["dynamic_allocation", "decommission"])
def test_executors_come_and_go(tmp_path, case):
    elastic(tmp_path, case, "local-cluster[2,1,1024]")


@pytest.mark.complete
def test_speculation(tmp_path, standalone):
    elastic(tmp_path, "speculation", standalone)


@pytest.mark.complete
def test_two_applications_at_once(tmp_path):
    places = [tmp_path / name for name in ("one", "other")]
    for place in places:
        place.mkdir()
    with ThreadPoolExecutor() as applications:
        outputs = list(applications.map(lambda place: run(APPLICATION, place), places))
    assert all("places ['java']" in output for output in outputs)


@pytest.mark.complete
@pytest.mark.parametrize("make", [udf, pytest.param(pandas_udf, marks=pytest.mark.complete)])
def test_three_thousand_columns(spark, make):
    columns = 3000
    f = make(lambda n: n + 1, "long")
    with settings(spark, {MODE: "thread"}):
        wide = spark.range(5, numPartitions=2).select(
            *(f(col("id") + number).alias(f"c{number}") for number in range(columns))
        )
        rows = wide.collect()
        assert in_thread(executed_plan(wide))
    assert rows == [tuple(row + number + 1 for number in range(columns)) for row in range(5)]


@pytest.mark.complete
def test_fifty_thousand_tasks(spark):
    f = udf(lambda n: n + 1, "long")
    with settings(spark, {MODE: "thread"}):
        frame = spark.range(100_000, numPartitions=50_000).select(f("id").alias("n"))
        assert in_thread(executed_plan(frame))
        assert frame.selectExpr("sum(n)").collect() == [(sum(range(1, 100_001)),)]
