"""Every way to run an application: clusters of executors, spark-submit, Spark Connect."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

import pyflow
from deployments import PROGRAMS, SPARK, Daemon, run, submit
from sessions import OWN_GIL


@pytest.mark.complete
def test_executors_of_a_local_cluster(tmp_path):
    """Also that executors tell the driver which functions keep each other waiting."""
    output = run([sys.executable, PROGRAMS / "cluster.py", "local-cluster[2,2,2048]"], tmp_path)
    assert "LEFT FOR PROCESS MODE" in output
    assert "of their time for the GIL that they share" in output
    assert "ContendedFunctions" in output
    assert "BOTH MODES AGREE" in output


@pytest.mark.complete
def test_executors_of_a_standalone_cluster(standalone, tmp_path):
    output = run([sys.executable, PROGRAMS / "cluster.py", standalone, "--complete"], tmp_path)
    assert "BOTH MODES AGREE" in output


@dataclass
class Submitted:
    """What an application has printed, its event log, and what Spark's metrics have reported."""

    output: str
    log: Path
    reports: Path

    def last(self, gauge):
        """The last value of a gauge of the plugin."""
        (report,) = self.reports.glob(f"*plugin.io.pyflow.PyFlowPlugin.{gauge}.csv")
        return int(report.read_text().splitlines()[-1].split(",")[1])


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    """An application that has been submitted, and may open few files."""
    where = tmp_path_factory.mktemp("application")
    made = Submitted("", where / "events", where / "reports")
    for directory in (made.log, made.reports):
        directory.mkdir()
    sink = "spark.metrics.conf.*.sink.csv"
    conf = (
        "spark.eventLog.enabled=true",
        "spark.eventLog.compress=false",
        f"spark.eventLog.dir=file:{made.log}",
        f"{sink}.class=org.apache.spark.metrics.sink.CsvSink",
        f"{sink}.directory={made.reports}",
    )
    command = " ".join(f"'{part}'" for part in [*submit(*conf), PROGRAMS / "application.py"])
    made.output = run(["bash", "-c", f"ulimit -n 512; exec {command}"], where)
    return made


def assert_in_thread_mode(output):
    assert "places ['java']" in output
    assert "words ['WORD 0', 'WORD 1', 'WORD 2']" in output
    assert "ThreadEvalPython" in output
    assert output.count("rdd 15") == 2
    assert output.count("Functions of the RDD API run in process mode") == 1


@pytest.mark.slice
def test_spark_submit(submitted):
    assert_in_thread_mode(submitted.output)


@pytest.mark.complete
def test_spark_submit_to_a_standalone_cluster(standalone, tmp_path):
    output = run([*submit(master=standalone), PROGRAMS / "application.py"], tmp_path)
    assert_in_thread_mode(output)


def test_sparks_metrics_report_memory_and_interpreters(submitted):
    assert submitted.last("pythonMemory") > 1_000_000
    assert submitted.last("memoryLentToPython") == 0
    assert (submitted.last("isolatedInterpreters") > 0) == OWN_GIL


def test_events_are_sparks_own(submitted):
    """Plans and metrics of thread mode are in them, for whoever has not the plugin's classes."""
    files = [path for path in submitted.log.rglob("[!.]*") if path.is_file()]
    events = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert all(re.match(r"SparkListener|org\.apache\.spark\.", each["Event"]) for each in events)
    plans = [each["sparkPlanInfo"] for each in events if "sparkPlanInfo" in each]
    (node, *_) = [
        node for plan in plans for node in nodes_of(plan) if node["nodeName"] == "ThreadEvalPython"
    ]
    assert {"number of output rows", "time in Python"} <= {each["name"] for each in node["metrics"]}


def nodes_of(plan):
    return [plan, *(node for child in plan["children"] for node in nodes_of(child))]


