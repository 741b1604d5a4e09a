"""Executors and workers need not have PyFlow installed."""

from __future__ import annotations

import sys

import pytest

from deployments import PROGRAMS, run, submit


@pytest.fixture
def bare_python(tmp_path):
    """A Python for workers that has no installed packages; PySpark comes from Spark's zip file."""
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    path.chmod(0o755)
    return path


@pytest.mark.complete
def test_functions_on_executors_without_the_package(tmp_path, bare_python):
    output = run(
        [
            *submit(
                "spark.executor.memory=1g",
                "spark.sql.execution.pythonUDF.arrow.enabled=false",
                f"spark.pyspark.python={bare_python}",
                f"spark.pyspark.driver.python={sys.executable}",
                master="local-cluster[1,1,1024]",
            ),
            PROGRAMS / "table_functions_on_workers.py",
        ],
        tmp_path,
    )

    lines = dict(line.split(maxsplit=1) for line in output.splitlines() if " [1, 2] " in line)
    assert "pyflow-" in lines["process"]
    assert ".zip" in lines["process"]
    assert ".zip" not in lines["thread"]
