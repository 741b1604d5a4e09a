"""A MariaDB server for trying and testing, on the loopback device.

The programs are those of Debian's packages mariadb-server-core and mariadb-client-core, which start
no service. The server keeps its data in a directory of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from scripts.local_server import HOST, LocalServer, ServerError

PACKAGES = "mariadb-server-core mariadb-client-core"
DATABASE = "pyflow"
USER = "pyflow"
PASSWORD = "pyflow"

# Read at each start.
FIRST = f"""\
CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON {DATABASE}.* TO '{USER}'@'%';
"""


def _program(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
    if found is None:
        raise ServerError(f"no {name} here: install Debian's packages {PACKAGES}")
    return found


class MariaDb(LocalServer):
    """A server of MariaDB.

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
        super().__init__(folder / "server.log", port)
        self.url = f"jdbc:mysql://{HOST}:{self.port}/{DATABASE}"
        self._folder = folder

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _command(self) -> list[str]:
        data = self._folder / "data"
        if not data.exists():
            self._install(data)
        # Its statements are run before the port is opened.
        first = self._folder / "first.sql"
        first.write_text(FIRST)
        return [
            *(_program("mariadbd"), "--no-defaults"),
            *(f"--datadir={data}", f"--init-file={first}", f"--port={self.port}"),
            *(f"--bind-address={HOST}", f"--socket={self._folder / 'socket'}"),
            *(f"--pid-file={self._folder / 'pid'}", "--skip-name-resolve", *_as_root()),
        ]

    def _install(self, data: Path) -> None:
        command = [
            *(_program("mariadb-install-db"), "--no-defaults", f"--datadir={data}"),
            *("--auth-root-authentication-method=normal", "--skip-test-db", *_as_root()),
        ]
        made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if made.returncode:
            shutil.rmtree(data, ignore_errors=True)
            raise ServerError(f"no data directory made:\n{made.stdout}{made.stderr}")


def _as_root() -> list[str]:
    """Return what has the server run as root, where the program does."""
    return ["--user=root"] if os.geteuid() == 0 else []
