"""What every connector has: options with types, and ways to read and write."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pyflow.common.configuration import boolean_of
from pyflow.common.time import Duration
from pyflow.session import options
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from pyflow.session.context import Context
    from pyflow.table.changes.relation import Relation
    from pyflow.types.logical_types import DataType


@dataclass(frozen=True)
class Option:
    """An option of a connector or format.

    Parameters
    ----------
    name
        Its key. ``#`` stands for the path of a column.
    read
        Parses its value; raises ValueError for an invalid one.
    kind
        What the value must be, for errors: ``an integer``.
    default
        The value if the option is not given.
    required
        Whether it must be given.
    """

    name: str
    read: Callable[[str], Any] = str
    kind: str = "a string"
    default: Any = None
    required: bool = False

    def matches(self, key: str) -> bool:
        """Return whether a key of a table's options is this option."""
        if "#" not in self.name:
            return key == self.name
        before, after = self.name.split("#")
        inside = len(key) > len(before) + len(after)
        return inside and key.startswith(before) and key.endswith(after)


def integer(text: str) -> int:
    """Read a whole number."""
    return int(text.strip())


def boolean(text: str) -> bool:
    """Read ``true`` or ``false``."""
    return boolean_of(text.strip())


def fraction(text: str) -> float:
    """Read a number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a parser for one of these choices, in any case; it returns the choice as given."""
    read = options.one_of(*choices)
    return lambda text: read(text.strip())


def character(text: str) -> str:
    """Read one character, which may be written with a backslash as in Java."""
    escapes = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}
    value = escapes.get(text, text)
    found = re.fullmatch(r"\\u([0-9a-fA-F]{4})", value)
    value = chr(int(found[1], 16)) if found else value
    if len(value) != 1:
        raise ValueError(text)
    return value


_SIZES = {
    **dict.fromkeys(("", "b", "bytes"), 1),
    **dict.fromkeys(("k", "kb", "kibibytes"), 1 << 10),
    **dict.fromkeys(("m", "mb", "mebibytes"), 1 << 20),
    **dict.fromkeys(("g", "gb", "gibibytes"), 1 << 30),
    **dict.fromkeys(("t", "tb", "tebibytes"), 1 << 40),
}


def size(text: str) -> int:
    """Read a size such as ``128 MB``, in bytes."""
    found = re.fullmatch(r"\s*(\d+)\s*([a-zA-Z]*)\s*", text)
    if found is None or found[2].lower() not in _SIZES:
        raise ValueError(text)
    return int(found[1]) * _SIZES[found[2].lower()]


def duration(text: str) -> int:
    """Read a duration such as ``10 s``, in milliseconds."""
    return Duration.parse(text).to_millis()


@dataclass(frozen=True)
class Metadata:
    """A column of a table that holds metadata.

    Parameters
    ----------
    name
        The column's name.
    key
        The connector's name for the metadata.
    data_type
        The column's type.
    written
        Whether it is part of the rows that are written into the table.
    """

    name: str
    key: str
    data_type: DataType
    written: bool


@dataclass(frozen=True)
class DescribedTable:
    """The description of a table, from which its connector is made.

    Parameters
    ----------
    identifier
        Its full name, or its name in error messages.
    columns
        Names and types of the columns that are stored.
    options
        All options as strings, with those of the format under the format's name.
    partition_keys, primary_key
        Names of columns.
    metadata
        The columns that the connector fills or receives, beside the stored ones.
    """

    identifier: str
    columns: tuple[tuple[str, DataType], ...]
    options: Mapping[str, str]
    partition_keys: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    metadata: tuple[Metadata, ...] = ()


