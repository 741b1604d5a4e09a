"""Functions with metrics on two executors, and a sink: `function_metrics.py DIRECTORY`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sessions
from pyflow.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflow.table.expressions import col
from pyflow.table.udf import ScalarFunction, udf


class Counts(ScalarFunction):
    def open(self, function_context):
        self.rows = function_context.get_metric_group().counter("rows")

    def eval(self, x):
        self.rows.inc()
        time.sleep(0.01)  # so that both executors have tasks
        return x


def main() -> None:
    sink = "spark.metrics.conf.*.sink.csv"
    conf = {
        **sessions.cluster_conf(),
        f"{sink}.class": "org.apache.spark.metrics.sink.CsvSink",
        f"{sink}.directory": sys.argv[1],
    }
    spark = sessions.start("local-cluster[2,1,1024]", conf=conf)
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for mode in ("thread", "process"):
        t_env.get_config().set("python.execution-mode", mode)
        numbers = t_env.from_spark(spark.range(0, 100, numPartitions=10))
        counts = udf(Counts(), result_type=DataTypes.BIGINT(), name=mode)
        with numbers.select(counts(col("id"))).execute().collect() as rows:
            assert len(list(rows)) == 100
    spark.stop()  # sinks report a last time


if __name__ == "__main__":
    main()
