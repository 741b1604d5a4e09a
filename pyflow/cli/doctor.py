"""``pyflow doctor``: checks an environment and says what to do about each fault."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import importlib.metadata
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyflow
from pyflow import libpython
from pyflow.cli import gil_probe, probe
from pyflow.cli.findings import Finding
from pyflow.cli.flags import add_settings, program_of_flags
from pyflow.cli.submission.errors import SubmissionError
from pyflow.session import builder as session

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser

SPARK_MINORS = ("4.3", "4.2", "4.1")
OLDEST_JAVA = 17
PYTHONS = "CPython 3.10 to 3.14"
SAFE_STACK_BYTES = 8 << 20
ISOLATED_SINCE = (3, 13)
OFFICIAL_SINCE = (3, 14)  # PEP 779
ARROW_STACK = ("numpy", "pandas", "pyarrow")
TABLE_MODULES = (*ARROW_STACK, "ruamel.yaml", "sqlglot")  # beside protobuf, of check_state
FREE_THREADED = "a free-threaded Python, 3.14t (in a clone: make python VERSION=3.14t)"

INSTALL_JDK = "install a JDK 17 (Debian: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME"
INSTALL_SPARK = (
    f'install Spark {" or ".join(SPARK_MINORS)}: pip install "pyspark~={SPARK_MINORS[0]}.0"'
)
CHOOSE_PYTHON = f"set PYSPARK_PYTHON to a {PYTHONS}"
AT_START = (
    "look at what this Python imports when it starts: sitecustomize, usercustomize, .pth files; "
    "until then use spark.pyflow.execution-mode=process"
)


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "doctor",
        help="check this environment",
        description="Checks JDK, Spark, Python, its shared library, stack size, plugin jar, "
        "interpreter modes, state, packages of the Table API and the start of Python in a JVM as "
        "an application started here would meet them; with -t also the executors of a target, by "
        "a function that runs in each.",
        epilog="Options of spark-submit stand behind `--`.",
        allow_abbrev=False,
    )
    parser.takes_spark_options = True
    add_settings(parser, without=("-p", "-s"))
    parser.add_argument("--master", dest="target", help="as -t")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; the exit code is 1 when one of them is a fault, 2 after wrong flags."""
    try:
        program = program_of_flags(arguments)
        if program.target is None and (program.settings or arguments.settings or arguments.spark):
            raise SubmissionError("settings are for the executors of a target: give it with -t")
    except SubmissionError as error:
        print(f"pyflow doctor: {error}", file=sys.stderr)
        return 2
    findings = list(examine())
    if program.target is not None:
        findings += probe.examine(program)
    print(_as_json(findings) if arguments.json else _as_table(findings))
    return int(_has_fault(findings))


def _has_fault(findings: list[Finding]) -> bool:
    return any(finding.status == "FAULT" for finding in findings)


def examine() -> Iterator[Finding]:
    """Run all checks, each after those that it depends on."""
    defaults = session.spark_defaults()
    java = Java.find(_stack_options(defaults))
    python = _describe_python(_python_executable(defaults))
    spark_version = session.spark_version()
    findings = [
        check_jdk(java),
        check_spark(spark_version),
        check_python(python),
        check_libpython(python),
        check_stack(java, _stack_options(defaults)),
        check_jar(spark_version, python),
        check_interpreters(python),
        check_parallel(python),
        check_state(),
        check_tables(),
    ]
    yield from findings
    if _has_fault(findings):
        yield Finding("start", "not tried before the faults above are repaired")
    else:
        yield check_start(java, python, defaults)


# Java


