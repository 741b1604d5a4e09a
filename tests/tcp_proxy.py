"""A proxy of a server on the loopback device, whose connections can be cut."""

from __future__ import annotations

import socket
import threading

HOST = "127.0.0.1"


class TcpProxy:
    """Passes connections on to a port.

    Parameters
    ----------
    target : int
        The port of the server.

    Attributes
    ----------
    port : int
        Where it listens.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._server = socket.create_server((HOST, 0))
        self._open: list[socket.socket] = []
        self.port = self._server.getsockname()[1]

    def __enter__(self) -> TcpProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.close()
        self.cut()

    def cut(self) -> None:
        """End the connections that there are."""
        for each in self._open:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self._open.clear()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            server = socket.create_connection((HOST, self._target))
            self._open += [client, server]
            for ends in ((client, server), (server, client)):
                threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with source:
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return
