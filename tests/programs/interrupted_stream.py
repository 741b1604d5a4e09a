"""Unbounded data streams, each ended by Ctrl-C; the argument is a file that functions write to."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from pyflow.common import Configuration, WatermarkStrategy
from pyflow.datastream import MapFunction, StreamExecutionEnvironment
from pyflow.datastream.connectors.datagen import DataGeneratorSource


class Told(MapFunction):
    """Writes when it is closed."""

    def __init__(self, way, file):
        self.way = way
        self.file = file

    def map(self, value):
        return f"{self.way} {value}"

    def close(self):
        with Path(self.file).open("a") as file:
            file.write(f"{self.way}\n")


def stream(env, way):
    source = DataGeneratorSource(lambda number: number, rate=10)
    ds = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    return ds.key_by(lambda value: value % 2).map(Told(way, sys.argv[1]))


def execute(env, way):
    stream(env, way).print()
    env.execute()


def wait_for_the_result(env, way):
    stream(env, way).print()
    env.execute_async().get_job_execution_result().result()


def collect(env, way):
    for element in stream(env, way).execute_and_collect():
        print(element, flush=True)


def main():
    configuration = Configuration()
    # A session that is started for tables would refuse it.
    configuration.set_string("execution.state-recovery.ignore-unclaimed-state", "true")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    env.add_jars("file:///nowhere/flink-sql-connector-kafka-4.0.1-2.0.jar")
    for run in (execute, wait_for_the_result, collect):
        try:
            run(env, run.__name__)
        except KeyboardInterrupt:
            queries = SparkSession.active().streams.active
            print(f"interrupted {run.__name__}, {len(queries)} queries go on", flush=True)
    raise KeyboardInterrupt


main()
