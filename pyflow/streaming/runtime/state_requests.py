"""Requests for state that Spark's workers do not wait for.

In process mode each use of state is a request to the JVM and a response, and each key has to be
made the current one. The JVM handles requests in their order, so many of them can be sent before
their responses are read:

- That a key is to be the current one is sent with the first request that needs it.
- The values of many keys are read, and written, at once.

Responses are read before they can fill the socket, and an error is raised where the response to a
request is read: what has been written is known to be written when `update_of_keys` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["StateRequests", "state_requests"]

# In bytes, of requests whose responses have not been read. As much is in the buffers of a socket,
# so that the JVM reads on although nobody reads what it writes.
_UNREAD = 16 * 1024

_NO_KEY = "the key could not be set"


def state_requests(handle: Any) -> StateRequests | None:
    """Have a task send its requests for state in this way; None in thread mode, which has none.

    Parameters
    ----------
    handle : StatefulProcessorHandle
    """
    client = getattr(handle, "_statefulProcessorApiClient", None)
    return StateRequests(client) if hasattr(client, "sockfile") else None


class StateRequests:
    """The socket of a client, which holds requests back and reads responses behind later requests.

    Parameters
    ----------
    client : StatefulProcessorApiClient
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._file = client.sockfile
        self._receive = client._receive_proto_message
        self._set_key = client.set_implicit_key
        # The parts of a request that is only made.
        self._parts: list[bytes] | None = None
        self._next_key: tuple[Any, ...] | None = None
        # What is done with the responses that have not been read: an error's text, a function.
        self._awaited: list[tuple[str, Callable[[bytes], None] | None]] = []
        self._unread = 0
        self._error: Exception | None = None
        client.sockfile = self
        client._receive_proto_message = self._response
        client.set_implicit_key = self._go_to

    def map_state(self, state: Any) -> Any:
        """Return a state variable that can be read and written for many keys at once.

        Parameters
        ----------
        state : MapState
            Of PySpark.
        """
        return _MapState(self, state)

    def key_request(self, key: tuple[Any, ...]) -> bytes:
        """Return the request that makes a key the current one."""
        return self.made(self._set_key, key)

    def made(self, call: Callable[..., Any], *arguments: Any) -> bytes:
        """Return the request that a method of PySpark's would send."""
        parts = self._parts = []
        try:
            call(*arguments)
        finally:
            self._parts = None
        return b"".join(parts)

    def send(
        self, request: bytes, failure: str, take: Callable[[bytes], None] | None = None
    ) -> None:
        """Send a request whose response is read later.

        Parameters
        ----------
        request : bytes
        failure : str
            Begins the text of an error.
        take : callable, optional
            Is given the value of the response.
        """
        if self._awaited and self._unread + len(request) > _UNREAD:
            self.read_awaited()
        self._file.write(request)
        self._unread += len(request)
        self._awaited.append((failure, take))

    def send_key(self, request: bytes) -> None:
        """Make a key the current one."""
        self._next_key = None
        self.send(request, _NO_KEY)

    def read_awaited(self) -> None:
        """Read the responses that have not been read."""
        if self._error is not None:
            raise self._error
        self._file.flush()
        awaited, self._awaited, self._unread = self._awaited, [], 0
        for failure, take in awaited:
            status, message, value = self._receive()
            if status != 0:
                self._error = RuntimeError(f"{failure}: {message}")
                raise self._error
            if take is not None:
                take(value)

    def value_of(self, response: bytes) -> Any:
        """Return the row of a response, None if there is none."""
        return self._client._deserialize_from_bytes(response) if response else None

    # What PySpark's client calls.

    def _go_to(self, key: tuple[Any, ...]) -> None:
        self._next_key = key

    def _response(self) -> tuple[int, str, bytes]:
        if self._parts is not None:
            return 0, "", b""
        return self._receive()  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        """Write a part of a request."""
        if self._parts is not None:
            self._parts.append(data)
            return len(data)
        if self._next_key is not None:
            self.send_key(self.key_request(self._next_key))
        return self._file.write(data)  # type: ignore[no-any-return]

    def flush(self) -> None:
        """Send the requests."""
        if self._error is not None:
            raise self._error
        if self._parts is None:
            self._file.flush()

    def read(self, size: int = -1) -> bytes:
        """Read a part of a response."""
        if self._awaited:
            self.read_awaited()
        return self._file.read(size)  # type: ignore[no-any-return]


class _MapState:
    """A map state of PySpark, with requests for many keys."""

    def __init__(self, requests: StateRequests, state: Any) -> None:
        self._requests = requests
        self._state = state
        # Of the keys whose values have been read and are going to be written.
        self._keys: dict[tuple[Any, ...], bytes] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def values_of_keys(
        self, wanted: Sequence[tuple[tuple[Any, ...], tuple[Any, ...]]]
    ) -> list[tuple[Any, ...] | None]:
        """Return the values of pairs of a grouping key and a key of the map."""
        requests = self._requests
        found: list[bytes] = []
        reads: dict[tuple[Any, ...], bytes] = {}
        self._keys = {}
        for key, of_map in wanted:
            read = reads.get(of_map)
            if read is None:
                read = reads[of_map] = requests.made(self._state.getValue, of_map)
            self._go_to(key)
            requests.send(read, "Error getting value", found.append)
        requests.read_awaited()
        return list(map(requests.value_of, found))

    def update_of_keys(
        self, entries: Iterable[tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...] | None]]
    ) -> None:
        """Set values by a grouping key and a key of the map; None removes one."""
        requests = self._requests
        state = self._state
        for key, of_map, value in entries:
            self._go_to(key)
            if value is None:
                requests.send(
                    requests.made(state.removeKey, of_map), "Error removing key from map state"
                )
            else:
                requests.send(
                    requests.made(state.updateValue, of_map, value),
                    "Error updating map state value",
                )
        self._keys = {}
        requests.read_awaited()

    def _go_to(self, key: tuple[Any, ...]) -> None:
        request = self._keys.get(key)
        if request is None:
            request = self._keys[key] = self._requests.key_request(key)
        self._requests.send_key(request)
