"""Connections to brokers of RabbitMQ, through the client pika."""

from __future__ import annotations

import json
import ssl
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from pyflow.util.exceptions import TableException

__all__ = ["BODY_SCHEMA", "Address", "declare_queue", "pika", "prepare_queue", "reason_of"]

#: The columns of messages, of the source and the sink.
BODY_SCHEMA = "value BINARY"

_PORT, _TLS_PORT = 5672, 5671
# What pika takes at most.
_LARGEST_FRAME, _MOST_CHANNELS = 131072, 65535
_NOT_FOUND = 404


def pika() -> Any:
    """Return the client.

    Raises
    ------
    TableException
        If it is not installed.
    """
    try:
        import pika
    except ImportError as error:
        raise TableException(
            "RabbitMQ needs the package pika, where the program runs and on the executors: "
            "pip install 'pyflow[rabbitmq]'"
        ) from error
    return pika


@dataclass(frozen=True)
class Address:
    """A broker, and how connections to it are.

    Parameters
    ----------
    host, user, password, virtual_host : str
    port : int
    is_encrypted : bool
        Whether connections use TLS.
    connection_timeout : int or None
        In milliseconds; None, as below, for the client's own.
    channel_max, frame_max : int or None
        0 for as many, or as large, as the client can.
    heartbeat : int or None
        In seconds; 0 for none.
    """

    host: str
    port: int
    virtual_host: str
    user: str
    password: str
    is_encrypted: bool = False
    connection_timeout: int | None = None
    channel_max: int | None = None
    frame_max: int | None = None
    heartbeat: int | None = None

    @staticmethod
    def of_uri(uri: str) -> Address:
        """Return what a URI says, such as ``amqp://user:password@host:5672/virtual-host``.

        Raises
        ------
        ValueError
            If it is no such URI.
        """
        parts = urlsplit(uri)
        if parts.scheme not in ("amqp", "amqps"):
            raise ValueError(
                "the URI of a broker begins with amqp:// or amqps://, as in "
                f"amqp://user:password@host:5672/virtual-host, not with {parts.scheme!r}"
            )
        is_encrypted = parts.scheme == "amqps"
        return Address(
            parts.hostname or "localhost",
            parts.port or (_TLS_PORT if is_encrypted else _PORT),
            unquote(parts.path[1:]) or "/",
            unquote(parts.username or "guest"),
            unquote(parts.password or "guest"),
            is_encrypted,
        )

    def __str__(self) -> str:
        """Return it without the password."""
        return f"{self.host}:{self.port}, virtual host {self.virtual_host!r}"

    def options(self) -> dict[str, str]:
        """Return it as options of a data source; Spark hides the password in what it shows."""
        shown = {name: value for name, value in asdict(self).items() if name != "password"}
        return {"address": json.dumps(shown), "password": self.password}

    @staticmethod
    def of_options(options: Any) -> Address:
        """Return what `options` has written."""
        return Address(password=options["password"], **json.loads(options["address"]))

    def parameters(self, **others: Any) -> Any:
        """Return pika's parameters of a connection.

        Parameters
        ----------
        others
            Parameters beside those of the address, or in their place.
        """
        client = pika()
        given: dict[str, Any] = {
            "host": self.host,
            "port": self.port,
            "virtual_host": self.virtual_host,
            "credentials": client.PlainCredentials(self.user, self.password),
        }
        if self.is_encrypted:
            given["ssl_options"] = client.SSLOptions(ssl.create_default_context(), self.host)
        if self.connection_timeout:
            given["socket_timeout"] = given["stack_timeout"] = self.connection_timeout / 1000
        if self.channel_max is not None:
            given["channel_max"] = self.channel_max or _MOST_CHANNELS
        if self.frame_max is not None:
            given["frame_max"] = min(self.frame_max or _LARGEST_FRAME, _LARGEST_FRAME)
        if self.heartbeat is not None:
            given["heartbeat"] = self.heartbeat
        return client.ConnectionParameters(**{**given, **others})


def declare_queue(connection: Any, queue: str, is_made: bool = True) -> Any:
    """Return a channel of a connection on which a queue is known to be there.

    Parameters
    ----------
    connection
        A blocking one of pika's.
    queue : str
    is_made : bool
        Whether a durable queue is made where there is none, as Flink does.
    """
    channel = connection.channel()
    try:
        # Of any kind: to declare it otherwise than it has been made is an error.
        channel.queue_declare(queue, passive=True)
    except pika().exceptions.ChannelClosedByBroker as error:
        if error.reply_code != _NOT_FOUND or not is_made:
            raise
        channel = connection.channel()
        channel.queue_declare(queue, durable=True)
    return channel


def prepare_queue(address: Address, queue: str, name: str) -> None:
    """Make a queue where it is not there.

    Parameters
    ----------
    address : Address
    queue : str
    name : str
        Of the source or sink, for errors.

    Raises
    ------
    TableException
        If the broker cannot be reached, or refuses user or queue.
    """
    client = pika()
    try:
        connection = client.BlockingConnection(address.parameters())
        try:
            declare_queue(connection, queue)
        finally:
            if connection.is_open:
                connection.close()
    except (client.exceptions.AMQPError, OSError) as error:
        raise TableException(
            f"{name}: the broker at {address} cannot be used for the queue {queue!r}: "
            f"{reason_of(error)}"
        ) from error


def reason_of(error: BaseException) -> str:
    """Return what an error of pika says, many of which have no text."""
    return f"{type(error).__name__}: {error}".rstrip(": ")
