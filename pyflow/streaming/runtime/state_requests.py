"""Requests for state that Spark's workers do not wait for.

In process mode each use of state is a request to the JVM and a response. To make a key the current
one has a response that says only whether it failed. It is read with the next one, so that a key
that reads a value and writes it takes two round trips rather than three. The JVM handles requests
in their order.

Writes are waited for: what fails, or a task that is cancelled, raises its error in the operator,
which closes its functions.
"""

from __future__ import annotations

from typing import Any

__all__ = ["defer_keys"]

# Keys may come that no state is read of. Responses are read before they fill the socket.
_AWAITED = 32


def defer_keys(handle: Any) -> None:
    """Have a task not wait until a key is the current one; in thread mode there is no wait.

    Parameters
    ----------
    handle : StatefulProcessorHandle
    """
    client = getattr(handle, "_statefulProcessorApiClient", None)
    if hasattr(client, "sockfile"):
        _Requests(client)


class _Requests:
    """The socket of a client, which reads the responses to keys behind later requests."""

    def __init__(self, client: Any) -> None:
        self._file = client.sockfile
        self._receive = client._receive_proto_message
        self._set_key = client.set_implicit_key
        self._is_key = False
        self._awaited = 0
        self._error: Exception | None = None
        client.sockfile = self
        client._receive_proto_message = self._response
        client.set_implicit_key = self._key

    def _key(self, key: tuple[Any, ...]) -> None:
        if self._awaited == _AWAITED:
            self._file.flush()
            self._read_awaited()
        self._is_key = True
        try:
            self._set_key(key)
        finally:
            self._is_key = False

    def _response(self) -> tuple[int, str, bytes]:
        if self._is_key:
            self._awaited += 1
            return 0, "", b""
        return self._receive()  # type: ignore[no-any-return]

    def _read_awaited(self) -> None:
        if self._error is not None:
            raise self._error
        awaited, self._awaited = self._awaited, 0
        for _ in range(awaited):
            status, message, _ = self._receive()
            if status != 0:
                self._error = RuntimeError(f"the key could not be set: {message}")
                raise self._error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        """Write a part of a request."""
        return self._file.write(data)  # type: ignore[no-any-return]

    def flush(self) -> None:
        """Send the requests, unless the last one sets the key."""
        if self._error is not None:
            raise self._error
        if not self._is_key:
            self._file.flush()

    def read(self, size: int = -1) -> bytes:
        """Read a part of a response."""
        if self._awaited:
            self._read_awaited()
        return self._file.read(size)  # type: ignore[no-any-return]
