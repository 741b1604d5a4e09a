"""Payments from Kafka through Python functions to Kafka, in milliseconds each.

The program makes up payments with cards, some of them frauds (see ``fraud_model.py``), and sends
them to a Kafka topic. A query in Spark's real-time mode reads them; a Python processor keeps for
each card where and when it was last used and what it usually pays (``transformWithState``), a
Python function scores the payment with a model that each interpreter loads once, and the scores go
to another topic. When a card has rested for a while, a timer ends its session, and a record tells
how much was paid in it. The terminal shows throughput, latency and the alarms as they come::

    python examples/fraud_scoring.py                  # Ctrl-C ends it
    python examples/fraud_scoring.py                  # goes on where it was, also after kill -9
    python examples/fraud_scoring.py --micro-batches --mode process   # goes on as Spark does today

It starts a Kafka broker of its own, whose data are kept beside the checkpoint. At the end the
program reads both topics and accounts for every payment: each has a score, and some may have two,
since Spark's Kafka sink writes an interrupted batch again. State is that of the last batch then, so
that both scores are the same.

Latency is the time from the client's timestamp of a payment to the broker's timestamp of its score.
The clock of the cards is fast: a second is a minute to them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming import StatefulProcessor, StreamingQuery
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

import fraud_model
import pyflow
from benchmarks.topics import Record, Topic
from scripts.connector_jars import kafka_jars
from scripts.interruption import interruption
from scripts.kafka_broker import Broker

REPOSITORY = Path(__file__).resolve().parent.parent
# Of each topic, and tasks of each of the two stages, which all run at once.
PARTITIONS = 2
ALARM = 0.5
# Of the latencies and rates that are shown.
WINDOW_SECONDS = 5
HISTORY_SECONDS = 60
PATIENCE_SECONDS = 60
BARS = "▁▂▃▄▅▆▇█"
CARD_EPOCH = time.mktime((2026, 1, 1, 0, 0, 0, 0, 0, 0))

PAYMENT = "card int, minute double, amount double, latitude double, longitude double, fraud boolean"
STATE = (
    "minute double, latitude double, longitude double, usual double, recent array<double>, "
    "payments int, total double, timer long"
)
FOUND = (
    "place string, sent long, card int, amount double, fraud boolean, "
    "velocity int, speed double, ratio double, payments int, total double"
)
NO_PAYMENT = dict.fromkeys(("place", "sent", "amount", "fraud", "velocity", "speed", "ratio"))


class CardHistory(StatefulProcessor):
    """Keeps a card's history and its session.

    Parameters
    ----------
    rest_seconds : float
        How long a card is not used after the last payment of a session.
    """

    def __init__(self, rest_seconds: float) -> None:
        self._rest_millis = int(rest_seconds * 1_000)

    def init(self, handle: Any) -> None:
        """Open the state."""
        self._handle = handle
        self._card = handle.getValueState("card", STATE)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Return what the model has to know of each payment."""
        state = self._card.get()
        history, session = (None, (0, 0.0, None)) if state is None else (state[:5], state[5:])
        payments, total, timer = session
        if timer is not None:
            self._handle.deleteTimer(timer)
        if history is not None:
            history = fraud_model.History(*history)
        # One payment at a time in real-time mode; the rows of a micro-batch are in no order. All
        # payments of a card are in the same partition of their topic.
        for row in sorted(rows, key=lambda row: int(row.place.partition(":")[2])):
            payment = fraud_model.Payment(*(row[name] for name in fraud_model.Payment._fields))
            found, history = fraud_model.features(history, payment)
            payments, total = payments + 1, total + payment.amount
            yield Row(
                place=row.place,
                sent=row.sent,
                card=payment.card,
                amount=payment.amount,
                fraud=payment.fraud,
                **found._asdict(),
                payments=payments,
                total=round(total, 2),
            )
        timer = timerValues.getCurrentProcessingTimeInMs() + self._rest_millis
        self._handle.registerTimer(timer)
        self._card.update((*history, payments, total, timer))

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """End the session; the history stays."""
        *history, payments, total, _ = self._card.get()
        self._card.update((*history, 0, 0.0, None))
        yield Row(**NO_PAYMENT, card=key[0], payments=payments, total=round(total, 2))


