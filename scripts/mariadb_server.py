"""A MariaDB server for trying and testing, on the loopback device.

The programs are those of Debian's packages mariadb-server-core and mariadb-client-core, which start
no service. The server keeps its data in a directory of its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType

HOST = "127.0.0.1"
PACKAGES = "mariadb-server-core mariadb-client-core"
DATABASE = "pyflow"
USER = "pyflow"
PASSWORD = "pyflow"
START_SECONDS = 120
STOP_SECONDS = 60

# Read at each start.
FIRST = f"""\
CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON {DATABASE}.* TO '{USER}'@'%';
"""


class ServerError(Exception):
    """A server that did not start."""


def _program(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
    if found is None:
        raise ServerError(f"no {name} here: install Debian's packages {PACKAGES}")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class MariaDb:
    """A server in a process of its own, which ends with the thread that has started it.

    Parameters
    ----------
    folder : Path
        Where it keeps its data and its log; empty, or that of a server which has ended.
    port : int, optional
        Where clients reach it; a free one by default.

    Attributes
    ----------
    url : str
        The address of its database for JDBC.
    """

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.port = port or _free_port()
        self.url = f"jdbc:mysql://{HOST}:{self.port}/{DATABASE}"
        self._folder = folder
        self._log = folder / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and return when it takes connections."""
        data = self._folder / "data"
        if not data.exists():
            self._install(data)
        first = self._folder / "first.sql"
        first.write_text(FIRST)
        # The kernel ends it when its parent ends, however that ends.
        command = [
            *("setpriv", "--pdeathsig", "KILL", _program("mariadbd"), "--no-defaults"),
            *(f"--datadir={data}", f"--init-file={first}", f"--port={self.port}"),
            *(f"--bind-address={HOST}", f"--socket={self._folder / 'socket'}"),
            *(f"--pid-file={self._folder / 'pid'}", "--skip-name-resolve", *_as_root()),
        ]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise ServerError(
                    f"no server at port {self.port}:\n{self._log.read_text()[-4000:]}"
                )
            time.sleep(0.1)

    def stop(self) -> None:
        """Have it end in order; its data stay, and it can be started again."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self._end(signal.SIGKILL)

    def __enter__(self) -> MariaDb:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _install(self, data: Path) -> None:
        command = [
            *(_program("mariadb-install-db"), "--no-defaults", f"--datadir={data}"),
            *("--auth-root-authentication-method=normal", "--skip-test-db", *_as_root()),
        ]
        made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if made.returncode:
            shutil.rmtree(data, ignore_errors=True)
            raise ServerError(f"no data directory made:\n{made.stdout}{made.stderr}")

    def _answers(self) -> bool:
        """Return whether it has opened its port, which it does after the statements above."""
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


def _as_root() -> list[str]:
    """Return what has the server run as root, where the program does."""
    return ["--user=root"] if os.geteuid() == 0 else []
