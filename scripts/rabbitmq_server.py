"""A RabbitMQ server for trying and testing, on the loopback device.

It is that of Debian's package rabbitmq-server, which the set-up has unpacked into build/rabbitmq
(see machine.py). A server has its own cookie, its own data directory, and its own epmd, which tells
Erlang's nodes of each other.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from scripts.local_server import HOST, START_SECONDS, LocalServer, ServerError, free_port

ROOT = Path(__file__).resolve().parent.parent / "build" / "rabbitmq"
# The server's own user, which takes connections of this machine only.
USER = "guest"
PASSWORD = "guest"


class RabbitMq(LocalServer):
    """A server of RabbitMQ.

    Parameters
    ----------
    folder : Path
        Where it keeps its data and its log; empty, or that of a server which has ended.
    port : int, optional
        Where clients reach it; a free one by default.

    Attributes
    ----------
    url : str
        Its address, with user and password.
    """

    def __init__(self, folder: Path, port: int | None = None) -> None:
        super().__init__(folder / "server.log", port)
        self.url = f"amqp://{USER}:{PASSWORD}@{HOST}:{self.port}/%2F"
        self._folder = folder
        self._names_port = free_port()
        self._nodes_port = free_port()
        self._names: subprocess.Popen[bytes] | None = None

    def _command(self) -> list[str]:
        found = sorted(ROOT.glob("usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server"))
        if not found:
            raise ServerError(f"no RabbitMQ in {ROOT}: run the set-up for the purpose test")
        (self._folder / "enabled_plugins").write_text("[].\n")
        environment = self._environment()
        program = ["env", *(f"{name}={value}" for name, value in environment.items())]
        if self._names is None:
            self._names = self._run([*program, "epmd"])
            self._await_names()
        return [*program, "sh", str(found[-1])]

    def _await_names(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            with socket.socket() as client:
                if client.connect_ex((HOST, self._names_port)) == 0:
                    return
            time.sleep(0.05)
        raise ServerError(f"epmd does not answer:\n{self._log.read_text()}")

    def _environment(self) -> dict[str, object]:
        erlang = ROOT / "usr" / "lib" / "erlang"
        return {
            "PATH": f"{erlang / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}",
            "ERL_EPMD_PORT": self._names_port,
            "ERL_EPMD_ADDRESS": HOST,
            # Of the cookie.
            "HOME": self._folder,
            # Has the server replace its shell, so that it gets the signals.
            "RUNNING_UNDER_SYSTEMD": "true",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_DIST_PORT": self._nodes_port,
            "RABBITMQ_NODENAME": "pyflow@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": HOST,
            "RABBITMQ_NODE_PORT": self.port,
            "RABBITMQ_MNESIA_BASE": self._folder / "data",
            "RABBITMQ_LOG_BASE": self._folder / "logs",
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONF_ENV_FILE": self._folder / "rabbitmq-env.conf",
            "RABBITMQ_CONFIG_FILES": self._folder / "conf.d",
            "RABBITMQ_ADVANCED_CONFIG_FILE": self._folder / "advanced.config",
            "RABBITMQ_ENABLED_PLUGINS_FILE": self._folder / "enabled_plugins",
            "RABBITMQ_PID_FILE": self._folder / "pid",
        }

    def _end(self, how: signal.Signals) -> None:
        super()._end(how)
        if self._names is not None:
            self._names.kill()
            self._names.wait()
            self._names = None
