"""Nanoseconds per call of Python functions from Java, without Spark: our bridge and pemja.

pemja (Apache-2.0) is the bridge PyFlink uses. Its Java half comes through Gradle, its Python half
through pip into an environment of its own, made with the Python that runs the benchmark.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyspark
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasUdfUtils
from pyspark.sql.types import DataType, IntegerType, LongType, StringType, StructField, StructType
from pyspark.util import PythonEvalType

import pyflow
from benchmarks import functions

# The newest of each: the Java half of 0.6.3 is not published. It is the one in build.gradle.
PEMJA_WHEEL = "0.6.3"
PEMJA_JAR = "0.6.0"

_ROOT = Path(__file__).parent.parent
_SOURCES = Path(__file__).parent / "bridge"

# name, function, type of argument and result, first characters and length of the argument
_CALLS: tuple[tuple[str, Callable[..., Any], DataType, int], ...] = (
    ("long", functions.increment, LongType(), 0),
    ("upper", functions.upper, StringType(), 14),
    ("json-1kB", functions.lower_json, StringType(), 1_000),
)


class BridgeUnavailableError(Exception):
    """A bridge could not be set up on this machine."""


@dataclass(frozen=True)
class JavaRun:
    """One JVM that calls one function through one bridge, and prints a figure per bundle size."""

    bridge: str
    title: str
    main_class: str
    class_path: str
    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


def measure_bridges(
    folder: Path, modes: list[str], rounds: int, progress: Callable[[str, float], None]
) -> dict[str, Any]:
    """Call every function through every bridge, all in turns in every round.

    Parameters
    ----------
    folder : Path
        Where classes, downloads and the environment of pemja go.
    modes : list of str
        The thread modes whose interpreters are used.
    rounds : int
        Samples of each figure, each from a JVM of its own.
    progress : callable
        Told what has been done and which part of the whole that was.

    Returns
    -------
    dict
        ``calls`` and ``failures``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    runs: list[JavaRun] = []
    calls: list[dict[str, Any]] = []
    failures: list[dict[str, str]] = []

    def fail(bridge: str, error: Exception) -> None:
        reason = f"{error}\n{getattr(error, 'stderr', None) or ''}".strip()
        failures.append({"part": "bridge", "bridge": bridge, "reason": reason})

    for bridge, prepare in (("pyflow", _prepare_pyflow), ("pemja", _prepare_pemja)):
        try:
            runs += prepare(folder, modes)
        except (BridgeUnavailableError, OSError, subprocess.SubprocessError) as error:
            fail(bridge, error)
    for number in range(1, rounds + 1):
        for run in list(runs):
            try:
                calls += ({"bridge": run.bridge, **figure} for figure in run_java(run))
            except (BridgeUnavailableError, OSError, subprocess.SubprocessError) as error:
                fail(run.bridge, error)
                runs.remove(run)
            progress(f"{run.title} {number}/{rounds}", 1 / (rounds * len(runs or [run])))
    return {"pemja": f"{PEMJA_WHEEL} (jar {PEMJA_JAR})", "calls": calls, "failures": failures}


def _prepare_pyflow(folder: Path, modes: list[str]) -> list[JavaRun]:
    jars = Path(pyspark.__path__[0]) / "jars" / "*"
    class_path = f"{pyflow.jar_path()}:{jars}"
    compile_java("PyFlowCalls", folder, class_path)
    runs = []
    for name, function, type_, length in _CALLS:
        spec = folder / f"{name}.json"
        spec.write_text(json.dumps(_program_spec(function, type_)))
        for mode in ("shared", "isolated"):
            if mode in modes:
                arguments = (sys.executable, mode.upper(), str(spec), name, str(length))
                title = f"pyflow, {mode}, {name}"
                runs.append(
                    JavaRun("pyflow", title, "PyFlowCalls", f"{folder}:{class_path}", arguments)
                )
    return runs


