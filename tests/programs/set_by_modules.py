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
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pandas as pd
from findings import report
from pyspark import TaskContext, cloudpickle
from pyspark.sql import SparkSession

import comparison
import sessions

cloudpickle.register_pickle_by_value(sys.modules[__name__])
cloudpickle.register_pickle_by_value(comparison)

#: FE_DOWNWARD of C's <fenv.h>.
DOWNWARD = {"x86_64": 0x400, "aarch64": 0x800000}[platform.machine()]

MODULE = f"""
import contextvars, csv, ctypes, decimal, os, random, threading, time
import numpy, pandas

os.environ["SET_BY_A_MODULE"] = "{{number}}"
os.environ.setdefault("OF_THE_APPLICATION", "of a module")
os.environ.pop("SPARK_TESTING", None)
decimal.getcontext().prec = 7 + {{number}}
decimal.getcontext().traps[decimal.Inexact] = {{number}} > 1
csv.register_dialect("set by a module", delimiter=str({{number}}))
if "unix" in csv.list_dialects(): csv.unregister_dialect("unix")
numpy.seterr(under="{{errors}}")
pandas.set_option("display.precision", {{number}})
numpy.set_printoptions(precision={{number}})
random.seed({{number}})
numpy.random.seed({{number}})
DRAWN = random.random()
variable = contextvars.ContextVar("variable", default=0)
variable.set({{number}})
local = threading.local()
local.numbers = [{{number}}]
assert ctypes.CDLL("libm.so.6").fesetround({DOWNWARD}) == 0
time.sleep(0.3)  # others wait for it
"""

#: How two tasks import a module, by its name, which they do in this order.
CASES = {
    "stated": "import statement",
    "called": "import_module",
    "later": "import statement, one task after the other",
    "from_package.within": "from import",
    "with_another": "import statement",
}

#: Functions leave what they have set to later tasks of their workers.
LAST_CASES = {"over_own": "import statement, after tasks have set such things"}

FILES = {
    **{
        f"{name}.py": MODULE.format(number=number, errors=("raise", "warn", "print")[number % 3])
        for number, name in enumerate(("stated", "called", "later", "over_own"), 1)
    },
    "from_package/__init__.py": "from . import settings",
    "from_package/settings.py": MODULE.format(number=5, errors="raise"),
    "from_package/within.py": "from .settings import local, variable",
    # From elsewhere than the application's files.
    "elsewhere/third_party.py": "import os, numpy\n"
    "os.environ.setdefault('THIRD_PARTY', '1')\n"
    "numpy.seterr(over='raise')\n",
    "with_another.py": "import third_party\nfrom stated import local, variable\n",
    "plots.py": "import matplotlib\n"
    "with matplotlib.rc_context({'lines.linewidth': 7.0}): WIDE = matplotlib.rcParams.copy()\n"
    "matplotlib.rcParams['font.size'] = 30.0\n",
    "fails.py": "import os\nos.environ['FAILED'] = '1'\nimport no_such_module\n",
    "sets_nothing.py": "import random, numpy\nDRAWN = random.random(), numpy.random.rand()\n",
}


def has_printoptions_of_tasks():
    import numpy

    return tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 2)


def seen():
    """What the current task finds, except for random numbers."""
    import csv
    import decimal

    import numpy

    options = numpy.get_printoptions()["precision"] if has_printoptions_of_tasks() else None
    names = ("SET_BY_A_MODULE", "SPARK_TESTING", "OF_THE_APPLICATION", "THIRD_PARTY", "FAILED")
    return {
        "variables": [os.environ.get(name) for name in names],
        "precision": decimal.getcontext().prec,
        "traps": decimal.getcontext().traps[decimal.Inexact],
        "errors": numpy.geterr(),
        "dialects": {name: csv.get_dialect(name).delimiter for name in csv.list_dialects()},
        "tables": pd.get_option("display.precision"),
        "options": options,
        "sum": float("0.1") + float("0.2"),
    }


