"""A program that names its jars itself: ``late_jars.py JARS``."""

import sys

from pyspark.sql import SparkSession

from pyflow.common import Configuration
from pyflow.table import EnvironmentSettings, TableEnvironment

configuration = Configuration()
configuration.set_string("pipeline.jars", sys.argv[1])
settings = EnvironmentSettings.new_instance().in_streaming_mode()
TableEnvironment.create(settings.with_configuration(configuration).build())
spark = SparkSession.builder.getOrCreate()
records = spark.readStream.format("kafka").option("subscribe", "t")
print("FOUND", records.option("kafka.bootstrap.servers", "127.0.0.1:1").load().columns)
