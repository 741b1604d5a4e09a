"""What a user gets who installs the package."""

from __future__ import annotations

import os
import re
import sys
import zipfile

import pytest

import pyflow

JAR = f"pyflow/jars/pyflow-spark-4.3_2.13-{pyflow.__version__}.jar"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, run):
    """The wheel, made as pip makes it, with the build's requirements already there."""
    directory = tmp_path_factory.mktemp("wheel")
    pip_wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    result = run(*pip_wheel, "--wheel-dir", directory, ".")
    assert result.returncode == 0, result.stdout + result.stderr
    return next(directory.glob("*.whl"))


@pytest.fixture(scope="module")
def python(tmp_path_factory, wheel, run):
    """A Python outside the source tree, with the wheel installed and this one's PySpark."""
    directory = tmp_path_factory.mktemp("user")
    assert run(sys.executable, "-m", "venv", directory / "venv").returncode == 0
    python = directory / "venv" / "bin" / "python"
    assert run(python, "-m", "pip", "install", "--no-deps", wheel).returncode == 0
    import pyspark

    paths = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = run(python, "-c", paths).stdout.strip()
    with open(f"{packages}/pyspark.pth", "w") as file:
        file.write(pyspark.__path__[0].rsplit("/", 1)[0])
    return python


def test_wheel_is_for_any_python_on_this_platform(wheel):
    platform = rf"manylinux_2_\d+_{os.uname().machine}"
    assert re.fullmatch(rf"pyflow-{pyflow.__version__}-py3-none-{platform}\.whl", wheel.name)


def test_wheel_carries_the_jar_and_no_sources(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    assert JAR in names
    assert {name.split("/")[0] for name in names} == {
        "pyflow",
        f"pyflow-{pyflow.__version__}.dist-info",
    }


@pytest.mark.complete
def test_installed_package_knows_its_jar(python, run):
    result = run(python, "-I", "-c", "import pyflow; print(pyflow.jar_path())")

    assert result.stdout.strip().endswith(f"site-packages/{JAR}")


def test_installed_command_prints_settings(python, run):
    result = run(python.parent / "pyflow", "conf")

    assert "spark.plugins                    io.pyflow.PyFlowPlugin\n" in result.stdout


@pytest.fixture
def path_with_another_python(tmp_path):
    """A PATH whose `python3` is none for functions."""
    directory = tmp_path / "bin"
    directory.mkdir()
    another = directory / "python3"
    another.write_text("#!/bin/sh\nexit 3\n")
    another.chmod(0o755)
    return f"{directory}{os.pathsep}{os.environ['PATH']}"


def test_installed_package_runs_a_function_in_thread_mode(
    python, run, tmp_path, path_with_another_python
):
    """Settings come after `configure`, and nobody says which Python runs functions."""
    other_jar = tmp_path / "other.jar"
    with zipfile.ZipFile(other_jar, "w") as jar:
        jar.writestr("other.properties", "")
    program = tmp_path / "program.py"
    program.write_text(
        """
import sys

import pyflow
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

builder = pyflow.configure(SparkSession.builder.master("local[1]"))
builder = builder.config("spark.ui.enabled", "false").config("spark.jars", sys.argv[1])
builder = builder.config("spark.driver.extraJavaOptions", "-Dchosen=true")
builder = builder.config("spark.pyflow.execution-mode", "thread")
spark = builder.getOrCreate()
double = udf(lambda x: 2 * x, "long")
result = spark.range(3).select(double("id").alias("double"))
print("RESULT", [row.double for row in result.collect()])
# A function may import all of the installed package.
jar = spark.range(1).select(udf(lambda _: __import__("pyflow").jar_path())("id")).first()[0]
print("JAR", jar == pyflow.jar_path())
print("PLAN", "ThreadEvalPython" in result._jdf.queryExecution().executedPlan().toString())
options = spark._jvm.java.lang.System.getProperty("chosen")
print("OPTIONS", options, spark.conf.get("spark.driver.extraJavaOptions")[-21:])
print("JARS", spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
      .getResource("other.properties") is not None)
"""
    )

    path = path_with_another_python
    result = run(python, "-I", program, other_jar, PATH=path, PYSPARK_PYTHON=None)

    assert "RESULT [0, 2, 4]" in result.stdout, result.stderr
    assert "OPTIONS true -Dchosen=true -Xss8m\n" in result.stdout
    assert "JARS True" in result.stdout
    assert "PLAN True" in result.stdout
    assert "JAR True" in result.stdout
