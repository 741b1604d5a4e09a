"""What a user gets who installs the package."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from pathlib import Path

import pytest

import pyflow

ROOT = Path(__file__).resolve().parents[2]
OLDER_SPARKS = sorted(
    path.stem.removeprefix("pyspark-") for path in ROOT.glob("requirements/pyspark-*.txt")
)


def jar_for(spark: str) -> str:
    """The path of a plugin jar in the package."""
    return f"pyflow/jars/pyflow-spark-{spark}_2.13-{pyflow.__version__}.jar"


JAR = jar_for("4.3")

PROGRAM = """
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
print("JAR", jar == pyflow.jar_path(), jar.rsplit("/", 1)[1])
print("PLAN", "ThreadEvalPython" in result._jdf.queryExecution().executedPlan().toString())
print("SPARK", spark.version)
options = spark._jvm.java.lang.System.getProperty("chosen")
print("OPTIONS", options, spark.conf.get("spark.driver.extraJavaOptions")[-21:])
print("JARS", spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
      .getResource("other.properties") is not None)
"""


@pytest.fixture(scope="module")
def make_wheel(tmp_path_factory, run):
    """Makes the wheel as pip makes it, with the build's requirements already there."""

    def make(**variables):
        directory = tmp_path_factory.mktemp("wheel")
        pip_wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
        result = run(*pip_wheel, "--wheel-dir", directory, ".", **variables)
        assert result.returncode == 0, result.stdout + result.stderr
        return next(directory.glob("*.whl"))

    return make


@pytest.fixture(scope="module")
def wheel(make_wheel):
    """The wheel of a clone, with the jar for the newest Spark."""
    return make_wheel()


@pytest.fixture(scope="module")
def wheel_of_all(make_wheel):
    """The wheel with the jars that are built, as `make dist` makes it."""
    return make_wheel(PYFLOW_JARS=" ".join(map(str, (ROOT / "pyflow" / "jars").glob("*.jar"))))


@pytest.fixture(scope="module")
def installed(tmp_path_factory, run):
    """Makes a Python outside the source tree, with the wheel and the PySpark of an environment."""

    def install(environment, wheel):
        directory = tmp_path_factory.mktemp("user")
        assert run(environment, "-m", "venv", directory / "venv").returncode == 0
        python = directory / "venv" / "bin" / "python"
        assert run(python, "-m", "pip", "install", "--no-deps", wheel).returncode == 0
        pyspark = run(environment, "-c", "import pyspark; print(pyspark.__path__[0])").stdout
        purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
        packages = run(python, "-c", purelib).stdout.strip()
        with open(f"{packages}/pyspark.pth", "w") as file:
            file.write(str(Path(pyspark.strip()).parent))
        return python

    return install


@pytest.fixture(scope="module")
def python(installed, wheel):
    """With the newest PySpark."""
    return installed(sys.executable, wheel)


@pytest.fixture(params=OLDER_SPARKS)
def older(request, installed, wheel_of_all):
    """With an older PySpark, whose name stands in `param`; skipped where its jar is not built."""
    environment = ROOT / ".venvs" / f"spark-{request.param}" / "bin" / "python"
    if not (ROOT / jar_for(request.param)).exists() or not environment.exists():
        pytest.skip(f"make build SPARK={request.param}")
    return installed(environment, wheel_of_all), request.param


def test_wheel_is_for_any_python_on_this_platform(wheel):
    platform = rf"manylinux_2_\d+_{os.uname().machine}"
    assert re.fullmatch(rf"pyflow-{pyflow.__version__}-py3-none-{platform}\.whl", wheel.name)


def test_wheel_has_the_jar_and_no_sources(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    assert JAR in names
    assert {name.split("/")[0] for name in names} == {
        "pyflow",
        f"pyflow-{pyflow.__version__}.dist-info",
    }


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


@pytest.fixture
def run_program(run, tmp_path, path_with_another_python):
    """Runs PROGRAM by an installed Python, where nobody says which Python runs functions."""

    def run_it(python):
        other_jar = tmp_path / "other.jar"
        with zipfile.ZipFile(other_jar, "w") as jar:
            jar.writestr("other.properties", "")
        program = tmp_path / "program.py"
        program.write_text(PROGRAM)
        path = path_with_another_python
        return run(python, "-I", program, other_jar, PATH=path, PYSPARK_PYTHON=None)

    return run_it


def test_installed_package_runs_a_function_in_thread_mode(python, run_program):
    """Settings come after `configure`."""
    result = run_program(python)

    assert "RESULT [0, 2, 4]" in result.stdout, result.stderr
    assert "OPTIONS true -Dchosen=true -Xss8m\n" in result.stdout
    assert "JARS True" in result.stdout
    assert "PLAN True" in result.stdout
    assert "JAR True" in result.stdout


def test_installed_package_runs_a_function_on_an_older_spark(older, run_program):
    python, spark = older

    result = run_program(python)

    assert "RESULT [0, 2, 4]" in result.stdout, result.stderr
    assert f"PLAN True\nSPARK {spark}" in result.stdout
    assert f"JAR True {Path(jar_for(spark)).name}" in result.stdout
