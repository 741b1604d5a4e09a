"""Formats: how the rows of a table are written as bytes, in files and in records of Kafka."""

from __future__ import annotations

from pyflow.connectors.connector import DescribedTable, Option
from pyflow.connectors.formats.avro import Avro
from pyflow.connectors.formats.changes import CanalJson, DebeziumJson
from pyflow.connectors.formats.csv import Csv
from pyflow.connectors.formats.files import Orc, Parquet
from pyflow.connectors.formats.format import Format
from pyflow.connectors.formats.json import Json
from pyflow.connectors.formats.raw import Raw
from pyflow.util.exceptions import TableException

FORMATS: dict[str, type[Format]] = {
    each.identifier: each for each in (Avro, CanalJson, Csv, DebeziumJson, Json, Orc, Parquet, Raw)
}


def format_class(
    table: DescribedTable, option: str, known: dict[str, type[Format]]
) -> type[Format]:
    """Return the format that an option of a table names.

    Raises
    ------
    TableException
        If the option is missing, or names none of those known.
    """
    name = table.options.get(option)
    if name is None:
        raise TableException(
            f"Table {table.identifier}: one or more required options are missing: {option}"
        )
    if name not in known:
        raise TableException(
            f"Table {table.identifier}: option {option!r} is {name!r}, expected one of "
            f"{', '.join(sorted(known))}."
        )
    return known[name]


def values_of(made: type[Format], prefix: str, values: dict[str, object]) -> dict[str, object]:
    """Return the values of a format's options by their names without prefix and format."""
    names = ((each.name, f"{prefix}{made.identifier}.{each.name}") for each in made.options)
    return {name: values[full] for name, full in names}


__all__ = ["FORMATS", "Format", "Option", "format_class", "values_of"]
