"""Records the rows that tables in Kafka have for each key.

It takes a broker of its own. FLINK_KAFKA_JAR names the jar of Flink's connector for Kafka.
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import product
from pathlib import Path

import flink
import recordings
from upserts import ROWS, SINKS, SOURCE, STRATEGIES, insertion, left

from benchmarks.topics import Topic
from scripts.kafka_broker import Broker


def record(only):
    jar = os.environ.get("FLINK_KAFKA_JAR")
    if jar is None:
        sys.exit("FLINK_KAFKA_JAR names no jar: set it to Flink's SQL connector for Kafka")
    recorded = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as of_broker,
        Broker(Path(of_broker)) as broker,
    ):
        path = Path(folder) / "moves.csv"
        path.write_text(ROWS, encoding="utf-8")
        t_env = flink.environment("streaming")
        t_env.execute_sql(SOURCE.replace("{path}", str(path)))
        t_env.get_config().set("pipeline.jars", Path(jar).resolve().as_uri())
        for name, strategy in product(SINKS, STRATEGIES):
            topic = Topic(broker.address, f"{name}_{strategy}")
            insert = insertion(t_env, name, strategy, broker.address, topic.name)
            try:
                t_env.execute_sql(insert).wait()
                recorded[topic.name] = left(topic.records())
            except Exception as error:
                conflict = "Primary key constraint violation" in str(error)
                if not conflict:
                    raise
                recorded[topic.name] = None
            print(topic.name, recorded[topic.name], flush=True)
    recordings.write("upserts", recorded, indent=0)
