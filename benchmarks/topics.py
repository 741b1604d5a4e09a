"""Topics of a Kafka broker as a program outside of Spark sees them.

The client is librdkafka's (confluent-kafka), which is C: it leaves the processor to the broker and
the query that are measured beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

_SECONDS = 120


@dataclass(frozen=True)
class Record:
    """A record as it is in its topic."""

    partition: int
    offset: int
    timestamp: int
    key: str | None
    value: str


class Topic:
    """A topic, made on the broker.

    Parameters
    ----------
    address : str
        Of the broker.
    name : str
        Of the topic.
    partitions : int
        How many.
    **config : str
        Settings of the topic, with ``_`` for ``.``.
    """

    def __init__(self, address: str, name: str, partitions: int = 1, **config: str) -> None:
        self.address = address
        self.name = name
        self._partitions = range(partitions)
        settings = {key.replace("_", "."): value for key, value in config.items()}
        self._admin = AdminClient({"bootstrap.servers": address})
        made = self._admin.create_topics([NewTopic(name, partitions, 1, config=settings)])
        made[name].result(_SECONDS)
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                "linger.ms": 0,
                "message.max.bytes": 10_000_000,
            }
        )

    def send(self, values: Iterable[str | bytes]) -> None:
        """Send records, which carry the time of this call, without waiting for the broker."""
        for value in values:
            while True:
                try:
                    self._producer.produce(self.name, value)
                    break
                except BufferError:
                    self._producer.poll(0.1)
        self._producer.poll(0)

    def flush(self) -> None:
        """Return when the broker has all that was sent."""
        left = self._producer.flush(_SECONDS)
        if left:
            raise TimeoutError(f"{left} records not taken by {self.address} in {_SECONDS} s")

    def count(self) -> int:
        """Return how many records it has."""
        consumer = self._consumer()
        try:
            return sum(self._ends(consumer))
        finally:
            consumer.close()

    def records(self) -> Iterator[Record]:
        """Yield the records that it has now, those of a partition in their order."""
        consumer = self._consumer()
        try:
            left = sum(self._ends(consumer))
            consumer.assign(
                [TopicPartition(self.name, each, OFFSET_BEGINNING) for each in self._partitions]
            )
            while left:
                messages = consumer.consume(min(10_000, left), _SECONDS)
                if not messages:
                    raise TimeoutError(f"{left} records of {self.name} not read in {_SECONDS} s")
                yield from map(_record, messages)
                left -= len(messages)
        finally:
            consumer.close()

    def delete(self) -> None:
        """Have the broker delete it, with its records."""
        self._admin.delete_topics([self.name])[self.name].result(_SECONDS)

    def _consumer(self) -> Consumer:
        settings: dict[str, Any] = {
            "bootstrap.servers": self.address,
            "group.id": "outside",
            "enable.auto.commit": False,
        }
        return Consumer(settings)

    def _ends(self, consumer: Consumer) -> list[int]:
        """Offset after the last record of each partition; the first is 0, since none is deleted."""
        return [
            consumer.get_watermark_offsets(TopicPartition(self.name, each), _SECONDS)[1]
            for each in self._partitions
        ]


def _record(message: Message) -> Record:
    if message.error():
        raise RuntimeError(str(message.error()))
    key = message.key()
    return Record(
        message.partition(),
        message.offset(),
        message.timestamp()[1],
        key.decode() if key is not None else None,
        message.value().decode(),
    )
