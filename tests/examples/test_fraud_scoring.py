"""The example of streams scores every payment, also when it is killed and started again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path

import pytest

import fraud_model
from deployments import killed_at_the_end
from scripts.kafka_broker import Broker
from sessions import wait_until

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

from benchmarks.topics import Topic

ROOT = Path(__file__).resolve().parents[2]


def example(folder: Path, *arguments: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """The example as it is started in a terminal; at the end it is killed with its JVM."""
    command = [
        *(sys.executable, ROOT / "examples/fraud_scoring.py"),
        *("--folder", folder, "--rate", "200", "--rest", "2", *arguments),
    ]
    return killed_at_the_end(command, folder, folder / "example.log", PYTHONPATH=str(ROOT))


def scoring(log: Path) -> list[str]:
    """The lines that tell of scores."""
    return re.findall("sent, [1-9].*", log.read_text())


def last_batch(checkpoint: Path) -> int:
    """The number of the last one that is committed."""
    commits = (checkpoint / "commits").glob("[0-9]*")
    return max((int(path.name) for path in commits), default=-1)


def committed(checkpoint: Path) -> dict[str, int]:
    """The offsets up to which payments are committed, by partition."""
    batch = last_batch(checkpoint)
    if batch < 0:
        return {}
    offsets = (checkpoint / "offsets" / str(batch)).read_text().splitlines()[-1]
    found: dict[str, int] = json.loads(offsets)["payments"]
    return found


WAYS = [
    pytest.param(
        ["--batch", "10 minutes"],
        ["--batch", "5 seconds"],
        ["--micro-batches", "--mode", "process"],
        id="real-time",
    ),
    pytest.param(*[["--micro-batches"]] * 3, id="micro-batches"),
]


@pytest.mark.complete
@pytest.mark.parametrize(("first", "then", "last"), WAYS)
def test_every_payment_has_a_score(
    tmp_path: Path, first: list[str], then: list[str], last: list[str]
) -> None:
    """Killed in its first batch and in a later one, going on in another way, ended by Ctrl-C."""
    checkpoint = tmp_path / "checkpoint"
    log = tmp_path / "example.log"
    starts = []
    with example(tmp_path, *first):
        wait_until(lambda: scoring(log), "scores")
    starts.append((time.time_ns() // 1_000_000, committed(checkpoint)))
    batch = last_batch(checkpoint)
    with example(tmp_path, *then):
        wait_until(lambda: last_batch(checkpoint) >= batch + 2, "two batches are committed")
        time.sleep(2)  # of another, which is interrupted
    starts.append((time.time_ns() // 1_000_000, committed(checkpoint)))
    shown = len(scoring(log))
    with example(tmp_path, *last) as process:
        wait_until(lambda: len(scoring(log)) > shown, "scores")
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
        ended = process.wait(150)
    assert ended == 0, log.read_text()
    assert " 0 without a score" in log.read_text()

    with Broker(tmp_path / "broker") as broker:
        payments = list(Topic(broker.address, "payments", 2).records())
        records = list(Topic(broker.address, "scores", 2).records())
    scores = [record for record in records if record.key]
    assert {score.key for score in scores} == {
        f"{payment.partition}:{payment.offset}" for payment in payments
    }
    for start, before in starts:
        for score in scores:
            partition, _, offset = score.key.partition(":")
            again = score.timestamp > start and int(offset) < before.get(partition, 0)
            assert not again, f"{score.key} was committed"

    # State counts each payment once: all scores are those of a run that nothing has disturbed.
    expected = {}
    histories: dict[int, fraud_model.History] = {}
    for record in payments:
        payment = fraud_model.Payment(**json.loads(record.value))
        found, histories[payment.card] = fraud_model.features(histories.get(payment.card), payment)
        score = fraud_model.score(str(tmp_path / "model.json"), *found)
        expected[f"{record.partition}:{record.offset}"] = (*found, score)
    for record in scores:
        score = json.loads(record.value)
        seen = tuple(score[name] for name in ("velocity", "speed", "ratio", "score"))
        assert seen == pytest.approx(expected[record.key]), record
    sessions = [json.loads(record.value) for record in records if not record.key]
    assert sessions, "no timer has expired"
    assert all(session["payments"] > 0 for session in sessions)


def test_the_model_finds_frauds(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    fraud_model.train(model)
    histories: dict[int, fraud_model.History] = {}
    caught: Counter[tuple[bool, bool]] = Counter()
    payments = fraud_model.Payments(seed=3).stream()
    for number, (card, amount, latitude, longitude, fraud) in enumerate(islice(payments, 20_000)):
        payment = fraud_model.Payment(card, number / 500, amount, latitude, longitude, fraud)
        found, histories[card] = fraud_model.features(histories.get(card), payment)
        caught[fraud_model.score(str(model), *found) > 0.5, fraud] += 1
    assert caught[True, True] > caught[False, True]
    assert caught[True, False] < caught[False, False] / 100
