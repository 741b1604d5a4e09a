"""Local times in a zone with daylight saving time; the environment's TZ says which zone."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark import cloudpickle
from pyspark.sql import functions as F
from pyspark.sql.functions import col, udf

import comparison
import sessions

# Seconds around the gap of 2024-03-10 02:00, the fold of 2024-11-03 01:00 to 02:00 in New York,
# the epoch, the change of local mean time in 1883, and dates before and after all rules.
SECONDS = [
    *range(1710054000 - 3600, 1710054000 + 7200, 1800),
    *range(1730610000 - 3600, 1730610000 + 10800, 1800),
    -1,
    0,
    -2717650800,
    -2717640000,
    -5_000_000_000,
    4102444800,
    7258118400,
    253402300799 - 3 * 86400,
]


def describe(value):
    return repr(comparison.exact(value))


def main() -> None:
    zone = sys.argv[1]
    cloudpickle.register_pickle_by_value(comparison)
    spark = sessions.start(conf={"spark.sql.session.timeZone": zone})
    both_modes = comparison.BothModes(spark)
    for use_arrow in (True, False):

        def program(spark, use_arrow=use_arrow):
            seconds = F.array(*[F.lit(s) for s in SECONDS])
            frame = spark.range(1).select(F.explode(seconds).alias("s"))
            frame = frame.select(
                "s",
                F.timestamp_micros(col("s") * 1_000_000 + 123).alias("t"),
                F.expr("to_timestamp_ntz(timestamp_seconds(s))").alias("n"),
            ).coalesce(1)

            def make(function, declared="string"):
                return udf(function, declared, useArrow=use_arrow)

            naive = make(
                lambda s: datetime.datetime(2024, 3, 10) + datetime.timedelta(seconds=s % 86400),
                "timestamp",
            )
            folded = make(lambda t: t.replace(fold=1), "timestamp")
            unfolded = make(lambda t: t.replace(fold=0), "timestamp")
            aware = make(lambda t: t.astimezone(datetime.timezone.utc), "timestamp")
            return frame.select(
                "s",
                make(describe)("t"),
                make(describe)("n"),
                make(lambda t: t, "timestamp")("t"),
                make(lambda t: t, "timestamp_ntz")("n"),
                make(lambda t: t.date(), "date")("t"),
                make(lambda t: [t, None], "array<timestamp>")("t"),
                make(lambda t: {t: str(t)}, "map<timestamp,string>")("t"),
                naive("s"),
                folded("t"),
                unfolded("t"),
                aware("t"),
            )

        rows = both_modes(program)
        assert len(rows) == len(SECONDS)
        gap = udf(lambda n: datetime.datetime(2024, 3, 10, 2, 30), "timestamp", useArrow=use_arrow)
        both_modes(lambda spark, gap=gap: spark.range(1).select(gap("id").cast("string")))
    spark.stop()
    print("COMPARED", len(SECONDS))


if __name__ == "__main__":
    main()
