"""Applications and daemons as users start them, for the tests of clusters."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

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

    def wait_for(self, pattern, seconds=60):
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
        self._process.wait(30)
        self._file.close()
