"""Functions whose imports refuse sub-interpreters, in a JVM that has not seen them yet.

The test reads this program's log: PyFlow writes one line per function that moves.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql.functions import udf

import comparison
import sessions


def interpreter():
    """0 in the shared interpreter; isolated ones guard the loading of extension modules."""
    from importlib.machinery import ExtensionFileLoader

    return int(ExtensionFileLoader.create_module.__name__ != "create_module")


def imports_when_called(n):
    import numpy as np

    return (float(np.sqrt(n * n)), interpreter())


def imports_late(n):
    if n < 700:
        return (float(n), interpreter())
    import numpy as np

    return (float(np.sqrt(n * n)), interpreter())


def main() -> None:
    import numpy as np

    def imports_at_load(n):
        return (float(np.sqrt(n * n)), interpreter())

    spark = sessions.start()
    for function in (imports_when_called, imports_late, imports_at_load):
        for use_arrow in (True, False):
            f = udf(function, "root double, interpreter int", useArrow=use_arrow)
            for _ in range(3):
                with comparison.settings(spark, {sessions.MODE: "thread"}):
                    frame = spark.range(1000, numPartitions=2).select(f("id").alias("r"))
                    rows = frame.select("r.*").collect()
                assert [row.root for row in rows] == [float(n) for n in range(1000)], rows[:5]
                assert rows[-1].interpreter == 0, rows[-1]
            assert {row.interpreter for row in rows} == {0}, "moves again and again"
            print("DONE", function.__name__, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