def scores_of(payments: DataFrame, model: Path, rest_seconds: float) -> DataFrame:
    """Return key and value of the records that a topic of payments leads to."""
    path = str(model.resolve())

    @sf.udf("double", useArrow=True)
    def score(velocity: int | None, speed: float, ratio: float) -> float | None:
        return None if velocity is None else fraud_model.score(path, velocity, speed, ratio)

    fields = sf.from_json(sf.col("value").cast("string"), PAYMENT)
    found = (
        payments.select(
            sf.concat_ws(":", "partition", "offset").alias("place"),
            sf.unix_millis("timestamp").alias("sent"),
            fields.alias("payment"),
        )
        .select("place", "sent", "payment.*")
        .groupBy("card")
        .transformWithState(CardHistory(rest_seconds), FOUND, "Update", "ProcessingTime")
    )
    scored = found.withColumn("score", score("velocity", "speed", "ratio"))
    return scored.select(
        sf.col("place").alias("key"), sf.to_json(sf.struct(*scored.columns)).alias("value")
    )


def start_spark(mode: str) -> SparkSession:
    """Start an application with Kafka's connector, whose functions find their modules."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Of all interpreters and workers. (Spark's worker that asks a processor for its state variables
    # when a query is planned does not get the files of addPyFile.)
    os.environ["PYTHONPATH"] = str(Path(fraud_model.__file__).parent)
    store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark = (
        pyflow.configure(
            SparkSession.builder.appName("fraud scoring")
            .master(f"local[{2 * PARTITIONS}]")
            .config("spark.jars", ",".join(kafka_jars()))
        )
        .config("spark.pyflow.execution-mode", mode)
        .config("spark.sql.shuffle.partitions", PARTITIONS)
        .config("spark.sql.streaming.stateStore.providerClass", store)
        # Real-time mode takes no other format, and a checkpoint keeps its own.
        .config("spark.sql.streaming.stateStore.checkpointFormatVersion", 2)
        # Spark refuses the state of a first batch that has not been committed, which it would not
        # use: the check is for checkpoints that two queries share.
        .config("spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart", "false")
        # The shuffle of real-time mode holds rows back to send more at once: 50 ms by default.
        .config("spark.shuffle.streaming.networkBufferMaxWaitTimeMs", 1)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def start_query(
    spark: SparkSession, source: Topic, sink: Topic, options: argparse.Namespace
) -> StreamingQuery:
    """Start the query, from the checkpoint if there is one."""
    payments = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", source.address)
        .option("subscribe", source.name)
        .option("startingOffsets", "earliest")
        .load()
    )
    every = (
        {"processingTime": "0 seconds"} if options.micro_batches else {"realTime": options.batch}
    )
    return (
        scores_of(payments, options.folder / "model.json", options.rest)
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", sink.address)
        .option("topic", sink.name)
        .option("checkpointLocation", str(options.folder / "checkpoint"))
        .outputMode("update")
        .trigger(**every)
        .start()
    )


class Feed:
    """A thread that sends payments at a steady rate."""

    def __init__(self, topic: Topic, rate: int) -> None:
        self._topic = topic
        self._rate = rate
        self._stopped = threading.Event()
        self.sent = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it; the broker has all payments then."""
        self._stopped.set()
        self._thread.join()
        self._topic.flush()

    def _run(self) -> None:
        made = fraud_model.Payments(seed=time.time_ns()).stream()
        start = time.monotonic()
        while not self._stopped.wait(0.005):
            for _ in range(int((time.monotonic() - start) * self._rate) - self.sent):
                card, *rest = next(made)
                minute = round(time.time() - CARD_EPOCH, 3)
                payment = fraud_model.Payment(card, minute, *rest)
                self._topic.send([json.dumps(payment._asdict())], key=str(card))
                self.sent += 1


