"""Starts YARN for trying and testing, on the loopback device: a resource manager and one node.

The jar is that which `gradle fetchYarn` has put into build/yarn; PySpark has the rest of Hadoop.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from scripts.local_server import HOST, LocalServer, ServerError, free_port

if TYPE_CHECKING:
    from typing_extensions import Self

JARS = Path(__file__).resolve().parent.parent / "build" / "yarn"
_MANAGER = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
_NODE = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
_FIFO = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler"
_DISKS = "yarn.nodemanager.disk-health-checker"
# The node's ports, and those of the manager beside the one that clients reach.
_OF_MANAGER = ("scheduler", "resource-tracker", "admin", "webapp")
_OF_NODE = ("address", "localizer.address", "webapp.address")


class YarnCluster:
    """A resource manager and a node, which end with the thread that has started them.

    Parameters
    ----------
    folder : Path
        Where they keep their configuration, data and logs; empty.
    memory : int
        That of the node for containers, in mebibytes.

    Attributes
    ----------
    conf : Path
        ``HADOOP_CONF_DIR`` of clients.
    """

    def __init__(self, folder: Path, memory: int = 6144) -> None:
        if not JARS.exists():
            raise ServerError("no jars of YARN: run `gradle fetchYarn`")
        self.conf = folder / "conf"
        self.conf.mkdir()
        _write(self.conf / "core-site.xml", {"fs.defaultFS": "file:///"})
        port = free_port()
        node = {f"yarn.nodemanager.{each}": f"{HOST}:{free_port()}" for each in _OF_NODE}
        manager = {
            f"yarn.resourcemanager.{each}.address": f"{HOST}:{free_port()}" for each in _OF_MANAGER
        }
        settings = {
            "yarn.resourcemanager.hostname": HOST,
            "yarn.resourcemanager.address": f"{HOST}:{port}",
            "yarn.resourcemanager.scheduler.class": _FIFO,
            "yarn.scheduler.minimum-allocation-mb": "256",
            "yarn.nodemanager.hostname": HOST,
            "yarn.nodemanager.bind-host": HOST,
            "yarn.nodemanager.resource.memory-mb": str(memory),
            "yarn.nodemanager.resource.cpu-vcores": "8",
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.pmem-check-enabled": "false",
            "yarn.nodemanager.local-dirs": f"{folder}/local",
            "yarn.nodemanager.log-dirs": f"{folder}/logs",
            "yarn.nodemanager.remote-app-log-dir": f"{folder}/aggregated",
            "yarn.log-aggregation-enable": "true",
            "yarn.nodemanager.disk-health-checker.enable": "false",
            f"{_DISKS}.max-disk-utilization-per-disk-percentage": "100",
            **manager,
            **node,
        }
        _write(self.conf / "yarn-site.xml", settings)
        # They answer clients before their pages are there.
        pages = {
            main: int(settings[f"yarn.{main}.webapp.address"].rpartition(":")[2])
            for main in ("resourcemanager", "nodemanager")
        }
        self._manager = _Daemon(
            _MANAGER, self.conf, folder / "manager.log", pages["resourcemanager"]
        )
        self._node = _Daemon(_NODE, self.conf, folder / "node.log", pages["nodemanager"])

    def __enter__(self) -> Self:
        self._manager.start()
        try:
            self._node.start()
        except BaseException:
            self._manager.kill()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._node.stop()  # and its containers
        self._manager.kill()


class _Daemon(LocalServer):
    def __init__(self, main: str, conf: Path, log: Path, port: int) -> None:
        super().__init__(log, port)
        self._main = main
        self._conf = conf

    def _command(self) -> list[str]:
        found = os.environ.get("JAVA_HOME") or shutil.which("java")
        if found is None:
            raise ServerError("no java on PATH, and no JAVA_HOME")
        home = Path(found) if Path(found).is_dir() else Path(found).resolve().parent.parent
        spark = Path(pyspark.__file__).parent / "jars" / "*"
        classes = os.pathsep.join([str(self._conf), str(JARS / "*"), str(spark)])
        # Containers run the Java that the node has in its environment.
        java = ["env", f"JAVA_HOME={home}", str(home / "bin" / "java"), "-Xmx256m"]
        return [*java, "-cp", classes, self._main]


def _write(file: Path, settings: Mapping[str, str]) -> None:
    properties = "".join(
        f"  <property><name>{key}</name><value>{value}</value></property>\n"
        for key, value in settings.items()
    )
    file.write_text(f"<configuration>\n{properties}</configuration>\n")


def main() -> None:
    """Run a cluster until Ctrl-C."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    folder = Path(tempfile.mkdtemp(prefix="pyflow-yarn-"))
    try:
        with YarnCluster(folder) as cluster:
            print(
                f"PyFlow: YARN runs, for HADOOP_CONF_DIR={cluster.conf}; Ctrl-C ends it", flush=True
            )
            signal.pause()
    except KeyboardInterrupt:
        pass
    except ServerError as error:
        sys.exit(f"PyFlow: {error}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
