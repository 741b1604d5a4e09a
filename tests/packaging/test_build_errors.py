"""What the build says on a machine that lacks something."""

from __future__ import annotations

import sys

import pytest

WITHOUT_SHARED_LIBRARY = (
    "sysconfig.get_config_vars().update(INSTSONAME='libpython.a', LDLIBRARY='libpython.a')"
)


@pytest.fixture
def build(run):
    """Runs `make build` and returns what it says, having failed."""

    def start(**environment):
        result = run("make", "build", **environment)
        assert result.returncode != 0
        return result.stdout + result.stderr

    return start


def test_no_jdk(build, path_without):
    said = build(PATH=path_without("java", "javac"), JAVA_HOME=None)

    assert "PyFlow: no JDK on PATH" in said
    assert "apt-get install openjdk-17-jdk-headless" in said


def test_runtime_environment_instead_of_a_jdk(build, path_without):
    said = build(PATH=path_without("javac"), JAVA_HOME=None)

    assert "comes without a compiler (javac)" in said


def test_java_home_without_a_jdk(build, tmp_path):
    said = build(JAVA_HOME=str(tmp_path))

    assert f"PyFlow: no JDK: {tmp_path}/bin/javac does not run" in said


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22", "16.0.2"])
def test_jdk_older_than_17(build, jdk, version):
    said = build(JAVA_HOME=jdk(version))

    feature = {"1.8.0_402": 8, "11.0.22": 11, "16.0.2": 16}[version]
    assert f"bin/javac is of Java {feature}. PyFlow is built with a JDK 17 or newer" in said


def test_no_compiler(build, path_without):
    said = build(PATH=path_without("c++", "g++", "clang++"), CXX=None)

    assert "PyFlow: no C++ compiler on PATH" in said
    assert "apt-get install g++" in said


def test_compiler_that_does_not_run(build):
    said = build(CXX="/nowhere/g++")

    assert "PyFlow: the C++ compiler CXX=/nowhere/g++ does not run" in said


def test_python_without_shared_library(build, python_with):
    python = python_with(WITHOUT_SHARED_LIBRARY)

    said = build(PYFLOW_PYTHONS=python)

    assert "it has no shared libpython" in said
    assert "PYTHON_CONFIGURE_OPTS=--enable-shared" in said


@pytest.mark.parametrize("version", [(3, 9, 18), (3, 15, 0)])
def test_python_outside_3_10_to_3_14(build, python_with, version):
    python = python_with(f"sys.version_info = {version}")

    said = build(PYFLOW_PYTHONS=python)

    assert "it is outside 3.10 to 3.14" in said
    assert "PyFlow needs CPython 3.10 to 3.14" in said


def test_gradle_names_a_spark_of_another_minor_version(run, tmp_path):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-4.1.1.jar").touch()

    result = run("gradle", "--quiet", f"-Ppyspark={tmp_path}", "checkMachine")

    assert f"PyFlow is built for Spark 4.3; {tmp_path} is Spark 4.1.1." in result.stderr


def test_wheel_on_a_machine_without_gradle(run, path_without, tmp_path):
    pip_wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]

    result = run(*pip_wheel, "--wheel-dir", tmp_path, ".", PATH=path_without("gradle"))

    assert result.returncode != 0
    assert "PyFlow: no Gradle on PATH" in result.stderr
    assert "apt-get install gradle" in result.stderr


def test_tool_that_cannot_be_installed(build, path_without):
    said = build(PATH=path_without("gradle", "apt-get"))

    assert "PyFlow: missing here: gradle. As root: apt-get install" in said


def test_tool_that_apt_does_not_know(build, path_without, command):
    path = path_without("gradle", "apt-get", "sudo")
    command("sudo", 'test "$1" = -n && shift && exec "$@"')
    command("apt-get", 'echo "apt-get $*"; test "$2" = update')

    said = build(PATH=path)

    assert "PyFlow: installing with apt-get: gradle\n" in said
    assert "apt-get install --yes --no-install-recommends gradle failed" in said
