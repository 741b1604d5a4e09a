"""Records of Kafka and elements of streams, made of each other on executors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from pyflow.common.serialization import DeserializationSchema, SerializationSchema
from pyflow.datastream.runtime.errors import OperatorError
from pyflow.datastream.runtime.source_stage import SideElement

__all__ = [
    "ConsumerRecord",
    "FailedRecord",
    "FunctionTopicSelector",
    "KafkaTopicSelector",
    "RecordDecoder",
    "RecordEncoder",
    "ValueDecoder",
    "ValueOf",
]

# Of a value that is in an error.
_SHOWN_BYTES = 100

Header = tuple[str, bytes | None]


class ConsumerRecord(NamedTuple):
    """A record as it is in its topic. PyFlow's own.

    Attributes
    ----------
    topic : str
    partition : int
    offset : int
    timestamp : int
        In milliseconds since the epoch.
    timestamp_type : int
        0 if its producer set the timestamp, 1 if the broker did, -1 if there is none.
    key, value : bytes or None
    headers : tuple of tuple
        Names and values, in their order.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]


class FailedRecord(NamedTuple):
    """A record that no element can be made of. PyFlow's own.

    Attributes
    ----------
    record : ConsumerRecord
    error : str
        What the deserializer raised: type and message.
    """

    record: ConsumerRecord
    error: str


class KafkaTopicSelector(ABC):
    """Says which topic an element is written to."""

    @abstractmethod
    def apply(self, data: Any) -> str:
        """Return the topic."""


@dataclass(frozen=True)
class FunctionTopicSelector(KafkaTopicSelector):
    """Selects topics by a function of elements."""

    function: Callable[[Any], str]

    def apply(self, data: Any) -> str:
        """Return the topic."""
        return self.function(data)


@dataclass(frozen=True)
class ValueDecoder:
    """Makes an element of a record's value.

    Parameters
    ----------
    schema : DeserializationSchema
    """

    schema: DeserializationSchema

    def __call__(
        self, value: bytes | None, timestamp: int, topic: str, partition: int, offset: int
    ) -> Iterable[tuple[Any, int]]:
        """Return the element of a record; none where there is None."""
        try:
            element = self.schema.deserialize(value)
        except Exception as error:
            _raise_for(error, type(self.schema).__name__, topic, partition, offset, value)
        return () if element is None else ((element, timestamp),)


@dataclass(frozen=True)
class RecordDecoder:
    """Makes an element of a record.

    Parameters
    ----------
    function : callable
        Of a `ConsumerRecord`.
    failed : str, optional
        The side output for records that it fails at; without it, it fails the task.
    """

    function: Callable[[ConsumerRecord], Any]
    failed: str | None = None

    def __call__(
        self,
        value: bytes | None,
        timestamp: int,
        topic: str,
        partition: int,
        offset: int,
        key: bytes | None,
        timestamp_type: int,
        headers: Iterable[Sequence[Any]] | None,
    ) -> Iterable[tuple[Any, int]]:
        """Return the element of a record; none where there is None."""
        pairs = tuple((header[0], header[1]) for header in headers or ())
        record = ConsumerRecord(
            topic, partition, offset, timestamp, timestamp_type, key, value, pairs
        )
        try:
            element = self.function(record)
        except Exception as error:
            if self.failed is not None:
                failed = FailedRecord(record, f"{type(error).__name__}: {error}")
                return ((SideElement(self.failed, failed), timestamp),)
            name = getattr(self.function, "__qualname__", type(self.function).__name__)
            _raise_for(error, name, topic, partition, offset, value)
        return () if element is None else ((element, timestamp),)


@dataclass(frozen=True)
class ValueOf:
    """Makes an element of a record's value, as a function of the record.

    Parameters
    ----------
    schema : DeserializationSchema
    """

    schema: DeserializationSchema

    def __call__(self, record: ConsumerRecord) -> Any:
        """Return the element."""
        return self.schema.deserialize(record.value)


def _raise_for(
    error: Exception, name: str, topic: str, partition: int, offset: int, value: bytes | None
) -> NoReturn:
    shown = "it has no value"
    if value is not None:
        shown = f"its {len(value)} bytes begin with {bytes(value[:_SHOWN_BYTES])!r}"
    raise OperatorError(
        f"{name} failed at the record of topic '{topic}', partition {partition}, offset {offset}: "
        f"{type(error).__name__}: {error} ({shown})"
    ) from error


@dataclass(frozen=True)
class RecordEncoder:
    """Makes the columns of a record: value, key, and where they vary topic and headers.

    Parameters
    ----------
    value : SerializationSchema
    key : SerializationSchema or None
        None for records without keys.
    topic_selector : KafkaTopicSelector or None
        None where there is one topic for all.
    headers : callable or None
        Makes pairs of name and value of an element.
    """

    value: SerializationSchema
    key: SerializationSchema | None
    topic_selector: KafkaTopicSelector | None
    headers: Callable[[Any], Iterable[Header]] | None

    def __call__(self, element: Any, timestamp: int | None) -> tuple[Any, ...]:
        """Return the columns of an element's record."""
        key = None if self.key is None else self.key.serialize(element)
        columns = [self.value.serialize(element), key]
        if self.topic_selector is not None:
            columns.append(self._topic(self.topic_selector, element))  # type: ignore[arg-type]
        if self.headers is not None:
            columns.append(list(map(tuple, self.headers(element))))  # type: ignore[arg-type]
        return tuple(columns)

    def _topic(self, selector: KafkaTopicSelector, element: Any) -> str:
        topic = selector.apply(element)
        if not isinstance(topic, str) or not topic:
            raise ValueError(f"the topic selector returned {topic!r}, which is no name of a topic")
        return topic
