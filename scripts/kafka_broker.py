#!/usr/bin/env python3
"""Starts a Kafka broker for trying, testing and measuring, on the loopback device.

The jars are those that `gradle fetchKafka` has put into build/kafka. The broker is formatted into a
directory of its own, as a node that is broker and controller in one (KRaft).
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

JARS = Path(__file__).resolve().parent.parent / "build" / "kafka"
HOST = "127.0.0.1"
# Sixteen bytes in base64. Made at random, one in 64 would begin as an option does.
CLUSTER = "cHlmbG93LWthZmthLW9uZQ"
START_SECONDS = 120
STOP_SECONDS = 60

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller_port}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller_port}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/log
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
message.max.bytes=10485760
"""


class BrokerError(Exception):
    """A broker that did not start."""


def connector_jars() -> list[str]:
    """Return the jars that Spark needs to reach a broker; none before they were fetched."""
    return [str(jar) for jar in sorted((JARS / "connector").glob("*.jar"))]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class Broker:
    """A broker in a process of its own, which ends with the thread that has started it.

    Parameters
    ----------
    folder : Path
        Where it keeps its data and its log; empty, or that of a broker which has ended.
    port : int, optional
        Where clients reach it, now and after it was stopped and started; a free one by default.

    Attributes
    ----------
    address : str
        ``kafka.bootstrap.servers`` of its clients.
    """

    def __init__(self, folder: Path, port: int | None = None) -> None:
        if not JARS.exists():
            raise BrokerError("no jars of Kafka: run `gradle fetchKafka`, or `make kafka`")
        self.address = f"{HOST}:{port or _free_port()}"
        self._port = int(self.address.rpartition(":")[2])
        self._log = folder / "broker.log"
        self._properties = folder / "server.properties"
        self._properties.write_text(
            PROPERTIES.format(
                host=HOST, port=self._port, controller_port=_free_port(), folder=folder
            )
        )
        self._process: subprocess.Popen[bytes] | None = None
        tool = ["kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER, "--ignore-formatted"]
        if self._java([*tool, "--config", str(self._properties)]).wait():
            raise BrokerError(f"not formatted:\n{self._log.read_text()}")

    @property
    def pid(self) -> int | None:
        """Its process, while it runs."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start it, and return when it takes requests."""
        if self._process is not None:
            raise BrokerError("the broker runs")
        self._process = self._java(["kafka.Kafka", str(self._properties)])
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise BrokerError(f"no broker at {self.address}:\n{self._log.read_text()[-8000:]}")
            time.sleep(0.1)

    def stop(self) -> None:
        """Have it end in order; its data stay, and it can be started again."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self._end(signal.SIGKILL)

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with socket.socket() as client:
            client.settimeout(5)
            return client.connect_ex((HOST, self._port)) == 0

    def _java(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        home = os.environ.get("JAVA_HOME")
        options = [
            "-Xmx512m",
            "-XX:+UseG1GC",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
        ]
        classpath = str(JARS / "broker" / "*")
        # The kernel ends it when its parent ends, however that ends.
        bound = ["setpriv", "--pdeathsig", "KILL"]
        java = os.path.join(home, "bin", "java") if home else "java"
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [*bound, java, *options, "-cp", classpath, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def main() -> None:
    """Run a broker until Ctrl-C."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=9092)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    folder = Path(tempfile.mkdtemp(prefix="pyflow-kafka-"))
    try:
        with Broker(folder, options.port) as broker:
            print(f"PyFlow: a Kafka broker on {broker.address}; Ctrl-C ends it", flush=True)
            print(f"PyFlow: for Spark: --jars {','.join(connector_jars())}", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        pass
    except BrokerError as error:
        sys.exit(f"PyFlow: {error}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
