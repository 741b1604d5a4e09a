"""What every catalog has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pyflow.table.catalogs.objects import CatalogColumnStatistics, CatalogTableStatistics
from pyflow.util.exceptions import (
    CatalogException,
    DatabaseAlreadyExistException,
    DatabaseNotEmptyException,
    DatabaseNotExistException,
    FunctionAlreadyExistException,
    FunctionNotExistException,
    ModelNotExistException,
    PartitionAlreadyExistsException,
    PartitionNotExistException,
    PartitionSpecInvalidException,
    TableAlreadyExistException,
    TableNotExistException,
    TableNotPartitionedException,
)
from pyflow.util.unsupported import unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyflow.table.catalogs.objects import (
        CatalogBaseTable,
        CatalogDatabase,
        CatalogFunction,
        CatalogModel,
        CatalogPartition,
        CatalogPartitionSpec,
        ObjectPath,
    )

_MODELS = "there are no models here; call one from a function"
_PROCEDURES = "there are no procedures here; call the program's own functions"
_UNKNOWN = -1


class Catalog:
    """Databases with their tables, views and functions.

    A program gets one from :meth:`TableEnvironment.get_catalog`. A class of its own inherits from
    this one, and is given to :meth:`TableEnvironment.register_catalog`; what it does not override
    raises an error that says so.

    Parameters
    ----------
    name : str
        How errors call it.
    default_database : str
        The database that is the current one after ``USE CATALOG``.
    """

    def __init__(self, name: str, default_database: str) -> None:
        self._name = name
        self._default_database = default_database

    # Databases

    def get_default_database(self) -> str:
        """Return the name of the database that is the current one after ``USE CATALOG``."""
        return self._default_database

    def list_databases(self) -> list[str]:
        """Return the names of the databases."""
        self._not_implemented("list_databases")

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database.

        Raises
        ------
        DatabaseNotExistException
            If there is none of the name.
        """
        self._not_implemented("get_database")

    def database_exists(self, database_name: str) -> bool:
        """Return whether there is a database of the name."""
        try:
            self.get_database(database_name)
        except DatabaseNotExistException:
            return False
        return True

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database.

        Raises
        ------
        DatabaseAlreadyExistException
            If there is one of the name and `ignore_if_exists` is false.
        """
        self._not_implemented("create_database")

    def drop_database(self, name: str, ignore_if_exists: bool, cascade: bool = False) -> None:
        """Remove a database.

        Parameters
        ----------
        name : str
            Its name.
        ignore_if_exists : bool
            Whether nothing is done where there is none. The name is PyFlink's.
        cascade : bool
            Whether its tables and functions are removed with it.

        Raises
        ------
        DatabaseNotExistException
            If there is none of the name and that is not ignored.
        DatabaseNotEmptyException
            If it holds something and `cascade` is false.
        """
        self._not_implemented("drop_database")

    def alter_database(
        self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool
    ) -> None:
        """Change the properties and the comment of a database.

        Raises
        ------
        DatabaseNotExistException
            If there is none of the name and `ignore_if_not_exists` is false.
        """
        self._not_implemented("alter_database")

    # Tables and views

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of the tables and views of a database.

        Raises
        ------
        DatabaseNotExistException
            If there is no such database.
        """
        self._not_implemented("list_tables")

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of the views of a database.

        Raises
        ------
        DatabaseNotExistException
            If there is no such database.
        """
        self._not_implemented("list_views")

    def list_materialized_tables(self, database_name: str) -> list[str]:
        """Return the names of the materialized tables of a database: none.

        Raises
        ------
        DatabaseNotExistException
            If there is no such database.
        """
        self._check_database(database_name)
        return []

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table or view.

        Raises
        ------
        TableNotExistException
            If there is none of the name.
        """
        self._not_implemented("get_table")

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table or view of the name."""
        try:
            self.get_table(table_path)
        except TableNotExistException:
            return False
        return True

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or view.

        Raises
        ------
        TableNotExistException
            If there is none of the name and `ignore_if_not_exists` is false.
        """
        self._not_implemented("drop_table")

    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> None:
        """Rename a table or view within its database.

        Raises
        ------
        TableNotExistException
            If there is none of the name and `ignore_if_not_exists` is false.
        TableAlreadyExistException
            If there is one of the new name.
        """
        self._not_implemented("rename_table")

    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        """Add a table or view.

        Raises
        ------
        DatabaseNotExistException
            If there is no such database.
        TableAlreadyExistException
            If there is one of the name and `ignore_if_exists` is false.
        """
        self._not_implemented("create_table")

    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: CatalogBaseTable,
        ignore_if_not_exists: bool,
        renamed_columns: dict[str, str] | None = None,
    ) -> None:
        """Replace a table or view by another one.

        Parameters
        ----------
        table_path : ObjectPath
            Which.
        new_table : CatalogBaseTable
            What it becomes: a table of a table, a view of a view.
        ignore_if_not_exists : bool
            Whether nothing is done where there is none.
        renamed_columns : dict, optional
            New names of columns by their old ones; other columns that differ are dropped and
            added.

        Raises
        ------
        TableNotExistException
            If there is none of the name and that is not ignored.
        CatalogException
            If the one is a table and the other a view.
        """
        self._not_implemented("alter_table")

    # Partitions

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        """Return the partitions of a table, or those with some values.

        Raises
        ------
        TableNotExistException
            If there is no such table.
        TableNotPartitionedException
            If the table has no partitions.
        """
        self._not_implemented("list_partitions")

    def get_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogPartition:
        """Return a partition.

        Raises
        ------
        PartitionNotExistException
            If there is none of these values, or no such table.
        """
        self._not_implemented("get_partition")

    def partition_exists(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> bool:
        """Return whether a table has a partition of these values."""
        try:
            self.get_partition(table_path, partition_spec)
        except PartitionNotExistException:
            return False
        return True

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Add a partition to a table.

        Raises
        ------
        TableNotExistException, TableNotPartitionedException
            If there is no such table with partitions.
        PartitionSpecInvalidException
            If the values are not those of all columns by which it is partitioned.
        PartitionAlreadyExistsException
            If there is one and `ignore_if_exists` is false.
        """
        self._not_implemented("create_partition")

    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ) -> None:
        """Remove a partition from a table.

        Raises
        ------
        PartitionNotExistException
            If there is none and `ignore_if_not_exists` is false.
        """
        self._not_implemented("drop_partition")

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ) -> None:
        """Change the properties of a partition.

        Raises
        ------
        PartitionNotExistException
            If there is none and `ignore_if_not_exists` is false.
        """
        self._not_implemented("alter_partition")

    # Functions

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of the functions of a database.

        Raises
        ------
        DatabaseNotExistException
            If there is no such database.
        """
        self._check_database(database_name)
        return []

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """Return a function.

        Raises
        ------
        FunctionNotExistException
            If there is none of the name.
        """
        raise self._no_function(function_path)

    def function_exists(self, function_path: ObjectPath) -> bool:
        """Return whether there is a function of the name."""
        try:
            self.get_function(function_path)
        except FunctionNotExistException:
            return False
        return True

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        """Add a function.

        Raises
        ------
        DatabaseNotExistException
            If there is no such database.
        FunctionAlreadyExistException
            If there is one of the name and `ignore_if_exists` is false.
        """
        self._not_implemented("create_function")

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        """Replace a function by another one.

        Raises
        ------
        FunctionNotExistException
            If there is none of the name and `ignore_if_not_exists` is false.
        """
        if not ignore_if_not_exists:
            raise self._no_function(function_path)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function.

        Raises
        ------
        FunctionNotExistException
            If there is none of the name and `ignore_if_not_exists` is false.
        """
        if not ignore_if_not_exists:
            raise self._no_function(function_path)

    # Procedures and models

    @unsupported(_PROCEDURES)
    def list_procedures(self, database_name: str) -> Any:
        """Return the names of the procedures of a database."""

    @unsupported(_PROCEDURES)
    def get_procedure(self, procedure_path: ObjectPath) -> Any:
        """Return a procedure."""

    def list_models(self, database_name: str) -> list[str]:
        """Return the names of the models of a database: none.

        Raises
        ------
        DatabaseNotExistException
            If there is no such database.
        """
        self._check_database(database_name)
        return []

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        """Return a model.

        Raises
        ------
        ModelNotExistException
            Always: there are none.
        """
        raise self._no_model(model_path)

    def model_exists(self, model_path: ObjectPath) -> bool:
        """Return whether there is a model of the name: no."""
        return False

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a model.

        Raises
        ------
        ModelNotExistException
            If `ignore_if_not_exists` is false: there are none.
        """
        if not ignore_if_not_exists:
            raise self._no_model(model_path)

    @unsupported(_MODELS)
    def rename_model(
        self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool
    ) -> None:
        """Rename a model."""

    @unsupported(_MODELS)
    def create_model(
        self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool
    ) -> None:
        """Add a model."""

    @unsupported(_MODELS)
    def alter_model(
        self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists: bool
    ) -> None:
        """Replace a model by another one."""

    # Statistics

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return the statistics of a table; -1 for unknown figures.

        Raises
        ------
        TableNotExistException
            If there is no such table.
        """
        self.get_table(table_path)
        return unknown_statistics()

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return the column statistics of a table.

        Raises
        ------
        TableNotExistException
            If there is no such table.
        """
        self.get_table(table_path)
        return CatalogColumnStatistics({})

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        """Return the statistics of a partition; -1 for unknown figures.

        Raises
        ------
        PartitionNotExistException
            If there is no such partition.
        """
        self.get_partition(table_path, partition_spec)
        return unknown_statistics()

    def bulk_get_partition_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogTableStatistics]:
        """Return the statistics of partitions, as :meth:`get_partition_statistics` does."""
        return [self.get_partition_statistics(table_path, each) for each in partition_specs]

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        """Return the column statistics of a partition.

        Raises
        ------
        PartitionNotExistException
            If there is no such partition.
        """
        self.get_partition(table_path, partition_spec)
        return CatalogColumnStatistics({})

    def bulk_get_partition_column_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogColumnStatistics]:
        """Return column statistics, as :meth:`get_partition_column_statistics` does."""
        return [self.get_partition_column_statistics(table_path, each) for each in partition_specs]

    def alter_table_statistics(
        self,
        table_path: ObjectPath,
        table_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the statistics of a table.

        Raises
        ------
        TableNotExistException
            If there is no such table and `ignore_if_not_exists` is false.
        """
        self._not_implemented("alter_table_statistics")

    def alter_table_column_statistics(
        self,
        table_path: ObjectPath,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the column statistics of a table.

        Raises
        ------
        TableNotExistException
            If there is no such table and `ignore_if_not_exists` is false.
        """
        self._not_implemented("alter_table_column_statistics")

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the statistics of a partition.

        Raises
        ------
        PartitionNotExistException
            If there is no such partition and `ignore_if_not_exists` is false.
        """
        self._not_implemented("alter_partition_statistics")

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the column statistics of a partition.

        Raises
        ------
        PartitionNotExistException
            If there is no such partition and `ignore_if_not_exists` is false.
        """
        self._not_implemented("alter_partition_column_statistics")

    # What the kinds of catalogs raise.

    def _check_database(self, name: str) -> None:
        if not self.database_exists(name):
            raise self._no_database(name)

    def _not_implemented(self, method: str) -> NoReturn:
        raise CatalogException(f"{method} is not implemented for class {type(self).__name__}.")

    def _no_database(self, name: str) -> DatabaseNotExistException:
        return DatabaseNotExistException(f"Database {name} does not exist in Catalog {self._name}.")

    def _database_exists(self, name: str) -> DatabaseAlreadyExistException:
        return DatabaseAlreadyExistException(
            f"Database {name} already exists in Catalog {self._name}."
        )

    def _not_empty(self, name: str) -> DatabaseNotEmptyException:
        return DatabaseNotEmptyException(f"Database {name} in catalog {self._name} is not empty.")

    def _no_table(self, path: ObjectPath) -> TableNotExistException:
        return TableNotExistException(
            f"Table (or view) {path} does not exist in Catalog {self._name}."
        )

    def _table_exists(self, path: ObjectPath) -> TableAlreadyExistException:
        return TableAlreadyExistException(
            f"Table (or view) {path} already exists in Catalog {self._name}."
        )

    def _no_function(self, path: ObjectPath) -> FunctionNotExistException:
        return FunctionNotExistException(f"Function {path} does not exist in Catalog {self._name}.")

    def _function_exists(self, path: ObjectPath) -> FunctionAlreadyExistException:
        return FunctionAlreadyExistException(
            f"Function {path} already exists in Catalog {self._name}."
        )

    def _no_model(self, path: ObjectPath) -> ModelNotExistException:
        place = ".".join(f"`{part}`" for part in (self._name, *path.get_full_name().split(".")))
        return ModelNotExistException(f"Model '{place}' does not exist.")

    def _not_partitioned(self, path: ObjectPath) -> TableNotPartitionedException:
        return TableNotPartitionedException(
            f"Table {path} in catalog {self._name} is not partitioned."
        )

    def _no_partition(self, path: ObjectPath, spec: Any) -> PartitionNotExistException:
        return PartitionNotExistException(
            f"Partition {spec} of table {path} in catalog {self._name} does not exist."
        )

    def _partition_exists(self, path: ObjectPath, spec: Any) -> PartitionAlreadyExistsException:
        return PartitionAlreadyExistsException(
            f"Partition {spec} of table {path} in catalog {self._name} already exists."
        )

    def _wrong_partition(
        self, path: ObjectPath, spec: Any, keys: Iterable[str]
    ) -> PartitionSpecInvalidException:
        return PartitionSpecInvalidException(
            f"PartitionSpec {spec} does not match partition keys [{', '.join(keys)}] of table "
            f"{path} in catalog {self._name}."
        )


def unknown_statistics() -> CatalogTableStatistics:
    """Return statistics with unknown figures only."""
    return CatalogTableStatistics(_UNKNOWN, _UNKNOWN, _UNKNOWN, _UNKNOWN)


def check_kinds(old: CatalogBaseTable, new: CatalogBaseTable) -> None:
    """Raise unless a table replaces a table, or a view replaces a view."""
    if old.is_view != new.is_view:
        kinds = ["VIEW" if each.is_view else "TABLE" for each in (old, new)]
        raise CatalogException(
            f"Table types don't match. Existing table is '{kinds[0]}' and new table is "
            f"'{kinds[1]}'."
        )


def in_spec(values: dict[str, str], spec: CatalogPartitionSpec | None) -> bool:
    """Return whether the values of a partition have those of a specification among them."""
    wanted: Sequence[tuple[str, str]] = [] if spec is None else [*spec.get_partition_spec().items()]
    return all(values.get(key) == value for key, value in wanted)
