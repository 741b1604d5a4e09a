"""`pyflow doctor` on sound and on broken environments."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import sys
import zipfile

import pytest

import pyflow
from jars import without_code
from pyflow.session import builder as session

CHECKS = [
    "JDK",
    "Spark",
    "Python",
    "libpython",
    "stack size",
    "plugin jar",
    "interpreters",
    "parallel",
    "state",
    "tables",
    "start",
]


@pytest.fixture
def doctor(run, tmp_path):
    """Runs the command; returns its findings by check."""

    def examine(package=None, **environment):
        environment.setdefault("PYSPARK_PYTHON", sys.executable)
        environment.setdefault("SPARK_CONF_DIR", str(tmp_path))
        if package is not None:
            environment["PYTHONPATH"] = str(package)
        command = [sys.executable, "-m", "pyflow", "doctor", "--json"]
        result = run(*command, cwd=tmp_path, **environment)
        findings = {finding["check"]: finding for finding in json.loads(result.stdout)}
        faults = [check for check in findings if findings[check]["status"] == "FAULT"]
        assert result.returncode == bool(faults)
        return findings

    return examine


@pytest.fixture
def package(tmp_path, root):
    """A copy of the installed package, to be damaged."""
    copy = tmp_path / "site"
    # Other tests compile what they import.
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "pyflow", copy / "pyflow", ignore=ignored)
    return copy


def faults(findings):
    return [check for check in findings if findings[check]["status"] == "FAULT"]


def test_sound_environment(doctor):
    findings = doctor()

    assert list(findings) == CHECKS
    assert faults(findings) == []


def test_table_shows_every_check(run):
    result = run(sys.executable, "-m", "pyflow", "doctor", PYSPARK_PYTHON=sys.executable)

    assert [line.split("  ")[0] for line in result.stdout.splitlines()[1:]] == CHECKS


def test_table_says_what_to_do_below_a_fault(run):
    result = run(sys.executable, "-m", "pyflow", "doctor", JAVA_HOME="/nowhere")

    assert result.returncode == 1
    line = result.stdout.splitlines()[2]
    assert line.strip() == (
        "-> install a JDK 17 (Debian: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME"
    )


def test_no_java(doctor, path_without):
    findings = doctor(PATH=path_without("java"), JAVA_HOME=None)

    assert findings["JDK"]["found"] == "no java on PATH"
    assert "apt-get install openjdk-17-jdk-headless" in findings["JDK"]["advice"]


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22"])
def test_java_older_than_17(doctor, jdk, version):
    findings = doctor(JAVA_HOME=jdk(version))

    assert findings["JDK"]["found"].startswith(version)
    assert findings["JDK"]["advice"]


def test_spark_of_another_minor_version(doctor, tmp_path):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-4.0.1.jar").touch()

    findings = doctor(SPARK_HOME=str(tmp_path))

    assert faults(findings) == ["Spark", "plugin jar"]
    assert findings["Spark"]["found"].startswith("4.0.1 ")
    assert 'pip install "pyspark~=4.3.0"' in findings["Spark"]["advice"]


def test_no_spark(doctor, tmp_path):
    findings = doctor(SPARK_HOME=str(tmp_path))

    assert findings["Spark"]["found"] == "not found"


@pytest.mark.complete
def test_environment_without_protobuf(doctor, package):
    """Everything but state works there."""
    (package / "google").mkdir()
    (package / "google" / "__init__.py").write_text("")

    findings = doctor(package)

    assert findings["state"]["status"] == "WARNING"
    assert findings["state"]["found"].endswith("No module named 'google.protobuf'")
    assert findings["state"]["advice"] == "pip install 'pyflow[table]'"
    assert findings["start"]["status"] == "OK"
    assert faults(findings) == []


@pytest.mark.complete
def test_environment_without_the_packages_of_the_table_api(doctor, package):
    """Each package that the extra `table` installs is checked, those of `pyspark[sql]` too."""
    modules = {
        re.match(r"[\w.-]+", requirement)[0].replace("ruamel-yaml", "ruamel.yaml")
        for distribution, extra in (("pyflow", "table"), ("pyspark", "sql"))
        for requirement in importlib.metadata.requires(distribution)
        if re.search(f"""extra == ['"]{extra}['"]""", requirement)
    } - {"pyspark"}
    assert modules > {"pandas", "protobuf", "ruamel.yaml", "sqlglot"}
    for module in modules - {"protobuf", "ruamel.yaml"}:
        (package / f"{module}.py").write_text(f"raise ImportError('no {module}')\n")
    (package / "ruamel").mkdir()
    (package / "ruamel" / "__init__.py").write_text("raise ImportError('no ruamel.yaml')\n")
    (package / "google").mkdir()
    (package / "google" / "__init__.py").write_text("raise ImportError('no protobuf')\n")

    findings = doctor(package)

    said = f"{findings['state']['found']}; {findings['tables']['found']}"
    assert set(re.findall(r"no ([a-z.]+)(?=;|$)", said)) == modules
    assert findings["tables"]["status"] == findings["state"]["status"] == "WARNING"
    assert findings["tables"]["advice"] == "pip install 'pyflow[table]'"
    assert faults(findings) == []


