"""The connector ``jdbc``: tables of databases.

Spark's JDBC source reads them. Rows are written through Spark's JDBC sink, too, by statements that
also update and delete (``io.pyflow.connectors.JdbcStatements`` of the plugin's jar).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from pyflow.connectors.connector import (
    Connector,
    DescribedTable,
    Option,
    boolean,
    duration,
    integer,
)
from pyflow.connectors.jdbc_lookup import LOOKUP_OPTIONS, check_lookup, looked_up
from pyflow.table.changes.changelog import net_changes
from pyflow.table.changes.relation import KIND, UPDATE_AFTER, column, quoted
from pyflow.types.logical_types import (
    ArrayType,
    BigIntType,
    BitmapType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    MapType,
    MultisetType,
    RowType,
    SmallIntType,
    TimeType,
    TinyIntType,
)
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.session.context import Context
    from pyflow.table.changes.relation import Relation

_NUMBERS = (
    TinyIntType,
    SmallIntType,
    IntType,
    BigIntType,
    DecimalType,
    FloatType,
    DoubleType,
)
#: Types that databases do not have.
NOT_IN_DATABASES = (BitmapType, RowType, MapType, MultisetType)

_WRITER = "io.pyflow.connectors.JdbcStatements"


def _duplicate_key(keys: Sequence[str], others: Sequence[str]) -> str:
    changed = others or keys
    return "ON DUPLICATE KEY UPDATE " + ", ".join(f"{name} = VALUES({name})" for name in changed)


def _on_conflict(keys: Sequence[str], others: Sequence[str]) -> str:
    if not others:
        return f"ON CONFLICT ({', '.join(keys)}) DO NOTHING"
    changed = ", ".join(f"{name} = EXCLUDED.{name}" for name in others)
    return f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changed}"


@dataclass(frozen=True)
class Database:
    """What differs between databases.

    Parameters
    ----------
    schemes
        What addresses begin with after ``jdbc:``.
    driver
        The JDBC driver's class.
    quote
        The character around names.
    upsert
        Makes the end of an INSERT statement that updates the row of its key, of the quoted names
        of the key's columns and the other ones.
    address
        Makes of an address the one that Spark and the driver understand.
    writers
        The most tasks that may write at once.
    """

    schemes: tuple[str, ...]
    driver: str
    quote: str
    upsert: Callable[[Sequence[str], Sequence[str]], str]
    address: Callable[[str], str] = str
    writers: int | None = None

    def name(self, text: str) -> str:
        """Return a name in quotes."""
        return self.quote + text.replace(self.quote, self.quote * 2) + self.quote


def _of_mysql(url: str) -> str:
    """Return an address by which Spark knows the dialect, and MariaDB's driver that it is meant."""
    made = url.replace("jdbc:mariadb:", "jdbc:mysql:", 1)
    if "permitMysqlScheme" in made:
        return made
    return f"{made}{'&' if '?' in made else '?'}permitMysqlScheme=true"


DATABASES = (
    Database(("mysql", "mariadb"), "org.mariadb.jdbc.Driver", "`", _duplicate_key, _of_mysql),
    Database(("postgresql",), "org.postgresql.Driver", '"', _on_conflict),
    # One connection at a time writes into a file.
    Database(("sqlite",), "org.sqlite.JDBC", '"', _on_conflict, writers=1),
)


