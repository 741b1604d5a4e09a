"""Settings by Flink's names that reach a program from outside."""

from __future__ import annotations

import pytest

from pyflow.common import Configuration
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.session.given import given_settings
from pyflow.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment


@pytest.fixture(autouse=True)
def defaults(monkeypatch, tmp_path):
    """A spark-defaults.conf with settings of Flink, and an option that replaces one."""
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.pyflow.conf.parallelism.default 5\n"
        "spark.pyflow.conf.pipeline.name outside\n"
        "spark.pyflow.conf.python.files /undone.py\n"
        "spark.pyflow.conf.execution.runtime-mode BATCH\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    arguments = "--conf spark.pyflow.conf.python.files= pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)


@pytest.fixture
def session(spark):
    """The session, which gets its settings back."""
    before = spark.conf.getAll
    yield spark
    for key, value in spark.conf.getAll.items():
        if key not in before:
            spark.conf.unset(key)
        elif before[key] != value:
            spark.conf.set(key, before[key])


def test_a_setting_without_a_value_undoes_that_of_the_file():
    assert given_settings().to_dict() == {
        "parallelism.default": "5",
        "pipeline.name": "outside",
        "execution.runtime-mode": "BATCH",
    }


def test_an_environment_of_streams_has_them_below_its_own():
    get = StreamExecutionEnvironment.get_execution_environment
    own = Configuration.from_dict({"parallelism.default": "3"})

    assert get().get_parallelism() == 5
    assert get(own).get_parallelism() == 3
    assert own.to_dict() == {"parallelism.default": "3"}


def test_an_environment_of_tables_has_them_below_its_own(session):
    own = Configuration.from_dict({"pipeline.name": "own"})
    for settings, name in ((Configuration(), "outside"), (own, "own")):
        config = TableEnvironment.create(settings).get_config()
        assert config.get("pipeline.name", None) == name
        assert config.get("execution.runtime-mode", None) == "BATCH"
    streaming = EnvironmentSettings.in_streaming_mode()
    config = TableEnvironment.create(streaming).get_config()
    assert config.get("execution.runtime-mode", None) == "STREAMING"


def test_tables_over_an_environment_of_streams_have_its_settings_first(session):
    own = Configuration.from_dict({"pipeline.name": "streams"})
    env = StreamExecutionEnvironment.get_execution_environment(own)

    t_env = StreamTableEnvironment.create(env, EnvironmentSettings.in_streaming_mode())

    assert t_env.get_config().get("pipeline.name", None) == "streams"
    assert t_env.get_config().get("parallelism.default", None) == "5"
    assert t_env.get_config().get("execution.runtime-mode", None) == "STREAMING"
