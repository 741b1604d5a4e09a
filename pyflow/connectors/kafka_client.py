"""How Spark reaches Kafka: options of clients, records as it loads them, what brokers say."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from pyflow.connectors.session_settings import with_setting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "Brokers",
    "Partition",
    "check_brokers",
    "client_options",
    "load_records",
    "subscribed_pattern",
]

#: A topic and the number of its partition.
Partition = tuple[str, int]

_CONNECT_SECONDS = 10
_VERSION_1 = "spark.sql.sources.useV1SourceList"

# Set by Spark itself, which refuses others, or without a meaning for it.
_OWN = re.compile(
    r"group\.id|auto\.offset\.reset|(key|value)\.(de)?serializer|enable\.auto\.commit|"
    r"auto\.commit\.interval\.ms|interceptor\.classes|partition\.discovery\.interval\.ms|"
    r"transaction\.timeout\.ms|client\.id\.prefix|commit\.offsets\.on\.checkpoint|"
    r"register\.consumer\.metrics"
)

# Options of Spark's source that are not of Kafka's consumers; properties have them as spark.NAME.
_OF_SPARK = "spark."
_OPTIONS = frozenset(
    (
        "failOnDataLoss",
        "fetchOffset.numRetries",
        "fetchOffset.retryIntervalMs",
        "kafkaConsumer.pollTimeoutMs",
        "maxOffsetsPerTrigger",
        "maxRecordsPerPartition",
        "maxTriggerDelay",
        "minOffsetsPerTrigger",
        "minPartitions",
    )
)


# Of consumers, where the program says nothing. For each poll Spark asks for the offsets that there
# are, over the connection on which a fetch may be waiting for records to come: at the end of a
# partition each batch would last as long as that. Polls with more records are fewer; their bytes
# are limited by max.partition.fetch.bytes.
_CONSUMER = {"kafka.fetch.max.wait.ms": "20", "kafka.max.poll.records": "10000"}


def _unshaded(value: str) -> str:
    """Return a value of a property with the names that classes have outside of Flink's jars."""
    return value.replace("org.apache.flink.kafka.shaded.", "")


def client_options(properties: Mapping[str, str], is_source: bool) -> dict[str, str]:
    """Return Spark's options of the clients.

    Parameters
    ----------
    properties : mapping of str to str
        Of Kafka's clients. Those that Spark sets itself are left out. Options of Spark's source are
        ``spark.maxOffsetsPerTrigger`` and the like.
    is_source : bool
        Whether the client is a consumer, which is in a group.

    Raises
    ------
    ValueError
        If there is no such option of Spark's source.
    """
    options = {}
    for key, value in properties.items():
        name = key.removeprefix(_OF_SPARK)
        if name == key and not _OWN.fullmatch(key):
            options[f"kafka.{key}"] = _unshaded(value)
        elif name != key:
            if not is_source or name not in _OPTIONS:
                raise ValueError(
                    f"there is no property {key!r}: sources have "
                    f"{', '.join(_OF_SPARK + each for each in sorted(_OPTIONS))}, sinks none"
                )
            options[name] = value
    if is_source and "group.id" in properties:
        options["groupIdPrefix"] = properties["group.id"]
    return options


def subscribed_pattern(pattern: str) -> dict[str, str]:
    """Return Spark's option for the topics whose whole names a regular expression matches.

    Spark also reads topics of which it matches a part.

    Parameters
    ----------
    pattern : str
        A regular expression of Java.
    """
    return {"subscribePattern": rf"\A(?:{pattern})\z"}


def check_brokers(addresses: str) -> None:
    """Raise where no broker can be reached from here.

    Parameters
    ----------
    addresses : str
        As ``host:port,host:port``.

    Raises
    ------
    ValueError
        If they are not such addresses.
    ConnectionError
        If none can be reached; it says why.
    """
    failures = []
    for address in addresses.split(","):
        host, _, port = address.strip().rpartition(":")
        if not host or not port.isdigit():
            raise ValueError(f"expected addresses as host:port,host:port, not {addresses!r}")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
            return
        except OSError as error:
            failures.append(f"{address}: {error}")
    raise ConnectionError("; ".join(failures))


