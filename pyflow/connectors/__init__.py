"""Where tables come from and go to: a connector for each name of the option ``connector``."""

from __future__ import annotations

from pyflow.connectors.blackhole import Blackhole
from pyflow.connectors.connector import Connector, DescribedTable
from pyflow.connectors.datagen import DataGen
from pyflow.connectors.filesystem import FileSystem
from pyflow.connectors.jdbc import Jdbc
from pyflow.connectors.kafka import Kafka
from pyflow.connectors.print import Print
from pyflow.connectors.python import Python
from pyflow.connectors.spark import Spark
from pyflow.connectors.upsert_kafka import UpsertKafka
from pyflow.util.exceptions import TableException

CONNECTORS: dict[str, type[Connector]] = {
    each.identifier: each
    for each in (Blackhole, DataGen, FileSystem, Jdbc, Kafka, Print, Python, Spark, UpsertKafka)
}


def connector_of(table: DescribedTable) -> Connector:
    """Return the connector of a table, its options checked.

    Raises
    ------
    TableException
        If there is no connector of that name, or an option is missing, unknown or wrong.
    """
    name = table.options.get("connector")
    legacy = table.options.get("connector.type")
    if name is None and legacy is not None:
        raise TableException(
            f"Table {table.identifier}: the legacy options 'connector.type', 'format.type', "
            "'schema.…' and 'update-mode' are not supported. Write "
            f"'connector' = '{legacy}', and 'path' and 'format' for 'connector.path' and "
            "'format.type'. Types and names are those of the table's columns."
        )
    if name is None:
        raise TableException(
            f"Table {table.identifier} has no option 'connector'. "
            f"Connectors here are: {', '.join(sorted(CONNECTORS))}."
        )
    if name not in CONNECTORS:
        raise TableException(
            f"Table {table.identifier}: there is no connector {name!r} here. "
            f"Connectors here are: {', '.join(sorted(CONNECTORS))}."
        )
    return CONNECTORS[name](table)
