"""Python that cannot be started in the JVM: no executor is lost over it for good, functions run in
process mode, and plan, log and error say why.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile

import pytest

import pyflow
from deployments import PROGRAMS, SPARK, environment, run
from jars import without_code
from sessions import MODE, OWN_GIL, ROOT

IN_JVM = "import ctypes, os\nif os.path.realpath('/proc/self/exe').endswith('java'):\n    "


def failed_start(master, where, *conf):
    """What the program says of a start that failed: in the plan, and as an error; and its log."""
    output = run([sys.executable, PROGRAMS / "start.py", master, *conf], where)
    plan = output.split("REASON ", 1)[1].split("WITHOUT FALLBACK", 1)[0]
    return plan, output.split("WITHOUT FALLBACK ", 1)[1], output


# Executors start Python ahead of tasks if the application's mode says so, otherwise for the first.
@pytest.mark.complete
@pytest.mark.parametrize(
    ("master", "mode"), [("local-cluster[1,2,1024]", "thread"), ("local[2]", "process")]
)
def test_a_library_that_cannot_be_loaded(tmp_path, master, mode):
    jar = without_code(pyflow.jar_path(), tmp_path / "pyflow.jar")
    plan, error, log = failed_start(master, tmp_path, f"spark.jars={jar}", f"{MODE}={mode}")
    for told in (plan, error, log):
        assert "the embedded Python could not be started" in told
        assert "libpyflow-loader.so cannot be loaded" in told
    assert "Lost executor" not in log


def pythons():
    """The Pythons that the jar has libraries for: minor version and executable."""
    lines = (ROOT / "build" / "pythons").read_text().splitlines()
    return [pytest.param(line.split("\t")[1], id=line.split("\t")[0]) for line in lines]


@pytest.mark.parametrize("base", pythons())
def test_every_python_starts_and_finds_its_standard_library(tmp_path, base):
    """In an environment; modules that are frozen know their files, as they do in a worker."""
    subprocess.run([base, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    told = "sys.version_info[:3], sys.prefix, sys.base_prefix, os.__file__"
    (tmp_path / "sitecustomize.py").write_text(f"import os, sys\nprint({told}, file=sys.stderr)\n")
    executable = tmp_path / "env" / "bin" / "python"
    settings = {**environment(), "SPARK_HOME": str(SPARK), "PYTHONPATH": str(tmp_path)}
    worker = subprocess.run(
        [executable, "-c", ""], env=settings, capture_output=True, text=True, check=True
    )
    classes = os.pathsep.join([pyflow.jar_path(), f"{SPARK}/jars/*"])
    embedded = subprocess.run(
        ["java", "-Xss8m", "-cp", classes, "io.pyflow.admission.PythonStart", executable],
        env=settings,
        capture_output=True,
        text=True,
    )
    assert embedded.returncode == 0, embedded.stdout
    assert worker.stderr.strip() in embedded.stderr.splitlines()


def unmount(directory):
    """Unmounts a file system as soon as what the JVM has started has let go of it."""
    end = time.monotonic() + 60
    while subprocess.run(["umount", directory], check=time.monotonic() > end).returncode != 0:
        time.sleep(0.1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_temporary_directory_without_programs(tmp_path):
    directory = tmp_path / "noexec"
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", directory]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        output, _ = start_alone(directory).communicate(timeout=120)
    finally:
        unmount(directory)
    assert f"{directory} may be mounted noexec: set -Djava.io.tmpdir" in output


def test_a_changed_native_library_is_not_loaded(tmp_path):
    jar = tmp_path / "changed.jar"
    with zipfile.ZipFile(pyflow.jar_path()) as original, zipfile.ZipFile(jar, "w") as changed:
        for entry in original.infolist():
            content = original.read(entry)
            changed.writestr(
                entry, content + b"\0" if "libpyflow-cp" in entry.filename else content
            )
    start = start_alone(tmp_path, jar=jar)
    output, _ = start.communicate(timeout=120)
    assert start.returncode == 1, output
    assert "changed.jar is not the one that was built with it" in output
    assert "Replace the jar by an intact one" in output


@pytest.mark.parametrize("mode", ["process", pytest.param("thread", marks=pytest.mark.complete)])
def test_a_crash(tmp_path, mode):
    (tmp_path / "sitecustomize.py").write_text(IN_JVM + "ctypes.string_at(0)\n")
    plan, error, log = failed_start(
        "local-cluster[2,1,1024]",
        tmp_path,
        f"{MODE}={mode}",
        f"spark.executorEnv.PYTHONPATH={tmp_path}",
    )
    for told in (plan, error, log):
        assert "was lost while the embedded Python started" in told
        assert "sitecustomize" in told


def start_alone(where, jar=None, **variables):
    """A JVM that starts Python and ends."""
    return subprocess.Popen(
        [
            "java",
            "-XX:+SuppressFatalErrorMessage",
            f"-Djava.io.tmpdir={where}",
            "-cp",
            os.pathsep.join([str(jar or pyflow.jar_path()), f"{SPARK}/jars/*"]),
            "io.pyflow.admission.PythonStart",
            sys.executable,
        ],
        env={**environment(), "SPARK_HOME": str(SPARK), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.complete
def test_directories_of_jvms_that_crashed_are_removed(tmp_path):
    where = tmp_path / "temporary"
    where.mkdir()
    (tmp_path / "sitecustomize.py").write_text(
        f"{IN_JVM}import time\n    open({str(tmp_path / 'up')!r}, 'w').close()\n"
        "    while True: time.sleep(0.1)\n"
    )
    living = start_alone(where, PYTHONPATH=str(tmp_path))
    while not (tmp_path / "up").exists():
        assert living.poll() is None
        time.sleep(0.1)
    (left,) = where.iterdir()
    foreign = where / "pyflow-of-somebody-else"
    foreign.mkdir()

    output, _ = start_alone(where).communicate(timeout=120)
    assert output.strip().endswith(sys.version.split()[0]), output
    assert {*where.iterdir()} == {left, foreign}

    living.send_signal(signal.SIGKILL)
    living.wait(60)
    assert left.exists()
    start_alone(where).communicate(timeout=120)
    assert {*where.iterdir()} == {foreign}


#: Cases of `crash_at_start.py`, and how many warnings about functions in quarantine they have.
AT_START = {
    "a_function": 1,
    "functions_of_two_tasks": 1,
    "a_function_over_batches": 1,
    "another_interpreter": 1,
    "the_first_interpreter": 0,
    "the_first_of_a_task": 0,
    "nothing": 0,
}


@pytest.mark.complete
@pytest.mark.skipif(not OWN_GIL, reason="executors make no interpreters")
@pytest.mark.parametrize("case", AT_START)
def test_a_crash_while_interpreters_are_made(tmp_path, case):
    """Functions that run there go to process mode; the start does where nothing runs beside it. An
    executor that Spark ends says nothing.
    """
    program = PROGRAMS / "crash_at_start.py"
    log = run([sys.executable, program, "local-cluster[1,2,1024]", case], tmp_path)
    assert "PASSED" in log
    assert log.count("WARN Quarantine") == AT_START[case]


LATER = """
import pyflow
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit, udf, udtf

