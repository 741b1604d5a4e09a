"""Tables, views and functions of a table environment by their names.

A name means an object of a catalog, or a temporary one: these are kept here, and hide what a
catalog has under the same name. They need neither the catalog nor the database of their name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflow.common.configuration import Configuration
from pyflow.table.catalogs.catalog import Catalog
from pyflow.table.catalogs.factory import catalog_of_options
from pyflow.table.catalogs.in_memory import GenericInMemoryCatalog
from pyflow.table.catalogs.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    ObjectIdentifier,
    ObjectPath,
    TableView,
)
from pyflow.util.exceptions import (
    CatalogException,
    JavaException,
    TableException,
    TableNotExistException,
)
from pyflow.util.identifiers import parsed_path, quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyflow.table.changes.relation import Relation
    from pyflow.table.schema import Schema
    from pyflow.table.table_descriptor import TableDescriptor

Path = tuple[str, str, str]


@dataclass(frozen=True)
class Entry:
    """A table or view of a name.

    Parameters
    ----------
    path
        Catalog, database and name.
    table
        What is kept under the name.
    temporary
        Whether it hides one of the catalog.
    """

    path: Path
    table: CatalogBaseTable
    temporary: bool

    @property
    def is_view(self) -> bool:
        """Whether it is a view."""
        return self.table.is_view

    @property
    def descriptor(self) -> TableDescriptor | None:
        """What a connector reads or writes; None for a view."""
        return None if self.is_view else self.table._descriptor

    @property
    def identifier(self) -> str:
        """The full name as errors show it."""
        return "'" + ".".join(self.path) + "'"

    @property
    def object_identifier(self) -> ObjectIdentifier:
        """The full name as programs get it."""
        return ObjectIdentifier.of(*self.path)


@dataclass(frozen=True)
class RegisteredFunction:
    """A function of a name.

    Parameters
    ----------
    function
        The function; None for one that only `described` tells of.
    described
        How a statement of SQL has named it; None for an object of the program.
    temporary, system
        Whether it hides one of a catalog, and whether its name holds in all of them.
    """

    function: Any
    described: CatalogFunction | None
    temporary: bool = True
    system: bool = False


class CatalogManager:
    """The catalogs of an environment, the current one of them, and the temporary objects.

    Parameters
    ----------
    catalog, database
        The catalog that there is from the start, in memory, and its database.
    session
        Of which other catalogs are made.
    """

    def __init__(self, catalog: str, database: str, session: SparkSession) -> None:
        self._catalogs: dict[str, Catalog] = {catalog: GenericInMemoryCatalog(catalog, database)}
        #: Those that a descriptor or a statement has made.
        self._descriptors: dict[str, CatalogDescriptor] = {}
        self._session = session
        self.catalog = catalog
        self.database = database
        self._temporary: dict[Path, CatalogBaseTable] = {}
        self._system_functions: dict[str, RegisteredFunction] = {}
        self._functions: dict[Path, RegisteredFunction] = {}

    # Catalogs and databases

    def catalogs(self) -> list[str]:
        """Return the names of the catalogs."""
        return sorted(self._catalogs)

    def catalog_or_none(self, name: str) -> Catalog | None:
        """Return the catalog of a name; None if there is none."""
        return self._catalogs.get(name)

    def catalog_named(self, name: str) -> Catalog:
        """Return the catalog of a name.

        Raises
        ------
        CatalogException
            If there is none.
        """
        if name not in self._catalogs:
            raise CatalogException(f"Catalog {name} does not exist.")
        return self._catalogs[name]

    def create_catalog(
        self, name: str, descriptor: CatalogDescriptor, ignore: bool = False
    ) -> None:
        """Add the catalog that a descriptor describes."""
        if name in self._catalogs and ignore:
            return
        self._check_new(name)
        self._catalogs[name] = self._made(name, descriptor)
        self._descriptors[name] = descriptor

    def register_catalog(self, name: str, catalog: Catalog) -> None:
        """Add a catalog."""
        self._check_new(name)
        self._catalogs[name] = catalog

    def _check_new(self, name: str) -> None:
        if not name:
            raise CatalogException("Catalog name cannot be null or empty.")
        if name in self._catalogs:
            raise CatalogException(f"Catalog {name} already exists.")

    def _made(self, name: str, descriptor: CatalogDescriptor) -> Catalog:
        return catalog_of_options(name, descriptor.configuration.to_dict(), self._session)

    def drop_catalog(self, name: str, ignore: bool) -> None:
        """Forget a catalog, but nothing that it holds outside of the program."""
        if name not in self._catalogs and ignore:
            return
        self.catalog_named(name)
        if name == self.catalog:
            raise CatalogException("Cannot drop a catalog which is currently in use.")
        del self._catalogs[name]
        self._descriptors.pop(name, None)

    def descriptor_of(self, name: str) -> CatalogDescriptor:
        """Return how a catalog was made.

        Raises
        ------
        TableException
            If there is none, or it was there from the start or is an object of the program.
        """
        if name not in self._descriptors:
            raise TableException(f"Cannot obtain metadata information from Catalog {name}.")
        return self._descriptors[name]

    def alter_catalog(
        self, name: str, options: dict[str, str], dropped: list[str], comment: str | None
    ) -> None:
        """Change how a catalog was made; with other options it is made anew, as in Flink."""
        if name not in self._descriptors:
            raise CatalogException(f"Catalog {name} does not exist in the catalog store.")
        before = self._descriptors[name]
        changed = {**before.configuration.to_dict(), **options}
        for key in dropped:
            changed.pop(key, None)
        descriptor = CatalogDescriptor.of(
            name, Configuration.from_dict(changed), before.comment if comment is None else comment
        )
        if changed != before.configuration.to_dict():
            self._catalogs[name] = self._made(name, descriptor)
        self._descriptors[name] = descriptor

    def use_catalog(self, name: str) -> None:
        """Make a catalog the current one, and its default database the current one."""
        if name not in self._catalogs:
            raise CatalogException(f"A catalog with name [{name}] does not exist.")
        if name != self.catalog:
            self.catalog = name
            self.database = self._catalogs[name].get_default_database()

    def use_database(self, name: str) -> None:
        """Make a database of the current catalog the current one."""
        if not self._catalogs[self.catalog].database_exists(name):
            raise CatalogException(
                f"A database with name [{name}] does not exist in the catalog: [{self.catalog}]."
            )
        self.database = name

    @contextmanager
    def within(self, catalog: str, database: str) -> Iterator[None]:
        """Take names as they are meant in a catalog and database."""
        before = self.catalog, self.database
        self.catalog, self.database = catalog, database
        try:
            yield
        finally:
            self.catalog, self.database = before

    def databases(self, catalog: str | None = None) -> list[str]:
        """Return the names of the databases of a catalog, by default of the current one."""
        return sorted(self.catalog_named(catalog or self.catalog).list_databases())

    def create_database(
        self, catalog: str, name: str, database: CatalogDatabase, ignore: bool
    ) -> None:
        """Add a database."""
        with _table_errors():
            self.catalog_named(catalog).create_database(name, database, ignore)

    def alter_database(self, catalog: str, name: str, database: CatalogDatabase) -> None:
        """Change the properties of a database."""
        with _table_errors():
            self.catalog_named(catalog).alter_database(name, database, False)

    def drop_database(self, catalog: str, name: str, ignore: bool, cascade: bool) -> None:
        """Remove a database."""
        if (catalog, name) == (self.catalog, self.database):
            raise TableException("Cannot drop a database which is currently in use.")
        with _table_errors():
            self.catalog_named(catalog).drop_database(name, ignore, cascade)

    # Tables and views

    def qualified(self, path: str) -> Path:
        """Return a name with catalog and database."""
        parts = parsed_path(path)
        missing = (self.catalog, self.database)[: 3 - len(parts)]
        return (*missing, *parts)  # type: ignore[return-value]

    def place(self, path: str) -> tuple[Catalog, ObjectPath]:
        """Return the catalog of a name and the name in it."""
        catalog, database, name = self.qualified(path)
        return self.catalog_named(catalog), ObjectPath(database, name)

    def add_table(
        self, path: str, descriptor: TableDescriptor, temporary: bool, ignore: bool
    ) -> bool:
        """Keep what describes a table; return whether it is kept, not ignored."""
        if descriptor.get_schema() is None:
            raise TableException(f"The descriptor of table {path!r} has no schema.")
        return self.add(path, CatalogBaseTable._of_descriptor(descriptor), temporary, ignore)

    def add_view(
        self, path: str, schema: Schema, relation: Relation, temporary: bool, ignore: bool = False
    ) -> None:
        """Keep a table of the program under a name."""
        self.add(path, TableView(schema, relation=relation), temporary, ignore)

    def add(self, path: str, table: CatalogBaseTable, temporary: bool, ignore: bool) -> bool:
        """Keep a table or view; return whether it is kept, not ignored."""
        qualified = self.qualified(path)
        if temporary:
            there = qualified in self._temporary
            if there and not ignore:
                raise TableException(f"Temporary table '{_serialized(qualified)}' already exists")
            if not there:
                self._temporary[qualified] = table
            return not there
        catalog, place = self.place(path)
        with _table_errors():
            if ignore and catalog.table_exists(place):
                return False
            catalog.create_table(place, table, False)
        return True

    def find(self, path: str) -> Entry:
        """Return the table or view of a name; a temporary one hides one of the catalog.

        Raises
        ------
        TableException
            If there is none.
        """
        entry = self.find_or_none(path)
        if entry is None:
            raise TableException(
                f"Table '{'.'.join(self.qualified(path))}' was not found. "
                f"Tables here are: {', '.join(self.names()) or 'none'}."
            )
        return entry

    def find_or_none(self, path: str) -> Entry | None:
        """Return the table or view of a name; None if there is none."""
        qualified = self.qualified(path)
        if qualified in self._temporary:
            return Entry(qualified, self._temporary[qualified], True)
        return self.permanent(path)

    def permanent(self, path: str) -> Entry | None:
        """Return the table or view that a catalog has under a name; None if there is none."""
        qualified = self.qualified(path)
        catalog = self._catalogs.get(qualified[0])
        if catalog is None:
            return None
        try:
            return Entry(qualified, catalog.get_table(ObjectPath(*qualified[1:])), False)
        except TableNotExistException:
            return None

    def drop_temporary(self, path: str, view: bool) -> bool:
        """Drop a temporary table or view; return whether there was one."""
        qualified = self.qualified(path)
        found = self._temporary.get(qualified)
        if found is None or found.is_view != view:
            return False
        del self._temporary[qualified]
        return True

    def drop_permanent(self, path: str, view: bool, ignore: bool) -> bool:
        """Drop a table or view of a catalog; without one, raise unless that is ignored."""
        kind = "View" if view else "Table"
        qualified = self.qualified(path)
        hiding = self._temporary.get(qualified)
        if hiding is not None and hiding.is_view == view:
            raise TableException(
                f"Temporary {kind.lower()} with identifier '{_serialized(qualified)}' exists. Drop "
                f"it first before removing the permanent {kind.lower()}."
            )
        found = self.permanent(path)
        if found is not None and found.is_view == view:
            catalog, place = self.place(path)
            with _table_errors():
                catalog.drop_table(place, False)
            return True
        if ignore:
            return False
        raise TableException(f"{kind} with identifier '{'.'.join(qualified)}' does not exist.")

    def to_alter(self, path: str, view: bool, ignore: bool) -> Entry | None:
        """Return the table or view that a catalog has under a name, to be changed.

        Raises
        ------
        TableException
            If there is none and that is not ignored, it is of the other kind, or a temporary one
            hides it.
        """
        kind, other = ("View", "table") if view else ("Table", "view")
        qualified = self.qualified(path)
        found = None if qualified in self._temporary else self.permanent(path)
        if found is None:
            if ignore:
                return None
            raise TableException(
                f"{kind} {_serialized(qualified)} doesn't exist or is a temporary {kind.lower()}."
            )
        if found.is_view != view:
            raise TableException(f"ALTER {kind.upper()} for a {other} is not allowed")
        return found

    def alter(
        self, path: str, table: CatalogBaseTable, renamed_columns: dict[str, str] | None = None
    ) -> None:
        """Replace a table or view of a catalog by another one."""
        catalog, place = self.place(path)
        with _table_errors():
            if renamed_columns:
                catalog.alter_table(place, table, False, renamed_columns)
            else:
                catalog.alter_table(place, table, False)

    def rename(self, path: str, new_path: str) -> None:
        """Rename a table or view of a catalog within its database.

        Raises
        ------
        TableException
            If the new name is in another catalog or database, or taken.
        """
        catalog, place = self.place(path)
        old, new = self.qualified(path), self.qualified(new_path)
        if old[:2] != new[:2]:
            raise TableException(
                f"{_serialized(old)} stays in its catalog and database: {_serialized(new)} is in "
                "another. CREATE TABLE ... AS makes a copy there"
            )
        with _table_errors():
            catalog.rename_table(place, new[2], False)

    def names(
        self,
        view: bool | None = None,
        temporary: bool | None = None,
        place: tuple[str, str] | None = None,
    ) -> list[str]:
        """Return the names of tables and views of a database, of all kinds or some, each once.

        Parameters
        ----------
        view, temporary
            Which; None for all.
        place
            Catalog and database; the current ones by default.
        """
        here = place or (self.catalog, self.database)
        found = {
            path[2]
            for path, table in self._temporary.items()
            if path[:2] == here and (view is None or table.is_view == view)
        }
        if temporary is None:
            catalog = self.catalog_named(here[0])
            listed = catalog.list_views if view else catalog.list_tables
            found |= set(listed(here[1]))
        return sorted(found)

    # Functions

    def add_system_function(
        self, name: str, function: Any, described: CatalogFunction | None = None
    ) -> None:
        """Keep a function under a name that holds everywhere."""
        if name.lower() in self._system_functions:
            raise TableException(
                f"Could not register temporary system function. A function named '{name}' does "
                "already exist."
            )
        self._system_functions[name.lower()] = RegisteredFunction(function, described, system=True)

    def drop_system_function(self, name: str) -> bool:
        """Drop a temporary system function; return whether there was one."""
        return self._system_functions.pop(name.lower(), None) is not None

    def add_function(
        self, path: str, function: Any, described: CatalogFunction | None = None
    ) -> None:
        """Keep a temporary function under a name of a catalog."""
        key = self._function_path(path)
        if key in self._functions:
            raise TableException(
                f"Could not register temporary catalog function. A function '{'.'.join(key)}' "
                "does already exist."
            )
        self._functions[key] = RegisteredFunction(function, described)

    def drop_temporary_function(self, path: str) -> bool:
        """Drop a temporary function; return whether there was one."""
        return self._functions.pop(self._function_path(path), None) is not None

    def has_function(self, path: str, system: bool) -> bool:
        """Return whether there is a temporary function of a name, everywhere or in a catalog."""
        if system:
            return path.lower() in self._system_functions
        return self._function_path(path) in self._functions

    def create_function(self, path: str, function: CatalogFunction, ignore: bool) -> None:
        """Add a function to a catalog."""
        catalog, place = self.place(path)
        with _table_errors():
            catalog.create_function(place, function, ignore)

    def alter_function(self, path: str, function: CatalogFunction, ignore: bool) -> None:
        """Replace a function of a catalog by another one."""
        catalog, place = self.place(path)
        with _table_errors():
            catalog.alter_function(place, function, ignore)

    def drop_function(self, path: str, ignore: bool) -> bool:
        """Drop a function of a catalog; return whether there was one."""
        catalog, place = self.place(path)
        with _table_errors():
            found = catalog.function_exists(place)
            catalog.drop_function(place, ignore)
        return found

    def system_function(self, name: str) -> RegisteredFunction | None:
        """Return the temporary function that a name means everywhere; None if it means none."""
        return self._system_functions.get(name.lower())

    def function(self, path: str) -> RegisteredFunction | None:
        """Return the registered function that a name means; None if it means none.

        A built-in function is meant before one of a catalog, unless a database is named.
        """
        from pyflow.table.functions.names import is_built_in

        system = self.system_function(path)
        if system is not None:
            return system
        if is_built_in(path):
            return None
        key = self._function_path(path)
        if key in self._functions:
            return self._functions[key]
        catalog, place = self._catalogs.get(key[0]), ObjectPath(*key[1:])
        if catalog is None or not catalog.function_exists(place):
            return None
        return RegisteredFunction(None, catalog.get_function(place), temporary=False)

    def function_names(self, place: tuple[str, str] | None = None) -> list[str]:
        """Return the names of all functions of a database, and of those that hold everywhere."""
        here = place or (self.catalog, self.database)
        names = {*self._system_functions}
        names |= {path[2] for path in self._functions if path[:2] == here}
        catalog = self.catalog_named(here[0])
        if catalog.database_exists(here[1]):
            names |= set(catalog.list_functions(here[1]))
        return sorted(names)

    def _function_path(self, path: str) -> Path:
        catalog, database, name = self.qualified(path)
        return catalog, database, name.lower()


@contextmanager
def _table_errors() -> Iterator[None]:
    """Raise errors of catalogs as statements and table environments do."""
    try:
        yield
    except (TableException, CatalogException):
        raise
    except JavaException as error:
        raise TableException(str(error)) from error


def _serialized(path: Path) -> str:
    return ".".join(map(quoted, path))
