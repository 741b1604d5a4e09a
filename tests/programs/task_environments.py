"""Functions whose environment differs from that of the executor's JVM: `python ... MASTER`.

The environment of the program has another TZ than the application gives its functions. What the
functions see is compared with workers, and so is where they run.
"""

from __future__ import annotations

import ctypes
import datetime
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pandas as pd
from pyspark import cloudpickle
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf, udf, udtf

import comparison
import sessions

ZONE = "Asia/Kathmandu"
OTHER_ZONE = "Pacific/Auckland"

#: What the application gives its functions.
APPLICATION = {
    "TZ": ZONE,
    "HOME": "/nowhere",
    "TMPDIR": "/tmp",
    "OMP_NUM_THREADS": "3",
    "OPENBLAS_NUM_THREADS": "2",
    "http_proxy": "http://127.0.0.1:9",
    "SSL_CERT_FILE": "/nowhere/certificates.pem",
    "PYTHONINTMAXSTRDIGITS": "5000",
    "PYFLOW_TEST": "of the application",
}

#: One of each reader in the table of the documentation, and one that every process has.
READ_BY_OTHERS = {
    "TZ": OTHER_ZONE,
    "PYTHONHASHSEED": "7",
    "PYTHONPATH": "/nowhere",
    "OMP_NUM_THREADS": "5",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "PGHOST": "127.0.0.1",
    "MPLBACKEND": "pdf",
    "HOME": "/elsewhere",
    "LC_ALL": "POSIX",
    "MALLOC_ARENA_MAX": "1",
}


def program_of_process():
    return os.path.basename(os.path.realpath("/proc/self/exe"))


def in_c(name):
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    value = getenv(name.encode())
    return None if value is None else value.decode()


def seen(_=None):
    """What Python and C code see of the variables that the application sets, and what follows."""
    now = datetime.datetime.now().astimezone()
    return repr(
        (
            [(name, os.environ.get(name), in_c(name)) for name in APPLICATION],
            datetime.datetime.fromtimestamp(1_700_000_000),
            now.utcoffset(),
            time.localtime(0)[:6],
            time.mktime((2024, 7, 1, 0, 0, 0, 0, 0, -1)),
            time.strftime("%H:%M %Z", time.localtime(0)),
            time.tzname,
            datetime.datetime.strptime("2024-03-31 01:02 +0300", "%Y-%m-%d %H:%M %z"),
            time.strptime("Mon", "%a").tm_wday,
            pd.Timestamp.fromtimestamp(0),
            pd.Timestamp("2024-07-01").tz_localize("UTC").tz_convert("Europe/Paris"),
            pd.to_datetime("01.02.2024 03:04", format="%d.%m.%Y %H:%M"),
            pd.Timestamp("2024-07-01").to_pydatetime().timestamp(),
            sys.get_int_max_str_digits(),
            hash("text"),
        )
    )


def shown(value):
    return repr(comparison.exact(value))


class Rows:
    def eval(self, t):
        yield shown(t), t, seen()


def functions_of_all_kinds(spark):
    frame = spark.range(3).select(
        "id", F.timestamp_seconds(F.col("id") * 10_000_000 + 1_700_000_000).alias("t")
    )
    naive = udf(lambda t: datetime.datetime(2024, 7, 1, 12), "timestamp", useArrow=False)
    made = [
        frame.select("id", naive("t").alias("t")),
        frame.select(udf(seen)("id"), udf(shown)("t"), udf(lambda t: t, "timestamp")("t")),
        frame.select(
            udf(seen, useArrow=True)("id"),
            udf(shown, useArrow=True)("t"),
            udf(lambda t: t, "timestamp", useArrow=True)("t"),
            udf(lambda t: [{"t": t}], "array<struct<t:timestamp>>", useArrow=True)("t"),
        ),
        frame.select(udf(lambda t: [(t,)], "array<struct<t:timestamp>>", useArrow=False)("t")),
        frame.select(pandas_udf(lambda t: t.map(seen), "string")("t")),
        frame.select(
            pandas_udf(lambda t: t.map(shown), "string")("t"),
            pandas_udf(lambda t: t + pd.Timedelta("1s"), "timestamp")("t"),
        ),
        frame.mapInPandas(
            lambda frames: (f.assign(s=f.t.map(shown), e=seen()) for f in frames),
            "id long, t timestamp, s string, e string",
        ),
        frame.groupBy("id").applyInPandas(
            lambda f: f.assign(s=f.t.map(shown), e=seen()),
            "id long, t timestamp, s string, e string",
        ),
    ]
    for use_arrow in (True, False):
        spark.udtf.register(
            "rows_of", udtf(Rows, returnType="s string, t timestamp, e string", useArrow=use_arrow)
        )
        frame.createOrReplaceTempView("frame")
        made.append(spark.sql("SELECT r.* FROM frame, LATERAL rows_of(frame.t) r"))
    return made


@contextmanager
def variables(spark, changes):
    """Has functions that are made meanwhile have other variables."""
    environment = spark.sparkContext.environment
    before = dict(environment)
    environment.update(changes)
    try:
        yield
    finally:
        environment.clear()
        environment.update(before)


def where(spark):
    """A query that says where functions run."""
    return spark.range(1).select(udf(lambda _: program_of_process(), useArrow=False)("id"))


def error_of(work):
    try:
        return f"no error: {work()}"
    except Exception as error:
        return str(error)


def check_others(spark, both_modes, known_when_planned):
    """Functions with variables that C code would read otherwise run in workers."""
    thread = {sessions.MODE: "thread"}
    for name, value in READ_BY_OTHERS.items():
        with variables(spark, {name: value}), comparison.settings(spark, thread):
            query = where(spark)
            if name in known_when_planned:
                plan = comparison.executed_plan(query)
                assert f"reason: the variable {name} of its environment, which" in plan, plan
            else:
                assert query.collect() != [("java",)], name
    with variables(spark, {"TZ": OTHER_ZONE}):
        both_modes(lambda spark: spark.range(1).select(udf(seen)("id")), in_process=True)
        with comparison.settings(spark, {**thread, sessions.FALLBACK: "false"}):
            refusal = error_of(lambda: where(spark).collect())
    assert "the variable TZ of its environment" in refusal, refusal


def check_own(spark, both_modes):
    """Variables that only functions read do not matter, and none is left for others."""
    look = udf(lambda _: repr([os.environ.get(f"PYFLOW_{n}") for n in ("TEST", "OTHER")]))
    with variables(spark, {"PYFLOW_TEST": "of the function", "PYFLOW_OTHER": "1"}):
        rows = both_modes(lambda spark: spark.range(1).select(look("id")))
    assert rows == [("['of the function', '1']",)], rows
    with variables(spark, {}):
        del spark.sparkContext.environment["PYFLOW_TEST"]
        both_modes(lambda spark: spark.range(1).select(look("id")))


def main() -> None:
    master = sys.argv[1]
    is_local = not master.startswith("local-cluster")
    cloudpickle.register_pickle_by_value(comparison)
    conf = {f"spark.executorEnv.{name}": value for name, value in APPLICATION.items()}
    spark = sessions.start(master, conf={**conf, "spark.sql.session.timeZone": "UTC"})
    both_modes = comparison.BothModes(spark)
    rows = both_modes(functions_of_all_kinds)
    assert all(ZONE in row[0] for row in rows[1]), rows[1]
    check_own(spark, both_modes)
    check_others(spark, both_modes, READ_BY_OTHERS if is_local else set(APPLICATION))
    both_modes(functions_of_all_kinds)
    spark.stop()
    print("COMPARED")


if __name__ == "__main__":
    main()
