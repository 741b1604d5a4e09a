"""Servers for trying, testing and measuring: processes of their own on the loopback device."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

HOST = "127.0.0.1"
START_SECONDS = 120
STOP_SECONDS = 60

# Below those that the system chooses, as long as it is not told otherwise.
_PORTS = range(20_000, 32_000)
_random = random.SystemRandom()


class ServerError(Exception):
    """A server that did not start."""


def free_port() -> int:
    """Return a port that nothing listens on, and that the system does not give to others."""
    while True:
        port = _random.choice(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port


class LocalServer(ABC):
    """A server in a process of its own, which ends with the thread that has started it.

    Parameters
    ----------
    log : Path
        The file that it writes to.
    port : int, optional
        Where clients reach it, now and after it was stopped and started; a free one by default.
    """

    def __init__(self, log: Path, port: int | None = None) -> None:
        self.port = port or free_port()
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process, while it runs."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start it, and return when it takes connections."""
        if self._process is not None:
            raise ServerError("the server runs")
        self._process = self._run(self._command())
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                said = self._log.read_text()[-8000:]
                raise ServerError(f"nothing answers at port {self.port}:\n{said}")
            time.sleep(0.1)

    def stop(self) -> None:
        """Have it end in order; its data stay, and it can be started again."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self._end(signal.SIGKILL)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """Return the program with its arguments; what it needs is there when it has returned."""

    def _run(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            # The kernel ends it when its parent ends, however that ends.
            return subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _answers(self) -> bool:
        with socket.socket() as client:
            client.settimeout(5)
            return client.connect_ex((HOST, self.port)) == 0

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
