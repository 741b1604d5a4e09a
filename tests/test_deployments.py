"""Every way to run an application: clusters of executors, spark-submit, Spark Connect."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from deployments import PROGRAMS, run, submit


def test_executors_of_a_local_cluster(tmp_path):
    master = "local-cluster[2,2,2048]"
    assert "BOTH MODES AGREE" in run([sys.executable, PROGRAMS / "cluster.py", master], tmp_path)


@pytest.mark.complete
def test_executors_of_a_standalone_cluster(standalone, tmp_path):
    output = run([sys.executable, PROGRAMS / "cluster.py", standalone], tmp_path)
    assert "BOTH MODES AGREE" in output


@pytest.mark.parametrize(
    "master", ["standalone", pytest.param("local[2]", marks=pytest.mark.slice)]
)
def test_spark_submit(master, request, tmp_path):
    url = request.getfixturevalue("standalone") if master == "standalone" else master
    output = run([*submit(master=url), PROGRAMS / "application.py"], tmp_path)
    assert "places ['java']" in output
    assert "words ['WORD 0', 'WORD 1', 'WORD 2']" in output
    assert "ThreadEvalPython" in output
    assert output.count("rdd 15") == 2
    assert output.count("Functions of the RDD API run in process mode") == 1


def test_spark_submit_without_the_setting_stays_in_process_mode(tmp_path):
    output = run([*submit(mode=None), PROGRAMS / "application.py"], tmp_path)
    assert "places ['java']" not in output
    assert "words ['WORD 0', 'WORD 1', 'WORD 2']" in output
    assert "ThreadEvalPython" not in output


def test_spark_connect(tmp_path):
    assert "BOTH MODES AGREE" in run([sys.executable, PROGRAMS / "connect.py"], tmp_path)


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
    assert "process [Row(value(id)='from the archive, environment, False')]" in output
    assert "thread [Row(value(id)='from the archive, environment, True')]" in output


@pytest.mark.parametrize(
    "master",
    ["local-cluster[2,1,1024]", pytest.param("standalone", marks=pytest.mark.complete)],
)
def test_a_function_that_crashes_an_executor_goes_to_process_mode(master, request, tmp_path):
    url = request.getfixturevalue("standalone") if master == "standalone" else master
    crashing = ["exits", "segfaults", "not_for_workers"]
    options = []
    if master == "standalone":
        crashing.append("aborts")
        options.append("--complete")
    log = run([sys.executable, PROGRAMS / "crash.py", url, *options], tmp_path, seconds=400)
    assert "ALL JOBS FINISHED" in log
    warnings = [line for line in log.splitlines() if "WARN Quarantine" in line]
    for function in crashing:
        (warning,) = [line for line in warnings if f"the Python function {function} was" in line]
        assert re.search(r"Executor \d+ was lost \(.*\) while", warning)
        assert "hs_err_pid" in warning
    (warning,) = [line for line in warnings if "exits_in_company, companion were" in line]
    assert "Which of them is to blame cannot be told, so all of them run" in warning
    assert len(warnings) == len(crashing) + 1
