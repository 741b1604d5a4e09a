"""What `make dist` makes serves a machine that has Python and a Java runtime, nothing more."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import pyflow

pytestmark = pytest.mark.complete

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
OLDER_SPARKS = sorted(REQUIREMENTS.glob("pyspark-*.txt"))

BUILD_TOOLS = [
    *("javac", "jar", "gradle", "cmake", "make", "ninja", "npm"),
    *("cc", "c++", "gcc", "g++", "clang", "clang++", "as", "ld"),
]
SYSTEM_LIBRARIES = {"libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1"}
PACKAGE = f"io.pyflow:pyflow-spark-4.3_2.13:{pyflow.__version__}"
PROGRAM = """
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

builder = SparkSession.builder
{configure}
spark = builder.config("spark.ui.enabled", "false").getOrCreate()
double = udf(lambda x: 2 * x, "long")
result = spark.range(3).select(double("id").alias("double"))
print("RESULT", [row.double for row in result.collect()])
print("PLAN", "ThreadEvalPython" in result._jdf.queryExecution().executedPlan().toString())
"""
CONFIGURE = """
import pyflow
print("JAR", pyflow.jar_path())
builder = pyflow.configure(builder.master("local[1]"))
builder = builder.config("spark.pyflow.execution-mode", "thread")
"""

CHANGES = """
from pyflow.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.create_temporary_view("t", t_env.from_elements([(1,), (1,), (2,)], ["a"]))
keys = "SELECT COUNT(*) AS c FROM (SELECT a, COUNT(*) FROM t GROUP BY a) GROUP BY a"
with t_env.sql_query(f"SELECT SUM(c) FROM ({keys})").execute().collect() as rows:
    print("ROWS", [row[0] for row in rows if str(row.get_row_kind()) in ("+I", "+U")])
"""


@pytest.fixture(scope="module")
def dist(root, run):
    """The directory that `make dist` writes."""
    result = run("make", "dist")
    assert result.returncode == 0, result.stdout + result.stderr
    return root / "dist"


@pytest.fixture(scope="module")
def wheel(dist):
    (wheel,) = dist.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(tmp_path_factory, wheel, run):
    """The Python of a fresh environment that the wheel is installed into, PySpark with it."""
    environment = tmp_path_factory.mktemp("user") / "venv"
    assert run(sys.executable, "-m", "venv", environment).returncode == 0
    python = environment / "bin" / "python"
    result = run(python, "-m", "pip", "install", "--quiet", wheel)
    assert result.returncode == 0, result.stderr
    return python


@pytest.fixture
def surroundings(python, path_without):
    """The environment variables of a machine without a compiler and without Gradle."""
    path = f"{python.parent}{os.pathsep}{path_without(*BUILD_TOOLS)}"
    return {"PATH": path, "JAVA_HOME": None, "SPARK_HOME": None, "PYSPARK_PYTHON": str(python)}


@pytest.fixture(scope="module")
def libraries(wheel, tmp_path_factory):
    """The native libraries in the wheel's jar."""
    directory = tmp_path_factory.mktemp("libraries")
    jar = f"pyflow/jars/pyflow-spark-4.3_2.13-{pyflow.__version__}.jar"
    zipfile.ZipFile(wheel).extract(jar, directory)
    with zipfile.ZipFile(directory / jar) as archive:
        names = [name for name in archive.namelist() if name.endswith(".so")]
        return [archive.extract(name, directory) for name in names]


def readelf(option, library):
    command = ["readelf", "--wide", option, library]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_tag_names_the_glibc_that_the_libraries_need(wheel, libraries):
    used = {
        tuple(map(int, version))
        for library in libraries
        for version in re.findall(r"GLIBC_(\d+)\.(\d+)", readelf("--version-info", library))
    }

    platform = "manylinux_{}_{}_{}".format(*max(used), os.uname().machine)
    assert wheel.name == f"pyflow-{pyflow.__version__}-py3-none-{platform}.whl"
    assert max(used) <= (2, 17)


