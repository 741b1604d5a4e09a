"""Requests for state that Spark's workers do not wait for.

In process mode each use of state is a request to the JVM and a response. To write state, or to make
a key the current one, has a response that says only whether it failed. Such a response is read
with the next one that something is needed of, so that a key that reads a value and writes it takes
one round trip rather than three. The JVM handles requests in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["pipeline"]

# Responses are read before they fill the socket: the JVM would wait, and so would the next request.
_AWAITED = 32
# The current key changes outside of the operator, which is told of errors of its own calls first.
_AWAITED_BY_CLIENT = 128
# A JVM that has failed reads no more, and some versions of Spark leave the socket open: what is
# written behind requests with unread responses has to fit into the socket.
_BYTES = 32 * 1024

_OF_CLIENT = ("set_implicit_key", "register_timer", "delete_timer")
_OF_STATE = ("update", "put", "appendValue", "appendList", "updateValue", "removeKey", "clear")
_OPENING = ("getValueState", "getListState", "getMapState")


def pipeline(handle: Any) -> Callable[[], None]:
    """Have the writes of a task not wait for their responses; in thread mode there are none.

    A write that failed raises its error with the next request that is waited for, at the latest
    with the one that ends the task.

    Parameters
    ----------
    handle : StatefulProcessorHandle
        Whose state is opened afterwards.

    Returns
    -------
    callable
        Waits for the responses to all writes.
    """
    client = getattr(handle, "_statefulProcessorApiClient", None)
    if not hasattr(client, "sockfile"):
        return _nothing_to_wait_for
    requests = _Requests(client)
    requests.defer(client, _OF_CLIENT, _AWAITED_BY_CLIENT)
    for name in _OPENING:
        opened = getattr(handle, name)
        setattr(
            handle,
            name,
            lambda *of, opened=opened: requests.defer(opened(*of), _OF_STATE, _AWAITED),
        )
    return requests.settle


def _nothing_to_wait_for() -> None:
    pass


class _Requests:
    """The socket of a client, which writes deferred requests and reads their responses later."""

    def __init__(self, client: Any) -> None:
        self._file = client.sockfile
        self._receive = client._receive_proto_message
        # How many responses may be unread after the request that is made; 0 if it is waited for.
        self._limit = 0
        self._awaited = 0
        self._bytes = 0
        self._error: Exception | None = None
        client.sockfile = self
        client._receive_proto_message = self._response

    def defer(self, owner: Any, names: tuple[str, ...], limit: int) -> Any:
        """Have the responses of the owner's methods of these names read later; return the owner."""
        for name in names:
            if hasattr(owner, name):
                setattr(owner, name, self._deferred(getattr(owner, name), limit))
        return owner

    def _deferred(self, request: Callable[..., None], limit: int) -> Callable[..., None]:
        def requested(*arguments: Any) -> None:
            self._limit = limit
            try:
                request(*arguments)
            finally:
                self._limit = 0

        return requested

    def _response(self) -> tuple[int, str, bytes]:
        if not self._limit:
            return self._receive()  # type: ignore[no-any-return]
        self._awaited += 1
        if self._awaited >= self._limit:
            self.settle()
        return 0, "", b""

    def settle(self) -> None:
        """Wait for the responses that are awaited; an error is raised, and with each request."""
        if self._error is not None:
            raise self._error
        self._send(self._file.flush)
        self._read_awaited()

    def _read_awaited(self) -> None:
        awaited, self._awaited, self._bytes = self._awaited, 0, 0
        for _ in range(awaited):
            status, message, _ = self._receive()
            if status != 0:
                self._error = RuntimeError(f"state was not written: {message}")
                raise self._error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        """Write a part of a request."""
        if self._awaited and self._bytes + len(data) > _BYTES:
            self.settle()
        self._bytes += len(data)
        return self._send(self._file.write, data)  # type: ignore[no-any-return]

    def flush(self) -> None:
        """Send the requests, unless the last one is deferred."""
        if not self._limit:
            self._send(self._file.flush)

    def _send(self, send: Callable[..., Any], *data: bytes) -> Any:
        if self._error is not None:
            raise self._error
        try:
            return send(*data)
        except OSError:
            # The JVM closes the socket behind the response that says why.
            self._read_awaited()
            raise

    def read(self, size: int = -1) -> bytes:
        """Read a part of a response."""
        if self._awaited:
            self._read_awaited()
        return self._file.read(size)  # type: ignore[no-any-return]
