# ruff: noqa: N802, N803
"""Calls of the JVM from Python code, without Spark: a processor whose requests end in every way."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pyspark
import pytest
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import LongType, StructType

import pyflow
from benchmarks.bridge_calls import stateful_spec
from sessions import OWN_GIL

SOURCE = Path(__file__).parent / "programs" / "Upcalls.java"
CLASS_PATH = f"{pyflow.jar_path()}:{Path(pyspark.__path__[0]) / 'jars' / '*'}"

pytestmark = pytest.mark.core


def check(condition):
    """As `assert`, which pytest makes something of that cannot be sent."""
    if not condition:
        raise AssertionError


class Asking(StatefulProcessor):
    """Asks for something else with each key."""

    def init(self, handle):
        self.state = handle.getValueState("state", StructType().add("n", LongType()))

    def handleInputRows(self, key, rows, timerValues):
        asked = (self.get, self.fail, self.overflow, self.catch, self.thread, self.wait, self.get)
        asked[key[0]]()
        return iter([])

    def get(self):
        check(self.state.get() is None)
        try:
            self.state._variable.request(0, bytes(1 << 31), "more than a Java array holds")
        except OverflowError:
            pass
        else:
            raise AssertionError("it was sent")

    def fail(self):
        self.state.exists()

    def overflow(self):
        self.state.clear()

    def catch(self):
        for _ in range(2000):
            try:
                self.state.exists()
            except Exception as error:
                check(type(error).__name__ == "PySparkRuntimeError")
            else:
                raise AssertionError("the JVM has thrown")

    def thread(self):
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(self.state.get())) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        check(seen == [None] * 4)

    def wait(self):
        while True:
            with contextlib.suppress(Exception):
                self.state.update((1,))


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("upcalls")
    command = [shutil.which("javac"), "-nowarn", "-cp", CLASS_PATH, "-d", str(folder), str(SOURCE)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    # By value: the module is not there where the processor runs.
    pyspark.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        (folder / "spec.json").write_text(json.dumps(stateful_spec(Asking())))
    finally:
        pyspark.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    return folder


@pytest.mark.complete("8192")
@pytest.mark.parametrize("stack", ["8192", "512"])
@pytest.mark.parametrize("interpreter", ["SHARED", "ISOLATED"] if OWN_GIL else ["SHARED"])
def test_requests_end_as_the_jvm_ends_them(classes, interpreter, stack):
    command = ["java", "-Xcheck:jni", "-cp", f"{classes}:{CLASS_PATH}", "Upcalls", sys.executable]
    arguments = [interpreter, str(classes / "spec.json"), stack]
    finished = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    lines = [line for line in finished.stdout.splitlines() if line[:2].strip("- ").isdigit()]
    prefix = "pyspark.errors.exceptions.base.PySparkRuntimeError: Error"
    assert lines == [
        "-1 DONE",
        "0 DONE",
        f"1 {prefix} checking value state exists: no state ü€😀",
        f"2 {prefix} clearing value state: java.lang.StackOverflowError",
        "3 DONE",
        "4 DONE",
        "5 INTERRUPTED",
        "6 INTERRUPTED",
    ], finished.stderr[-3000:]
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert "FATAL ERROR" not in finished.stdout
    assert "WARNING in native method" not in finished.stdout
