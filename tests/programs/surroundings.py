"""The locale of functions and the module beside the program, in both modes."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql.functions import udf

import sessions
from sessions import MODE


def look(_):
    import datetime

    import beside_the_program

    month = datetime.date(2024, 3, 1).strftime("%B")
    return f"{month} {1234.5:n} {beside_the_program.VALUE}"


def main() -> None:
    spark = sessions.start()
    for mode in ("process", "thread"):
        spark.conf.set(MODE, mode)
        print("FOUND", mode, spark.range(1).select(udf(look)("id")).first()[0])


if __name__ == "__main__":
    main()
