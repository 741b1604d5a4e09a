"""Publishes messages into a queue, and waits until the broker has confirmed them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql.datasource import (
    DataSourceStreamWriter,
    DataSourceWriter,
    WriterCommitMessage,
)

from pyflow.datastream.connectors.rabbitmq_connection import Address, pika, reason_of
from pyflow.util.exceptions import TableException

__all__ = ["QueueStreamWriter", "QueueWriter", "publish"]

# How many messages may wait for their confirmation.
_WINDOW = 1000
_PERSISTENT = 2
# How a broker is noticed that is gone, in seconds. Heartbeats need a connection that is looked at,
# and elements may be long in coming.
_KEEP_ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


class _Writer:
    """Publishes the rows of tasks.

    Parameters
    ----------
    address : Address
    queue : str
    """

    def __init__(self, address: Address, queue: str) -> None:
        self._address = address
        self._queue = queue

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Publish the rows of a task."""
        publish(self._address, self._queue, (row[0] for row in iterator))
        return WriterCommitMessage()


class QueueWriter(_Writer, DataSourceWriter):
    """Publishes bounded rows."""


class QueueStreamWriter(_Writer, DataSourceStreamWriter):
    """Publishes the rows of micro-batches."""


def publish(address: Address, queue: str, bodies: Iterable[bytes]) -> None:
    """Publish persistent messages; return when the broker has confirmed all of them.

    Parameters
    ----------
    address : Address
    queue : str
        It has to be there.
    bodies : iterable of bytes

    Raises
    ------
    TableException
        If a message is not confirmed.
    """
    iterator = iter(bodies)
    first = next(iterator, None)
    if first is None:
        return
    _Publisher(address, queue, first, iterator).run()


class _Publisher:
    """A connection whose loop publishes messages, as far as there are few unconfirmed ones."""

    def __init__(self, address: Address, queue: str, first: bytes, others: Iterator[bytes]) -> None:
        self._address = address
        self._queue = queue
        self._waiting: bytes | None = first
        self._others = others
        self._sent = 0
        self._unconfirmed: dict[int, None] = {}
        self._channel: Any = None
        self._error: BaseException | None = None
        self._connection = pika().SelectConnection(
            address.parameters(heartbeat=0, tcp_options=_KEEP_ALIVE),
            on_open_callback=self._on_open,
            on_open_error_callback=self._on_end,
            on_close_callback=self._on_end,
        )

    def run(self) -> None:
        """Publish all, and close the connection."""
        self._connection.ioloop.start()
        if self._error is not None:
            raise self._error
        if self._waiting is not None or self._unconfirmed:
            raise self._failed("the connection was closed")

    def _failed(self, why: str) -> TableException:
        return TableException(
            f"RMQSink: messages for the queue {self._queue!r} of the broker at {self._address} are "
            f"not confirmed: {why}"
        )

    def _on_open(self, connection: Any) -> None:
        connection.channel(on_open_callback=self._on_channel)

    def _on_channel(self, channel: Any) -> None:
        self._channel = channel
        channel.add_on_close_callback(self._on_channel_closed)
        channel.add_on_return_callback(self._on_return)
        channel.confirm_delivery(self._on_confirm, callback=lambda _: self._publish())

    def _publish(self) -> None:
        if not self._connection.is_open:
            return
        properties = pika().BasicProperties(delivery_mode=_PERSISTENT)
        try:
            while self._waiting is not None and len(self._unconfirmed) < _WINDOW:
                self._sent += 1
                self._unconfirmed[self._sent] = None
                body = bytes(self._waiting)
                self._channel.basic_publish("", self._queue, body, properties, mandatory=True)
                self._waiting = next(self._others, None)
        except BaseException as error:
            # Of the functions that make the elements, too.
            self._end(error)
            return
        if not self._unconfirmed:
            self._end(None)

    def _on_confirm(self, frame: Any) -> None:
        number = frame.method.delivery_tag
        if frame.method.NAME == "Basic.Nack":
            self._end(self._failed("the broker refuses them"))
            return
        if frame.method.multiple:
            for each in [each for each in self._unconfirmed if each <= number]:
                del self._unconfirmed[each]
        else:
            self._unconfirmed.pop(number, None)
        self._publish()

    def _on_return(self, _channel: Any, method: Any, _properties: Any, _body: bytes) -> None:
        self._end(self._failed(f"there is no such queue ({method.reply_text})"))

    def _on_channel_closed(self, _: Any, error: BaseException) -> None:
        if self._connection.is_open:
            self._end(self._failed(reason_of(error)))

    def _end(self, error: BaseException | None) -> None:
        self._error = self._error or error
        if self._connection.is_open:
            self._connection.close()

    def _on_end(self, _: Any, error: Any) -> None:
        """Leave the loop when the connection is closed, or has not been opened."""
        if self._waiting is not None or self._unconfirmed:
            self._error = self._error or self._failed(reason_of(error))
        self._connection.ioloop.stop()