class Watch:
    """A thread that reads the scores as they come, and what there is to show of them."""

    def __init__(self, topic: Topic) -> None:
        self._lock = threading.Lock()
        self.scored = 0
        self.sessions = 0
        self._caught: Counter[tuple[bool, bool]] = Counter()
        self._latencies: deque[tuple[float, int]] = deque()
        self._medians: deque[float] = deque(maxlen=HISTORY_SECONDS)
        self._alarms: deque[dict[str, Any]] = deque(maxlen=6)
        self._records = topic.follow()
        next(self._records)  # which follows from here on
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        for records in self._records:
            with self._lock:
                for record in records:
                    self._add(record)
                while self._latencies and self._latencies[0][0] < time.monotonic() - WINDOW_SECONDS:
                    self._latencies.popleft()

    def _add(self, record: Record) -> None:
        found = json.loads(record.value)
        if record.key is None:
            self.sessions += 1
            return
        self.scored += 1
        alarm = found["score"] > ALARM
        self._caught[alarm, found["fraud"]] += 1
        self._latencies.append((time.monotonic(), record.timestamp - found["sent"]))
        if alarm:
            self._alarms.append(found)

    def latencies(self) -> list[int]:
        """Return those of the last seconds in milliseconds, the least first."""
        with self._lock:
            return sorted(millis for _, millis in self._latencies)

    def line(self, sent: int) -> str:
        """Return what there is to tell, in a line."""
        latencies = self.latencies()
        return (
            f"{sent:,} payments sent, {self.scored:,} scored, {self.sessions:,} sessions ended, "
            f"{len(latencies) / WINDOW_SECONDS:,.0f}/s, latency p50 {quantile(latencies, 0.5)}, "
            f"p99 {quantile(latencies, 0.99)}"
        )

    def view(self, sent: int, title: str) -> Group:
        """Return what there is to tell, for a terminal."""
        latencies = self.latencies()
        self._medians.append(latencies[len(latencies) // 2] if latencies else 0)
        figures = Table.grid(padding=(0, 3))
        figures.add_row("payments sent", f"{sent:,}")
        figures.add_row("scored", f"{self.scored:,}", f"{len(latencies) / WINDOW_SECONDS:,.0f}/s")
        figures.add_row("sessions ended", f"{self.sessions:,}")
        shown = (f"p{name} {quantile(latencies, float(name) / 100)}" for name in (50, 95, 99, 99.9))
        figures.add_row("latency", *shown)
        figures.add_row("median, a minute", f"[cyan]{bars(self._medians)}[/]")
        caught = self._caught
        figures.add_row(
            "frauds",
            f"[green]{caught[True, True]:,} caught[/]",
            f"[red]{caught[False, True]:,} missed[/]",
            f"[yellow]{caught[True, False]:,} false alarms[/]",
        )
        alarms = Table(title="alarms", title_justify="left", box=None, padding=(0, 3, 0, 0))
        for name in ("card", "amount", "times the usual", "km/h", "lately", "score", ""):
            alarms.add_column(name, justify="right")
        for alarm in self._alarms:
            alarms.add_row(
                str(alarm["card"]),
                f"{alarm['amount']:.2f}",
                f"{alarm['ratio']:.1f}",
                f"{alarm['speed']:,.0f}",
                str(alarm["velocity"]),
                f"{alarm['score']:.2f}",
                "[red]fraud[/]" if alarm["fraud"] else "[yellow]no fraud[/]",
            )
        return Group(f"[bold]{title}[/]", figures, "", alarms)


def quantile(ordered: Sequence[int], share: float) -> str:
    """Return a quantile of ordered milliseconds, as text."""
    if not ordered:
        return "-"
    millis = ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return f"{millis:,} ms" if millis < 10_000 else f"{millis / 1_000:,.0f} s"


def bars(values: Sequence[float]) -> str:
    """Return a bar for each value, the highest for the greatest."""
    most = max(values, default=0) or 1
    return "".join(BARS[int(value / most * (len(BARS) - 1))] for value in values)


def show(query: StreamingQuery, feed: Feed, watch: Watch, title: str, seconds: float) -> None:
    """Show what happens, until the time is over, the query has failed, or Ctrl-C."""
    console = Console()
    end = time.monotonic() + seconds
    with ExitStack() as stack:
        live = None
        if console.is_terminal:
            live = stack.enter_context(Live(console=console, auto_refresh=False))
        # In place of PySpark's handler, which would cancel the query's jobs.
        interrupted = stack.enter_context(interruption())
        while query.isActive and time.monotonic() < end and not interrupted.wait(1):
            if live is not None:
                live.update(watch.view(feed.sent, title), refresh=True)
            else:
                print(watch.line(feed.sent), flush=True)
    if query.exception() is not None:
        sys.exit(f"the query has failed: {query.exception()}")


def account(source: Topic, sink: Topic) -> tuple[int, int, int]:
    """Return how many payments there are, how many have no score, and how many more than one."""
    times = Counter(record.key for record in sink.records() if record.key is not None)
    places = {f"{record.partition}:{record.offset}" for record in source.records()}
    return len(places), len(places - times.keys()), sum(count > 1 for count in times.values())


def wait_for_scores(query: StreamingQuery, source: Topic, sink: Topic) -> tuple[int, int, int]:
    """Return the account when every payment has a score, or no more of them come."""
    found = account(source, sink)
    changed = time.monotonic()
    while found[1] and query.isActive and time.monotonic() < changed + PATIENCE_SECONDS:
        time.sleep(1)
        before, found = found, account(source, sink)
        if found != before:
            changed = time.monotonic()
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Score payments until the time is over or Ctrl-C, and account for them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rate", type=int, default=500, help="payments per second (default: 500)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long to send them")
    parser.add_argument("--mode", choices=["thread", "process"], default="thread")
    parser.add_argument(
        "--micro-batches", action="store_true", help="instead of real-time mode; same checkpoint"
    )
    parser.add_argument(
        "--batch", default="30 seconds", help="of real-time mode: from commit to commit"
    )
    parser.add_argument(
        "--rest", type=float, default=10, help="seconds after which a session ends (default: 10)"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=REPOSITORY / "build/fraud-scoring",
        help="of the broker's data, the model and the checkpoint (default: %(default)s)",
    )
    parser.add_argument("--kafka", metavar="HOST:PORT", help="a broker that runs already")
    parser.add_argument("--fresh", action="store_true", help="forget what was there")
    options = parser.parse_args(arguments)
    run(options)


def run(options: argparse.Namespace) -> None:
    """Do what the options say."""
    if options.fresh:
        shutil.rmtree(options.folder, ignore_errors=True)
    data = options.folder / "broker"
    data.mkdir(parents=True, exist_ok=True)
    model = options.folder / "model.json"
    if not model.exists():
        fraud_model.train(model)
    with ExitStack() as stack:
        address = options.kafka or stack.enter_context(Broker(data)).address
        source = Topic(address, "payments", PARTITIONS)
        sink = Topic(address, "scores", PARTITIONS, message_timestamp_type="LogAppendTime")
        print(f"Kafka at {address}, {source.count():,} payments there, Spark starts", flush=True)
        spark = start_spark(options.mode)
        query = start_query(spark, source, sink, options)
        way = (
            "micro-batches" if options.micro_batches else f"real-time mode, {options.batch} a batch"
        )
        watch, feed = Watch(sink), Feed(source, options.rate)
        show(query, feed, watch, f"Fraud scoring: {way}, {options.mode} mode", options.seconds)
        feed.stop()
        print("waiting for the last scores")
        payments, missing, twice = wait_for_scores(query, source, sink)
        # Spark logs each task of the batch that is stopped as an error.
        spark.sparkContext.setLogLevel("OFF")
        query.stop()
    print(f"{payments:,} payments, {missing:,} without a score, {twice:,} with more than one")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