class Jdbc(Connector):
    """A table of a database; with a primary key rows are updated and deleted by it."""

    identifier = "jdbc"
    options = (
        Option("url", required=True),
        Option("table-name", required=True),
        Option("driver"),
        Option("username"),
        Option("password"),
        Option("connection.max-retry-timeout", duration, "a duration such as 60 s"),
        Option("scan.partition.column"),
        Option("scan.partition.num", integer, "an integer"),
        Option("scan.partition.lower-bound", integer, "an integer"),
        Option("scan.partition.upper-bound", integer, "an integer"),
        Option("scan.fetch-size", integer, "an integer", default=0),
        Option("scan.auto-commit", boolean, "true or false", default=True),
        *LOOKUP_OPTIONS,
        Option("sink.buffer-flush.max-rows", integer, "an integer", default=1000),
        Option("sink.buffer-flush.interval", duration, "a duration such as 1 s"),
        Option("sink.max-retries", integer, "an integer"),
        Option("sink.parallelism", integer, "an integer"),
    )

    def __init__(self, table: DescribedTable) -> None:
        super().__init__(table)
        url = str(self["url"])
        parts = url.split(":", 2)
        if len(parts) < 3 or parts[0] != "jdbc":
            raise self.wrong("url", url, "an address such as jdbc:mysql://host:3306/database")
        known = (each for each in DATABASES if parts[1] in each.schemes)
        self._database = next(known, None)
        if self._database is None:
            schemes = (scheme for each in DATABASES for scheme in each.schemes)
            raise self.wrong("url", url, f"an address of one of: {', '.join(schemes)}")
        self.takes_changes = self.applies_by_key = bool(table.primary_key)
        for name, data_type in table.columns:
            if isinstance(data_type, NOT_IN_DATABASES):
                raise TableException(
                    f"Table {table.identifier}: column {name!r} has the type {data_type.sql}, "
                    "which databases do not have."
                )
        self._check_partitions()
        check_lookup(self)

    def _check_partitions(self) -> None:
        names = ("column", "num", "lower-bound", "upper-bound")
        given = [name for name in names if self[f"scan.partition.{name}"] is not None]
        if given and len(given) < len(names):
            options = ", ".join(f"'scan.partition.{name}'" for name in names)
            raise TableException(
                f"Table {self.table.identifier}: either all or none of the following options "
                f"should be provided: {options}."
            )
        chosen = self["scan.partition.column"]
        if chosen is None:
            return
        if not isinstance(dict(self.table.columns).get(chosen), _NUMBERS):
            raise self.wrong("scan.partition.column", chosen, "a column of numbers of the table")
        least, most = self["scan.partition.lower-bound"], self["scan.partition.upper-bound"]
        if least > most:
            raise self.wrong(
                "scan.partition.lower-bound", least, f"at most {most}, the upper bound"
            )

    @property
    def _connection(self) -> dict[str, str]:
        assert self._database is not None
        options = {
            "url": self._database.address(self["url"]),
            "driver": self["driver"] or self._database.driver,
            "dbtable": self._table_name,
        }
        for ours, name in (("username", "user"), ("password", "password")):
            if self[ours] is not None:
                options[name] = self[ours]
        return options

    @property
    def _table_name(self) -> str:
        assert self._database is not None
        return ".".join(map(self._database.name, self["table-name"].split(".")))

    def read(self, context: Context) -> DataFrame:
        """Return the rows of the database's table."""
        options = {"fetchsize": str(self["scan.fetch-size"])}
        chosen = self["scan.partition.column"]
        if chosen is not None:
            least, most = self["scan.partition.lower-bound"], self["scan.partition.upper-bound"]
            options["partitionColumn"] = chosen
            options["lowerBound"], options["upperBound"] = str(least), str(most)
            options["numPartitions"] = str(self["scan.partition.num"])
        frame = self._loaded(options, context)
        if chosen is not None:
            frame = frame.filter(column(chosen).between(least, most))
        return frame.select(*(column(n).cast(to_spark(t)).alias(n) for n, t in self.table.columns))

    def lookup(self, keys: Mapping[str, Column], context: Context) -> Column:
        """Return the rows that the database has for a key when a row with it is processed."""
        assert self._database is not None
        name = self._database.name
        for key in keys:
            if isinstance(dict(self.table.columns)[key], ArrayType):
                raise TableException(
                    f"Table {self.table.identifier}: column {key!r} is an array, by which "
                    "databases find no rows."
                )
        selected = ", ".join(name(each) for each, _ in self.table.columns)
        condition = " AND ".join(f"{name(key)} = ?" for key in keys)
        statement = f"SELECT {selected} FROM {self._table_name} WHERE {condition}"
        stored = self._loaded({}, context).select(*(column(each) for each, _ in self.table.columns))
        types = dict(self.table.columns)
        values = [_written_value(value, types[key]) for key, value in keys.items()]
        return looked_up(self, self._connection, statement, stored.schema, values)

    def _loaded(self, more: Mapping[str, str], context: Context) -> DataFrame:
        """Return the database's table as Spark's source reads it."""
        types = [(n, t) for n, t in self.table.columns if not isinstance(t, ArrayType)]
        schema = ", ".join(f"{quoted(n)} {_read_type(t)}" for n, t in types)
        options = {**self._connection, **more, "customSchema": schema}
        try:
            frame = context.session.read.format("jdbc").options(**options).load()
            found = frame.columns
        except Exception as error:
            raise self._failed("read", error) from error
        missing = [name for name, _ in self.table.columns if name not in found]
        if missing:
            raise TableException(
                f"Table {self.table.identifier}: the table {self['table-name']!r} of the database "
                f"has no column {', '.join(map(repr, missing))}, but {', '.join(found)}."
            )
        return frame

    def write(self, rows: Relation, overwrite: bool, context: Context) -> None:
        """Insert the rows; with a primary key apply them by it."""
        assert self._database is not None
        name = self._database.name
        names = [name(each) for each, _ in self.table.columns]
        key = self.table.primary_key
        marks = ", ".join("?" for _ in names)
        statement = f"INSERT INTO {self._table_name} ({', '.join(names)}) VALUES ({marks})"
        options = self._connection
        if key:
            keys = [name(each) for each in key]
            others = [each for each in names if each not in keys]
            statement = f"{statement} {self._database.upsert(keys, others)}"
            condition = " AND ".join(f"{each} = ?" for each in keys)
            options["deleteStatement"] = f"DELETE FROM {self._table_name} WHERE {condition}"
            options["keys"] = "\n".join(key)
            frame, kind = net_changes(rows, key).frame, column(KIND)
        else:
            frame, kind = rows.frame, F.lit(UPDATE_AFTER).cast("tinyint")
        columns = (_written(n, t) for n, t in self.table.columns)
        frame = frame.select(*columns, kind.alias(KIND))
        writers = self["sink.parallelism"] or self._database.writers
        if writers is not None:
            frame = frame.coalesce(min(writers, self._database.writers or writers))
        if key:
            # Those to delete come first.
            frame = frame.sortWithinPartitions(column(KIND).desc())
        options["writeStatement"] = statement
        options["batchsize"] = str(self["sink.buffer-flush.max-rows"])
        try:
            frame.write.format(_WRITER).options(**options).mode("append").save()
        except Exception as error:
            raise self._failed("written", error) from error

    def _failed(self, done: str, error: Exception) -> TableException:
        return TableException(
            f"Table {self.table.identifier} cannot be {done}: option 'table-name' is "
            f"{self['table-name']!r}, option 'url' is {self['url']!r}: {failure_reason(error)}"
        )


def _read_type(data_type: DataType) -> str:
    return "string" if isinstance(data_type, TimeType) else to_spark(data_type).simpleString()


def _written(name: str, data_type: DataType) -> Column:
    return _written_value(column(name), data_type).alias(name)


def _written_value(value: Column, data_type: DataType) -> Column:
    # Spark's sink has no setter for times of the day.
    return value.cast("string") if isinstance(data_type, TimeType) else value


def failure_reason(error: Exception) -> str:
    """Return what the database or its driver says."""
    text = error.getMessage() if isinstance(error, PySparkException) else None
    lines = [
        line.removeprefix(": ")
        for line in (text or str(error)).splitlines()
        if not line.startswith("An error occurred while calling")
    ]
    causes = [line.split("Caused by: ", 1)[1] for line in lines if "Caused by: " in line]
    found = causes[-1] if causes else next(iter(filter(None, lines)), "")
    if "ClassNotFoundException" in (text or str(error)):
        found += ". Add the driver's jar to the session, by spark.jars or spark.jars.packages."
    return found
