"""A Table API program keeps what spark-submit and spark-defaults.conf say of its application."""

from __future__ import annotations

import sys

import pytest

import pyflow
from deployments import PROGRAMS, SPARK, run, submit

PROGRAM = PROGRAMS / "submitted_table.py"
PLUGIN = "io.pyflow.PyFlowPlugin"


def test_settings_of_spark_submit_are_kept(tmp_path):
    other = tmp_path / "other.jar"
    other.write_bytes((SPARK / "jars" / "py4j-0.10.9.9.jar").read_bytes())
    options = ("spark.executor.extraJavaOptions=-Dkey=value", "spark.plugins=")
    command = submit(*options, mode="process", jar=f"{other},{pyflow.jar_path()}")

    printed = run([*command, PROGRAM], tmp_path)

    assert "pyflow.execution-mode: process" in printed
    assert "functions run in: python" in printed
    assert f"plugins: {PLUGIN}" in printed
    assert f"jars: file://{other},file://{pyflow.jar_path()}" in printed
    assert "executor.extraJavaOptions: -Dkey=value -Xss8m" in printed


@pytest.mark.complete
def test_functions_run_in_thread_mode_where_no_other_was_chosen(tmp_path):
    printed = run([*submit(mode=None), PROGRAM], tmp_path)

    assert "pyflow.execution-mode: thread" in printed
    assert "functions run in: python" not in printed


def test_without_the_jar_functions_run_in_process_mode(tmp_path):
    printed = run([SPARK / "bin" / "spark-submit", "--master", "local[2]", PROGRAM], tmp_path)

    assert f"give it --jars {pyflow.jar_path()} --conf spark.plugins={PLUGIN}" in printed
    assert "functions run in: python" in printed


@pytest.mark.complete
def test_executors_get_a_jar_that_the_driver_alone_was_given(tmp_path):
    command = [SPARK / "bin" / "spark-submit", "--master", "local-cluster[1,1,1024]"]

    printed = run([*command, "--driver-class-path", pyflow.jar_path(), PROGRAM], tmp_path)

    assert "functions run in: " in printed
    assert "functions run in: python" not in printed
    assert f"jars: {pyflow.jar_path()}" in printed


@pytest.mark.complete
def test_settings_of_the_defaults_are_kept(tmp_path):
    settings = f"spark.master local[2]\nspark.pyflow.execution-mode process\nspark.jars {PROGRAM}\n"
    (tmp_path / "spark-defaults.conf").write_text(settings)

    printed = run([sys.executable, PROGRAM], tmp_path, SPARK_CONF_DIR=tmp_path)

    assert "pyflow.execution-mode: process" in printed
    assert "functions run in: python" in printed
    assert f"jars: {PROGRAM},{pyflow.jar_path()}" in printed


@pytest.mark.complete
def test_settings_of_pyspark_submit_args_are_kept(tmp_path):
    other = tmp_path / "other.jar"
    other.write_bytes((SPARK / "jars" / "py4j-0.10.9.9.jar").read_bytes())
    arguments = (
        f"--master local[2] --jars {other} --driver-java-options=-Dkey=value "
        "--conf spark.executor.extraJavaOptions=-Dkey=value pyspark-shell"
    )

    printed = run([sys.executable, PROGRAM], tmp_path, PYSPARK_SUBMIT_ARGS=arguments)
    assert "pyflow.execution-mode: thread" in printed
    assert "functions run in: python" not in printed
    assert f"jars: {other},{pyflow.jar_path()}" in printed
    assert "executor.extraJavaOptions: -Dkey=value -Xss8m" in printed

    arguments = f"-c spark.pyflow.execution-mode=process {arguments}"
    printed = run([sys.executable, PROGRAM], tmp_path, PYSPARK_SUBMIT_ARGS=arguments)
    assert "pyflow.execution-mode: process" in printed
    assert "functions run in: python" in printed
