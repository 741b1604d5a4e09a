"""Properties of Kafka's clients, as sources and sinks have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyflow.connectors.kafka_client import check_brokers
from pyflow.connectors.packages import KAFKA
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.session.context import Context

__all__ = ["GROUP", "SERVERS", "check_reachable", "checked_properties"]

SERVERS = "bootstrap.servers"
GROUP = "group.id"


def checked_properties(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return properties.

    Raises
    ------
    TypeError
        If a value is no string.
    """
    for key, value in properties.items():
        if not isinstance(value, str):
            raise TypeError(f"property {key!r} is to be a str, not {value!r}")
    return dict(properties)


def check_reachable(context: Context, properties: Mapping[str, str], name: str) -> None:
    """Raise where Spark cannot reach Kafka, or no broker can be reached, if the driver runs here.

    Parameters
    ----------
    context : Context
    properties : mapping of str to str
    name : str
        Of the source or sink.

    Raises
    ------
    TableException
        If the session lacks Spark's module for Kafka, or no broker can be reached.
    """
    if not hasattr(context.session, "_jsparkSession"):
        return
    if KAFKA.is_missing(context.session):
        raise TableException(f"{name}: {KAFKA.hint()}")
    servers = properties[SERVERS]
    try:
        check_brokers(servers)
    except (ValueError, ConnectionError) as error:
        raise TableException(f"{name}: no broker can be reached at {servers!r}: {error}") from error