def test_python_without_shared_library(doctor, python_with):
    python = python_with(
        "sysconfig.get_config_vars().update(INSTSONAME='libpython.a', LDLIBRARY='libpython.a')"
    )

    findings = doctor(PYSPARK_PYTHON=python)

    assert faults(findings) == ["libpython", "interpreters", "parallel"]
    assert "--enable-shared" in findings["libpython"]["advice"]


@pytest.mark.complete
@pytest.mark.parametrize("version", [(3, 9, 18), (3, 15, 0)])
def test_python_outside_3_10_to_3_14(doctor, python_with, version):
    findings = doctor(PYSPARK_PYTHON=python_with(f"sys.version_info = {version}"))

    assert "is outside 3.10 to 3.14" in findings["Python"]["found"]
    assert findings["Python"]["advice"] == "set PYSPARK_PYTHON to a CPython 3.10 to 3.14"
    assert "Python" in faults(findings)
    assert "interpreters" in faults(findings)


def test_python_that_does_not_run(doctor):
    findings = doctor(PYSPARK_PYTHON="/nowhere/python")

    assert findings["Python"]["found"] == "/nowhere/python does not run"


def test_executors_with_another_python_than_the_driver(doctor, python_with):
    minor = 12 if sys.version_info[1] != 12 else 11

    findings = doctor(PYSPARK_PYTHON=python_with(f"sys.version_info = (3, {minor}, 1)"))

    assert f"executors would run 3.{minor}.1" in findings["Python"]["found"]
    assert findings["Python"]["advice"] == f"set PYSPARK_PYTHON={sys.executable}"


def test_python_named_in_spark_defaults(doctor, tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.pyspark.python /nowhere/python\n")

    assert doctor()["Python"]["found"] == "/nowhere/python does not run"


@pytest.mark.complete("value", "Da")
@pytest.mark.parametrize(
    ("options", "status"),
    [("-Dkey=value", "OK"), ("-Xss16m", "OK"), ("-Xss1m", "FAULT"), ("-Xss512k -Da=b", "FAULT")],
)
def test_stack_size_of_the_configured_driver(doctor, tmp_path, options, status):
    defaults = tmp_path / "spark-defaults.conf"
    defaults.write_text(f"spark.driver.extraJavaOptions {options}\n")

    assert doctor()["stack size"]["status"] == status


def test_stack_size_limit_of_the_shell(run):
    command = f"ulimit -Ss 4096; {sys.executable} -m pyflow doctor --json"

    result = run("sh", "-c", command)

    findings = {finding["check"]: finding for finding in json.loads(result.stdout)}
    assert findings["stack size"]["found"] == "ulimit -s is 4 MiB"
    assert findings["stack size"]["advice"] == "raise it: ulimit -s 8192"


def test_no_jar(doctor, package):
    shutil.rmtree(package / "pyflow" / "jars")

    assert faults(doctor(package)) == ["plugin jar"]


@pytest.mark.complete
def test_damaged_jar(doctor, package):
    jar = package / "pyflow" / "jars" / f"pyflow-spark-4.3_2.13-{pyflow.__version__}.jar"
    jar.write_bytes(jar.read_bytes()[:1000])

    findings = doctor(package)

    assert findings["plugin jar"]["found"].endswith("is damaged")


@pytest.mark.complete
@pytest.mark.parametrize(
    ("properties", "advice"),
    [
        ("spark.version=4.2.0\npython.versions=3.10,3.11,3.12,3.13,3.14\n", "jar for Spark 4.3;"),
        ("spark.version=4.3.0\npython.versions=3.9\n", "use one of these Pythons"),
        ("spark.version=4.3.0\npython.versions=3.10,3.11,3.12,3.13,3.14\n", "build PyFlow on"),
    ],
    ids=["another Spark", "other Pythons", "another processor"],
)
def test_jar_made_for_something_else(doctor, package, properties, advice):
    jar = package / "pyflow" / "jars" / f"pyflow-spark-4.3_2.13-{pyflow.__version__}.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/pyflow.properties", properties)

    findings = doctor(package)

    assert faults(findings) == ["plugin jar"]
    assert advice in findings["plugin jar"]["advice"]


