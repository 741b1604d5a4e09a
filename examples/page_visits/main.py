"""Visits of a site from page views, with a view of what happens in the terminal.

The program starts a Kafka broker and visitors, who view pages of a site that is not there, and runs
the stream program (``visits_job.py``)::

    make page-visits                                  # Ctrl-C ends it
    make page-visits OPTIONS="--seconds 60"
    python examples/page_visits/main.py --fresh       # from the beginning

Some views reach the site late, as from a phone without a network. Those whose visit has ended are
in a topic of their own. At the end the topics are compared: no view may be lost or counted twice.
Started again, also after ``kill -9``, the program goes on from its checkpoint.
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
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

import pyflow
import visits_job
from benchmarks.topics import Topic
from pyflow.common import Configuration, JobClient, JobStatus
from pyflow.datastream import StreamExecutionEnvironment
from scripts.connector_jars import kafka_jars
from scripts.interruption import interruption
from scripts.kafka_broker import Broker
from views import MONITOR, Visitors

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PARTITIONS = 2
PATIENCE_SECONDS = 90
SHOWN = 8


def start(mode: str, folder: Path, servers: str, topics: Sequence[Topic]) -> JobClient:
    """Start Spark, and the stream program in it."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        pyflow.configure(SparkSession.builder.appName("page visits").master("local[2]"))
        .config("spark.jars", ",".join([pyflow.jar_path(), *kafka_jars()]))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    configuration = Configuration()
    configuration.set_string("python.execution-mode", mode)
    configuration.set_string("execution.checkpointing.dir", (folder / "checkpoints").as_uri())
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(PARTITIONS)
    env.add_python_file(str(HERE / "visits_job.py"))
    visits_job.build(env, servers, *(topic.name for topic in topics))
    return env.execute_async("page visits")


class Seen:
    """What has come out of the program, and what there is to show of it."""

    def __init__(self, visits: Topic, late: Topic) -> None:
        self._lock = threading.Lock()
        self.visits = self.late = 0
        self._views = 0
        self._seconds = 0.0
        self._pages: Counter[str] = Counter()
        self._last: deque[dict[str, Any]] = deque(maxlen=SHOWN)
        self._last_late: deque[dict[str, Any]] = deque(maxlen=SHOWN)
        for topic, add in ((visits, self._add_visit), (late, self._add_late)):
            threading.Thread(target=self._follow, args=(topic, add), daemon=True).start()

    def _follow(self, topic: Topic, add: Callable[[dict[str, Any]], None]) -> None:
        for records in topic.follow():
            with self._lock:
                for record in records:
                    found = json.loads(record.value or "")
                    if found["user"] != MONITOR:
                        add(found)

    def _add_visit(self, visit: dict[str, Any]) -> None:
        self.visits += 1
        self._views += len(visit["pages"])
        self._seconds += visit["seconds"]
        self._pages.update(visit["pages"])
        self._last.append(visit)

    def _add_late(self, view: dict[str, Any]) -> None:
        self.late += 1
        self._last_late.append(view)

    def line(self, sent: int) -> str:
        """Return what there is to tell, in a line."""
        return f"{sent:,} views sent, {self.visits:,} visits ended, {self.late:,} views late"

    def view(self, sent: int) -> Group:
        """Return what there is to tell, for a terminal."""
        with self._lock:
            number = max(self.visits, 1)
            figures = Table.grid(padding=(0, 3))
            figures.add_row("views sent", f"{sent:,}")
            figures.add_row(
                "visits ended",
                f"{self.visits:,}",
                f"{self._views / number:.1f} pages and {self._seconds / number:.1f} s on average",
            )
            figures.add_row("views late", f"{self.late:,}")
            visits = _table("last visits", "user", "began at", "seconds", "pages")
            for visit in self._last:
                seconds, pages = f"{visit['seconds']:.1f}", " ".join(visit["pages"])
                visits.add_row(visit["user"], _clock(visit["start"]), seconds, pages)
            pages_viewed = _table("most viewed", "page", "views")
            for page, views in self._pages.most_common(SHOWN):
                pages_viewed.add_row(page, f"{views:,}")
            late = _table("late views", "user", "viewed at", "page")
            for each in self._last_late:
                late.add_row(each["user"], _clock(each["at"]), each["page"])
        below = Table.grid(padding=(0, 6))
        below.add_row(pages_viewed, late)
        return Group("[bold]page visits[/]", figures, "", visits, "", below)


