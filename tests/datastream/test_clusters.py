"""Programs of data streams on executors of their own."""

from __future__ import annotations

import json

import pytest
from deployed_cases import CASES, SHORT, assert_expected, found_in

import pyflow
from deployments import PROGRAMS, killed_at_the_end, submit
from scripts.connector_jars import kafka_jars
from sessions import wait_until

CLUSTER = "local-cluster[2,1,1024]"


@pytest.mark.complete
def test_programs_run_on_executors(tmp_path):
    found = found_in(CLUSTER, tmp_path, ["thread"], ["timers_and_side_outputs", "life_cycle"])

    assert len(found) == 4
    assert_expected(found)


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
def test_all_programs_run_on_executors(tmp_path, mode):
    found = found_in(CLUSTER, tmp_path, [mode], SHORT)

    assert len(found) == sum(len(CASES[name][1]) for name in SHORT)
    assert_expected(found)


@pytest.mark.complete
def test_functions_stay_open_over_many_batches(tmp_path):
    assert_expected(found_in(CLUSTER, tmp_path, ["thread"], ["many_batches"]))


@pytest.mark.complete
@pytest.mark.since_spark("4.3")
def test_real_time_mode_counts_on_a_cluster_and_after_a_restart(kafka, standalone, tmp_path):
    topics = pytest.importorskip("benchmarks.topics")
    names = [f"{tmp_path.name}-in", f"{tmp_path.name}-out"]
    here, there = [topics.Topic(kafka.address, name) for name in names]
    jars = ",".join(map(str, [pyflow.jar_path(), *kafka_jars()]))
    # The source and the count have a task each, on an executor each.
    conf = ["spark.executor.cores=1", "spark.cores.max=2", "spark.locality.wait=0s"]
    program = [PROGRAMS / "real_time_counts.py", kafka.address, *names, tmp_path / "checkpoint"]

    def counted(values, process):
        expected = there.count() + len(values)
        here.send(values)
        here.flush()
        wait_until(
            lambda: there.count() >= expected or process.poll() is not None, f"counts of {values}"
        )

    for number in (1, 2):
        stop, log = tmp_path / f"stop-{number}", tmp_path / f"program-{number}.log"
        command = [*submit(*conf, master=standalone, jar=jars), *program, stop]
        with killed_at_the_end(command, tmp_path, log) as process:
            counted(["a", "b"], process)
            counted(["a"], process)
            stop.touch()
            assert process.wait(60) == 0

    found = [json.loads(record.value) for record in there.records()]
    assert sorted(found) == [["a", 1], ["a", 2], ["a", 3], ["a", 4], ["b", 1], ["b", 2]]
