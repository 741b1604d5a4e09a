"""Modules that are imported in tasks as in workers: `python imported.py [MODULE ...]`.

Without names, these are the modules of the standard library and the installed packages.
"""

from __future__ import annotations

import importlib.metadata
import pkgutil
import sys
import sysconfig
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import task_environments
from pyspark import cloudpickle
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

import comparison
import sessions

#: Programs, tests, what needs a display, and what the tests of this project run with.
LEFT_OUT = {
    *("__main__", "antigravity", "idlelib", "lib2to3", "test", "this", "tkinter", "turtle"),
    *("turtledemo", "_pytest", "_hypothesis_pytestplugin", "execnet", "py", "pytest", "xdist"),
}


def standard_library():
    """The names of its modules, without importing any."""
    yield from sorted(sys.stdlib_module_names - LEFT_OUT)
    root = sysconfig.get_path("stdlib")
    packages = [each.name for each in pkgutil.iter_modules([root]) if each.ispkg]
    while packages:
        package = packages.pop()
        if package in LEFT_OUT:
            continue
        path = Path(root, *package.split("."))
        for each in pkgutil.iter_modules([str(path)], f"{package}."):
            if LEFT_OUT.isdisjoint(each.name.split(".")):
                yield each.name
                if each.ispkg:
                    packages.append(each.name)


def installed():
    """The names of importable packages."""
    names = set(importlib.metadata.packages_distributions()) - LEFT_OUT
    return sorted(name for name in names if name.isidentifier() and not name.startswith("__"))


def imported(names):
    """What comes of importing each of some modules."""
    import importlib
    import warnings

    outcomes = []
    for name in names.split():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(name)
        except BaseException as error:
            outcomes.append(f"{name}: {type(error).__name__}: {error}")
        else:
            outcomes.append(name)
    return outcomes


def main() -> None:
    names = sys.argv[1:] or [*standard_library(), *installed()]
    for module in (comparison, task_environments):
        cloudpickle.register_pickle_by_value(module)
    conf = {
        f"spark.executorEnv.{name}": value for name, value in task_environments.APPLICATION.items()
    }
    spark = sessions.start("local[1]", conf=conf)
    spark.sparkContext.setLogLevel("ERROR")

    def program(spark):
        frame = spark.createDataFrame([(" ".join(names),)], "names string")
        outcomes = udf(imported, "array<string>", useArrow=False)("names")
        return frame.select(F.explode(outcomes))

    # What fails may fail otherwise when it is imported once more: each mode has a first time.
    rows = comparison.BothModes(spark, comparison.thread_modes()[:1])(program)
    for (outcome,) in rows:
        if ":" in outcome:
            print("IN BOTH MODES", outcome)
    comparison.BothModes(spark)(task_environments.functions_of_all_kinds)
    spark.stop()
    print("COMPARED", len(names))


if __name__ == "__main__":
    main()