def _table(title: str, *columns: str) -> Table:
    made = Table(title=title, title_justify="left", box=None, padding=(0, 3, 0, 0))
    for name in columns:
        made.add_column(name)
    return made


def _clock(milliseconds: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(milliseconds / 1000))


def show(job: JobClient, visitors: Visitors, seen: Seen, seconds: float) -> None:
    """Show what happens, until the time is over, the job has failed, or Ctrl-C."""
    console = Console()
    end = time.monotonic() + seconds
    with ExitStack() as stack:
        live = None
        if console.is_terminal:
            live = stack.enter_context(Live(console=console, auto_refresh=False))
        # In place of PySpark's handler, which would cancel the jobs of a batch.
        interrupted = stack.enter_context(interruption())
        while _runs(job) and time.monotonic() < end and not interrupted.wait(1):
            if live is not None:
                live.update(seen.view(visitors.sent), refresh=True)
            else:
                print(seen.line(visitors.sent), flush=True)


def _runs(job: JobClient) -> bool:
    return job.get_job_status().result() == JobStatus.RUNNING


def account(views: Topic, visits: Topic, late: Topic) -> tuple[int, int, int]:
    """Return how many views there are, how many of them are nowhere, and how many twice."""
    sent = {found["id"] for found in _all(views) if found["user"] != MONITOR}
    places = Counter(view for found in _all(visits) for view in found["views"])
    places.update(found["id"] for found in _all(late))
    return len(sent), len(sent - places.keys()), sum(places[each] > 1 for each in sent)


def _all(topic: Topic) -> list[dict[str, Any]]:
    """Return what is in a topic; Spark writes an interrupted batch again, as it was."""
    return [json.loads(value) for value in {record.value or "" for record in topic.records()}]


def run(options: argparse.Namespace) -> int:
    """Do what the options say; return how many views were lost or are there twice."""
    if options.fresh:
        shutil.rmtree(options.folder, ignore_errors=True)
    data = options.folder / "broker"
    data.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        servers = options.kafka or stack.enter_context(Broker(data)).address
        names = ("page-views", "page-visits", "late-views")
        topics = [Topic(servers, name, PARTITIONS) for name in names]
        print(f"Kafka at {servers}, {topics[0].count():,} views there, Spark starts", flush=True)
        seen = Seen(*topics[1:])
        visitors = Visitors(topics[0], options.rate)
        job = start(options.mode, options.folder, servers, topics)
        show(job, visitors, seen, options.seconds)
        visitors.stop()
        print("waiting until the last visits have ended", flush=True)
        end = time.monotonic() + PATIENCE_SECONDS
        found = account(*topics)
        while found[1] and _runs(job) and time.monotonic() < end:
            visitors.go_on()
            time.sleep(1)
            found = account(*topics)
        if _runs(job):
            job.cancel().result()
        else:
            job.get_job_execution_result().result()
    number, lost, twice = found
    print(f"{number:,} views, {lost} lost, {twice} twice")
    return lost + twice


def main(arguments: Sequence[str] | None = None) -> None:
    """Find visits until the time is over or Ctrl-C, and account for all views."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rate", type=float, default=50, help="views per second (default: 50)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long to send them")
    parser.add_argument("--mode", choices=["thread", "process"], default="thread")
    parser.add_argument(
        "--folder",
        type=Path,
        default=REPOSITORY / "build/page-visits",
        help="of the broker's data and the checkpoint (default: %(default)s)",
    )
    parser.add_argument("--kafka", metavar="HOST:PORT", help="a broker that runs already")
    parser.add_argument("--fresh", action="store_true", help="forget what was there")
    sys.exit(1 if run(parser.parse_args(arguments)) else 0)


if __name__ == "__main__":
    main()
