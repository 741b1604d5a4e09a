"""Keys that lead to a subtask are sent there by Spark."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from pyflow.datastream.runtime.reserved_keys import reserved_keys


@pytest.mark.parametrize("parallelism", [1, 2, 3, 7, 64])
def test_spark_sends_reserved_keys_to_their_subtasks(spark, parallelism):
    targets = [1, -1, 17, (1 << 31) - 1]
    rows = [
        (target, bytearray(key), subtask)
        for target in targets
        for subtask, key in enumerate(reserved_keys(target, parallelism))
    ]
    frame = spark.createDataFrame(rows, "target INT, key BINARY, subtask INT")
    sent = frame.repartition(parallelism, "target", "key").select(
        "subtask", F.spark_partition_id().alias("partition")
    )
    assert all(subtask == partition for subtask, partition in sent.collect())
    assert len(rows) == len(targets) * parallelism
