"""Functions that log, of tables, data streams and PySpark alone, in both modes."""

from __future__ import annotations

import logging

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pyflow.common import Configuration, Types
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.table import EnvironmentSettings, StreamTableEnvironment
from pyflow.table.udf import udf

LEVELS = {
    "python.logging.default.level": "WARN",
    "python.logging.level.overrides": "app.verbose:DEBUG,app.silent:OFF",
}


def log(text):
    for name in ("app", "app.verbose", "app.silent"):
        logger = logging.getLogger(name)
        for level in (logging.DEBUG, logging.INFO, logging.ERROR):
            logger.log(level, "%s %s", text, logging.getLevelName(level).lower())


def logs(x, text):
    log(text)
    return x


def of_table(env, text):
    settings = EnvironmentSettings.in_batch_mode()
    t_env = StreamTableEnvironment.create(env, settings)
    function = udf(lambda x: logs(x, text), result_type="BIGINT")
    t_env.create_temporary_system_function("logs", function)
    list(t_env.execute_sql("SELECT logs(x) FROM (VALUES (1)) AS t(x)").collect())


def of_stream(env, text):
    stream = env.from_collection([1], Types.LONG()).map(lambda x: logs(x, text), Types.LONG())
    with stream.execute_and_collect() as found:
        list(found)


def of_pyspark(spark, text):
    spark.range(0, 2, 1, 2).select(F.udf(lambda x: logs(x, text), "long")("id")).collect()


def environment(mode, settings):
    configuration = Configuration()
    configuration.set_string("python.execution-mode", mode)
    for key, value in settings.items():
        configuration.set_string(key, value)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


for mode in ("thread", "process"):
    of_table(environment(mode, LEVELS), f"{mode} table")
    of_stream(environment(mode, LEVELS), f"{mode} stream")
    of_stream(environment(mode, {}), f"{mode} stream by default")
    spark = SparkSession.active()
    of_pyspark(spark, f"{mode} pyspark by default")
    spark.sparkContext.setLocalProperty("mdc.tenant", "ours")
    spark.conf.set("spark.pyflow.logging.level", "ERROR")
    spark.conf.set("spark.pyflow.logging.overrides", "app.verbose:INFO")
    of_pyspark(spark, f"{mode} pyspark")
    spark.conf.unset("spark.pyflow.logging.level")
    spark.conf.unset("spark.pyflow.logging.overrides")
    spark.sparkContext.setLocalProperty("mdc.tenant", None)
SparkSession.active().stop()