@dataclasses.dataclass(frozen=True)
class Java:
    """The JVM that Spark's scripts would start."""

    executable: str | None
    version: str | None = None
    stack_bytes: int | None = None

    @classmethod
    def find(cls, options: list[str]) -> Java:
        """Look where ``bin/spark-class`` looks, and ask what is found there.

        Parameters
        ----------
        options : list of str
            JVM options that decide the stack size.
        """
        home = os.environ.get("JAVA_HOME")
        executable = str(Path(home) / "bin" / "java") if home else shutil.which("java")
        if executable is None or not os.access(executable, os.X_OK):
            return cls(None)
        try:
            answer = subprocess.run(
                [executable, *options, "-XX:+PrintFlagsFinal", "-version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
            )
        except (OSError, subprocess.TimeoutExpired):
            return cls(executable)
        version = re.search(r'version "([^"]+)"', answer.stderr + answer.stdout)
        kib = re.search(r"\bThreadStackSize\s*=\s*(\d+)", answer.stdout)
        return cls(
            executable,
            version.group(1) if version else None,
            int(kib.group(1)) << 10 if kib else None,
        )

    @property
    def feature(self) -> int | None:
        """The feature release: 17, and 8 for ``1.8.0_402``."""
        numbers = re.findall(r"\d+", self.version or "")
        if not numbers:
            return None
        return int(numbers[1] if numbers[0] == "1" and len(numbers) > 1 else numbers[0])


def check_jdk(java: Java) -> Finding:
    """Spark 4 runs on Java 17 and newer."""
    if java.executable is None:
        home = os.environ.get("JAVA_HOME")
        where = f"no bin/java in JAVA_HOME={home}" if home else "no java on PATH"
        return Finding("JDK", where, INSTALL_JDK)
    if java.feature is None:
        return Finding("JDK", f"{java.executable} does not tell its version", INSTALL_JDK)
    advice = INSTALL_JDK if java.feature < OLDEST_JAVA else None
    return Finding("JDK", f"{java.version} ({java.executable})", advice)


def check_stack(java: Java, options: list[str]) -> Finding:
    """Deep recursion in Python needs more stack than the JVM gives its threads by default."""
    check = "stack size"
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if soft != resource.RLIM_INFINITY and soft < SAFE_STACK_BYTES:
        return Finding(check, f"ulimit -s is {_mib(soft)}", "raise it: ulimit -s 8192")
    if java.stack_bytes is None:
        return Finding(check, "unknown without a JDK", "repair the JDK first")
    if java.stack_bytes >= SAFE_STACK_BYTES:
        return Finding(check, f"{_mib(java.stack_bytes)} per JVM thread")
    if options:
        return Finding(
            check,
            f"spark-defaults.conf gives driver threads {_mib(java.stack_bytes)} "
            f"({' '.join(options)})",
            f"use -Xss{session.STACK_SIZE} in spark.driver.extraJavaOptions",
        )
    return Finding(
        check,
        f"not in spark-defaults.conf: pyflow.configure() sets {session.STACK_SIZE}, "
        f"spark-submit needs --driver-java-options -Xss{session.STACK_SIZE}",
    )


def _stack_options(defaults: dict[str, str]) -> list[str]:
    options = defaults.get("spark.driver.extraJavaOptions", "").split()
    return [option for option in options if option.startswith(("-Xss", "-XX:ThreadStackSize="))]


def _mib(size: int) -> str:
    return f"{size / (1 << 20):g} MiB"


# Spark


def check_spark(version: str | None) -> Finding:
    """The jar calls into Spark's planner, which changes with every minor version."""
    if version is None:
        return Finding("Spark", "not found", INSTALL_SPARK)
    home = session.spark_home()
    advice = None if session.spark_minor(version) in SPARK_MINORS else INSTALL_SPARK
    return Finding("Spark", f"{version} ({home})", advice)


# Python


def check_python(python: dict[str, Any]) -> Finding:
    """Functions travel as bytecode: executors need the driver's minor version of Python.

    Free-threaded and other builds of a version have the same bytecode.
    """
    executable = python["executable"]
    if "version" not in python:
        return Finding("Python", f"{executable} does not run", CHOOSE_PYTHON)
    build = ", free-threaded" if _is_free_threaded(python) else ""
    found = f"{python['version']}{build} ({executable})"
    driver = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if python["fault"] not in (None, libpython.NO_LIBRARY):
        return Finding("Python", f"{found} {python['fault']}", CHOOSE_PYTHON)
    if python["minor"].rstrip("t") != driver:
        return Finding(
            "Python",
            f"executors would run {found}, this is {driver}",
            f"set PYSPARK_PYTHON={sys.executable}",
        )
    return Finding("Python", found)


def check_libpython(python: dict[str, Any]) -> Finding:
    """A JVM cannot load an executable: it needs Python as a shared library."""
    library = python.get("library")
    if library:
        return Finding("libpython", library)
    return Finding(
        "libpython",
        "this Python was built without a shared library",
        "use one that has it (Debian: apt-get install python3-dev; "
        "pyenv: PYTHON_CONFIGURE_OPTS=--enable-shared pyenv install 3.14)",
    )


def check_interpreters(python: dict[str, Any]) -> Finding:
    """Interpreters with a GIL of their own work from 3.13 on; free-threaded Pythons need none."""
    check = "interpreters"
    if not _is_usable(python):
        return Finding(check, "none", "repair Python first")
    if _is_free_threaded(python):
        return Finding(check, "shared, without a GIL")
    if _minor_of(python) >= ISOLATED_SINCE:
        return Finding(check, "isolated, shared")
    return Finding(check, "shared (isolated needs Python 3.13)")


def check_parallel(python: dict[str, Any]) -> Finding:
    """Which functions run in all task slots at once, and which Python would have more do so."""
    check = "parallel"
    if not _is_usable(python):
        return Finding(check, "nothing", "repair Python first")
    if not _is_free_threaded(python):
        if _minor_of(python) >= ISOLATED_SINCE:
            return Finding(
                check,
                "functions that import no numpy, pandas or pyarrow; the others, among them all "
                f"over pandas or Arrow, take turns: for them use {FREE_THREADED}",
            )
        return Finding(
            check,
            "none: task slots take turns in one interpreter; use Python 3.13 or newer for "
            f"functions that import no numpy, pandas or pyarrow, {FREE_THREADED} for all",
        )
    enabling = [name for name in ARROW_STACK if _turns_gil_on(python["executable"], name)]
    if enabling:
        return Finding(
            check,
            f"all functions until one imports {' or '.join(enabling)}, which turns the GIL on: "
            "use versions that declare that they run without it, or set PYTHON_GIL=0 for the "
            "executors at your own risk",
        )
    if _minor_of(python) < OFFICIAL_SINCE:
        return Finding(
            check, f"all functions; CPython supports this officially from 3.14 on: {FREE_THREADED}"
        )
    return Finding(
        check,
        "all functions, until one imports an extension module that turns the GIL on; the "
        "executor's log names it",
    )


def check_state() -> Finding:
    """PySpark asks processors that keep state for their variables with protobuf, in every mode."""
    check = "state"
    try:
        session.import_state_messages()
    except ImportError as error:
        return Finding(
            check,
            f"no transformWithState, no unbounded tables: {error}",
            session.INSTALL_TABLE,
            concerns_all=False,
        )
    version = importlib.metadata.version("protobuf")
    return Finding(check, f"protobuf {version} for transformWithState")


def check_tables() -> Finding:
    """The Table API needs packages that PyFlow's other parts do without."""
    check = "tables"
    missing = [error for name in TABLE_MODULES if (error := _import_error(name)) is not None]
    if missing:
        return Finding(
            check, f"no Table API: {'; '.join(missing)}", session.INSTALL_TABLE, concerns_all=False
        )
    return Finding(check, f"{', '.join(TABLE_MODULES)} for the Table API")


def _import_error(name: str) -> str | None:
    try:
        importlib.import_module(name)
    except Exception as error:  # an installation that is broken raises anything
        return str(error) or repr(error)
    return None


def check_start(java: Java, python: dict[str, Any], defaults: dict[str, str]) -> Finding:
    """Start Python in a JVM, as the plugin does."""
    check = "start"
    home = session.spark_home()
    temporary = [
        option
        for option in defaults.get("spark.driver.extraJavaOptions", "").split()
        if option.startswith("-Djava.io.tmpdir=")
    ]
    command = [
        str(java.executable),
        f"-Xss{session.STACK_SIZE}",
        "-XX:+SuppressFatalErrorMessage",
        *temporary,
        "-cp",
        os.pathsep.join([session.jar_path(), f"{home}/jars/*"]),
        "io.pyflow.admission.PythonStart",
        str(python["executable"]),
    ]
    try:
        start = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "SPARK_HOME": str(home)},
        )
    except subprocess.TimeoutExpired:
        return Finding(check, "Python did not start in a JVM within 120 s", AT_START)
    if start.returncode == 0:
        return Finding(check, f"Python {start.stdout.split()[-1]} starts in a JVM")
    if start.returncode == 1:
        fault = (start.stdout or start.stderr).strip().splitlines()[-1]
        found, _, advice = fault.partition(". ")
        return Finding(check, found, advice or "reinstall pyflow")
    return Finding(check, f"the JVM crashed ({start.returncode}) while Python started", AT_START)


