"""Environments of data streams over the shared session."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pyflow.common import Configuration

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "reference"), str(HERE.parent / "table" / "reference")]


@pytest.fixture
def make_env(spark):
    """Makes environments with settings of Flink."""
    from pyflow.datastream import StreamExecutionEnvironment

    def make(parallelism=2, mode="thread", **settings):
        configuration = Configuration()
        configuration.set_string("python.execution-mode", mode)
        for key, value in settings.items():
            configuration.set_string(key.replace("__", "-").replace("_", "."), str(value))
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        return env.set_parallelism(parallelism)

    return make


@pytest.fixture(params=["thread", "process"])
def mode(request):
    return request.param


@pytest.fixture
def env(make_env, mode):
    """An environment of each execution mode."""
    return make_env(mode=mode)