@pytest.mark.complete
def test_the_event_log_is_read_without_the_jar(tmp_path, submitted):
    """Spark's history server shows plans and metrics of thread mode without its classes."""
    server = Daemon(
        tmp_path,
        "history",
        SPARK / "bin" / "spark-class",
        "org.apache.spark.deploy.history.HistoryServer",
        SPARK_HISTORY_OPTS=(
            f"-Dspark.history.fs.logDirectory=file:{submitted.log} -Dspark.history.ui.port=0"
        ),
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


@pytest.mark.complete
def test_spark_submit_without_the_setting_stays_in_process_mode(tmp_path):
    output = run([*submit(mode=None), PROGRAMS / "application.py"], tmp_path)
    assert "places ['java']" not in output
    assert "words ['WORD 0', 'WORD 1', 'WORD 2']" in output
    assert "ThreadEvalPython" not in output


@pytest.mark.complete
def test_jars_that_spark_submit_found_reach_executors(tmp_path):
    """PySpark starts it for a program of its own, and keeps of its jars those of the program."""
    source = tmp_path / "Probe.java"
    source.write_text('public class Probe { public static String answer() { return "yes"; } }')
    subprocess.run(["javac", source], check=True)
    jar = tmp_path / "probe.jar"
    subprocess.run(["jar", "cf", jar, "-C", tmp_path, "Probe.class"], check=True)
    arguments = f"--jars {jar},{pyflow.jar_path()} pyspark-shell"

    command = [sys.executable, PROGRAMS / "jars_of_executors.py"]
    assert "called: yes" in run(command, tmp_path, PYSPARK_SUBMIT_ARGS=arguments)


@pytest.mark.complete
def test_spark_connect(tmp_path):
    assert "BOTH MODES AGREE" in run(
        # It waits until no other program has a Connect server.
        [sys.executable, PROGRAMS / "connect.py"],
        tmp_path,
        seconds=900,
    )


@pytest.mark.complete
def test_an_environment_that_comes_as_an_archive(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    (packages,) = (tmp_path / "env" / "lib").glob("python3.*/site-packages")
    (packages / "only_in_archive.py").write_text("VALUE = 'from the archive'\n")
    shutil.make_archive(tmp_path / "env", "gztar", tmp_path / "env")
    output = run(
        [
            *submit(master="local-cluster[1,1,1024]", mode=None),
            *("--archives", "env.tar.gz#environment"),
            PROGRAMS / "archived.py",
        ],
        tmp_path,
        PYSPARK_PYTHON="./environment/bin/python",
        PYSPARK_DRIVER_PYTHON=sys.executable,
    )
    for mode in ("default", "process"):
        assert f"{mode} [Row(value(id)='from the archive, environment, False')]" in output
    in_thread = "thread [Row(value(id)='from the archive, environment, True')]"
    assert in_thread in output, output[output.index("== Physical Plan ==") :]


@pytest.mark.parametrize(
    "master",
    ["local-cluster[2,1,1024]", pytest.param("standalone", marks=pytest.mark.complete)],
)
def test_a_function_that_crashes_an_executor_goes_to_process_mode(master, request, tmp_path):
    url = request.getfixturevalue("standalone") if master == "standalone" else master
    crashing = ["segfaults", "not_for_workers"]
    options = []
    if master == "standalone":
        crashing += ["exits", "aborts"]
        options.append("--complete")
    log = run([sys.executable, PROGRAMS / "crash.py", url, *options], tmp_path, seconds=600)
    assert "ALL JOBS FINISHED" in log
    warnings = [line for line in log.splitlines() if "WARN Quarantine" in line]
    for function in crashing:
        (warning,) = [line for line in warnings if f"the Python function {function} was" in line]
        assert re.search(r"Executor \d+ was lost \(.*\) while", warning)
        assert "hs_err_pid" in warning
    (warning,) = [line for line in warnings if "exits_in_company, companion were" in line]
    assert "Which of them is to blame cannot be told, so all of them run" in warning
    assert len(warnings) == len(crashing) + 1
