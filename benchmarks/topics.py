"""Topics of a Kafka broker as a program outside of Spark sees them.

The client is librdkafka's (confluent-kafka), which is C: it leaves the processor to the broker and
the query that are measured beside it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

_SECONDS = 120

_NO_LEADER = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE)

# What fails, fails with an exception; a broker that goes away is no news here.
_QUIET = {"log_level": 2}


@dataclass(frozen=True)
class Record:
    """A record as it is in its topic."""

    partition: int
    offset: int
    timestamp: int
    key: str | None
    value: str | None


class Topic:
    """A topic, made on the broker if it is not there.

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
        self._admin = AdminClient({"bootstrap.servers": address, **_QUIET})
        made = self._admin.create_topics([NewTopic(name, partitions, 1, config=settings)])
        try:
            made[name].result(_SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                "linger.ms": 0,
                "message.max.bytes": 10_000_000,
                **_QUIET,
            }
        )

    def send(self, values: Iterable[str | bytes], key: str | None = None) -> None:
        """Send records, which carry the time of this call, without waiting for the broker.

        Those with the same key are in one partition.
        """
        for value in values:
            while True:
                try:
                    self._producer.produce(self.name, value, key)
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

    def follow(self) -> Iterator[list[Record]]:
        """Yield the records that come from now on, as they come; none where none has come."""
        consumer = self._consumer()
        try:
            consumer.assign(
                [
                    TopicPartition(self.name, partition, end)
                    for partition, end in zip(self._partitions, self._ends(consumer))
                ]
            )
            while True:
                yield [_record(message) for message in consumer.consume(10_000, 0.2)]
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
            **_QUIET,
        }
        return Consumer(settings)

    def _ends(self, consumer: Consumer) -> list[int]:
        """Offset after the last record of each partition; the first is 0, since none is deleted."""
        return [self._end(consumer, partition) for partition in self._partitions]

    def _end(self, consumer: Consumer, partition: int) -> int:
        end = time.monotonic() + _SECONDS
        while True:
            try:
                found: tuple[int, int] = consumer.get_watermark_offsets(
                    TopicPartition(self.name, partition), _SECONDS
                )
                return found[1]
            except KafkaException as error:
                # A broker that has just been started does not lead its partitions yet.
                if error.args[0].code() not in _NO_LEADER or time.monotonic() > end:
                    raise
                time.sleep(0.1)


def _record(message: Message) -> Record:
    if message.error():
        raise RuntimeError(str(message.error()))
    key, value = message.key(), message.value()
    return Record(
        message.partition(),
        message.offset(),
        message.timestamp()[1],
        key.decode() if key is not None else None,
        value.decode() if value is not None else None,
    )
