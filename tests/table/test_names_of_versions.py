"""Names that PyFlink has elsewhere, or that older versions of it have."""

from __future__ import annotations

import importlib

import pytest

import pyflow
from pyflow.datastream import StreamExecutionEnvironment


def test_names_that_modules_pass_on():
    from pyflow.table import functions, udf
    from pyflow.table.data_view import ListView
    from pyflow.version import __version__

    assert functions.AggregateFunction is udf.AggregateFunction
    assert functions.ListView is ListView
    assert __version__ == pyflow.__version__
    with pytest.raises(AttributeError, match="has no attribute 'nix'"):
        functions.nix  # noqa: B018


@pytest.mark.parametrize(
    ("module", "name", "instead"),
    [
        ("pyflow.table", "CsvTableSource", "'connector' = 'filesystem', 'format' = 'csv'"),
        ("pyflow.table", "BatchTableEnvironment", r"EnvironmentSettings\.in_batch_mode\(\)"),
        ("pyflow.table.descriptors", "Kafka", r"TableDescriptor\.for_connector\(\)"),
        ("pyflow.common", "SimpleStringEncoder", r"Encoder\.simple_string_encoder\(\)"),
        ("pyflow.common", "CheckpointingMode", r"pyflow\.datastream\.CheckpointingMode"),
        ("pyflow.datastream", "FsStateBackend", "HashMapStateBackend, and set execution"),
    ],
)
def test_names_that_are_gone(module, name, instead):
    with pytest.raises(ImportError, match=f"{name} is gone from PyFlink.*: use .*{instead}"):
        getattr(importlib.import_module(module), name)
    with pytest.raises(AttributeError, match="has no attribute 'nix'"):
        importlib.import_module(module).nix  # noqa: B018


def test_the_parallelism_is_that_of_the_session(spark):
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_parallelism() == env._context().parallelism() > 0
    assert env.set_parallelism(7).get_parallelism() == 7
