"""Imports an extension module that turns the GIL of a free-threaded Python on.

Arguments are the folder of the module `declares_nothing`, and what executors have as PYTHON_GIL.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql.functions import udf

import sessions

os.environ["PYTHON_GIL"] = ""
conf = {sessions.MODE: "thread", sessions.FALLBACK: "false"}
folder, *gil = sys.argv[1:]
if gil:
    conf["spark.executorEnv.PYTHON_GIL"] = gil[0]
session = sessions.start(conf=conf)


def is_on(n: int) -> str:
    return "on" if sys._is_gil_enabled() else "off"


def turns_on(n: int) -> str:
    sys.path.insert(0, folder)
    import declares_nothing  # noqa: F401

    return is_on(n)


before, after = (
    session.range(1).select(udf(function, "string")("id")).collect()[0][0]
    for function in (is_on, turns_on)
)
print("BEFORE", before, "AFTER", after, flush=True)
session.stop()