def _prepare_pemja(folder: Path, _modes: list[str]) -> list[JavaRun]:
    python, site_packages = _install_pemja(folder)
    jar = _ROOT / "build" / "pemja" / f"pemja-{PEMJA_JAR}.jar"
    if not jar.exists():
        subprocess.run(
            ["gradle", "--no-daemon", "--console=plain", "--quiet", "fetchPemja"],
            cwd=_ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
    compile_java("PemjaCalls", folder, str(jar))
    search_path = f"{site_packages}:{Path(__file__).parent}"
    return [
        JavaRun(
            "pemja",
            f"pemja, {name}",
            "PemjaCalls",
            f"{folder}:{jar}",
            (str(python), function.__name__, name, str(length)),
            {"PYTHONPATH": search_path},
        )
        for name, function, _, length in _CALLS
    ]


def _program_spec(function: Callable[..., Any], type_: DataType) -> dict[str, Any]:
    """Return what the JVM sends to load one function of one argument."""
    # As PySpark pickles a UDF: the function and its return type.
    command = cloudpickle.dumps((function, type_))
    return {
        "eval_type": PythonEvalType.SQL_ARROW_BATCHED_UDF,
        "input_schema": StructType([StructField("argument", type_)]).json(),
        "functions": [
            {
                "name": function.__name__,
                "commands": [base64.b64encode(command).decode()],
                "table_function": None,
                "stateful": None,
                "args": [[0, None]],
            }
        ],
        "output": [{"function": 0}],
        "runner_conf": {},
        "binary_as_bytes": True,
        "hide_traceback": False,
        "simplified_traceback": False,
        "traceback_with_locals": False,
        "task": {
            "isBarrier": False,
            "connInfo": None,
            "secret": None,
            "stageId": 0,
            "partitionId": 0,
            "attemptNumber": 0,
            "taskAttemptId": 0,
            "cpus": 1,
            "cpuAmount": "1",
            "resources": {},
            "localProperties": {},
        },
        "broadcasts": [],
        "application": "benchmark",
        "commands_digest": function.__name__,
        "tried_again": False,
        "session_log": None,
        "files_of_session": None,
        "modules_of_session": False,
        "log_fields": {},
        "log_levels": None,
        "files_dir": "",
        "python_includes": [],
        "environment": {},
    }


def stateful_spec(processor: StatefulProcessor) -> dict[str, Any]:
    """Return what the JVM sends to load a processor that keeps state; its keys are one long."""
    key = StructType([StructField("k", LongType())])
    utils = TransformWithStateInPandasUdfUtils(processor, "none")
    spec = _program_spec(utils.transformWithStateUDF, key)
    spec["input_schema"] = (
        StructType()
        .add("operation", IntegerType())
        .add("key", key)
        .add("processing_time", LongType())
        .add("expiry", LongType())
        .json()
    )
    spec["functions"][0]["args"] = [[ordinal, None] for ordinal in range(4)]
    spec["functions"][0]["stateful"] = {
        "key_schema": key.json(),
        "row_schema": key.json(),
        "initial_schema": None,
        "watermark": -1,
        "time_zone": "UTC",
    }
    return spec


def _install_pemja(folder: Path) -> tuple[Path, Path]:
    environment = (
        folder / f"pemja-{PEMJA_WHEEL}-python{sys.version_info.major}.{sys.version_info.minor}"
    )
    python = environment / "bin/python"
    if not (environment / "installed").exists():
        shutil.rmtree(environment, ignore_errors=True)
        for command in (
            [sys.executable, "-m", "venv", str(environment)],
            [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--only-binary=:all:",
                f"pemja=={PEMJA_WHEEL}",
            ],
        ):
            subprocess.run(command, check=True, capture_output=True, text=True)
        (environment / "installed").touch()
    (site_packages,) = environment.glob("lib/python*/site-packages")
    return python, site_packages


def _java_tool(name: str) -> str:
    home = os.environ.get("JAVA_HOME")
    tool = shutil.which(name, path=f"{home}/bin" if home else None)
    if tool is None:
        raise BridgeUnavailableError(f"{name} not found: install a JDK, not only a JRE")
    return tool


def compile_java(name: str, folder: Path, class_path: str) -> None:
    sources = [str(_SOURCES / f"{source}.java") for source in ("Calls", name)]
    subprocess.run(
        [_java_tool("javac"), "-nowarn", "-cp", class_path, "-d", str(folder), *sources],
        check=True,
        capture_output=True,
        text=True,
    )


def run_java(run: JavaRun) -> list[dict[str, Any]]:
    """Run a main class that prints one JSON object per figure."""
    finished = subprocess.run(
        # The stack PyFlow asks for in executors; pemja gets the same.
        [
            *(_java_tool("java"), "-Xss8m", "-Xmx1g", "-cp", run.class_path),
            *(run.main_class, *run.arguments),
        ],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **run.environment},
        timeout=300,
    )
    return [json.loads(line) for line in finished.stdout.splitlines() if line.startswith("{")]
