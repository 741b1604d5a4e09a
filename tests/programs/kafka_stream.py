"""A stream that runs until it is killed.

`kafka_stream.py MASTER MODE TRIGGER ADDRESS FROM TO CHECKPOINT`, where the trigger is one
of `writeStream.trigger`, as in `realTime=5 seconds`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import kafka_streams
import sessions
from scripts.connector_jars import kafka_jars


def main(master, mode, trigger, address, source, sink, checkpoint):
    jars = [sessions.submit_conf()["spark.jars"], *kafka_jars()]
    spark = sessions.start(
        master,
        conf={
            **(sessions.cluster_conf() if master.startswith("spark:") else {}),
            "spark.jars": ",".join(jars),
            sessions.MODE: mode,
        },
    )
    name, _, value = trigger.partition("=")
    frame = kafka_streams.read(spark, address, source, real_time=name == "realTime")
    frame = kafka_streams.through(frame, kafka_streams.upper_and_process)
    query = kafka_streams.started(frame, address, sink, checkpoint, **{name: value})
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
