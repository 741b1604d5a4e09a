"""What happens to executors on real deployments, and what functions make of it."""

from __future__ import annotations

import itertools
import json
import re
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.sql.functions import col, pandas_udf, udf

from comparison import executed_plan, in_thread, settings
from deployments import PROGRAMS, SPARK, Daemon, connect_server, own_url, run, submit
from sessions import MODE, MODULES, crashing_conf

APPLICATION = [*submit(), PROGRAMS / "application.py"]

KINDS = re.findall(r"^def (\w+)\(rows:", (PROGRAMS / "function_kinds.py").read_text(), re.M)
INPUTS = ("rows", "parquet", "cached")
MOMENTS = ("load", "import", "first", "later", "close")

# Each kind, each input and each moment, but not each combination; the last crashes in every task.
FEW = (
    "pickled/parquet/later",
    "arrow_optimised/cached/load",
    "table_function/rows/close",
    "map_in_arrow/parquet/import",
    "groups_in_pandas/rows/everywhere",
)
EACH = (
    *(f"{kind}/{INPUTS[n % 3]}/{MOMENTS[n % 5]}" for n, kind in enumerate(KINDS)),
    "pandas_scalar/rows/everywhere",
)


def battery(where, master, cases):
    """Executors crash in all cases, and all queries end with the rows of process mode."""
    program = [sys.executable, PROGRAMS / "battery.py", master, *cases]
    output = run(program, where, seconds=120 + 60 * len(cases))
    assert sorted(re.findall(r"PASSED (\S+)", output)) == sorted(cases)


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


@pytest.fixture(scope="module")
def with_few_descriptors(tmp_path_factory):
    """What an application printed that may open few files, and its event log."""
    where = tmp_path_factory.mktemp("application")
    log = where / "events"
    log.mkdir()
    logging = ("spark.eventLog.enabled=true", f"spark.eventLog.dir=file:{log}")
    application = [*submit(*logging), PROGRAMS / "application.py"]
    command = " ".join(f"'{part}'" for part in application)
    return run(["bash", "-c", f"ulimit -n 512; exec {command}"], where), log


def test_few_file_descriptors(with_few_descriptors):
    output, _ = with_few_descriptors
    assert "places ['java']" in output


@pytest.mark.complete
def test_two_applications_at_once(tmp_path):
    places = [tmp_path / name for name in ("one", "other")]
    for place in places:
        place.mkdir()
    with ThreadPoolExecutor() as applications:
        outputs = list(applications.map(lambda place: run(APPLICATION, place), places))
    assert all("places ['java']" in output for output in outputs)


def test_the_event_log_is_read_without_the_jar(tmp_path, with_few_descriptors):
    """Spark's history server shows plans and metrics of thread mode without its classes."""
    _, log = with_few_descriptors
    server = Daemon(
        tmp_path,
        "history",
        SPARK / "bin" / "spark-class",
        "org.apache.spark.deploy.history.HistoryServer",
        SPARK_HISTORY_OPTS=f"-Dspark.history.fs.logDirectory=file:{log} -Dspark.history.ui.port=0",
    )
    try:
        port = server.wait_for(r"Bound HistoryServer to .*?:(\d+)|started at http://\S+?:(\d+)")
        address = f"http://127.0.0.1:{port[1] or port[2]}/api/v1/applications"
        application = until_there(address)[0]["id"]
        queries = until_there(f"{address}/{application}/sql?length=100")
        nodes = [node for query in queries for node in query["nodes"]]
        (evaluation, *_) = [node for node in nodes if node["nodeName"] == "ThreadEvalPython"]
        metrics = {metric["name"]: metric["value"] for metric in evaluation["metrics"]}
        assert metrics["number of output rows"] != "0"
        assert "time in Python" in metrics
    finally:
        server.stop()


def until_there(address, seconds=60):
    """What the server answers once it has read the log."""
    end = time.monotonic() + seconds
    while True:
        with urllib.request.urlopen(address) as answer:
            content = json.load(answer)
        if content or time.monotonic() > end:
            assert content, f"nothing at {address} within {seconds} s"
            return content
        time.sleep(0.5)


@pytest.mark.parametrize("make", [udf, pandas_udf])
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
