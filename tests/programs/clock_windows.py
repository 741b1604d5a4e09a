"""Windows by the clock in a session without the plugin; prints how many batches have run."""

import sys
import time

from pyspark.sql import SparkSession

from pyflow.table import EnvironmentSettings, TableEnvironment

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
assert "spark.plugins" not in dict(spark.sparkContext.getConf().getAll())
t_env.execute_sql(
    "CREATE TABLE t (n BIGINT, p AS PROCTIME()) WITH ('connector' = 'filesystem', "
    f"'path' = '{sys.argv[1]}', 'format' = 'csv', 'source.monitor-interval' = '1 s')"
)
result = t_env.execute_sql(
    "SELECT window_start, SUM(n) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(p), INTERVAL '3' SECOND)) "
    "GROUP BY window_start, window_end"
)
with result.collect() as rows:
    row = next(rows)
    print("SUM", row[1], flush=True)
    [query] = spark.streams.active
    before = query.lastProgress.batchId
    time.sleep(8)
    print("BATCHES", query.lastProgress.batchId - before, flush=True)
spark.stop()
