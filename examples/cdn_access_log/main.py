"""Statistics of a CDN's access log, from Kafka through a Python function into MariaDB.

The program starts a Kafka broker, a MariaDB server, a generator of log lines, the table program
(``statistics_job.py``) and a page that shows the figures as they grow::

    make cdn-access-log                              # Ctrl-C ends it
    make cdn-access-log OPTIONS="--seconds 60"
    make cdn-access-log OPTIONS="--rest"             # the table program runs in a service
    python examples/cdn_access_log/main.py --fresh   # from the beginning

The table program is a process of its own; with ``--rest`` it is uploaded to ``pyflow rest`` and run
there, by ``submit.sh`` with curl. Where it is killed it is started again, and goes on from
its checkpoint. At the end the sums in MariaDB are compared with those that the generator knows: no
line may be lost or counted twice.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pymysql

import page
from benchmarks.topics import Topic
from generator import Generator, Statistic, statistics
from scripts import mariadb_server
from scripts.connector_jars import kafka_jars, table_jars
from scripts.interruption import interruption
from scripts.kafka_broker import Broker
from scripts.local_server import free_port
from scripts.mariadb_server import MariaDb

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PARTITIONS = 2
PATIENCE_SECONDS = 300
TABLE = """\
CREATE TABLE IF NOT EXISTS cdn_access_statistic (
    province VARCHAR(50) PRIMARY KEY,
    access_count BIGINT NOT NULL,
    total_download BIGINT NOT NULL,
    download_speed DOUBLE NOT NULL
)"""


def _address(database: MariaDb) -> dict[str, object]:
    """Return how Python reaches a server."""
    return {
        "host": mariadb_server.HOST,
        "port": database.port,
        "user": mariadb_server.USER,
        "password": mariadb_server.PASSWORD,
        "database": mariadb_server.DATABASE,
    }


class Job:
    """The table program in a process of its own, started again when it ends.

    Parameters
    ----------
    broker, database
        What it reads and writes.
    folder
        Of its checkpoints and its log.
    service
        URL and token's file of the service that runs it; without it a process of this program.
    """

    def __init__(
        self, broker: str, database: MariaDb, folder: Path, service: Sequence[str] = ()
    ) -> None:
        self.starts = 0
        self._log = folder / "job.log"
        jars = ";".join(f"file://{jar}" for jar in (*kafka_jars(), *table_jars()))
        program = [sys.executable, str(HERE / "statistics_job.py")]
        if service:
            program = [str(HERE / "submit.sh"), *service]
        self._command = [
            *("setpriv", "--pdeathsig", "KILL", *program),
            *(broker, database.url, mariadb_server.USER, mariadb_server.PASSWORD),
            *(str(folder / "checkpoints"), jars),
        ]
        self._start()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def keep(self) -> None:
        """Start it again if it has ended."""
        if self._process.poll() is not None:
            print(f"the table program has ended ({self._process.returncode}): started again")
            self._start()

    def stop(self) -> None:
        """End it, and what it has started."""
        for signum in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, signum)
                self._process.wait(20)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue

    def _start(self) -> None:
        self.starts += 1
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env={**os.environ, "PYTHONPATH": str(HERE)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def serve(folder: Path, stack: ExitStack) -> tuple[str, str]:
    """Start a service that runs programs; return its URL and the file with its token."""
    command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "pyflow", "rest"]
    service = subprocess.Popen(
        [*command, "--port", "0", "--directory", str(folder), "-t", "local[2]"],
        stdout=subprocess.PIPE,
        text=True,
    )
    stack.callback(service.wait)
    stack.callback(service.terminate)
    assert service.stdout is not None
    found = re.search(r"Serving at (\S+), token in (\S+)", service.stdout.readline())
    if found is None:
        raise RuntimeError("the service has not started")
    return found[1], found[2]


def counted(address: dict[str, object]) -> dict[str, Statistic]:
    """Return what is in the database."""
    columns = page.statistics(address)
    province, *figures = (columns[name] for name in page.COLUMNS)
    return dict(zip(province, zip(*figures)))


def differences(found: dict[str, Statistic], expected: dict[str, Statistic]) -> list[str]:
    """Return where the database has other figures than the generator."""
    return [
        f"{province}: {found.get(province)} in MariaDB, {expected.get(province)} expected"
        for province in sorted(found.keys() | expected.keys())
        if province not in found
        or province not in expected
        or found[province][:2] != expected[province][:2]
        or not math.isclose(found[province][2], expected[province][2])
    ]


def run(options: argparse.Namespace) -> int:
    """Do what the options say; return how many provinces have wrong figures."""
    if options.fresh:
        shutil.rmtree(options.folder, ignore_errors=True)
    for name in ("kafka", "mariadb"):
        (options.folder / name).mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        broker = stack.enter_context(Broker(options.folder / "kafka"))
        database = stack.enter_context(MariaDb(options.folder / "mariadb"))
        address = _address(database)
        with pymysql.connect(**address) as connection, connection.cursor() as cursor:
            cursor.execute(TABLE)
        topic = Topic(broker.address, "cdn_access_log", PARTITIONS)
        first = 1 + max((int(each.value[:32], 16) for each in topic.records()), default=-1)
        service = serve(options.folder / "service", stack) if options.rest else ()
        job = Job(broker.address, database, options.folder, service)
        stack.callback(job.stop)
        port = options.port or free_port()
        shown = subprocess.Popen(
            [
                *("setpriv", "--pdeathsig", "KILL", sys.executable, str(HERE / "page.py")),
                *("--port", str(port), "--database-port", str(database.port)),
            ]
        )
        stack.callback(shown.kill)
        generator = Generator(topic, options.rate, first)
        print(f"table program: process {job.pid}, log in {options.folder / 'job.log'}", flush=True)
        _watch(job, address, options.seconds)
        generator.stop()
        return _account(job, topic, address)


def _watch(job: Job, address: dict[str, object], seconds: float) -> None:
    """Tell the figures for so many seconds from the first that are new, or until Ctrl-C."""
    before = visits = _visits(address)
    end = time.monotonic() + PATIENCE_SECONDS
    with interruption() as interrupted:
        while time.monotonic() < end and not interrupted.wait(1):
            job.keep()
            first, visits = visits == before, _visits(address)
            if first and visits > before:
                end = time.monotonic() + seconds
            print(f"{visits:,} visits counted, {job.starts} starts", flush=True)


def _visits(address: dict[str, object]) -> int:
    return sum(each[0] for each in counted(address).values())


def _account(job: Job, topic: Topic, address: dict[str, object]) -> int:
    """Return how many provinces have wrong figures, when all lines are counted or none more are."""
    print("waiting for the last lines", flush=True)
    lines = [record.value for record in topic.records()]
    expected = statistics(lines)
    end = time.monotonic() + PATIENCE_SECONDS
    wrong = differences(counted(address), expected)
    while wrong and time.monotonic() < end:
        time.sleep(1)
        job.keep()
        wrong = differences(counted(address), expected)
    for each in wrong:
        print(each)
    print(
        f"{len(lines):,} lines, {len(expected)} provinces, {len(wrong)} with other figures in "
        f"MariaDB than the generator's, {job.starts} starts"
    )
    return len(wrong)


def main(arguments: Sequence[str] | None = None) -> None:
    """Count accesses until the time is over or Ctrl-C, and compare the sums."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rate", type=int, default=200, help="lines per second (default: 200)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=math.inf,
        help="how long to send them, from when some are counted",
    )
    parser.add_argument("--port", type=int, help="of the page; a free one by default")
    parser.add_argument(
        "--folder",
        type=Path,
        default=REPOSITORY / "build/cdn-access-log",
        help="of all data and checkpoints (default: %(default)s)",
    )
    parser.add_argument("--rest", action="store_true", help="run the table program in a service")
    parser.add_argument("--fresh", action="store_true", help="forget what was there")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(1 if run(parser.parse_args(arguments)) else 0)


if __name__ == "__main__":
    main()
