"""The jar in an application of another Spark minor version: as if it were not there, but told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pyflow

ROOT = Path(__file__).resolve().parents[2]
MINOR = "4.1"
REQUIREMENTS = (ROOT / "requirements" / f"pyspark-{MINOR}.txt").read_text()
VERSION = re.search(r"^pyspark==(.+)$", REQUIREMENTS, re.MULTILINE)[1]

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
    other_spark = ROOT / ".venvs" / f"spark-{MINOR}" / "bin"
    if not other_spark.exists():
        pytest.fail(f"no Spark {MINOR}: run `python3 scripts/set_up.py --spark {MINOR} run test`")
    program = tmp_path_factory.mktemp("application") / "program.py"
    program.write_text(PROGRAM)
    settings = {
        "spark.plugins": "io.pyflow.PyFlowPlugin",
        "spark.pyflow.execution-mode": "thread",
        "spark.ui.enabled": "false",
    }
    options = [part for item in settings.items() for part in ("--conf", "=".join(item))]
    return run(
        *(other_spark / "spark-submit", "--master", "local[1]"),
        *("--jars", pyflow.jar_path(), *options, program),
        cwd=program.parent,
        SPARK_HOME=None,
        PYSPARK_PYTHON=str(other_spark / "python"),
    )


@pytest.mark.complete
def test_functions_run_in_process_mode(application):
    assert f"RESULT {VERSION} [0, 2, 4]" in application.stdout, application.stderr


def test_a_warning_says_why(application):
    warnings = [line for line in application.stderr.splitlines() if "PyFlow is not active" in line]

    assert len(warnings) == 1
    assert " WARN " in warnings[0]
    assert "built for Spark 4.3" in warnings[0]
    assert f"runs on Spark {VERSION}" in warnings[0]


def test_explain_names_the_jar_that_is_wanted(application):
    assert "ProcessMode [<lambda>(id#" in application.stdout
    assert f"runs on Spark {VERSION}. Use the PyFlow jar built for Spark {MINOR}\n" in (
        application.stdout
    )