def load_records(
    session: SparkSession, is_streaming: bool, options: Mapping[str, str], has_headers: bool
) -> DataFrame:
    """Return the records of topics as Spark has them.

    Spark reads bounded topics by its data sources of version 1 by default. Those make a Java
    object of each field of a record and take twice as long as version 2.

    Parameters
    ----------
    session : SparkSession
    is_streaming : bool
        Whether they are a stream.
    options : mapping of str to str
        Of Spark's reader.
    has_headers : bool
        Whether there is a column of headers.
    """
    reader: Any = session.readStream if is_streaming else session.read
    reader = reader.format("kafka").options(**{**_CONSUMER, **options})
    if has_headers:
        reader = reader.option("includeHeaders", "true")
    if is_streaming or not hasattr(session, "_jsparkSession"):
        return cast("DataFrame", reader.load())
    names = str(session.conf.get(_VERSION_1)).split(",")
    others = ",".join(name for name in names if name.strip().lower() != "kafka")
    with with_setting(session, _VERSION_1, others):
        return cast("DataFrame", reader.load())


class Brokers:
    """What brokers know of topics and groups, asked from the driver's JVM.

    Parameters
    ----------
    session : SparkSession
        Not one of Spark Connect.
    properties : mapping of str to str
        Of Kafka's clients.
    """

    def __init__(self, session: SparkSession, properties: Mapping[str, str]) -> None:
        self._jvm = cast("Any", session._jvm)
        settings = self._jvm.java.util.Properties()
        for key, value in properties.items():
            if not _OWN.fullmatch(key):
                settings.setProperty(key, _unshaded(value))
        self._admin = self._jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)

    def __enter__(self) -> Brokers:
        return self

    def __exit__(self, *_: object) -> None:
        self._admin.close()

    def topics(self, pattern: str) -> list[str]:
        """Return the topics whose whole names a regular expression of Java matches."""
        matches = self._jvm.java.util.regex.Pattern.matches
        return [name for name in self._admin.listTopics().names().get() if matches(pattern, name)]

    def partitions(self, topics: Iterable[str]) -> list[Partition]:
        """Return the partitions of topics."""
        described = self._admin.describeTopics(self._list(topics)).allTopicNames().get()
        return [
            (topic, int(partition.partition()))
            for topic in described
            for partition in described[topic].partitions()
        ]

    def committed(self, group: str) -> dict[Partition, int]:
        """Return the offsets that a group of consumers has committed."""
        found = self._admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get()
        return {
            _partition(entry.getKey()): int(entry.getValue().offset())
            for entry in found.entrySet()
            if entry.getValue() is not None
        }

    def earliest(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offsets of the first records."""
        return self._offsets(partitions, self._specs().earliest())

    def latest(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offsets of the records to come."""
        return self._offsets(partitions, self._specs().latest())

    def at(self, partitions: Iterable[Partition], timestamp: int) -> dict[Partition, int]:
        """Return the offsets of the first records of a time or later; of those to come if none are.

        Parameters
        ----------
        partitions
        timestamp : int
            In milliseconds since the epoch.
        """
        partitions = list(partitions)
        found = self._offsets(partitions, self._specs().forTimestamp(timestamp))
        ends = self.latest(each for each in partitions if found[each] < 0)
        return {**found, **ends}

    def _specs(self) -> Any:
        return self._jvm.org.apache.kafka.clients.admin.OffsetSpec

    def _offsets(self, partitions: Iterable[Partition], spec: Any) -> dict[Partition, int]:
        asked = self._jvm.java.util.HashMap()
        for topic, number in partitions:
            asked.put(self._jvm.org.apache.kafka.common.TopicPartition(topic, number), spec)
        found = self._admin.listOffsets(asked).all().get()
        return {
            _partition(entry.getKey()): int(entry.getValue().offset()) for entry in found.entrySet()
        }

    def _list(self, values: Iterable[str]) -> Any:
        made = self._jvm.java.util.ArrayList()
        for value in values:
            made.add(value)
        return made


def _partition(found: Any) -> Partition:
    return str(found.topic()), int(found.partition())