@pytest.mark.complete
def test_isolated_interpreters_from_3_13_on(doctor):
    found = doctor()["interpreters"]["found"]

    assert found.startswith("isolated, shared" if sys.version_info >= (3, 13) else "shared")


@pytest.mark.complete("version1", "version2")
@pytest.mark.parametrize(
    ("version", "runs", "recommended"),
    [
        ((3, 12, 1), "none: task slots take turns", ["Python 3.13 or newer", "3.14t"]),
        ((3, 13, 5), "functions that import no numpy, pandas or pyarrow;", ["3.14t"]),
        ((3, 14, 0), "functions that import no numpy, pandas or pyarrow;", ["3.14t"]),
    ],
)
def test_recommends_the_python_that_runs_functions_in_parallel(
    doctor, python_with, version, runs, recommended
):
    parallel = doctor(PYSPARK_PYTHON=python_with(f"sys.version_info = {version}"))["parallel"]

    assert parallel["status"] == "OK"
    assert parallel["found"].startswith(runs)
    for python in recommended:
        assert python in parallel["found"]


WITHOUT_GIL = "sysconfig.get_config_vars().update(Py_GIL_DISABLED=1); "


@pytest.mark.complete("version0", "version1")
@pytest.mark.parametrize(
    ("version", "gil", "found"),
    [
        ((3, 13, 5), "False", "all functions; CPython supports this officially from 3.14 on"),
        ((3, 14, 0), "False", "all functions, until one imports an extension module that turns"),
        (
            sys.version_info[:3],
            "'pandas' in sys.modules",
            "all functions until one imports pandas, which",
        ),
    ],
)
def test_names_the_module_that_turns_the_gil_on(doctor, python_with, tmp_path, version, gil, found):
    python = python_with(
        f"{WITHOUT_GIL}sys._is_gil_enabled = lambda: {gil}; sys.executable = '{tmp_path}/python'"
        + (f"; sys.version_info = {version}" if version != sys.version_info[:3] else "")
    )

    assert doctor(PYSPARK_PYTHON=python)["parallel"]["found"].startswith(found)


@pytest.mark.complete
def test_a_free_threaded_python(doctor, package, python_with):
    """One of the driver's version; its slots need no interpreters of their own."""
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}t"
    jar = package / "pyflow" / "jars" / f"pyflow-spark-4.3_2.13-{pyflow.__version__}.jar"
    library = f"libpyflow-cp{minor.replace('.', '')}.so"
    with zipfile.ZipFile(jar, "w") as archive:
        properties = f"spark.version=4.3.0\npython.versions={minor}\n"
        archive.writestr("META-INF/pyflow.properties", properties)
        archive.writestr(f"native/linux-{os.uname().machine}/{library}", b"")
    python = python_with(WITHOUT_GIL + "pass")

    findings = doctor(package, PYSPARK_PYTHON=python)

    assert faults(findings) == ["start"]  # of this jar, which is none
    assert ", free-threaded (" in findings["Python"]["found"]
    assert findings["interpreters"]["found"] == "shared, without a GIL"


@pytest.mark.complete
def test_settings_of_conf_satisfy_doctor(doctor, tmp_path):
    lines = [f"{key} {value}\n" for key, value in session.settings({}).items()]
    (tmp_path / "spark-defaults.conf").write_text("".join(lines))

    assert doctor()["stack size"]["found"] == "8 MiB per JVM thread"


def test_python_starts_in_a_jvm(doctor):
    version = ".".join(map(str, sys.version_info[:3]))

    assert doctor()["start"]["found"] == f"Python {version} starts in a JVM"


@pytest.mark.complete
def test_python_that_crashes_a_jvm_when_it_starts(doctor, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nif os.path.realpath('/proc/self/exe').endswith('java'): os.abort()\n"
    )

    findings = doctor(package=tmp_path)

    assert faults(findings) == ["start"]
    assert "the JVM crashed" in findings["start"]["found"]
    assert "sitecustomize" in findings["start"]["advice"]


def test_native_library_that_cannot_be_loaded(doctor, package, root):
    jar = package / "pyflow" / "jars" / f"pyflow-spark-4.3_2.13-{pyflow.__version__}.jar"
    without_code(root / "pyflow" / "jars" / jar.name, jar)

    findings = doctor(package)

    assert faults(findings) == ["start"]
    assert "libpyflow-loader.so cannot be loaded" in findings["start"]["found"]
    assert findings["start"]["advice"] == "Reinstall PyFlow, or build it on this machine"
