"""What functions print and log, as ``python_worker_logs()`` shows it."""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
from collections import Counter

import pandas as pd
import pytest
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.functions import arrow_udf, pandas_udf, udf, udtf
from pyspark.sql.window import Window

from comparison import executed_plan, in_process, in_thread, process_mode, settings, thread_modes
from sessions import MODE, wait_until

LOGGING = {"spark.sql.pyspark.worker.logging.enabled": "true"}
PATIENCE_SECONDS = 30


def talk(x):
    print("row", x)
    print("to stderr", file=sys.stderr)
    sys.stdout.writelines(["two\n", "lines\n", "  \n"])
    log = logging.getLogger("my.module")
    log.warning("%s of %s", "warned", x)
    log.info("not shown")
    try:
        x = x // 0
    except ZeroDivisionError:
        log.exception("caught \ud800 and ü")
    PySparkLogger.getLogger("structured").error("structured", row=str(x))
    return x


def verbose(x):
    log = logging.getLogger("verbose")
    log.setLevel(logging.DEBUG)
    log.debug("debugged %s", x)
    return x


def fails(x):
    print("before")
    raise ValueError("after")


def silent(x):
    return x


def inner(x):
    logging.warning("inner")
    return x


def outer(x):
    logging.warning("outer")
    return x


def reconfigures(x):
    """Removes the handler for its task: what comes afterwards is written to standard error."""
    log = logging.getLogger()
    logging.basicConfig(force=True, format="%(name)s: %(message)s")
    log.warning("forced %s", x)
    log.handlers.clear()
    log.warning("unhandled %s", x)
    return x


def replaces(x):
    """Leaves its task with a list of handlers that is not PySpark's, and uses it as a list."""
    log = logging.getLogger()
    log.handlers = []
    assert log.handlers == []
    handlers = [logging.StreamHandler(), logging.NullHandler()]
    log.handlers += handlers[:1]
    assert log.handlers + handlers[1:] == handlers
    log.addHandler(handlers[1])
    log.handlers.sort(key=lambda handler: type(handler).__name__)
    assert log.handlers.copy() == handlers[::-1], log.handlers
    for handler in handlers:
        log.removeHandler(handler)
    assert not log.handlers
    return x


class Talker:
    def __call__(self, x):
        return talk(x)

    def method(self, x):
        return talk(x)

    @classmethod
    def of_class(cls, x):
        return talk(x)


class TalkingTable:
    def __init__(self):
        print("not shown: functions are made before they are evaluated")

    def eval(self, x):
        talk(x)
        yield x, x

    def terminate(self):
        print("terminated")


class TalkingSource(DataSource):
    @classmethod
    def name(cls):
        return "talking"

    def schema(self):
        return "x int"

    def reader(self, schema):
        return TalkingReader()

    def writer(self, schema, overwrite):
        return TalkingWriter()


class TalkingReader(DataSourceReader):
    def partitions(self):
        return [InputPartition(0)]

    def read(self, partition):
        talk(partition.value)
        yield (1,)


class TalkingWriter(DataSourceWriter):
    def write(self, rows):
        talk(len(list(rows)))
        return WriterCommitMessage()


def talking_batches(batches):
    for batch in batches:
        talk(batch.num_rows)
        yield batch


def plain(function, use_arrow):
    return lambda spark, partitions=None: spark.range(3, numPartitions=partitions).select(
        udf(function, "long", useArrow=use_arrow)("id")
    )


def series(function):
    """A pandas function made of one for a number."""

    def over_series(x: pd.Series) -> pd.Series:
        function(len(x))
        return x

    return over_series


def mean(x: pd.Series) -> float:
    talk(len(x))
    return float(x.mean())


def frame_of(x):
    talk(len(x))
    return x


def frame_of_both(x, y):
    talk(len(x) + len(y))
    return x


def numbers(spark):
    return spark.range(6, numPartitions=1)


def by_parity(spark):
    frame = numbers(spark)
    return frame.groupBy((frame.id % 2).alias("odd"))


def table(spark, use_arrow):
    spark.udtf.register(
        "talking", udtf(TalkingTable, returnType="x int, y int", useArrow=use_arrow)
    )
    return spark.sql("select * from talking(1)")


def chained(spark):
    first, second = udf(inner, "long"), udf(outer, "long")
    return spark.range(2).select(second(first("id")))


def cogrouped(spark):
    return by_parity(spark).cogroup(by_parity(spark)).applyInPandas(frame_of_both, "id long")


PLAIN = {
    "pickled": plain(talk, use_arrow=False),
    "arrow": plain(talk, use_arrow=True),
    "level": plain(verbose, use_arrow=True),
    "silent": plain(silent, use_arrow=True),
    "callable": plain(Talker(), use_arrow=True),
    "method": plain(Talker().method, use_arrow=False),
    "class method": plain(Talker.of_class, use_arrow=True),
    "lambda": plain(lambda x: talk(x), use_arrow=True),
    "chain": chained,
    "reconfigured": plain(reconfigures, use_arrow=True),
    "table function": lambda spark: table(spark, use_arrow=False),
}

ARROW = {
    "table function": lambda spark: table(spark, use_arrow=True),
    "pandas_udf": lambda spark: numbers(spark).select(pandas_udf(series(talk), "long")("id")),
    "arrow_udf": lambda spark: numbers(spark).select(
        arrow_udf(lambda x: (talk(len(x)), x)[1], "long")("id")
    ),
    "aggregate": lambda spark: numbers(spark).agg(pandas_udf(mean, "double")("id")),
    "window": lambda spark: numbers(spark).select(
        pandas_udf(mean, "double")("id").over(Window.partitionBy())
    ),
    "mapInArrow": lambda spark: numbers(spark).mapInArrow(talking_batches, "id long"),
    "applyInPandas": lambda spark: by_parity(spark).applyInPandas(frame_of, "id long"),
    "cogroup": cogrouped,
    "one on another": lambda spark: (
        plain(talk, use_arrow=True)(spark)
        .toDF("id")
        .mapInArrow(talking_batches, "id long")
        .mapInPandas(lambda frames: ((talk(len(frame)), frame)[1] for frame in frames), "id long")
    ),
}


