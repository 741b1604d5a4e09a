"""What modules set while two tasks import them at once, and what is left of it afterwards.

    python set_by_modules.py

Each worker runs a module that its task imports, so both tasks find what the module sets, those
that follow find it, too, and an application that follows finds nothing of it. Prints what was
wrong, and ALL RIGHT if nothing was.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pandas as pd
from pyspark import TaskContext, cloudpickle
from pyspark.sql import SparkSession

import comparison
import sessions

cloudpickle.register_pickle_by_value(sys.modules[__name__])
cloudpickle.register_pickle_by_value(comparison)

#: FE_DOWNWARD of C's <fenv.h>.
DOWNWARD = {"x86_64": 0x400, "aarch64": 0x800000}[platform.machine()]

MODULE = f"""
import contextvars, ctypes, decimal, os, random, time
import numpy

os.environ["SET_BY_A_MODULE"] = "1"
os.environ.pop("SPARK_TESTING", None)
decimal.getcontext().prec = 7
numpy.seterr(under="raise")
numpy.set_printoptions(precision=3)
random.seed(3)
numpy.random.seed(4)
DRAWN = random.random()
variable = contextvars.ContextVar("variable", default=0)
variable.set(1)
assert ctypes.CDLL("libm.so.6").fesetround({DOWNWARD}) == 0
time.sleep(0.3)  # others wait for it
"""

UNSEEDED = """
import random, numpy
DRAWN = random.random(), numpy.random.rand()
"""


def has_printoptions_of_tasks():
    import numpy

    return tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 2)


def seen():
    """What the current task finds, except for random numbers."""
    import decimal

    import numpy

    return {
        "variable": os.environ.get("SET_BY_A_MODULE"),
        "removed": os.environ.get("SPARK_TESTING"),
        "of the application": os.environ.get("OF_THE_APPLICATION"),
        "precision": decimal.getcontext().prec,
        "errors": numpy.geterr()["under"],
        "options": numpy.get_printoptions()["precision"] if has_printoptions_of_tasks() else None,
        "sum": float("0.1") + float("0.2"),
    }


def drawn():
    import random

    import numpy

    return random.random(), int(numpy.random.randint(1 << 30))


def wait_for_both(where: Path):
    """Both tasks have begun before one of them imports."""
    (where / str(TaskContext.get().partitionId())).touch()
    while len(list(where.iterdir())) < 2:
        time.sleep(0.01)


def imports_at_once(where: Path, name: str, how: str):
    """A function that imports a module in two tasks at once, or in one after another."""

    def function(frames):
        import importlib

        wait_for_both(where)
        if how == "after another" and TaskContext.get().partitionId():
            time.sleep(0.6)
        by_name = how == "by name"
        module = importlib.import_module(name) if by_name else __import__(name)
        found = {**seen(), "context": module.variable.get(), "drawn": drawn()}
        for _ in frames:
            pass
        yield pd.DataFrame({"found": [repr(found)]})

    return function


def looks(frames):
    found = seen()
    for _ in frames:
        pass
    yield pd.DataFrame({"found": [repr(found)]})


def draws(frames):
    import sets_nothing

    assert sets_nothing.DRAWN
    found = drawn()
    for _ in frames:
        pass
    yield pd.DataFrame({"found": [repr(found)]})


def found_by(spark: SparkSession, function):
    rows = spark.range(0, 2, 1, 2).mapInPandas(function, "found string").collect()
    return [row.found for row in rows]


def start(where: Path) -> SparkSession:
    spark = sessions.start(conf={"spark.executorEnv.OF_THE_APPLICATION": "1"})
    spark.sparkContext.setLogLevel("OFF")
    where.mkdir()
    for name in ("stated", "by_name", "after_another", "of_workers"):
        (where / f"sets_{name}.py").write_text(MODULE)
        spark.sparkContext.addPyFile(str(where / f"sets_{name}.py"))
    (where / "sets_nothing.py").write_text(UNSEEDED)
    spark.sparkContext.addPyFile(str(where / "sets_nothing.py"))
    return spark


def check(spark: SparkSession, where: Path) -> list[str]:
    wrong = []

    def at_once(name, how):
        together = where / f"{name} {how}"
        together.mkdir()
        return found_by(spark, imports_at_once(together, f"sets_{name}", how))

    with comparison.settings(spark, {sessions.MODE: "process"}):
        before = found_by(spark, looks)
        expected = at_once("of_workers", "stated")
    with comparison.settings(spark, comparison.thread_modes()[-1]):
        if found_by(spark, looks) != before:
            wrong.append(f"before: {found_by(spark, looks)}, in workers {before}")
        first, second = found_by(spark, draws)
        if first == second:
            wrong.append(f"unseeded: {first} twice")
        for name, how in (
            ("stated", "stated"),
            ("by_name", "by name"),
            ("after_another", "after another"),
        ):
            found = at_once(name, how)
            if found != expected:
                wrong.append(f"{how}: {found}, in workers {expected}")
        of_others = [
            repr({k: v for k, v in eval(expected[0]).items() if k not in {"context", "drawn"}})
        ]
        if found_by(spark, looks) != of_others * 2:
            wrong.append(f"afterwards: {found_by(spark, looks)}, in workers {of_others}")
    return wrong


def main() -> None:
    os.environ["SPARK_TESTING"] = "1"
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        for number in range(2):
            spark = start(Path(directory) / str(number))
            wrong += [
                f"session {number}: {each}" for each in check(spark, Path(directory) / str(number))
            ]
            spark.stop()
    for each in wrong:
        print("WRONG", each)
    if not wrong:
        print("ALL RIGHT")


if __name__ == "__main__":
    main()
