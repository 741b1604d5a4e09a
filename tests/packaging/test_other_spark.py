"""The jar in an application of another Spark minor version: as if it were not there, but told."""

from __future__ import annotations

import pytest

import pyflow
from scripts.other_spark import VERSION, environment

PROGRAM = """
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

spark = SparkSession.builder.getOrCreate()
result = spark.range(3).select(udf(lambda x: 2 * x, "long")("id").alias("double"))
print("RESULT", spark.version, [row.double for row in result.collect()])
result.explain()
"""


@pytest.fixture(scope="module")
def application(run, tmp_path_factory):
    """The program, submitted as the documentation says, in thread mode."""
    other_spark = environment()
    program = tmp_path_factory.mktemp("application") / "program.py"
    program.write_text(PROGRAM)
    settings = {
        "spark.plugins": "io.pyflow.PyFlowPlugin",
        "spark.pyflow.execution-mode": "thread",
        "spark.ui.enabled": "false",
    }
    options = [part for item in settings.items() for part in ("--conf", "=".join(item))]
    return run(
        *(other_spark / "bin" / "spark-submit", "--master", "local[1]"),
        *("--jars", pyflow.jar_path(), *options, program),
        cwd=program.parent,
        SPARK_HOME=None,
        PYSPARK_PYTHON=str(other_spark / "bin" / "python"),
    )


def test_functions_run_in_process_mode(application):
    assert f"RESULT {VERSION} [0, 2, 4]" in application.stdout, application.stderr


def test_a_warning_says_why(application):
    warnings = [line for line in application.stderr.splitlines() if "PyFlow is not active" in line]

    assert len(warnings) == 1
    assert " WARN " in warnings[0]
    assert "built for Spark 4.3" in warnings[0]
    assert f"runs on Spark {VERSION}" in warnings[0]


def test_explain_names_the_jar_that_is_wanted(application):
    minor = ".".join(VERSION.split(".")[:2])

    assert "ProcessMode [<lambda>(id#" in application.stdout
    assert f"runs on Spark {VERSION}. Use the PyFlow jar built for Spark {minor}\n" in (
        application.stdout
    )
