"""Spark's idle timeout: functions that neither take nor return data for some seconds."""

from __future__ import annotations

import time

import pytest
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter
from pyspark.sql.functions import arrow_udf, lit, udf, udtf

from comparison import failure, process_mode, settings, thread_modes
from sessions import logged

IDLE = "spark.sql.execution.pyspark.udf.idleTimeoutSeconds"
KILLS = "spark.sql.execution.pyspark.udf.killOnIdleTimeout"

KILLED = (
    "org.apache.spark.api.python.PythonWorkerException: Python worker process terminated due to "
    "idle timeout (timeout: 1 seconds)"
)

# What the warnings of both modes begin with.
WARNING = "Idle timeout reached for Python "


def sleeps(seconds):
    time.sleep(seconds)
    return seconds


@udtf(returnType="x long")
class Sleeping:
    def eval(self, seconds):
        yield (sleeps(seconds),)


def after(seconds):
    """A function that returns what it gets, after some time."""

    def sleep_then_return(data):
        time.sleep(seconds)
        return data

    return sleep_then_return


def batches_after(seconds):
    return lambda batches: map(after(seconds), batches)


class Source(DataSource):
    @classmethod
    def name(cls):
        return "sleeping"

    def schema(self):
        return "x long"

    def reader(self, schema):
        return Reader(int(self.options["seconds"]))

    def writer(self, schema, overwrite):
        return Writer(int(self.options["seconds"]))


class Reader(DataSourceReader):
    def __init__(self, seconds):
        self.seconds = seconds

    def read(self, partition):
        yield (sleeps(self.seconds),)


class Writer(DataSourceWriter):
    def __init__(self, seconds):
        self.seconds = seconds

    def write(self, rows):
        list(rows)
        sleeps(self.seconds)


def plain(spark, seconds):
    spark.range(1).select(udf(after(seconds), "long", useArrow=False)("id")).collect()


def arrow_optimised(spark, seconds):
    spark.range(1).select(udf(after(seconds), "long", useArrow=True)("id")).collect()


def table_function(spark, seconds):
    Sleeping(lit(seconds)).collect()


def arrow_function(spark, seconds):
    spark.range(1).select(arrow_udf(after(seconds), "long")("id")).collect()


def map_in_arrow(spark, seconds):
    spark.range(1, numPartitions=1).mapInArrow(batches_after(seconds), "id long").collect()


def grouped(spark, seconds):
    spark.range(1).groupBy("id").applyInPandas(after(seconds), "id long").collect()


def read(spark, seconds):
    spark.read.format("sleeping").option("seconds", seconds).load().collect()


def write(spark, seconds):
    rows = spark.range(1, numPartitions=1).withColumnRenamed("id", "x")
    rows.write.format("sleeping").option("seconds", seconds).mode("append").save()


def caught(spark, seconds):
    """Killed in spite of that."""

    def sleep_undisturbed(n):
        try:
            time.sleep(seconds)
        except BaseException:
            return -1
        return n

    spark.range(1).select(udf(sleep_undisturbed, "long")("id")).collect()


ROW_LANE = [plain, arrow_optimised, caught, table_function]
ARROW_LANE = [arrow_function, map_in_arrow, grouped, read, write]


def modes_of(kind):
    """Functions over Arrow batches run in the shared interpreter, whatever the setting is."""
    return [process_mode(), *(thread_modes() if kind in ROW_LANE else thread_modes()[:1])]


# What watches is the same for these as for others of their lane.
LIKE_OTHERS = [arrow_optimised, arrow_function, grouped, read]


@pytest.mark.complete("table_function", "caught", "write")
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.complete if kind in LIKE_OTHERS else ())
        for kind in ROW_LANE + ARROW_LANE
    ],
)
def test_the_task_fails_where_idle_functions_are_killed(spark, kind):
    spark.dataSource.register(Source)
    for mode in modes_of(kind):
        with settings(spark, {**mode, IDLE: "1", KILLS: "true"}):
            with pytest.raises(Exception, match="idle timeout") as raised:
                kind(spark, 60)
            assert failure(raised.value).detail.endswith(KILLED), mode


def test_the_settings_for_all_workers_count_too(spark):
    """Those of the application, where its sessions have none of their own."""
    conf = spark._jsparkSession.sessionState().conf()
    application = {
        "spark.python.worker.idleTimeoutSeconds": "1",
        "spark.python.worker.killOnIdleTimeout": "true",
    }
    for mode in modes_of(map_in_arrow):
        with settings(spark, mode):
            try:
                for key, value in application.items():
                    conf.setConfString(key, value)
                with pytest.raises(Exception, match="idle timeout"):
                    map_in_arrow(spark, 60)
            finally:
                for key in application:
                    conf.unsetConf(key)


@pytest.mark.complete("plain")
@pytest.mark.parametrize("kind", [plain, map_in_arrow])
def test_otherwise_there_are_warnings(spark, kind):
    for mode in modes_of(kind):
        with settings(spark, {**mode, IDLE: "1"}), logged(spark) as text:
            kind(spark, 3.5)
        assert text.toString().count(WARNING) >= 2, mode


@pytest.mark.complete
def test_waiting_for_input_does_not_count(spark):
    """Neither in the function over rows nor in the one above it."""

    def run(millis):
        slow = f"id + length(reflect('java.lang.Thread', 'sleep', {millis}L)) as id"
        rows = spark.range(1, numPartitions=1).selectExpr(slow)
        rows = rows.select(udf(lambda n: n, "long")("id").alias("id"))
        return rows.mapInArrow(batches_after(0), "id long").collect()

    for mode in modes_of(plain):
        with settings(spark, mode):
            expected = run(0)
            with settings(spark, {IDLE: "2", KILLS: "true"}):
                assert run(3500) == expected, mode


def test_the_time_of_many_calls_does_not_add_up(spark, make_udf):
    """Unlike in process mode, where a worker sends many rows at once."""
    f = make_udf(lambda n: time.sleep(0.5) or n, "long")
    with settings(spark, {**thread_modes()[0], IDLE: "2", KILLS: "true"}):
        assert len(spark.range(6, numPartitions=1).select(f("id")).collect()) == 6
