"""What C code of functions is told of the GIL, and which interpreter it enters from its threads."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import threading
from contextlib import contextmanager

import pandas as pd
import pytest
from pyspark.sql import functions as F

from comparison import process_mode, settings, thread_modes
from deployments import PROGRAMS, run
from sessions import FALLBACK, INTERPRETER, MODE, OWN_GIL

pytestmark = pytest.mark.core

# As seen with the GIL and without, on each thread.
RIGHT = {
    "held": 1,
    "released": 0,
    "here": (0, 1, 0, 0),
    "thread of C": (0, 1, 0, 0),
    "thread of Python": (1, 0),
}


def compiled(directory):
    library = str(directory / "gil_state.so")
    include = f"-I{sysconfig.get_path('include')}"
    command = ["cc", "-shared", "-fPIC", include, "-o", library, PROGRAMS / "gil_state.c"]
    subprocess.run(command, check=True)
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("gil_state"))


def current_interpreter():
    if sys.version_info >= (3, 13):
        import _interpreters

        return _interpreters.get_current()[0]
    import _xxsubinterpreters

    return int(_xxsubinterpreters.get_current())


def what_c_sees(path, callback=None):
    """On the thread of the function, and on others; C code calls back if it can."""
    import ctypes

    class Seen(ctypes.Structure):
        _fields_ = [
            ("before", ctypes.c_int),
            ("held", ctypes.c_int),
            ("after", ctypes.c_int),
            ("interpreter", ctypes.c_int64),
            ("callback", ctypes.c_void_p),
        ]

    without_gil, with_gil = ctypes.CDLL(path), ctypes.PyDLL(path)
    found = {"held": with_gil.check(), "released": without_gil.check()}
    for where, look in {
        "here": without_gil.look_here,
        "thread of C": without_gil.look_on_own_thread,
    }.items():
        seen = Seen(callback=ctypes.cast(callback, ctypes.c_void_p).value if callback else None)
        look(ctypes.byref(seen))
        found[where] = (seen.before, seen.held, seen.after, seen.interpreter)

    def on_thread():
        found["thread of Python"] = (with_gil.check(), without_gil.check())

    thread = threading.Thread(target=on_thread)
    thread.start()
    thread.join()
    return found


def returned(spark, function):
    """What a plain function and a pandas one return, called once for a row each."""

    def of_rows(n):
        return repr(function())

    def of_series(series: pd.Series) -> pd.Series:
        return series.map(of_rows)

    seen = set()
    for made in (F.udf(of_rows, "string"), F.pandas_udf(of_series, "string")):
        rows = spark.range(1, numPartitions=1).select(made("id")).collect()
        seen |= {row[0] for row in rows}
    return seen


@contextmanager
def isolated_interpreter_at_work(spark, directory):
    """A function runs in an isolated interpreter, where this Python has any, until the end."""
    stop = directory / "stop"
    begun = directory / "begun"

    def wait(n):
        import os
        import time

        open(begun, "w").close()
        while not os.path.exists(stop):
            sum(range(10_000))
            time.sleep(0.001)
        return current_interpreter()

    found = []
    with settings(spark, {MODE: "thread"}):
        frame = spark.range(1, numPartitions=1).select(F.udf(wait, "int")("id"))
        frame._jdf.queryExecution().executedPlan()
    job = threading.Thread(target=lambda: found.extend(frame.collect()))
    job.start()
    try:
        while not begun.exists():
            job.join(0.05)
            assert job.is_alive()
        yield
    finally:
        stop.touch()
        job.join()
    assert (found[0][0] > 0) == OWN_GIL


def test_shared_interpreter(spark, library, tmp_path):
    """The same as in a worker, also after isolated interpreters were made and while one runs."""

    def sees():
        return what_c_sees(library)

    with settings(spark, process_mode()):
        assert returned(spark, sees) == {repr(RIGHT)}
    shared = {MODE: "thread", INTERPRETER: "shared", FALLBACK: "false"}
    with isolated_interpreter_at_work(spark, tmp_path), settings(spark, shared):
        assert returned(spark, sees) == {repr(RIGHT)}


def test_callbacks(spark, library, tmp_path):
    """C code calls Python, from its own thread too: in the interpreter that the callable is of."""

    def calls():
        import ctypes

        places = []

        def called():
            places.append((current_interpreter(), len([str(n) for n in range(1000)])))

        seen = what_c_sees(library, ctypes.CFUNCTYPE(None)(called))
        return {**seen, "called": places}

    def calls_what_only_shows_when_it_runs():
        # Found by no search of the code.
        ctypes = __import__("ctypes")
        sort = ctypes.CDLL(None).qsort
        kind = getattr(ctypes, "CFUNC" + "TYPE")(ctypes.c_int, *[ctypes.POINTER(ctypes.c_int)] * 2)
        numbers = (ctypes.c_int * 4)(3, 1, 4, 2)
        sort(numbers, 4, 4, kind(lambda a, b: a[0] - b[0]))
        return list(numbers)

    right = {**RIGHT, "called": [(0, 1000), (0, 1000)]}
    with settings(spark, process_mode()):
        assert returned(spark, calls) == {repr(right)}
        assert returned(spark, calls_what_only_shows_when_it_runs) == {"[1, 2, 3, 4]"}
    with isolated_interpreter_at_work(spark, tmp_path):
        for mode in thread_modes():
            with settings(spark, {**mode, FALLBACK: "false"}):
                assert returned(spark, calls) == {repr(right)}
                assert returned(spark, calls_what_only_shows_when_it_runs) == {"[1, 2, 3, 4]"}


@pytest.mark.skipif(not OWN_GIL, reason="this Python has no isolated interpreters")
def test_isolated_interpreter(spark, library):
    """Its threads hold its GIL; a thread that Python has not started enters the main one."""

    def sees(n):
        import sqlite3

        own = current_interpreter()
        seen = what_c_sees(library)
        with sqlite3.connect(":memory:") as connection:
            connection.create_function("interpreter", 0, current_interpreter)
            [[called]] = connection.execute("SELECT interpreter()")
        same = own > 0 and called == own and seen["here"][3] == own
        return repr({**seen, "here": (*seen["here"][:3], 0)}) if same else repr((own, called, seen))

    with settings(spark, {MODE: "thread", INTERPRETER: "isolated"}):
        rows = spark.range(4, numPartitions=2).select(F.udf(sees, "string")("id")).collect()
    assert {row[0] for row in rows} == {repr(RIGHT)}


@pytest.mark.skipif(not OWN_GIL, reason="this Python has no isolated interpreters")
def test_interpreters_made_by_functions(spark, library):
    """They end the checks, too."""

    def makes():
        import _interpreters

        _interpreters.create()
        return what_c_sees(library)

    with settings(spark, {MODE: "thread", INTERPRETER: "shared", FALLBACK: "false"}):
        assert returned(spark, makes) == {repr(RIGHT)}


@pytest.mark.skipif(not OWN_GIL, reason="this Python has no isolated interpreters")
def test_threads_that_end_enter_the_main_interpreter(library, tmp_path):
    file = tmp_path / "interpreter"
    run([sys.executable, PROGRAMS / "gil_state.py", library, "ended_thread", file], tmp_path)
    assert file.read_text() == "0\n"


@pytest.mark.complete
@pytest.mark.skipif(not OWN_GIL, reason="this Python has no isolated interpreters")
def test_without_the_check_there_are_no_isolated_interpreters(tmp_path):
    """The reason is in the log, and in the error where they are asked for."""
    source = tmp_path / "check.c"
    source.write_text("int PyGILState_Check(void) { return 1; }\n")
    library = tmp_path / "check.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    command = [sys.executable, PROGRAMS / "gil_state.py", library, "other_layout"]
    output = run(command, tmp_path, LD_PRELOAD=str(library))
    assert "Python functions run in the shared interpreter, by turns: the embedded" in output
    assert "INTERPRETER 0" in output
    refused = output[output.index("REFUSED") :]
    assert "has another layout" in refused
    assert "set spark.pyflow.interpreter to auto or shared" in refused
