"""Writes upserts.json, with a Python that has PyFlink 2.3 and confluent-kafka.

It takes the connector for Kafka from the jar that is its argument, and a broker of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import product
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent.parent))

from pyflink.table import EnvironmentSettings, TableEnvironment  # noqa: E402
from upserts import ROWS, SINKS, SOURCE, STRATEGIES, insertion, left  # noqa: E402

from benchmarks.topics import Topic  # noqa: E402
from scripts.kafka_broker import Broker  # noqa: E402


def main():
    recorded = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as of_broker,
        Broker(Path(of_broker)) as broker,
    ):
        path = Path(folder) / "moves.csv"
        path.write_text(ROWS, encoding="utf-8")
        t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        t_env.get_config().set("parallelism.default", "1")
        t_env.execute_sql(SOURCE.replace("{path}", str(path)))
        t_env.get_config().set("pipeline.jars", Path(sys.argv[1]).resolve().as_uri())
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
    (HERE / "upserts.json").write_text(json.dumps(recorded, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
