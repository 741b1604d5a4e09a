"""Jobs that are stopped so that they can go on, by the program and from outside."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pyflow.common import JobStatus, WatermarkStrategy
from pyflow.datastream.connectors.datagen import DataGeneratorSource
from pyflow.session import operation
from pyflow.table import EnvironmentSettings, TableEnvironment
from pyflow.util.exceptions import TableException
from sessions import wait_until


@pytest.fixture
def started(make_env):
    """Starts an unbounded job with these settings."""
    clients = []

    def start(name="numbers", **settings):
        env = make_env(parallelism=1, **settings)
        source = DataGeneratorSource(lambda number: number, rate=10)
        env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").print()
        clients.append(env.execute_async(name))
        return clients[-1]

    yield start
    for client in clients:
        if client.get_job_status().result() == JobStatus.RUNNING:
            client.cancel().result()


def test_a_stopped_job_has_finished(started, tmp_path):
    client = started(execution_checkpointing_dir=(tmp_path / "checkpoints").as_uri())

    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()

    assert client.get_job_status().result() == JobStatus.FINISHED
    assert client.get_job_execution_result().result().get_job_id() == client.get_job_id()
    assert list(Path(path).rglob("pyflow-manifest.json"))


@pytest.mark.parametrize(
    ("has_checkpoints", "directory", "message"),
    [
        (True, None, "there is no directory for savepoints"),
        (False, "/savepoints", "set execution.checkpointing.dir"),
    ],
)
def test_a_job_that_could_not_go_on_is_not_ended(
    started, tmp_path, has_checkpoints, directory, message
):
    settings = {"execution_checkpointing_dir": tmp_path.as_uri()} if has_checkpoints else {}
    client = started(**settings)

    with pytest.raises(TableException, match=message):
        client.stop_with_savepoint(False, directory)

    assert client.get_job_status().result() == JobStatus.RUNNING


def test_bounded_input_leaves_nothing_to_go_on_from(make_env):
    env = make_env()
    env.from_collection([1]).print()
    client = env.execute_async()

    with pytest.raises(TableException, match="bounded input leaves no state"):
        client.stop_with_savepoint(False, "/savepoints")

    client.get_job_execution_result().result()


# From outside


@pytest.fixture
def ask(spark, monkeypatch, tmp_path):
    """Asks this process as the program of a directory."""
    directory = tmp_path / ("program" * 20)  # Longer than the address of a socket may be.
    directory.mkdir()
    monkeypatch.setenv(operation.DIRECTORY, str(directory))
    operation.serve(spark)
    assert stat.S_IMODE((directory / "control").stat().st_mode) == 0o600
    assert operation.DIRECTORY not in os.environ

    def asked(action, **question):
        return operation.ask(directory, {"action": action, **question})

    return asked


@pytest.fixture
def query(spark, tmp_path):
    """A query that the program has started through Spark, with and without a checkpoint."""
    queries = []

    def start(checkpoint):
        writer = spark.readStream.format("rate").load().writeStream.format("noop")
        if checkpoint:
            writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        queries.append(writer.queryName("of Spark").start())
        return queries[-1]

    yield start
    for each in queries:
        each.stop()


def running(answer):
    return {each["name"]: each["id"] for each in answer["jobs"] if each["state"] == "RUNNING"}


def test_jobs_and_queries_are_told_of(ask, spark, started, query):
    started("first")
    started("second")
    query(checkpoint=False)

    answer = ask("describe")

    assert answer["application"] == spark.sparkContext.applicationId
    assert running(answer).keys() == {"first", "second", "of Spark"}


def test_a_query_of_spark_goes_on_from_its_checkpoint(ask, query, tmp_path):
    made = query(checkpoint=True)
    identifier = running(ask("describe"))["of Spark"]
    assert "stop it without -p" in ask("stop", job=identifier, directory="/d")["error"]

    answer = ask("stop", job=identifier, directory=None)

    assert answer == {"paths": [(tmp_path / "checkpoint").as_uri().replace("///", "/")]}
    assert not made.isActive


def test_a_query_without_a_checkpoint_goes_on(ask, query):
    made = query(checkpoint=False)
    identifier = running(ask("describe"))["of Spark"]

    assert "no checkpoint to go on from" in ask("stop", job=identifier, directory=None)["error"]

    assert made.isActive
    assert ask("cancel", job=identifier) == {}
    assert not made.isActive


def test_a_job_of_tables_goes_on_from_its_checkpoint(ask, spark, tmp_path):
    before = spark.conf.getAll
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("execution.checkpointing.dir", tmp_path.as_uri())
    t_env.get_config().set("pipeline.name", "inserted")
    for name, connector in (("numbers", "datagen"), ("nowhere", "blackhole")):
        t_env.execute_sql(f"CREATE TABLE {name} (id BIGINT) WITH ('connector' = '{connector}')")
    result = t_env.execute_sql("INSERT INTO nowhere SELECT id FROM numbers")
    try:
        (identifier,) = running(ask("describe")).values()
        assert "stop it without" in ask("stop", job=identifier, directory="/d")["error"]

        (path,) = ask("stop", job=identifier, directory=None)["paths"]

        assert "/inserted" in path
        client = result.get_job_client()
        assert client.get_job_status().result() == JobStatus.FINISHED
    finally:
        for key, value in spark.conf.getAll.items():
            if before.get(key) != value:
                spark.conf.unset(key)
        for key, value in before.items():
            if spark.conf.get(key, None) != value:
                spark.conf.set(key, value)


def test_jobs_that_are_unknown_or_have_ended(ask, started):
    client = started("ended")
    identifier = running(ask("describe"))["ended"]
    client.cancel().result()

    for action, more in (("cancel", {}), ("stop", {"directory": None})):
        assert ask(action, job="none", **more) == {"error": "there is no job none in the program"}
        assert "has ended: CANCELED" in ask(action, job=identifier, **more)["error"]


def test_questions_that_are_none_are_answered(ask, started):
    assert "error" in ask("dance")
    wait_until(lambda: "jobs" in ask("describe"), "an answer")