def session_in(spark, mode):
    """A session, with a log of its own."""
    session = spark.newSession()
    for key, value in {**mode, **LOGGING}.items():
        session.conf.set(key, value)
    return session


def logged(session):
    """All that the session has logged, without the times."""
    return sorted(str(row[1:]) for row in session.tvf.python_worker_logs().collect())


def awaited(session, expected):
    """What the session has logged; in process mode it comes after the query has ended."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (lines := logged(session)) != expected and time.monotonic() < end:
        time.sleep(0.1)
    return lines


def logs_of(programs, spark, mode, expected=None):
    """What the programs log, all in one session: a worker serves the next one, too."""
    session = session_in(spark, mode)
    for program in programs.values():
        frame = program(session)
        frame.collect()
        assert in_thread(executed_plan(frame)) == (mode[MODE] == "thread")
        assert in_process(executed_plan(frame)) == (mode[MODE] == "process")
    return awaited(session, expected) if expected else logged(session)


@pytest.mark.core
@pytest.mark.parametrize("programs", [PLAIN, ARROW], ids=["plain", "arrow"])
def test_logs_are_those_of_process_mode(spark, programs):
    in_threads = [logs_of(programs, spark, mode) for mode in thread_modes()]
    expected = logs_of(programs, spark, process_mode(), in_threads[0])
    assert expected
    for lines in in_threads:
        assert lines == expected


@pytest.mark.complete
def test_what_a_data_source_logs(spark):
    """In the session of all tests: Spark looks for the data source in no other."""
    spark.dataSource.register(TalkingSource)
    logs = []
    for mode in [*thread_modes()[:1], process_mode()]:
        with settings(spark, {**mode, **LOGGING}):
            before = logged(spark)
            frame = spark.read.format("talking").load()
            frame.write.format("talking").mode("append").save()
            after = awaited(spark, sorted(before + logs[0])) if logs else logged(spark)
            logs.append(sorted((Counter(after) - Counter(before)).elements()))
    assert logs[0] == logs[1]
    assert {"read", "write"} <= set(re.findall(r"\w+", str(logs[0])))


def test_what_was_logged_before_a_failure(spark):
    logs = []
    for mode in [*thread_modes(), process_mode()]:
        session = session_in(spark, mode)
        with pytest.raises(PySparkException, match="after"):
            plain(fails, use_arrow=True)(session, partitions=1).collect()
        logs.append(awaited(session, logs[0]) if logs else logged(session))
    assert all(lines == logs[0] for lines in logs)
    assert "'before'" in logs[0][0]


@pytest.mark.parametrize("mode", thread_modes())
def test_what_was_logged_before_a_cancellation(spark, mode, tmp_path):
    """In process mode it is lost with the worker."""
    began = tmp_path / "began"

    def waits(x):
        print("before")
        began.touch()
        time.sleep(PATIENCE_SECONDS)
        return x

    def cancel():
        wait_until(began.exists, "the function runs")
        spark.sparkContext.cancelAllJobs()

    session = session_in(spark, mode)
    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(Exception, match="cancelled"):
        plain(waits, use_arrow=True)(session, partitions=1).collect()
    canceller.join()
    wait_until(lambda: logged(session), "the log is there", PATIENCE_SECONDS)
    assert len(logged(session)) == 1


@pytest.mark.parametrize("mode", thread_modes())
def test_a_replaced_list_of_handlers(spark, mode):
    session = session_in(spark, mode)
    plain(replaces, use_arrow=True)(session).collect()
    assert logged(session) == []
    plain(inner, use_arrow=True)(session).collect()
    assert len(logged(session)) == 3


@pytest.mark.parametrize("mode", thread_modes())
def test_tasks_at_once_log_for_their_own_sessions(spark, mode):
    """One of the three sessions wants no log."""

    def log_slowly(name):
        def log(x):
            for _ in range(20):
                logging.getLogger("mine").warning(name)
                print(name)
                time.sleep(0.01)
            return x

        return log

    sessions = [session_in(spark, mode) for _ in range(3)]
    sessions[2].conf.set(next(iter(LOGGING)), "false")
    frames = [
        session.range(4, numPartitions=2).select(udf(log_slowly(f"of {n}"), "long")("id"))
        for n, session in enumerate(sessions)
    ]
    threads = [threading.Thread(target=frame.collect) for frame in frames]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in (0, 1):
        lines = logged(sessions[n])
        assert len(lines) == 4 * 20 * 2
        assert all(f"'of {n}'" in line for line in lines)
    sessions[2].conf.set(next(iter(LOGGING)), "true")
    assert logged(sessions[2]) == []


@pytest.mark.parametrize("mode", thread_modes())
def test_threads_of_a_function_log_too(spark, mode):
    """Process mode names PySpark's own code as the context of what they log."""

    def start(x):
        thread = threading.Thread(target=logging.warning, args=("in a thread",))
        thread.start()
        thread.join()
        return x

    session = session_in(spark, mode)
    session.range(1).select(udf(start, "long")("id")).collect()
    assert logged(session) == [str(("WARNING", "in a thread", {}, None, "root"))]
