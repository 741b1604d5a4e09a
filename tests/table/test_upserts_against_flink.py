"""Tables with a key, written from rows that change, have the rows that PyFlink's have."""

from __future__ import annotations

from itertools import product

import pytest
import recordings
import upserts
from change_queries import SETUP
from upserts import SINKS, STRATEGIES

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

from benchmarks.topics import Topic

RECORDED = recordings.load("upserts")
SHORT = {("values_of_last", strategy) for strategy in STRATEGIES} | {("rows", "NOTHING")}


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        pytest.param(*case, marks=[] if case in SHORT else pytest.mark.complete)
        for case in product(SINKS, STRATEGIES)
    ],
)
def test_rows_of_keys_are_those_of_pyflink(streaming, kafka, tmp_path, name, strategy):
    path = tmp_path / "moves.csv"
    path.write_text(upserts.ROWS, encoding="utf-8")
    streaming.execute_sql(SETUP.replace("{path}", str(path)))
    topic = Topic(kafka.address, f"{name}_{strategy}")

    insert = upserts.insertion(streaming, name, strategy, kafka.address, topic.name)
    expected = RECORDED[topic.name]
    if expected is None:
        with pytest.raises(Exception, match="Several rows of the query have the key"):
            streaming.execute_sql(insert).wait()
    else:
        streaming.execute_sql(insert).wait()
        assert upserts.left(topic.records()) == expected