def test_libraries_need_those_of_the_system_only(libraries):
    needed = {
        name
        for library in libraries
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", library))
    }

    assert {name for name in needed if not name.startswith("ld-linux")} <= SYSTEM_LIBRARIES


def test_libraries_show_nothing_of_the_runtime_inside_them(libraries):
    shown = {
        line.split()[7]
        for library in libraries
        for line in readelf("--dyn-syms", library).splitlines()
        if " GLOBAL " in line or " WEAK " in line
        if " UND " not in line
    }

    assert shown
    # Functions of PyTorch's are called in their place.
    of_torch = ("pyflow_torch_", "_ZN2at6detail22getDefaultCPUGenerator", "_ZN3c10")
    assert {name for name in shown if not name.startswith(("Java_", *of_torch))} == set()


def test_doctor_finds_no_fault(python, surroundings, run, tmp_path):
    result = run(python.parent / "pyflow", "doctor", "--json", cwd=tmp_path, **surroundings)

    findings = json.loads(result.stdout)
    assert [each["check"] for each in findings if each["status"] != "OK"] == ["state", "tables"]
    assert result.returncode == 0


def test_extra_has_what_operators_with_state_need(wheel, surroundings, run, tmp_path):
    assert run(sys.executable, "-m", "venv", tmp_path / "venv").returncode == 0
    python = tmp_path / "venv" / "bin" / "python"
    assert run(python, "-m", "pip", "install", "--quiet", f"{wheel}[table]").returncode == 0
    program = tmp_path / "program.py"
    program.write_text(CHANGES)

    result = run(python, program, cwd=tmp_path, **{**surroundings, "PYSPARK_PYTHON": None})

    assert "ROWS [1, 1, 2]" in result.stdout, result.stderr


def test_installed_package_runs_a_function(python, surroundings, run, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(configure=CONFIGURE))

    result = run(python, program, cwd=tmp_path, **surroundings)

    assert "RESULT [0, 2, 4]\nPLAN True" in result.stdout, result.stderr
    assert f"JAR {python.parent.parent}" in result.stdout


@pytest.mark.parametrize("requirements", OLDER_SPARKS, ids=lambda path: path.stem)
def test_package_runs_a_function_with_each_spark(wheel, surroundings, run, tmp_path, requirements):
    """The wheel carries a jar for each, and pip takes it beside any of them."""
    assert run(sys.executable, "-m", "venv", tmp_path / "venv").returncode == 0
    python = tmp_path / "venv" / "bin" / "python"
    installed = run(python, "-m", "pip", "install", "--quiet", wheel, "-r", requirements)
    assert installed.returncode == 0, installed.stderr
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(configure=CONFIGURE))

    result = run(python, program, cwd=tmp_path, **{**surroundings, "PYSPARK_PYTHON": str(python)})

    assert "RESULT [0, 2, 4]\nPLAN True" in result.stdout, result.stderr
    assert f"/pyflow-{requirements.stem.removeprefix('py')}_2.13-" in result.stdout


def test_spark_submit_finds_the_package_in_the_repository(dist, surroundings, run, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(configure=""))
    settings = {
        "spark.jars.repositories": (dist / "maven").as_uri(),
        "spark.jars.ivy": str(tmp_path / "ivy"),
        "spark.plugins": "io.pyflow.PyFlowPlugin",
        "spark.pyflow.execution-mode": "thread",
    }
    options = [part for item in settings.items() for part in ("--conf", "=".join(item))]

    result = run(
        *("spark-submit", "--master", "local[1]", "--packages", PACKAGE, *options, program),
        cwd=tmp_path,
        # Repositories of the network are out of reach.
        SPARK_SUBMIT_OPTS="-Dhttps.proxyHost=localhost -Dhttps.proxyPort=9",
        **surroundings,
    )

    assert "RESULT [0, 2, 4]\nPLAN True" in result.stdout, result.stderr
