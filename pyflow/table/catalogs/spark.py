"""A catalog of Spark's: its databases, tables and views, by statements in Spark's SQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import unquote

from pyflow.table.catalogs.catalog import Catalog, check_kinds, in_spec
from pyflow.table.catalogs.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    ObjectPath,
)
from pyflow.table.catalogs.spark_changes import changes
from pyflow.table.catalogs.spark_sql import column_text, listed, literal
from pyflow.table.catalogs.spark_table import SparkTable
from pyflow.table.schema import Schema, UnresolvedPhysicalColumn
from pyflow.types.spark_types import from_spark
from pyflow.util.exceptions import CatalogException, TableException
from pyflow.util.identifiers import parsed_path, quoted, quoted_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Row, SparkSession

_SESSION_CATALOG = "spark_catalog"
_ELSEWHERE = (
    "CREATE TEMPORARY TABLE, or a table in a catalog of type 'generic_in_memory', keeps it for "
    "this program"
)
_PROPERTY = re.compile(r"\(([^,()]*),(.*?)\)(?=, \(|\)$)", re.DOTALL)
#: Options of a table that say how it is stored.
_FORMAT, _PATH = "format", "path"


class SparkCatalog(Catalog):
    """A catalog of Spark's.

    What is made in it outlives the program as far as Spark's catalog does.

    Parameters
    ----------
    name : str
        How errors call it.
    session : pyspark.sql.SparkSession
        The session whose catalog it is.
    spark_catalog : str
        The name that Spark has for it: ``spark_catalog``, or one that is set up by
        ``spark.sql.catalog.NAME``.
    default_database : str, optional
        The database that is the current one after ``USE CATALOG``; without it ``default``, or
        the first one where there is none of that name.

    Raises
    ------
    CatalogException
        If Spark has no such catalog.
    """

    def __init__(
        self,
        name: str,
        session: SparkSession,
        spark_catalog: str = _SESSION_CATALOG,
        default_database: str | None = None,
    ) -> None:
        self._session = session
        self._catalog = spark_catalog
        setting = f"spark.sql.catalog.{spark_catalog}"
        if spark_catalog != _SESSION_CATALOG and session.conf.get(setting, None) is None:
            raise CatalogException(
                f"Spark has no catalog {spark_catalog!r}. Set {setting} to the class of one."
            )
        super().__init__(name, default_database or "default")
        if default_database is None:
            databases = self.list_databases()
            if databases and "default" not in databases:
                self._default_database = databases[0]

    # Databases

    def list_databases(self) -> list[str]:
        """Return the names of the databases; those within others are left out."""
        rows = self._run(f"SHOW NAMESPACES IN {quoted(self._catalog)}")
        return [name for row in rows for name in _single_name(row[0])]

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database."""
        if database_name not in self.list_databases():
            raise self._no_database(database_name)
        rows = self._run(f"DESCRIBE NAMESPACE EXTENDED {self._in_catalog(database_name)}")
        told = {row[0]: row[1] for row in rows}
        properties = dict(_PROPERTY.findall((told.get("Properties") or "")[1:]))
        return CatalogDatabase.create_instance(properties, told.get("Comment") or None)

    def database_exists(self, database_name: str) -> bool:
        """Return whether there is a database of the name."""
        return database_name in self.list_databases()

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database; the property ``location`` says where its files are."""
        if self.database_exists(name):
            if ignore_if_exists:
                return
            raise self._database_exists(name)
        properties = database.get_properties()
        location = properties.pop("location", None)
        comment = database.get_comment()
        self._run(
            f"CREATE NAMESPACE {self._in_catalog(name)}",
            "" if comment is None else f"COMMENT {literal(comment)}",
            "" if location is None else f"LOCATION {literal(location)}",
            f"WITH DBPROPERTIES {listed(properties)}" if properties else "",
        )

    def drop_database(self, name: str, ignore_if_exists: bool, cascade: bool = False) -> None:
        """Remove a database."""
        if not self.database_exists(name):
            if ignore_if_exists:
                return
            raise self._no_database(name)
        if not cascade and self.list_tables(name):
            raise self._not_empty(name)
        self._run(f"DROP NAMESPACE {self._in_catalog(name)}", "CASCADE" if cascade else "")

    def alter_database(
        self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool
    ) -> None:
        """Change the properties and the comment of a database."""
        if ignore_if_not_exists and not self.database_exists(name):
            return
        old, place = self.get_database(name), self._in_catalog(name)
        before, after = old.get_properties(), new_database.get_properties()
        changed = {key: value for key, value in after.items() if before.get(key) != value}
        dropped = [key for key in before if key not in after]
        if changed:
            self._run(f"ALTER NAMESPACE {place} SET PROPERTIES {listed(changed)}")
        if dropped:
            keys = ", ".join(map(literal, dropped))
            self._run(f"ALTER NAMESPACE {place} UNSET PROPERTIES ({keys})")
        if new_database.get_comment() not in (None, old.get_comment()):
            comment = literal(str(new_database.get_comment()))
            self._run(f"COMMENT ON NAMESPACE {place} IS {comment}")

    # Tables and views

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of the tables and views of a database."""
        self._check_database(database_name)
        rows = self._run(f"SHOW TABLES IN {self._in_catalog(database_name)}")
        return [row["tableName"] for row in rows if not row["isTemporary"]]

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of the views of a database."""
        self._check_database(database_name)
        try:
            rows = self._run(f"SHOW VIEWS IN {self._in_catalog(database_name)}")
        except CatalogException as error:
            if _condition(error.__cause__) == "MISSING_CATALOG_ABILITY.VIEWS":
                return []
            raise
        return [row["viewName"] for row in rows if not row["isTemporary"]]

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table or view of the name."""
        try:
            return bool(self._session.catalog.tableExists(self._in_catalog(*_parts(table_path))))
        except Exception as error:
            raise CatalogException(_reason(error)) from error

    def get_table(self, table_path: ObjectPath) -> SparkTable:
        """Return a table or view."""
        name = self._in_catalog(*_parts(table_path))
        if not self.table_exists(table_path):
            raise self._no_table(table_path)
        told = {row[0]: row[1] for row in self._details(name)}
        is_view = told.get("Type") == "VIEW"
        options, stored = ({}, frozenset()) if is_view else self._options(name, told)
        query = told.get("View Text", "") if is_view else None
        return SparkTable(
            self._schema(name, table_path),
            options,
            () if is_view else self._partition_columns(name),
            told.get("Comment") or None,
            query,
            query,
            name,
            stored,
        )

    def _details(self, name: str) -> list[Row]:
        """Return what Spark tells of a table beside its columns."""
        rows = self._run(f"DESCRIBE TABLE EXTENDED {name}")
        titles = [row[0] for row in rows]
        first = titles.index("# Detailed Table Information")
        return rows[first + 1 :]

    def _options(self, name: str, told: dict[str, str]) -> tuple[dict[str, str], frozenset[str]]:
        """Return the options of a table, and which of them say how it is stored."""
        options = {} if not told.get("Provider") else {_FORMAT: told["Provider"]}
        if told.get("Type") == "EXTERNAL" and told.get("Location"):
            options[_PATH] = told["Location"]
        properties = {row["key"]: row["value"] for row in self._run(f"SHOW TBLPROPERTIES {name}")}
        options.update(
            {
                key.removeprefix("option."): value
                for key, value in properties.items()
                if key.startswith("option.")
            }
        )
        stored = frozenset(options)
        options.update({k: v for k, v in properties.items() if not k.startswith("option.")})
        return options, stored

    def _partition_columns(self, name: str) -> tuple[str, ...]:
        columns = self._session.catalog.listColumns(name)
        return tuple(each.name for each in columns if each.isPartition)

    def _schema(self, name: str, path: ObjectPath) -> Schema:
        columns = []
        for field in self._session.table(name).schema:
            try:
                data_type = from_spark(field.dataType, field.nullable)
            except TypeError as error:
                raise CatalogException(
                    f"Table {path} of catalog {self._name}: column {field.name!r}: {error}. Read "
                    "it by from_spark(spark.table(...)) with the column cast or left out."
                ) from error
            comment = field.metadata.get("comment")
            columns.append(UnresolvedPhysicalColumn(field.name, comment, data_type))
        return Schema(columns, (), None)

    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        """Add a table, which Spark stores.

        The option ``format`` says how, as ``parquet``, and ``path`` where; others are options of
        the format.
        """
        self._check_database(table_path.database_name)
        if self.table_exists(table_path):
            if ignore_if_exists:
                return
            raise self._table_exists(table_path)
        columns = self._stored_columns(table_path, table)
        self._check_partitions(table_path, columns, table.partition_keys)
        options = table.get_options()
        kind, location = options.pop(_FORMAT, None), options.pop(_PATH, None)
        self._run(
            f"CREATE TABLE {self._in_catalog(*_parts(table_path))}",
            f"({', '.join(map(column_text, columns))})",
            "" if kind is None else f"USING {quoted(kind)}",
            f"OPTIONS {listed(options)}" if options else "",
            f"PARTITIONED BY {quoted_list(table.partition_keys)}" if table.partition_keys else "",
            "" if table.comment is None else f"COMMENT {literal(table.comment)}",
            "" if location is None else f"LOCATION {literal(location)}",
        )

    def _stored_columns(
        self, path: ObjectPath, table: CatalogBaseTable
    ) -> list[UnresolvedPhysicalColumn]:
        """Return the columns of a table that Spark can keep, or raise what it cannot."""
        if table.is_view:
            self._refuse(
                path,
                "a view is a query in Spark's SQL there: make it by spark.sql('CREATE VIEW ...'), "
                "or by CREATE TEMPORARY VIEW for this program",
            )
        if "connector" in table.options:
            self._refuse(
                path,
                f"tables of Spark's have no connector ({table.options['connector']!r}), but the "
                f"option 'format', as 'parquet'. {_ELSEWHERE}",
            )
        schema = table.schema
        columns = [each for each in schema.columns if isinstance(each, UnresolvedPhysicalColumn)]
        for what, there in (
            ("computed and metadata columns", len(columns) != len(schema.columns)),
            ("watermarks", bool(schema.watermarks)),
            ("primary keys", schema.key is not None),
        ):
            if there:
                self._refuse(path, f"tables of Spark's have no {what}. {_ELSEWHERE}")
        return columns

    def _check_partitions(
        self, path: ObjectPath, columns: Sequence[UnresolvedPhysicalColumn], keys: Sequence[str]
    ) -> None:
        names = [each.name for each in columns]
        if self._catalog == _SESSION_CATALOG and keys and names[-len(keys) :] != [*keys]:
            self._refuse(
                path,
                "Spark keeps the columns by which a table is partitioned behind the others: "
                f"declare {', '.join(keys)} last, in this order",
            )

    def _refuse(self, path: ObjectPath, reason: str) -> NoReturn:
        raise TableException(f"Table {path} cannot be kept in catalog {self._name}: {reason}.")

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or view."""
        if not self.table_exists(table_path):
            if ignore_if_not_exists:
                return
            raise self._no_table(table_path)
        kind = "VIEW" if self._is_view(table_path) else "TABLE"
        self._run(f"DROP {kind} {self._in_catalog(*_parts(table_path))}")

    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> None:
        """Rename a table or view within its database."""
        if not self.table_exists(table_path):
            if ignore_if_not_exists:
                return
            raise self._no_table(table_path)
        new_path = ObjectPath(table_path.database_name, new_table_name)
        if self.table_exists(new_path):
            raise self._table_exists(new_path)
        kind = "VIEW" if self._is_view(table_path) else "TABLE"
        new_name = ".".join(map(quoted, _parts(new_path)))
        self._run(f"ALTER {kind} {self._in_catalog(*_parts(table_path))} RENAME TO {new_name}")

    def _is_view(self, path: ObjectPath) -> bool:
        return path.object_name in self.list_views(path.database_name)

    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: CatalogBaseTable,
        ignore_if_not_exists: bool,
        renamed_columns: dict[str, str] | None = None,
    ) -> None:
        """Change a table, by one statement of Spark's for each difference."""
        if ignore_if_not_exists and not self.table_exists(table_path):
            return
        old = self.get_table(table_path)
        check_kinds(old, new_table)
        columns = self._stored_columns(table_path, new_table)
        placed = self._catalog != _SESSION_CATALOG
        for statement in changes(old, new_table, columns, renamed_columns or {}, placed):
            self._run(statement)

    # Partitions

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        """Return the partitions of a table, or those with some values."""
        table = self.get_table(table_path)
        if not table.partition_keys:
            raise self._not_partitioned(table_path)
        found = []
        for row in self._run(f"SHOW PARTITIONS {table.full_name}"):
            values = _partition_values(row[0])
            if in_spec(values, partition_spec):
                found.append(CatalogPartitionSpec(values))
        return found

    def get_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogPartition:
        """Return a partition; Spark keeps no properties of them that could be told."""
        if not self.table_exists(table_path) or not self.get_table(table_path).partition_keys:
            raise self._no_partition(table_path, partition_spec)
        if partition_spec not in self.list_partitions(table_path):
            raise self._no_partition(table_path, partition_spec)
        return CatalogPartition.create_instance({})

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Add a partition to a table; it has no properties."""
        table = self.get_table(table_path)
        if not table.partition_keys:
            raise self._not_partitioned(table_path)
        if set(partition_spec.get_partition_spec()) != set(table.partition_keys):
            raise self._wrong_partition(table_path, partition_spec, table.partition_keys)
        if partition.get_properties():
            raise CatalogException("Spark keeps no properties of partitions.")
        if self.partition_exists(table_path, partition_spec):
            if ignore_if_exists:
                return
            raise self._partition_exists(table_path, partition_spec)
        self._run(f"ALTER TABLE {table.full_name} ADD PARTITION {_spec_text(partition_spec)}")

    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ) -> None:
        """Remove a partition from a table, with its rows."""
        if not self.partition_exists(table_path, partition_spec):
            if ignore_if_not_exists:
                return
            raise self._no_partition(table_path, partition_spec)
        name = self._in_catalog(*_parts(table_path))
        self._run(f"ALTER TABLE {name} DROP PARTITION {_spec_text(partition_spec)}")

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        """Raise: Spark's catalogs keep no functions of this kind."""
        raise TableException(
            f"Function {function_path} cannot be kept in catalog {self._name}: Spark's catalogs "
            "keep no Python functions. CREATE TEMPORARY FUNCTION, or a function in a catalog of "
            "type 'generic_in_memory', keeps it for this program."
        )

    # What Spark is asked.

    def _in_catalog(self, *parts: str) -> str:
        return ".".join(map(quoted, (self._catalog, *parts)))

    def _run(self, *parts: str) -> list[Row]:
        try:
            return self._session.sql(" ".join(part for part in parts if part)).collect()
        except Exception as error:
            raise CatalogException(
                f"Spark's catalog {self._catalog!r} refuses: {_reason(error)}"
            ) from error


def _parts(path: ObjectPath) -> tuple[str, str]:
    return path.database_name, path.object_name


def _single_name(text: str) -> list[str]:
    """Return the name of a database that Spark tells, unless it is within another one."""
    parts = parsed_path(text) if "`" in text else text.split(".")
    return parts if len(parts) == 1 else []


def _partition_values(text: str) -> dict[str, str]:
    """Return the values of a partition as Spark tells it: ``a=1/b=x``, with escapes as ``%3D``."""
    pairs = (part.partition("=") for part in text.split("/"))
    return {unquote(key): unquote(value) for key, _, value in pairs}


def _spec_text(spec: CatalogPartitionSpec) -> str:
    values = spec.get_partition_spec().items()
    return "(" + ", ".join(f"{quoted(key)} = {literal(value)}" for key, value in values) + ")"


def _condition(error: BaseException | None) -> str | None:
    found = getattr(error, "getCondition", None)
    return None if found is None else found()


def _reason(error: Exception) -> str:
    """Return what Spark says, without the plan and the stack of calls that follow."""
    cause = getattr(error, "java_exception", None)
    text = str(error) if cause is None else str(cause.toString())
    return next(line for line in text.splitlines() if line)
