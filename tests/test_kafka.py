"""Streams from Kafka through Python functions to Kafka, with a real broker.

Every record of the input is found at the sink, whatever happens on the way: the broker goes away
and comes back, the query or an executor is killed, a record is one that the function cannot take.
Spark's Kafka sink writes the batch that was interrupted again, and no other.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from scripts.kafka_broker import Broker
from sessions import ROOT, wait_until

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

from benchmarks.topics import Topic


def is_alive(pid):
    """Whether there is such a process, and it has not ended already."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_broker_ends_with_whoever_started_it(tmp_path):
    """Also where that one is killed and cannot end anything."""
    program = f"""
        from pathlib import Path
        from scripts.kafka_broker import Broker
        broker = Broker(Path({str(tmp_path)!r}))
        broker.start()
        print(broker.pid, flush=True)
        input()
    """
    starter = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with starter:
        pid = int(starter.stdout.readline())
        assert is_alive(pid)
        os.kill(starter.pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), "the broker ends")


def test_a_broker_keeps_its_records_when_it_is_stopped_and_started(tmp_path):
    with Broker(tmp_path) as broker:
        topic = Topic(broker.address, "kept")
        topic.send(["one", "two"])
        topic.flush()
        broker.stop()
        broker.start()
        topic.send(["three"])
        topic.flush()
        assert [record.value for record in topic.records()] == ["one", "two", "three"]