class Connector(ABC):
    """Reads or writes the tables of one kind."""

    identifier: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    #: The metadata that a table can have, with their types.
    metadata: ClassVar[Mapping[str, DataType]] = {}
    #: Those that can be written, too.
    written_metadata: ClassVar[Collection[str]] = ()
    #: Whether each row that is read is the newest one of its key, or deletes it.
    reads_upserts: bool = False
    #: Whether a table of the kind takes updates and deletions.
    takes_changes: bool = False
    #: Whether it applies them by its primary key, whatever order they come in within a batch.
    applies_by_key: bool = False
    #: Whether nothing is left of what is written.
    forgets_rows: bool = False

    def __init__(self, table: DescribedTable) -> None:
        self.table = table
        self.values = read_options(
            table, [Option("connector"), *self.all_options()], f"connector {self.identifier!r}"
        )

    def all_options(self) -> list[Option]:
        """Return the options of the connector, with those of the table's format."""
        return list(self.options)

    def __getitem__(self, name: str) -> Any:
        """Return the value of an option."""
        return self.values[name]

    def read(self, context: Context) -> DataFrame:
        """Return the rows of the table, with its stored columns and those of metadata.

        Rows that change have KIND and SEQUENCE, too. Where the connector reads upserts, each row is
        the newest one of its key, with SEQUENCE and DELETED: whether the key has no row any longer.

        The rows are unbounded if the frame is a streaming one. It is asked for once for each table,
        so that all that a query reads of the table comes from one source with one offset.

        Raises
        ------
        TableException
            If the connector is only a sink.
        """
        raise TableException(
            f"Table {self.table.identifier} cannot be read: the connector "
            f"{self.identifier!r} is a sink."
        )

    def lookup(self, keys: Mapping[str, Column], context: Context) -> Column:
        """Return the rows that the table has for a key when a row with that key is processed.

        Parameters
        ----------
        keys
            Values of columns of the table, of the types of these.
        context
            Where the table belongs.

        Returns
        -------
        Column
            A generator of one value: the array of the rows, with the stored columns.

        Raises
        ------
        TableException
            If the connector does not support lookups.
        """
        raise TableException(
            f"Table {self.table.identifier} cannot be looked up: the connector "
            f"{self.identifier!r} is no lookup source, as 'jdbc' is, and a processing-time "
            "temporal join of another one is not supported."
        )

    def write(self, rows: Relation, overwrite: bool, context: Context) -> None:
        """Write bounded rows, whose columns are those of the table.

        Raises
        ------
        TableException
            If the connector is only a source.
        """
        raise TableException(
            f"Table {self.table.identifier} cannot be written: the connector "
            f"{self.identifier!r} is a source."
        )

    def write_batch(self, rows: Relation, batch: int, context: Context) -> None:
        """Write a micro-batch of unbounded rows.

        Parameters
        ----------
        rows
            The batch: bounded rows, kept by Spark while they are written. A batch that changes is
            not in order.
        batch
            Its number. After a failure a batch may come again, with the same number and rows.
        context
            Where the table belongs.
        """
        self.write(rows, False, context)

    def stream_writer(self, rows: Relation, context: Context) -> DataStreamWriter | None:
        """Return Spark's own writer of unbounded rows, which then is not given any batches.

        Returns
        -------
        DataStreamWriter or None
            With format and options, without checkpoint, name and trigger; None if Spark has none.
        """
        return None

    def checkpoint(self, chosen: str | None, context: Context) -> str | None:
        """Return the directory of the checkpoint of the query of :meth:`stream_writer`.

        Parameters
        ----------
        chosen
            The directory in the job's settings, which may not exist yet; None if none is set.
        context
            Where the table belongs.

        Returns
        -------
        str or None
            None for a temporary directory, which is removed when the program ends.
        """
        return chosen

    def check_sink(self, overwrite: bool) -> None:
        """Raise if the table cannot be written in this way; called before anything runs."""
        if type(self).write is Connector.write:
            raise TableException(
                f"Table {self.table.identifier} cannot be written: the connector "
                f"{self.identifier!r} is a source."
            )
        if overwrite:
            raise TableException(
                f"INSERT OVERWRITE requires that the sink of table {self.table.identifier} can "
                f"replace its rows, which the connector {self.identifier!r} cannot."
            )

    def check_metadata(self, written: bool) -> None:
        """Raise for metadata columns that the connector does not support for reading or writing."""
        known = set(self.written_metadata if written else self.metadata)
        for each in self.table.metadata:
            if each.key in known or (written and not each.written):
                continue
            doing = "writing" if written else "reading"
            supported = f"has no metadata for {doing} here"
            if known:
                names = ", ".join(sorted(known))
                supported = f"supports the following metadata keys for {doing}: {names}"
            if written:
                supported += ". Declare a column that is only read as VIRTUAL"
            raise TableException(
                f"Table {self.table.identifier}: invalid metadata key {each.key!r} in column "
                f"{each.name!r}. The connector {self.identifier!r} {supported}."
            )

    def wrong(self, option: str, value: Any, expected: str) -> TableException:
        """Return the error of a wrong value."""
        return wrong_value(self.table, option, value, expected)


def wrong_value(table: DescribedTable, option: str, value: Any, expected: str) -> TableException:
    """Return the error of an option with a wrong value."""
    return TableException(
        f"Table {table.identifier}: option {option!r} is {value!r}, expected {expected}."
    )


def read_options(table: DescribedTable, known: list[Option], owner: str) -> dict[str, Any]:
    """Return the values of a table's options.

    Parameters
    ----------
    table
        The table.
    known
        The supported options.
    owner
        What has these options, for errors.

    Raises
    ------
    TableException
        If an option is missing, unknown, or has an invalid value.
    """
    values: dict[str, Any] = {
        option.name: option.default for option in known if "#" not in option.name
    }
    unknown = []
    for key, text in table.options.items():
        option = next((each for each in known if each.matches(key)), None)
        if option is None:
            unknown.append(key)
            continue
        try:
            values[key] = option.read(text)
        except ValueError:
            raise wrong_value(table, key, text, option.kind) from None
    if unknown:
        names = "\n".join(sorted(option.name for option in known))
        raise TableException(
            f"Table {table.identifier}: unsupported options found for {owner}: "
            f"{', '.join(sorted(unknown))}\n\nSupported options:\n\n{names}"
        )
    missing = [
        option.name for option in known if option.required and option.name not in table.options
    ]
    if missing:
        raise TableException(
            f"Table {table.identifier}: one or more required options of {owner} are missing: "
            f"{', '.join(missing)}"
        )
    return values