def drawn():
    import random

    import numpy

    return random.random(), int(numpy.random.randint(1 << 30))


def wait_for_both(where: Path):
    """Both tasks have begun before one of them imports."""
    where.mkdir(exist_ok=True)
    (where / str(TaskContext.get().partitionId())).touch()
    while not all((where / name).exists() for name in "01"):
        time.sleep(0.01)


def set_own(partition):
    """What a module that is imported afterwards sets, too, and what it does not set."""
    import decimal
    import random

    import numpy

    random.seed(partition)
    random.random()
    numpy.random.rand()
    decimal.getcontext().prec = 20 + partition
    numpy.seterr(divide="ignore" if partition else "raise", under="call")
    os.environ["SET_BY_A_MODULE"] = "of a function"


def imports_at_once(where: Path, name: str, how: str):
    """A function that imports a module in two tasks at once, or in one after another."""

    def function(frames):
        import importlib

        elsewhere = str(where.parent / "elsewhere")
        if elsewhere not in sys.path:
            sys.path.append(elsewhere)
        partition = TaskContext.get().partitionId()
        if "such things" in how:
            set_own(partition)
        wait_for_both(where)
        if "one task after" in how and partition:
            time.sleep(0.6)
        if how == "import_module":
            module = importlib.import_module(name)
        elif how == "from import":
            module = __import__(name.partition(".")[0], fromlist=[name.partition(".")[2]]).within
        else:
            module = __import__(name)
        try:
            import fails
        except ImportError:
            fails = None
        found = {**seen(), "context": module.variable.get(), "drawn": drawn(), "fails": fails}
        module.local.own = str(partition)
        plots = importlib.import_module("plots")
        import matplotlib

        found["plots"] = [matplotlib.rcParams[each] for each in ("font.size", "lines.linewidth")]
        found["wide"] = plots.WIDE["lines.linewidth"]
        found["own"] = vars(module.local).get("own")
        module.local.numbers.append(partition)
        wait_for_both(where / "appended")
        found["local"] = [*module.local.numbers]
        module.local.numbers.pop()
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
    for name, text in FILES.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)
        if "/" not in name:
            spark.sparkContext.addPyFile(str(where / name))
    with zipfile.ZipFile(where / "from_package.zip", "w") as packed:
        for file in (where / "from_package").iterdir():
            packed.write(file, f"from_package/{file.name}")
    spark.sparkContext.addPyFile(str(where / "from_package.zip"))
    return spark


def run_all(spark: SparkSession, where: Path, mode):
    """What is found before, in each case, and afterwards, by what it is."""
    with comparison.settings(spark, mode):
        found = {"before": found_by(spark, looks)}

        def import_all(cases):
            for name, how in cases.items():
                together = where / f"{name} {mode}"
                together.mkdir()
                found[f"{name}: {how}"] = found_by(spark, imports_at_once(together, name, how))

        import_all(CASES)
        found["afterwards"] = found_by(spark, looks)
        import_all(LAST_CASES)
        return found


def check(spark: SparkSession, where: Path) -> list[str]:
    thread_mode = comparison.thread_modes()[-1]
    with comparison.settings(spark, thread_mode):
        first, second = found_by(spark, draws)
        wrong = [f"unseeded: {first} twice"] if first == second else []
    in_workers = run_all(spark, where, {sessions.MODE: "process"})
    in_threads = run_all(spark, where, thread_mode)
    for what, expected in in_workers.items():
        if in_threads[what] != expected:
            wrong.append(f"{what}:\n  {in_threads[what]}, in workers\n  {expected}")
    return wrong


def main() -> None:
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        for number in range(2):
            where = Path(directory) / str(number)
            spark = start(where)
            wrong += [f"session {number}: {each}" for each in check(spark, where)]
            spark.stop()
    report(wrong)


if __name__ == "__main__":
    main()
