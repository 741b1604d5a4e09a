"""Prints settings that sessions of both kinds of environments have, by the names of arguments."""

import json
import os
import sys

from pyspark.sql import SparkSession

from pyflow.datastream import StreamExecutionEnvironment
from pyflow.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
env = StreamExecutionEnvironment.get_execution_environment()
of_spark, of_flink = (json.loads(argument) for argument in sys.argv[1:])
conf = SparkSession.active().conf
report = {
    "spark": {key: conf.get(key, None) for key in of_spark},
    "tables": {key: t_env.get_config().get(key, None) for key in of_flink},
    "streams": {key: env._configuration.get_string(key, None) for key in of_flink},
    "client": os.environ["CLIENT"],
}
print(f"REPORT {json.dumps(report)}", flush=True)
