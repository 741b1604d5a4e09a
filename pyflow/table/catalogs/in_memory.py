"""A catalog that lives as long as the program."""

from __future__ import annotations

from typing import Any

from pyflow.table.catalogs.catalog import Catalog, check_kinds, in_spec, unknown_statistics
from pyflow.table.catalogs.objects import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    ObjectPath,
)
from pyflow.util.exceptions import (
    CatalogException,
    PartitionNotExistException,
    TableNotExistException,
)

#: The values of a partition's columns, in the order of the table's partition keys.
_Values = tuple[tuple[str, str], ...]
_PartitionKey = tuple[ObjectPath, _Values]


class GenericInMemoryCatalog(Catalog):
    """A catalog that lives as long as the program; its functions' names have no case.

    Parameters
    ----------
    name : str
        How errors call it.
    default_database : str
        The database that it has from the start.
    """

    def __init__(self, name: str, default_database: str = "default") -> None:
        super().__init__(name, default_database)
        self._databases = {default_database: CatalogDatabase.create_instance({})}
        self._tables: dict[ObjectPath, CatalogBaseTable] = {}
        self._functions: dict[ObjectPath, CatalogFunction] = {}
        self._partitions: dict[_PartitionKey, CatalogPartition] = {}
        #: Figures of tables, and of partitions by their values, too.
        self._sizes: dict[_PartitionKey, CatalogTableStatistics] = {}
        self._columns: dict[_PartitionKey, CatalogColumnStatistics] = {}

    # Databases

    def list_databases(self) -> list[str]:
        """Return the names of the databases."""
        return [*self._databases]

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database."""
        if database_name not in self._databases:
            raise self._no_database(database_name)
        return self._databases[database_name]

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database."""
        if not name:
            raise CatalogException("The name of a database cannot be empty.")
        if name not in self._databases:
            self._databases[name] = database.copy()
        elif not ignore_if_exists:
            raise self._database_exists(name)

    def drop_database(self, name: str, ignore_if_exists: bool, cascade: bool = False) -> None:
        """Remove a database."""
        if name not in self._databases:
            if ignore_if_exists:
                return
            raise self._no_database(name)
        tables = [path for path in self._tables if path.database_name == name]
        functions = [path for path in self._functions if path.database_name == name]
        if (tables or functions) and not cascade:
            raise self._not_empty(name)
        for path in tables:
            self.drop_table(path, False)
        for path in functions:
            del self._functions[path]
        del self._databases[name]

    def alter_database(
        self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool
    ) -> None:
        """Change the properties and the comment of a database."""
        if name in self._databases:
            self._databases[name] = new_database.copy()
        elif not ignore_if_not_exists:
            raise self._no_database(name)

    # Tables and views

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of the tables and views of a database."""
        self._check_database(database_name)
        return [path.object_name for path in self._tables if path.database_name == database_name]

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of the views of a database."""
        names = self.list_tables(database_name)
        return [name for name in names if self._tables[ObjectPath(database_name, name)].is_view]

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table or view; the same object each time."""
        if table_path not in self._tables:
            raise self._no_table(table_path)
        return self._tables[table_path]

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or view."""
        if table_path in self._tables:
            del self._tables[table_path]
            for kept in self._of_tables():
                _rename(kept, table_path, None)
        elif not ignore_if_not_exists:
            raise self._no_table(table_path)

    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> None:
        """Rename a table or view within its database."""
        if table_path not in self._tables:
            if ignore_if_not_exists:
                return
            raise self._no_table(table_path)
        new_path = ObjectPath(table_path.database_name, new_table_name)
        if new_path in self._tables:
            raise self._table_exists(new_path)
        self._tables[new_path] = self._tables.pop(table_path)
        for kept in self._of_tables():
            _rename(kept, table_path, new_path)

    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        """Add a table or view."""
        self._check_database(table_path.database_name)
        if table_path not in self._tables:
            self._tables[table_path] = table.copy()
        elif not ignore_if_exists:
            raise self._table_exists(table_path)

    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: CatalogBaseTable,
        ignore_if_not_exists: bool,
        renamed_columns: dict[str, str] | None = None,
    ) -> None:
        """Replace a table or view by another one."""
        if table_path in self._tables:
            check_kinds(self._tables[table_path], new_table)
            self._tables[table_path] = new_table.copy()
        elif not ignore_if_not_exists:
            raise self._no_table(table_path)

    def _of_tables(self) -> tuple[dict[_PartitionKey, Any], ...]:
        return self._partitions, self._sizes, self._columns

    # Partitions

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        """Return the partitions of a table, or those with some values."""
        self._partition_keys(table_path)
        return [
            CatalogPartitionSpec(dict(values))
            for path, values in self._partitions
            if path == table_path and in_spec(dict(values), partition_spec)
        ]

    def get_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogPartition:
        """Return a partition."""
        return self._partitions[self._key_of(table_path, partition_spec)]

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Add a partition to a table."""
        keys = self._partition_keys(table_path)
        given = partition_spec.get_partition_spec()
        if set(given) != set(keys):
            raise self._wrong_partition(table_path, partition_spec, keys)
        place = (table_path, tuple((key, given[key]) for key in keys))
        if place not in self._partitions:
            self._partitions[place] = partition.copy()
        elif not ignore_if_exists:
            raise self._partition_exists(table_path, partition_spec)

    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ) -> None:
        """Remove a partition from a table."""
        if ignore_if_not_exists and not self.partition_exists(table_path, partition_spec):
            return
        key = self._key_of(table_path, partition_spec)
        del self._partitions[key]
        self._sizes.pop(key, None)
        self._columns.pop(key, None)

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ) -> None:
        """Change the properties of a partition."""
        if ignore_if_not_exists and not self.partition_exists(table_path, partition_spec):
            return
        self._partitions[self._key_of(table_path, partition_spec)] = new_partition.copy()

    def _partition_keys(self, path: ObjectPath) -> tuple[str, ...]:
        keys = self.get_table(path).partition_keys
        if not keys:
            raise self._not_partitioned(path)
        return keys

    def _key_of(self, path: ObjectPath, spec: CatalogPartitionSpec) -> _PartitionKey:
        """Return where a partition is kept.

        Raises
        ------
        PartitionNotExistException
            If it is not.
        """
        values = spec.get_partition_spec()
        table = self._tables.get(path)
        if table is not None and set(values) == set(table.partition_keys):
            key = (path, tuple((each, values[each]) for each in table.partition_keys))
            if key in self._partitions:
                return key
        raise self._no_partition(path, spec)

    # Functions

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of the functions of a database."""
        self._check_database(database_name)
        return [path.object_name for path in self._functions if path.database_name == database_name]

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """Return a function."""
        found = self._functions.get(_lower(function_path))
        if found is None:
            raise self._no_function(_lower(function_path))
        return found

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        """Add a function."""
        path = _lower(function_path)
        self._check_database(path.database_name)
        if path not in self._functions:
            self._functions[path] = function.copy()
        elif not ignore_if_exists:
            raise self._function_exists(path)

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        """Replace a function by another one."""
        path = _lower(function_path)
        if path in self._functions:
            self._functions[path] = new_function.copy()
        elif not ignore_if_not_exists:
            raise self._no_function(path)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function."""
        path = _lower(function_path)
        if path in self._functions:
            del self._functions[path]
        elif not ignore_if_not_exists:
            raise self._no_function(path)

    # Statistics; as Flink has it, a table with partitions has those of its partitions alone.

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return the statistics of a table; -1 for unknown figures."""
        self.get_table(table_path)
        return self._sizes.get((table_path, ()), unknown_statistics())

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return the column statistics of a table."""
        self.get_table(table_path)
        return self._columns.get((table_path, ()), CatalogColumnStatistics({}))

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        """Return the statistics of a partition; -1 for unknown figures."""
        return self._sizes.get(self._key_of(table_path, partition_spec), unknown_statistics())

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        """Return the column statistics of a partition."""
        key = self._key_of(table_path, partition_spec)
        return self._columns.get(key, CatalogColumnStatistics({}))

    def alter_table_statistics(
        self,
        table_path: ObjectPath,
        table_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the statistics of a table without partitions."""
        if self._takes_statistics(table_path, ignore_if_not_exists):
            self._sizes[table_path, ()] = table_statistics.copy()

    def alter_table_column_statistics(
        self,
        table_path: ObjectPath,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the column statistics of a table without partitions."""
        if self._takes_statistics(table_path, ignore_if_not_exists):
            self._columns[table_path, ()] = column_statistics.copy()

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the statistics of a partition."""
        try:
            self._sizes[self._key_of(table_path, partition_spec)] = partition_statistics.copy()
        except PartitionNotExistException:
            if not ignore_if_not_exists:
                raise

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the column statistics of a partition."""
        try:
            self._columns[self._key_of(table_path, partition_spec)] = column_statistics.copy()
        except PartitionNotExistException:
            if not ignore_if_not_exists:
                raise

    def _takes_statistics(self, path: ObjectPath, ignored: bool) -> bool:
        try:
            return not self.get_table(path).partition_keys
        except TableNotExistException:
            if ignored:
                return False
            raise


def _rename(kept: dict[_PartitionKey, Any], path: ObjectPath, new: ObjectPath | None) -> None:
    """Keep under a new path what is kept of a table, or forget it."""
    for key in [key for key in kept if key[0] == path]:
        value = kept.pop(key)
        if new is not None:
            kept[new, key[1]] = value


def _lower(path: ObjectPath) -> ObjectPath:
    return ObjectPath(path.database_name, path.object_name.lower())