def _is_usable(python: dict[str, Any]) -> bool:
    return "version" in python and not python["fault"]


def _is_free_threaded(python: dict[str, Any]) -> bool:
    minor: str = python["minor"]
    return minor.endswith("t")


def _minor_of(python: dict[str, Any]) -> tuple[int, ...]:
    return tuple(map(int, python["minor"].rstrip("t").split(".")))


def _turns_gil_on(executable: str, module: str) -> bool:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    try:
        answer = subprocess.run(
            [executable, "-I", str(gil_probe.__file__), module],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.stdout.strip() == module


def _python_executable(defaults: dict[str, str]) -> str:
    """Return the Python that executors start, by the same order as Spark and the plugin."""
    return (
        defaults.get("spark.pyflow.python")
        or defaults.get("spark.pyspark.python")
        or os.environ.get("PYSPARK_PYTHON")
        or "python3"
    )


def _describe_python(executable: str) -> dict[str, Any]:
    try:
        answer = subprocess.run(
            [executable, "-I", str(libpython.__file__)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        description: dict[str, Any] = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {"executable": executable}
    return description


# The jar


def check_jar(spark_version: str | None, python: dict[str, Any]) -> Finding:
    """The jar must have been made for this Spark, this Python and this processor."""
    check = "plugin jar"
    try:
        jar = session.jar_path()
    except session.JarNotFoundError:
        return Finding(check, "missing", "reinstall pyflow; in a source tree, `make build`")
    try:
        made_for, libraries = _contents(jar)
    except (OSError, zipfile.BadZipFile, KeyError):
        return Finding(check, f"{jar} is damaged", "reinstall pyflow")
    pythons = made_for.get("python.versions", "").split(",")
    found = f"{jar}, for Spark {made_for.get('spark.version')} and Python {', '.join(pythons)}"
    made_for_minor = session.spark_minor(made_for.get("spark.version", ""))
    if spark_version and session.spark_minor(spark_version) != made_for_minor:
        return Finding(check, found, _jar_for(spark_version))
    minor = python.get("minor")
    if minor and minor not in pythons:
        return Finding(
            check, found, f"use one of these Pythons, or build PyFlow where {minor} is installed"
        )
    machine = os.uname().machine
    if minor and f"native/linux-{machine}/libpyflow-cp{minor.replace('.', '')}.so" not in libraries:
        return Finding(check, f"{found}, but not for {machine}", f"build PyFlow on {machine}")
    return Finding(check, found)


def _jar_for(spark_version: str) -> str:
    """What to do where the package has no jar for this Spark."""
    minor = session.spark_minor(spark_version)
    if minor not in SPARK_MINORS:
        return INSTALL_SPARK
    return (
        f"install a PyFlow with the jar for Spark {minor}; in a source tree, "
        f"`make build SPARK={minor}`"
    )


def _contents(jar: str) -> tuple[dict[str, str], set[str]]:
    with zipfile.ZipFile(jar) as archive:
        lines = archive.read("META-INF/pyflow.properties").decode().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line), set(archive.namelist())


# Output


def _as_json(findings: list[Finding]) -> str:
    return json.dumps(
        [{**dataclasses.asdict(finding), "status": finding.status} for finding in findings],
        indent=2,
    )


def _as_table(findings: list[Finding]) -> str:
    width = max(len(finding.check) for finding in findings)
    lines = [f"PyFlow {pyflow.__version__}"]
    for finding in findings:
        lines.append(f"{finding.check:<{width}}  {finding.status:<7}  {finding.found}")
        if finding.advice:
            lines.append(f"{'':<{width}}  {'':<7}  -> {finding.advice}")
    return "\n".join(lines)
