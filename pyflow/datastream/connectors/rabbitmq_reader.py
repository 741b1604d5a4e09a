"""The messages of a queue as a stream of Spark.

A queue has no offsets: what is acknowledged is gone, and what is not is delivered again when the
consumer is gone. Spark runs a batch between two offsets, and the same one again after a restart
where it has not committed it. So one consumer, beside the driver, takes messages for a batch, and
an offset is the number of a batch:

    latestOffset(): acknowledge the batch before; take messages  ->  {"batch": 7, ...}
    partitions(6, 7): the messages themselves, for tasks and their repetitions
    the batch runs; Spark writes 7 into its log of commits
    latestOffset(): acknowledge batch 7; ...

Spark asks for the next offset when it has committed the batch before, so that no message is
acknowledged earlier. What a batch had that was not committed is delivered again:

- Without correlation ids, the batch that Spark runs again has no messages. They come in later ones.
- With them, an offset has the ids of its batch, and the batch that Spark runs again has the
  messages of these ids. It also has ids of messages that may be delivered again although their
  batches are committed, since the broker may not have got the acknowledgement. Those are
  acknowledged and left out. Nobody else may consume the queue then: messages that another consumer
  gives back late would be taken for new ones.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    InputPartition,
)
from pyspark.sql.types import StructType

from pyflow.datastream.connectors.rabbitmq_connection import BODY_SCHEMA, Address
from pyflow.datastream.connectors.rabbitmq_consumer import (
    Consumer,
    Delivery,
    Recovery,
    Subscription,
    Tag,
)
from pyflow.datastream.connectors.rabbitmq_publisher import QueueStreamWriter, QueueWriter
from pyflow.util.exceptions import TableException

__all__ = ["QueueReader", "QueueSource", "Reading"]

_logger = logging.getLogger(__name__)

# How long the first message of a batch is waited for, and after it each other one.
_WAIT_SECONDS = 0.05
# Of the messages of a batch, which are parts of tasks. Spark sends no tasks beyond 128 MB.
_BATCH_BYTES = 64 << 20
# How long messages are waited for that the broker may be about to deliver.
_LAST_SECONDS = 0.5


@dataclass(frozen=True)
class Reading:
    """What a source reads, and how.

    Parameters
    ----------
    subscription : Subscription
    uses_ids : bool
        Whether messages are known by their correlation ids.
    parallelism : int
        How many tasks share the messages of a batch.
    """

    subscription: Subscription
    uses_ids: bool
    parallelism: int

    def options(self) -> dict[str, str]:
        """Return it as options of a data source."""
        at = self.subscription
        described = {
            "queue": at.queue,
            "prefetch": at.prefetch,
            "recovery": vars(at.recovery),
            "uses_ids": self.uses_ids,
            "parallelism": self.parallelism,
        }
        return {**at.address.options(), "reading": json.dumps(described)}

    @staticmethod
    def of_options(options: Any) -> Reading:
        """Return what `options` has written."""
        given = json.loads(options["reading"])
        subscription = Subscription(
            Address.of_options(options),
            given["queue"],
            given["prefetch"],
            given["uses_ids"],
            Recovery(**given["recovery"]),
        )
        return Reading(subscription, given["uses_ids"], given["parallelism"])


class QueueSource(DataSource):
    """A queue of RabbitMQ as a data source."""

    @classmethod
    def name(cls) -> str:
        """Return what it is registered under."""
        return "pyflow-rabbitmq"

    def schema(self) -> str:
        """Return the columns: the bodies of messages."""
        return BODY_SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Return what reads messages."""
        return QueueReader(Reading.of_options(self.options))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Return what publishes bounded rows."""
        return QueueWriter(Address.of_options(self.options), self.options["queue"])

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        """Return what publishes the rows of micro-batches."""
        return QueueStreamWriter(Address.of_options(self.options), self.options["queue"])


@dataclass
class _Message:
    """A message of a batch, which may have been delivered more than once."""

    body: bytes
    correlation_id: str | None
    tags: list[Tag]


@dataclass
class _Batch:
    """The messages before an offset, until they are acknowledged."""

    end: dict[str, Any]
    messages: list[_Message] = field(default_factory=list)


class QueueReader(DataSourceStreamReader):
    """Takes batches of messages off a queue.

    Parameters
    ----------
    reading : Reading
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._identity = uuid.uuid4().hex
        self._number = 0
        self._opened: Consumer | None = None
        #: Where the last batch ends, as far as it is known.
        self._last: dict[str, Any] | None = None
        #: The batch that Spark runs, or has run.
        self._batch: _Batch | None = None
        #: Messages that have been delivered for a later batch.
        self._held: list[Delivery] = []
        #: Of messages of committed batches that may be delivered again.
        self._processed: set[str] = set()
        #: Whether Spark is about to say what the last batch of the query before was.
        self._awaits_commit = False

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Return where a query starts that has no checkpoint."""
        return {"reader": "", "batch": 0, "ids": [], "processed": []}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802
        """Acknowledge the batch before, which is committed; take the messages of the next one.

        Raises
        ------
        TableException
            If the queue cannot be read, or a message has no correlation id where it is to have one.
        """
        self._acknowledge()
        if self._last is None:
            if start is None:
                # Spark 4.1 says where it goes on in a call of commit(), when it begins a batch.
                self._awaits_commit = True
                return self._next([])
            self._last = start
            self._processed.update(start["ids"], start["processed"])
        messages = self._received()
        return self._next(messages) if messages else self._last

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return the bodies of the messages of a batch, in the order in which they came."""
        if start == end:
            return []
        if self._batch is None or self._batch.end != end:
            self._batch = self._again(end)
            self._last = end
        bodies = [message.body for message in self._batch.messages]
        size = -(-len(bodies) // self._reading.parallelism) or 1
        return [InputPartition(bodies[at : at + size]) for at in range(0, len(bodies), size)]

    def read(self, partition: InputPartition) -> Iterator[tuple[bytes]]:
        """Return the rows of a part of a batch; on executors."""
        return ((body,) for body in partition.value)

    def commit(self, end: dict[str, Any]) -> None:
        """Take note of the last batch of the query before, where only this says it."""
        if self._awaits_commit:
            self._processed.update(end["ids"], end["processed"])
        self._awaits_commit = False

    def stop(self) -> None:
        """Give what is not acknowledged back to the queue."""
        if self._opened is not None:
            self._opened.close()

    @property
    def _consumer(self) -> Consumer:
        if self._opened is None:
            self._opened = Consumer(self._reading.subscription)
        return self._opened

    def _next(self, messages: list[_Message]) -> dict[str, Any]:
        self._number += 1
        ids = [message.correlation_id for message in messages] if self._reading.uses_ids else []
        self._last = {
            "reader": self._identity,
            "batch": self._number,
            "ids": ids,
            "processed": sorted(self._processed),
        }
        self._batch = _Batch(self._last, messages)
        return self._last

    def _acknowledge(self) -> None:
        if self._batch is None:
            return
        messages, self._batch = self._batch.messages, None
        ids = {m.correlation_id for m in messages if m.correlation_id is not None}
        if self._reading.uses_ids:
            self._processed |= ids
        if self._consumer.acknowledge(tag for message in messages for tag in message.tags):
            self._processed -= ids

    def _received(self) -> list[_Message]:
        """Return messages of no batch so far."""
        limit = self._reading.subscription.prefetch
        deliveries, self._held = self._held, []
        taken = limit - len(deliveries)
        deliveries += self._consumer.receive(taken, _WAIT_SECONDS, _BATCH_BYTES)
        if not self._reading.uses_ids:
            return [_Message(each.body, None, [each.tag]) for each in deliveries]
        found = self._by_id(deliveries)
        if self._processed and not deliveries and self._is_drained():
            self._processed.clear()
        return list(found.values())

    def _by_id(self, deliveries: list[Delivery]) -> dict[str, _Message]:
        """Return messages by their ids, without those that have been processed."""
        found: dict[str, _Message] = {}
        seen: dict[str, list[Tag]] = {}
        for tag, body, correlation_id in deliveries:
            if correlation_id is None:
                raise TableException(
                    f"RMQSource: a message of the queue {self._reading.subscription.queue!r} has "
                    "no correlation id, by which use_correlation_id has messages known. Its sender "
                    f"sets it. The message has {len(body)} bytes and begins with {body[:40]!r}"
                )
            if correlation_id in self._processed:
                seen.setdefault(correlation_id, []).append(tag)
            elif correlation_id in found:
                found[correlation_id].tags.append(tag)
            else:
                found[correlation_id] = _Message(body, correlation_id, [tag])
        if seen and self._consumer.acknowledge(tag for tags in seen.values() for tag in tags):
            self._processed -= seen.keys()
        return found

    def _is_drained(self) -> bool:
        """Return whether no message will come that has been delivered before."""
        if not self._consumer.is_drained():
            return False
        self._held += self._consumer.receive(1, _LAST_SECONDS)
        return not self._held

    def _again(self, end: dict[str, Any]) -> _Batch:
        """Return the batch of a query before, which has not committed it."""
        if not self._reading.uses_ids:
            return _Batch(end)
        self._processed.update(end["processed"])
        wanted = dict.fromkeys(end["ids"])
        found: dict[str, _Message] = {}
        others: list[Delivery] = []
        limit = self._reading.subscription.prefetch
        while len(found) < len(wanted) and _unacknowledged(found) + len(others) < limit:
            deliveries = self._consumer.receive(limit, _LAST_SECONDS)
            others += [each for each in deliveries if each.correlation_id not in wanted]
            again = self._by_id([each for each in deliveries if each.correlation_id in wanted])
            for correlation_id, message in again.items():
                before = found.setdefault(correlation_id, message)
                if before is not message:
                    before.tags += message.tags
            if not deliveries and self._consumer.is_drained():
                break
        self._held += others
        missing = len(wanted) - len(found)
        if missing:
            _logger.warning(
                "%d messages of the batch that is run again are not in the queue %r any more",
                missing,
                self._reading.subscription.queue,
            )
        return _Batch(end, [found[key] for key in wanted if key in found])


def _unacknowledged(messages: dict[str, _Message]) -> int:
    return sum(len(message.tags) for message in messages.values())