builder = SparkSession.builder.master("local[2]").config("spark.pyflow.execution-mode", "thread")
spark = pyflow.configure(builder).getOrCreate()
start = spark._jvm.io.pyflow.admission.PythonStart
assert spark.range(3).selectExpr("sum(id)").first() == (3,)
runtime = spark._jvm.io.pyflow.bridge.PythonRuntime
print("WITHOUT FUNCTIONS", start.isDeferred(), runtime.isStarted())
{functions}
print("WITH FUNCTIONS", start.isDeferred())
"""

# None of them has run.
FUNCTIONS = {
    "process mode": "spark.conf.set('spark.pyflow.execution-mode', 'process')\n"
    "spark.range(3).select(udf(abs)('id'))",
    "function": "spark.range(3).select(udf(abs)('id'))",
    "table function": "udtf(type('Rows', (), {'eval': lambda self, n: [(n,)]}), "
    "returnType='n: int')(lit(1))",
    "stream": "from pyflow.datastream import StreamExecutionEnvironment\n"
    "StreamExecutionEnvironment.get_execution_environment().get_parallelism()",
}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("process mode", marks=pytest.mark.complete),
        "function",
        pytest.param("table function", marks=pytest.mark.complete),
        pytest.param("stream", marks=pytest.mark.complete),
    ],
)
def test_a_driver_that_runs_tasks_starts_python_for_functions(tmp_path, kind):
    (tmp_path / "program.py").write_text(LATER.format(functions=FUNCTIONS[kind]))
    output = run([sys.executable, "program.py"], tmp_path)
    assert "WITHOUT FUNCTIONS True False" in output
    assert f"WITH FUNCTIONS {kind == 'process mode'}" in output
