"""A consumer of a queue, which acknowledges messages when it is told to.

pika's connections belong to one thread, and answer the broker's heartbeats only while that thread
looks at them. A batch may take longer than the broker waits for one. So the connection has a thread
of its own, and what others ask of the connection is done in that thread.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from pyflow.datastream.connectors.rabbitmq_connection import (
    Address,
    declare_queue,
    pika,
    reason_of,
)
from pyflow.util.exceptions import TableException

__all__ = ["Consumer", "Delivery", "Recovery", "Subscription"]

_logger = logging.getLogger(__name__)

T = TypeVar("T")

# How long the thread waits for the broker; requests end the wait.
_LOOK_SECONDS = 1.0
# How long a consumer that must be the only one waits for the one before it to be gone.
_PATIENCE_SECONDS = 20.0
_NOT_FOUND = 404
_REFUSED = 403


class Tag(NamedTuple):
    """What a delivery is acknowledged by: a number on one of the consumer's connections."""

    connection: int
    number: int


class Delivery(NamedTuple):
    """A message that the broker has delivered and waits for the acknowledgement of."""

    tag: Tag
    body: bytes
    correlation_id: str | None


@dataclass(frozen=True)
class Recovery:
    """What a consumer does when it loses its connection.

    Parameters
    ----------
    is_wanted : bool
        Whether it connects again. Otherwise it fails.
    seconds : float
        How long it waits before each attempt.
    makes_queue : bool
        Whether it makes the queue again where that is gone.
    """

    is_wanted: bool = True
    seconds: float = 5.0
    makes_queue: bool = True


@dataclass(frozen=True)
class Subscription:
    """What a consumer reads.

    Parameters
    ----------
    address : Address
    queue : str
        It is made where it is not there.
    prefetch : int
        How many messages the broker delivers before it waits for acknowledgements.
    is_exclusive : bool
        Whether the queue may have no other consumer.
    recovery : Recovery
    """

    address: Address
    queue: str
    prefetch: int
    is_exclusive: bool
    recovery: Recovery


