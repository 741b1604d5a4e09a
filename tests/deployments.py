"""Applications and daemons as users start them, for the tests of clusters."""

from __future__ import annotations

import getpass
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

import pyflow

PROGRAMS = Path(__file__).parent / "programs"
SPARK = Path(_find_spark_home())


def environment():
    """The environment of a user who has activated the virtual environment."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK", "SPARK"))}
    kept.pop("PYTHONPATH", None)
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return {**kept, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1"}


def ended(command, where, seconds=180, **variables):
    """A command that has ended, well or not, and what it printed."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=where,
        env={**environment(), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
    )


def run(command, where, seconds=300, **variables):
    """What a command printed that has ended well."""
    done = ended(command, where, seconds, **variables)
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


@contextmanager
def killed_at_the_end(command, where, log, **variables):
    """A program that runs meanwhile and is then killed, with all that it has started.

    What it prints is added to a file, whose end is shown where the test fails meanwhile.
    """
    with log.open("ab") as file:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=where,
            env={**environment(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield process
    except BaseException:
        print(log.read_text()[-8000:])
        raise
    finally:
        # It may have ended by itself.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def submit(*conf, master="local[2]", mode="thread", jar=None):
    """The command that submits an application with the plugin, without its program."""
    settings = ["spark.plugins=io.pyflow.PyFlowPlugin", "spark.ui.enabled=false", *conf]
    if mode is not None:
        settings.append(f"spark.pyflow.execution-mode={mode}")
    return [
        *(SPARK / "bin" / "spark-submit", "--master", master, "--jars", jar or pyflow.jar_path()),
        *(part for setting in settings for part in ("--conf", setting)),
    ]


def own_url(address):
    """How the user who has started a Spark Connect server reaches it."""
    return f"sc://{address}/;user_id={getpass.getuser()}"


class Daemon:
    """A Spark daemon on the loopback device, and what it logs."""

    def __init__(self, where, name, *command, **variables):
        self.log = where / f"{name}.log"
        self._file = self.log.open("w")
        self._process = subprocess.Popen(
            [str(part) for part in command],
            cwd=where,
            env={
                **environment(),
                "SPARK_NO_DAEMONIZE": "1",
                "SPARK_WORKER_DIR": str(where),
                **variables,
            },
            stdout=self._file,
            stderr=subprocess.STDOUT,
        )

    def wait_for(self, pattern, seconds=180):
        """The first match of a pattern in the log."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._process.poll() is None:
            found = re.search(pattern, self.log.read_text())
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(f"{pattern} not in:\n{self.log.read_text()[-4000:]}")

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(60)
        finally:
            self._process.kill()
            self._process.wait()
            self._file.close()


@contextmanager
def connect_server(where, *conf, master="local[2]", **variables):
    """Address of a Spark Connect server with the plugin."""
    conf = (
        "spark.connect.grpc.binding.address=127.0.0.1",
        "spark.connect.grpc.binding.port=0",
        *conf,
    )
    server = Daemon(
        where,
        "SparkConnectServer",
        *submit(*conf, master=master, mode=None),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
        **variables,
    )
    try:
        yield server.wait_for(r"Spark Connect server started at: (\S+:\d+)")[1]
    finally:
        server.stop()


def member(where, name, host, *arguments):
    """A daemon of a standalone cluster."""
    return Daemon(
        where,
        name,
        SPARK / "bin" / "spark-class",
        f"org.apache.spark.deploy.{name.split('-')[0]}",
        "--host",
        host,
        "--webui-port",
        "0",
        *arguments,
    )


@contextmanager
def standalone(where):
    """Master URL of a standalone cluster with two workers of one core, on a host each."""
    daemons = [member(where, "master.Master", "127.0.0.1", "--port", "0")]
    try:
        url = daemons[0].wait_for(r"Starting Spark master at (spark://\S+)")[1]
        for number in (1, 2):
            daemons.append(
                member(
                    where,
                    f"worker.Worker-{number}",
                    f"127.0.0.{number}",
                    *("--cores", "1", "--memory", "2g", url),
                )
            )
        for worker in daemons[1:]:
            worker.wait_for("Successfully registered with master")
        yield url
    finally:
        for daemon in reversed(daemons):
            daemon.stop()
