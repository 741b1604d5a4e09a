"""Where C code enters Python on threads of the JVM, and a CPython of another layout.

    python gil_state.py LIBRARY (ended_thread FILE | other_layout)

The library is made of gil_state.c.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql.functions import udf

import comparison
import sessions


def interpreter(n):
    import _interpreters

    return _interpreters.get_current()[0]


def run(spark, function, setting):
    conf = {sessions.MODE: "thread", sessions.INTERPRETER: setting}
    with comparison.settings(spark, conf):
        frame = spark.range(1, numPartitions=1).select(udf(function, "int")("id"))
        [[value]] = frame.collect()
    return value


def ended_thread(library, file):
    """A thread that has run functions in the shared interpreter, and then in an isolated one."""

    def write_at_the_end(n):
        return ctypes.CDLL(library).write_when_thread_ends(os.fsencode(file))

    spark = sessions.start("local[1]")
    assert run(spark, write_at_the_end, "shared") == 0
    assert run(spark, interpreter, "isolated") > 0
    spark.stop()  # and with it the threads of tasks
    while not Path(file).exists():
        time.sleep(0.1)


def other_layout(library):
    """The library's PyGILState_Check answers 1, whatever CPython's flag is."""
    spark = sessions.start()
    print("INTERPRETER", run(spark, interpreter, "auto"))
    try:
        run(spark, interpreter, "isolated")
    except Exception as error:
        print("REFUSED", error)
    spark.stop()


if __name__ == "__main__":
    {"ended_thread": ended_thread, "other_layout": other_layout}[sys.argv[2]](
        sys.argv[1], *sys.argv[3:]
    )