class Consumer:
    """Receives messages until it is closed. The broker then delivers again what is unacknowledged.

    Parameters
    ----------
    subscription : Subscription

    Raises
    ------
    TableException
        If the broker cannot be reached, or refuses to deliver the messages of the queue.
    """

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._exceptions: Any = pika().exceptions
        self._connection: Any = None
        self._channel: Any = None
        self._number = 0
        self._deliveries: deque[Delivery] = deque()
        self._requests: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._changed = threading.Condition()
        self._failure: BaseException | None = None
        self._is_closed = False
        self._connect_first()
        self._thread = threading.Thread(target=self._run, name="pyflow-rabbitmq", daemon=True)
        self._thread.start()

    def receive(self, count: int, seconds: float, size: float = math.inf) -> list[Delivery]:
        """Return messages that have come.

        Parameters
        ----------
        count : int
            How many at most.
        seconds : float
            How long it is waited for the first one, and for each one behind that.
        size : float
            Behind how many bytes there are no more.

        Raises
        ------
        TableException
            If the consumer has failed.
        """
        found: list[Delivery] = []
        with self._changed:
            while len(found) < count and size > 0:
                self._check()
                if not self._deliveries and not self._changed.wait_for(self._has_news, seconds):
                    break
                while self._deliveries and len(found) < count and size > 0:
                    found.append(self._deliveries.popleft())
                    size -= len(found[-1].body)
        return found

    def acknowledge(self, tags: Iterable[Tag]) -> bool:
        """Acknowledge messages, and return whether the broker is known to have dropped them all.

        It is not where a connection is lost: the broker delivers those messages again.

        Raises
        ------
        TableException
            If the consumer has failed.
        """
        wanted = list(tags)

        def work() -> bool:
            for tag in wanted:
                if tag.connection == self._number:
                    self._channel.basic_ack(tag.number)
            # The broker answers when it is done with what came before.
            self._channel.queue_declare(self._subscription.queue, passive=True)
            return all(tag.connection == self._number for tag in wanted)

        return not wanted or bool(self._asked(work))

    def is_drained(self) -> bool:
        """Return whether the queue has no message that has not been delivered, or may have none."""

        def work() -> bool:
            answer = self._channel.queue_declare(self._subscription.queue, passive=True)
            return not answer.method.message_count

        return bool(self._asked(work))

    def close(self) -> None:
        """Close the connection; it is not used again."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._wake()
        self._thread.join()

    def _has_news(self) -> bool:
        return bool(self._deliveries or self._failure)

    def _check(self) -> None:
        if self._failure is not None:
            if isinstance(self._failure, TableException):
                raise self._failure
            raise self._error(self._failure) from self._failure

    def _error(self, error: BaseException) -> TableException:
        at = self._subscription
        return TableException(
            f"RMQSource: the queue {at.queue!r} of the broker at {at.address} cannot be read: "
            f"{reason_of(error)}"
        )

    def _asked(self, work: Callable[[], T]) -> T | None:
        """Return what is done in the connection's thread; None where the connection is lost."""
        future: Future[T | None] = Future()
        with self._changed:
            self._check()
            self._requests.append((work, future))
        self._wake()
        return future.result()

    def _wake(self) -> None:
        connection = self._connection
        try:
            connection.add_callback_threadsafe(lambda: None)
        except self._exceptions.AMQPError:
            # It is closed, so that the thread does not wait for it.
            return

    # In the connection's thread

    def _connect_first(self) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self._connect(True)
            except (self._exceptions.AMQPError, OSError) as error:
                is_taken = getattr(error, "reply_code", None) == _REFUSED
                if is_taken and self._subscription.is_exclusive and time.monotonic() < end:
                    time.sleep(0.2)
                    continue
                raise self._error(error) from error

    def _connect(self, makes_queue: bool) -> None:
        at = self._subscription
        self._connection = pika().BlockingConnection(at.address.parameters())
        try:
            self._channel = declare_queue(self._connection, at.queue, makes_queue)
            self._channel.basic_qos(prefetch_count=at.prefetch)
            self._number += 1
            self._channel.add_on_cancel_callback(self._on_cancel)
            self._channel.basic_consume(at.queue, self._on_message, exclusive=at.is_exclusive)
        except BaseException:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        try:
            if self._connection.is_open:
                self._connection.close()
        except (self._exceptions.AMQPError, OSError):
            # The broker has closed it.
            return

    def _on_message(self, _: Any, method: Any, properties: Any, body: bytes) -> None:
        tag = Tag(self._number, method.delivery_tag)
        with self._changed:
            self._deliveries.append(Delivery(tag, body, properties.correlation_id))
            self._changed.notify_all()

    def _on_cancel(self, _: Any) -> None:
        raise TableException(
            f"RMQSource: the queue {self._subscription.queue!r} has been deleted while it was read"
        )

    def _run(self) -> None:
        try:
            while not self._is_closed:
                try:
                    self._connection.process_data_events(_LOOK_SECONDS)
                    if not self._channel.is_open:
                        # As after its time-out for acknowledgements.
                        raise self._exceptions.ChannelWrongStateError("closed by the broker")
                    self._do_requests()
                except (self._exceptions.AMQPError, OSError) as error:
                    self._recover(error)
        except BaseException as error:
            self._fail(error)
        else:
            self._fail(TableException("RMQSource: the source has been closed"))
        finally:
            self._disconnect()

    def _do_requests(self) -> None:
        while self._requests:
            work, future = self._requests[0]
            future.set_result(work())
            self._requests.popleft()

    def _recover(self, error: BaseException) -> None:
        """Connect again; the broker delivers again what is unacknowledged."""
        recovery = self._subscription.recovery
        if not recovery.is_wanted:
            raise error
        with self._changed:
            self._deliveries.clear()
        while True:
            _logger.warning(
                "The connection to the broker at %s is lost, and made again in %s seconds: %s",
                self._subscription.address,
                recovery.seconds,
                reason_of(error),
            )
            self._disconnect()
            self._answer_requests()
            with self._changed:
                if self._changed.wait_for(lambda: self._is_closed, recovery.seconds):
                    return
            try:
                self._connect(recovery.makes_queue)
                return
            except (self._exceptions.AMQPError, OSError) as again:
                if getattr(again, "reply_code", None) == _NOT_FOUND:
                    raise
                error = again

    def _answer_requests(self) -> None:
        while self._requests:
            _, future = self._requests.popleft()
            future.set_result(None)

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            self._failure = error
            self._answer_requests()
            self._changed.notify_all()
