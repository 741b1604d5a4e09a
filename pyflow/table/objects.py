"""Tables, views and functions of a table environment by their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflow.table.catalog import ObjectIdentifier
from pyflow.util.exceptions import CatalogException, TableException

if TYPE_CHECKING:
    from pyflow.table.table import Table
    from pyflow.table.table_descriptor import TableDescriptor

Path = tuple[str, str, str]


@dataclass(frozen=True)
class Entry:
    """A table or view of a name.

    Parameters
    ----------
    path
        Catalog, database and name.
    content
        The table of a view, or what describes a table.
    temporary
        Whether it hides one of the catalog.
    """

    path: Path
    content: Table | TableDescriptor
    temporary: bool

    @property
    def is_view(self) -> bool:
        """Whether it is a view."""
        from pyflow.table.table import Table

        return isinstance(self.content, Table)

    @property
    def identifier(self) -> str:
        """The full name as errors show it."""
        return "'" + ".".join(self.path) + "'"

    @property
    def object_identifier(self) -> ObjectIdentifier:
        """The full name as programs get it."""
        return ObjectIdentifier.of(*self.path)


class Objects:
    """The catalog of an environment: one database, in memory."""

    def __init__(self, catalog: str, database: str) -> None:
        self.catalog = catalog
        self.database = database
        self._entries: dict[tuple[Path, bool], Entry] = {}
        self._system_functions: dict[str, Any] = {}
        self._functions: dict[Path, Any] = {}

    def catalogs(self) -> list[str]:
        """Return the names of the catalogs."""
        return [self.catalog]

    def databases(self) -> list[str]:
        """Return the names of the databases."""
        return [self.database]

    def use_catalog(self, name: str) -> None:
        """Make a catalog the current one; there is one."""
        if name != self.catalog:
            raise CatalogException(f"A catalog with name [{name}] does not exist.")

    def use_database(self, name: str) -> None:
        """Make a database the current one; there is one."""
        if name != self.database:
            raise CatalogException(
                f"A database with name [{name}] does not exist in the catalog: [{self.catalog}]."
            )

    def qualified(self, path: str) -> Path:
        """Return a name with catalog and database."""
        parts = parsed_path(path)
        missing = (self.catalog, self.database)[: 3 - len(parts)]
        return (*missing, *parts)  # type: ignore[return-value]

    def add_table(
        self, path: str, descriptor: TableDescriptor, temporary: bool, ignore: bool
    ) -> None:
        """Keep what describes a table."""
        if descriptor.get_schema() is None:
            raise TableException(f"The descriptor of table {path!r} has no schema.")
        self._add(path, descriptor, temporary, ignore, "table")

    def add_view(self, path: str, table: Table, temporary: bool, ignore: bool = False) -> None:
        """Keep a table under a name."""
        self._add(path, table, temporary, ignore, "view")

    def _add(self, path: str, content: Any, temporary: bool, ignore: bool, kind: str) -> None:
        qualified = self.qualified(path)
        self._check_place(qualified)
        if (qualified, temporary) in self._entries:
            if ignore:
                return
            what = f"Temporary {kind}" if temporary else kind.capitalize()
            raise TableException(f"{what} '{'.'.join(qualified)}' already exists.")
        self._entries[qualified, temporary] = Entry(qualified, content, temporary)

    def _check_place(self, path: Path) -> None:
        if path[0] != self.catalog:
            raise CatalogException(f"Catalog {path[0]} does not exist.")
        if path[1] != self.database:
            raise CatalogException(f"Database {path[1]} does not exist in Catalog {path[0]}.")

    def find(self, path: str) -> Entry:
        """Return the table or view of a name; a temporary one hides one of the catalog."""
        qualified = self.qualified(path)
        for temporary in (True, False):
            if (qualified, temporary) in self._entries:
                return self._entries[qualified, temporary]
        raise TableException(
            f"Table '{'.'.join(qualified)}' was not found. "
            f"Tables here are: {', '.join(self.names()) or 'none'}."
        )

    def drop(self, path: str, view: bool, temporary: bool) -> bool:
        """Forget a table or view; return whether there was one."""
        key = (self.qualified(path), temporary)
        entry = self._entries.get(key)
        if entry is None or entry.is_view != view:
            return False
        del self._entries[key]
        return True

    def drop_permanent(self, path: str, view: bool, ignore: bool) -> bool:
        """Forget a table or view of the catalog; without one, raise unless that is ignored."""
        kind = "View" if view else "Table"
        qualified = self.qualified(path)
        hidden = self._entries.get((qualified, True))
        if hidden is not None and hidden.is_view == view:
            raise TableException(
                f"Temporary {kind.lower()} {hidden.identifier} hides the one of the catalog. "
                f"Drop it first, with drop_temporary_{kind.lower()}()."
            )
        if self.drop(path, view, temporary=False):
            return True
        if ignore:
            return False
        raise TableException(f"{kind} with identifier '{'.'.join(qualified)}' does not exist.")

    def names(self, view: bool | None = None, temporary: bool | None = None) -> list[str]:
        """Return the names of tables and views, of all kinds or some, each once."""
        found = {
            entry.path[2]
            for entry in self._entries.values()
            if (view is None or entry.is_view == view)
            and (temporary is None or entry.temporary == temporary)
        }
        return sorted(found)

    def add_system_function(self, name: str, function: Any) -> None:
        """Keep a function under a name that holds everywhere."""
        if name.lower() in self._system_functions:
            raise TableException(
                f"Could not register temporary system function. A function named '{name}' does "
                "already exist."
            )
        self._system_functions[name.lower()] = function

    def drop_system_function(self, name: str) -> bool:
        """Forget a function; return whether there was one."""
        return self._system_functions.pop(name.lower(), None) is not None

    def add_function(self, path: str, function: Any) -> None:
        """Keep a function under a name of the catalog."""
        key = self._function_path(path)
        if key in self._functions:
            raise TableException(
                f"Could not register temporary catalog function. A function '{'.'.join(key)}' "
                "does already exist."
            )
        self._functions[key] = function

    def drop_function(self, path: str) -> bool:
        """Forget a function; return whether there was one."""
        return self._functions.pop(self._function_path(path), None) is not None

    def has_function(self, path: str, system: bool) -> bool:
        """Return whether a function is kept under a name that holds everywhere, or in a catalog."""
        if system:
            return path.lower() in self._system_functions
        return self._function_path(path) in self._functions

    def function(self, path: str) -> Any:
        """Return the registered function that a name means; None if it means none.

        A built-in function is meant before one of the catalog, unless the catalog is named.
        """
        from pyflow.table.planner.functions import built_in_of_sql

        system = self._system_functions.get(path.lower())
        if system is not None:
            return system
        if built_in_of_sql(path) is not None:
            return None
        return self._functions.get(self._function_path(path))

    def function_names(self) -> list[str]:
        """Return the names of all functions."""
        return sorted({*self._system_functions, *(path[2] for path in self._functions)})

    def _function_path(self, path: str) -> Path:
        catalog, database, name = self.qualified(path)
        return catalog, database, name.lower()


def parsed_path(path: str) -> list[str]:
    """Return the parts of a name: up to three, between dots, in backquotes where needed.

    Raises
    ------
    TableException
        If the text is none.
    """
    parts: list[str] = []
    rest = path
    while True:
        if rest.startswith("`"):
            part, rest = _backquoted(path, rest)
        else:
            part, dot, after = rest.partition(".")
            rest = dot + after
            part = part.strip()
        if not part:
            break
        parts.append(part)
        if not rest:
            if len(parts) > 3:
                break
            return parts
        if not rest.startswith("."):
            break
        rest = rest[1:]
    raise TableException(
        f"{path!r} is no name of a table or function: expected up to three parts between dots, "
        "in backquotes where they hold other than letters, digits and underscores"
    )


def _backquoted(path: str, rest: str) -> tuple[str, str]:
    name = ""
    place = 1
    while place < len(rest):
        if rest[place] != "`":
            name += rest[place]
            place += 1
        elif rest[place + 1 : place + 2] == "`":
            name += "`"
            place += 2
        else:
            return name, rest[place + 1 :]
    raise TableException(f"{path!r} is no name: a backquote is not closed")
