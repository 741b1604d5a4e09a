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

# The JVM waits until responses are read, once they fill the socket.
_AWAITED = 32

_OF_CLIENT = ("set_implicit_key", "register_timer", "delete_timer")
_OF_STATE = ("update", "put", "appendValue", "appendList", "updateValue", "removeKey", "clear")
_OPENING = ("getValueState", "getListState", "getMapState")


def pipeline(handle: Any) -> None:
    """Have the writes of a task not wait for their responses; in thread mode there are none.

    A write that failed raises its error with the next request that is waited for, at the latest
    with the one that ends the task.

    Parameters
    ----------
    handle : StatefulProcessorHandle
        Whose state is opened afterwards.
    """
    client = getattr(handle, "_statefulProcessorApiClient", None)
    if not hasattr(client, "sockfile"):
        return
    requests = _Requests(client)
    requests.defer(client, _OF_CLIENT)
    for name in _OPENING:
        opened = getattr(handle, name)
        setattr(handle, name, lambda *of, opened=opened: requests.defer(opened(*of), _OF_STATE))


class _Requests:
    """The socket of a client, which writes deferred requests and reads their responses later."""

    def __init__(self, client: Any) -> None:
        self._file = client.sockfile
        self._receive = client._receive_proto_message
        self._is_deferred = False
        self._awaited = 0
        self._error: Exception | None = None
        client.sockfile = self
        client._receive_proto_message = self._response

    def defer(self, owner: Any, names: tuple[str, ...]) -> Any:
        """Have the responses of the owner's methods of these names read later; return the owner."""
        for name in names:
            if hasattr(owner, name):
                setattr(owner, name, self._deferred(getattr(owner, name)))
        return owner

    def _deferred(self, request: Callable[..., None]) -> Callable[..., None]:
        def requested(*arguments: Any) -> None:
            self._is_deferred = True
            try:
                request(*arguments)
            finally:
                self._is_deferred = False

        return requested

    def _response(self) -> tuple[int, str, bytes]:
        if not self._is_deferred:
            return self._receive()  # type: ignore[no-any-return]
        self._awaited += 1
        if self._awaited == _AWAITED:
            self._sent(self._file.flush)
            self._settle()
        return 0, "", b""

    def _settle(self) -> None:
        """Read the responses that are awaited; an error is raised, and with each later request."""
        awaited, self._awaited = self._awaited, 0
        for _ in range(awaited):
            status, message, _ = self._receive()
            if status != 0:
                self._error = RuntimeError(f"state was not written: {message}")
                raise self._error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        """Write a part of a request."""
        return self._sent(self._file.write, data)  # type: ignore[no-any-return]

    def flush(self) -> None:
        """Send the requests, unless the last one is deferred."""
        if not self._is_deferred:
            self._sent(self._file.flush)

    def _sent(self, send: Callable[..., Any], *data: bytes) -> Any:
        if self._error is not None:
            raise self._error
        try:
            return send(*data)
        except OSError:
            # The JVM closes the socket behind the response that says why.
            self._settle()
            raise

    def read(self, size: int = -1) -> bytes:
        """Read a part of a response."""
        if self._awaited:
            self._settle()
        return self._file.read(size)  # type: ignore[no-any-return]
