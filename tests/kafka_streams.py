"""Streams from Kafka through a Python function to Kafka, and the account of their records."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter

from pyspark import cloudpickle
from pyspark.sql.functions import col, concat_ws, udf

# Python's workers cannot import this module: its functions travel by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

#: The most records that a batch takes.
BATCH = 200


def upper(value):
    return value.upper()


def upper_and_process(value):
    """The process is that of the executor where the function runs in its JVM."""
    return f"{value.upper()}@{os.getpid()}"


def read(spark, address, topic, *, real_time=False):
    """The records of a topic from the first one on; in micro-batches at most BATCH at a time."""
    limit = {} if real_time else {"maxOffsetsPerTrigger": BATCH}
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", address)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .options(**limit)
        .load()
    )


def through(frame, function):
    """Where each record came from, and what a function of strings makes of it."""
    return frame.select(
        concat_ws(":", "partition", "offset").alias("key"),
        udf(function, "string")(col("value").cast("string")).alias("value"),
    )


def started(frame, address, topic, checkpoint, **trigger):
    """The query that writes it to a topic."""
    return (
        frame.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", address)
        .option("topic", topic)
        .option("checkpointLocation", str(checkpoint))
        .outputMode("update")
        .trigger(**trigger)
        .start()
    )


def committed_records(checkpoint):
    """How many records of its topic a query has read in the batches that it has committed.

    Parameters
    ----------
    checkpoint : Path
        The query's checkpoint: the offsets of a batch are the last line of its file.
    """
    batches = [int(file.name) for file in (checkpoint / "commits").glob("[0-9]*")]
    if not batches:
        return 0
    [ends] = json.loads(
        (checkpoint / "offsets" / str(max(batches))).read_text().splitlines()[-1]
    ).values()
    return sum(ends.values())


def account(source, sink, function=upper, duplicates=0):
    """Fails unless the sink has every record of the source as the function makes it.

    Parameters
    ----------
    source, sink : Topic
        The topics.
    function : callable
        What the sink has of the value of a record.
    duplicates : int
        How many records may be there more than once.
    """
    expected = {
        f"{record.partition}:{record.offset}": function(record.value) for record in source.records()
    }
    arrived = list(sink.records())
    times = Counter(record.key for record in arrived)
    assert times.keys() == expected.keys()
    assert sum(count > 1 for count in times.values()) <= duplicates
    for record in arrived:
        assert record.value.partition("@")[0] == expected[record.key]
