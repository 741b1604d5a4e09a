"""Table environments over the shared session, which gets its settings back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts.mariadb_server import MariaDb

sys.path.insert(0, str(Path(__file__).parent / "reference"))


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory):
    """A server that runs; tests have tables of their own."""
    with MariaDb(tmp_path_factory.mktemp("mariadb")) as server:
        yield server


@pytest.fixture
def environment(spark):
    """Makes environments, in a mode and with settings of Flink."""
    from pyflow.table import EnvironmentSettings, TableEnvironment

    before = spark.conf.getAll

    def make(mode="streaming", **settings):
        t_env = TableEnvironment.create(getattr(EnvironmentSettings, f"in_{mode}_mode")())
        t_env.get_config().set("parallelism.default", "1")
        t_env.get_config().set("python.execution-mode", "thread")
        t_env.get_config().set("table.local-time-zone", "UTC")
        for key, value in settings.items():
            t_env.get_config().set(key.replace("_", "."), value)
        return t_env

    yield make
    for key, value in spark.conf.getAll.items():
        if before.get(key) != value:
            if key in before:
                spark.conf.set(key, before[key])
            else:
                spark.conf.unset(key)


@pytest.fixture(params=["batch", "streaming"])
def mode(request):
    return request.param


@pytest.fixture
def t_env(environment, mode):
    """An environment of each mode."""
    return environment(mode)


@pytest.fixture
def batch(environment):
    return environment("batch")


@pytest.fixture
def streaming(environment):
    return environment("streaming")
