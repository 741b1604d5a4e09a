"""Starts a Kafka broker for trying, testing and measuring, on the loopback device.

The jars are those that `gradle fetchKafka` has put into build/kafka. The broker is formatted into a
directory of its own, as a node that is broker and controller in one (KRaft).
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from scripts.connector_jars import kafka_jars
from scripts.local_server import HOST, LocalServer, ServerError, free_port

JARS = Path(__file__).resolve().parent.parent / "build" / "kafka"
# Sixteen bytes in base64. Made at random, one in 64 would begin as an option does.
CLUSTER = "cHlmbG93LWthZmthLW9uZQ"

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


class Broker(LocalServer):
    """A broker, and the only one of its cluster.

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
            raise ServerError("no jars of Kafka: run `gradle fetchKafka`, or `make kafka`")
        super().__init__(folder / "broker.log", port)
        self.address = f"{HOST}:{self.port}"
        self._properties = folder / "server.properties"
        self._properties.write_text(
            PROPERTIES.format(host=HOST, port=self.port, controller_port=free_port(), folder=folder)
        )
        tool = ["kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER, "--ignore-formatted"]
        if self._run(_java(*tool, "--config", str(self._properties))).wait():
            raise ServerError(f"not formatted:\n{self._log.read_text()}")

    def _command(self) -> list[str]:
        return _java("kafka.Kafka", str(self._properties))


def _java(*arguments: str) -> list[str]:
    home = os.environ.get("JAVA_HOME")
    options = [
        "-Xmx512m",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-Dorg.slf4j.simpleLogger.showDateTime=true",
    ]
    java = os.path.join(home, "bin", "java") if home else "java"
    return [java, *options, "-cp", str(JARS / "broker" / "*"), *arguments]


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
            print(f"PyFlow: for Spark: --jars {','.join(kafka_jars())}", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        pass
    except ServerError as error:
        sys.exit(f"PyFlow: {error}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
