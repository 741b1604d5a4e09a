"""Partitions of topics, and where sources start and stop in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from pyflow.connectors.kafka_client import Brokers, Partition
from pyflow.util.exceptions import TableException

__all__ = [
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaTopicPartition",
    "Position",
    "known_offsets",
    "numbers_as_json",
    "offsets_as_json",
    "offsets_from_json",
]


@dataclass(frozen=True)
class KafkaTopicPartition:
    """A partition of a topic.

    Parameters
    ----------
    topic : str
    partition : int
        Its number, from 0 on.
    """

    topic: str
    partition: int


class KafkaOffsetResetStrategy(Enum):
    """Where a partition begins that has no offset."""

    LATEST = 0
    EARLIEST = 1
    NONE = 2


class Position(Enum):
    """What a source starts or stops at."""

    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"
    TIMESTAMP = "timestamp"
    OFFSETS = "offsets"


@dataclass(frozen=True)
class KafkaOffsetsInitializer:
    """Where a source starts, or stops; made by its static methods."""

    position: Position
    reset: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST
    milliseconds: int = 0
    by_partition: Mapping[Partition, int] = field(default_factory=dict)

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Return the offsets that the source's group has committed.

        Queries of Spark commit none; these are of other consumers.

        Parameters
        ----------
        offset_reset_strategy : KafkaOffsetResetStrategy
            For partitions without such an offset. They are an error with NONE.
        """
        return KafkaOffsetsInitializer(Position.COMMITTED, offset_reset_strategy)

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Return the offsets of the first records of a time or later.

        Parameters
        ----------
        timestamp : int
            In milliseconds since the epoch.
        """
        return KafkaOffsetsInitializer(Position.TIMESTAMP, milliseconds=timestamp)

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Return the offsets of the first records."""
        return KafkaOffsetsInitializer(Position.EARLIEST)

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Return the offsets of the records to come."""
        return KafkaOffsetsInitializer(Position.LATEST)

    @staticmethod
    def offsets(
        offsets: Mapping[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Return these offsets.

        Parameters
        ----------
        offsets : mapping of KafkaTopicPartition to int
        offset_reset_strategy : KafkaOffsetResetStrategy
            For partitions that are not among them, nor have an offset that the group has committed.

        Raises
        ------
        ValueError
            If an offset is negative.
        """
        for partition, offset in offsets.items():
            if offset < 0:
                raise ValueError(f"the offset of {partition!r} is negative: {offset}")
        found = {(each.topic, each.partition): offset for each, offset in offsets.items()}
        return KafkaOffsetsInitializer(Position.OFFSETS, offset_reset_strategy, by_partition=found)


def known_offsets(
    offsets: KafkaOffsetsInitializer,
    partitions: list[Partition],
    brokers: Brokers,
    group: str | None,
) -> dict[Partition, int]:
    """Return the offset of each partition, as brokers know it.

    Parameters
    ----------
    offsets : KafkaOffsetsInitializer
    partitions : list of Partition
    brokers : Brokers
    group : str or None
        Whose committed offsets are meant.

    Raises
    ------
    TableException
        If a partition has none.
    """
    if offsets.position == Position.EARLIEST:
        return brokers.earliest(partitions)
    if offsets.position == Position.LATEST:
        return brokers.latest(partitions)
    if offsets.position == Position.TIMESTAMP:
        return brokers.at(partitions, offsets.milliseconds)
    given = offsets.by_partition
    found = {each: given[each] for each in partitions if each in given}
    missing = [each for each in partitions if each not in found]
    if missing and group is not None:
        committed = brokers.committed(group)
        found.update({each: committed[each] for each in missing if each in committed})
        missing = [each for each in missing if each not in found]
    if not missing:
        return found
    if offsets.reset == KafkaOffsetResetStrategy.NONE:
        topic, number = missing[0]
        raise TableException(
            f"KafkaSource: group {group!r} has committed no offset of partition {number} of topic "
            f"'{topic}'. Name a KafkaOffsetResetStrategy, EARLIEST or LATEST, for such partitions."
        )
    is_latest = offsets.reset == KafkaOffsetResetStrategy.LATEST
    return {**found, **(brokers.latest if is_latest else brokers.earliest)(missing)}


def numbers_as_json(partitions: Iterable[Partition]) -> str:
    """Return the numbers of partitions by topic, as Spark's options have them."""
    found: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        found.setdefault(topic, []).append(number)
    return json.dumps(found)


def offsets_as_json(offsets: Mapping[Partition, int]) -> str:
    """Return offsets by topic and partition, as Spark's options have them."""
    found: dict[str, dict[str, int]] = {}
    for (topic, number), offset in sorted(offsets.items()):
        found.setdefault(topic, {})[str(number)] = offset
    return json.dumps(found)


def offsets_from_json(offsets: str) -> dict[Partition, int]:
    """Return offsets by topic and partition that `offsets_as_json` has made a string of."""
    return {
        (topic, int(number)): offset
        for topic, found in json.loads(offsets).items()
        for number, offset in found.items()
    }
