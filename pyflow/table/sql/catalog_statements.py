"""CREATE, ALTER, DROP and USE of catalogs and databases."""

from __future__ import annotations

from sqlglot import exp

from pyflow.common.configuration import Configuration
from pyflow.table.catalogs.objects import CatalogDatabase, CatalogDescriptor
from pyflow.table.sql import tree
from pyflow.table.sql.execution import Execution, options_of, parts_of
from pyflow.table.sql.handlers import runs


class CatalogStatements(Execution):
    """Statements about catalogs and databases."""

    @runs(tree.CreateCatalog)
    def _create_catalog(self, statement: tree.CreateCatalog) -> None:
        name, comment = statement.this.name, statement.args.get("comment")
        descriptor = CatalogDescriptor.of(
            name,
            Configuration.from_dict(options_of(statement)),
            None if comment is None else comment.name,
        )
        self._objects.create_catalog(name, descriptor, bool(statement.args.get("exists")))

    @runs(tree.AlterCatalog)
    def _alter_catalog(self, statement: tree.AlterCatalog) -> None:
        reset = [key.name for key in statement.args.get("reset") or ()]
        if "type" in reset:
            self._refuse(statement, "ALTER CATALOG RESET does not support changing 'type'")
        comment = statement.args.get("comment")
        self._objects.alter_catalog(
            statement.this.name,
            options_of(statement),
            reset,
            None if comment is None else comment.name,
        )

    @runs(tree.Drop, "CATALOG")
    def _drop_catalog(self, statement: tree.Drop) -> None:
        [name] = self._parts(statement.this, 1, "a catalog")
        self._objects.drop_catalog(name, bool(statement.args.get("exists")))

    @runs(tree.CreateDatabase)
    def _create_database(self, statement: tree.CreateDatabase) -> None:
        comment = statement.args.get("comment")
        database = CatalogDatabase.create_instance(
            options_of(statement), None if comment is None else comment.name
        )
        catalog, name = self._database(statement.this)
        self._objects.create_database(catalog, name, database, bool(statement.args.get("exists")))

    @runs(tree.AlterDatabase)
    def _alter_database(self, statement: tree.AlterDatabase) -> None:
        catalog, name = self._database(statement.this)
        before = self._objects.catalog_named(catalog).get_database(name)
        properties = {**before.get_properties(), **options_of(statement)}
        after = CatalogDatabase.create_instance(properties, before.get_comment())
        self._objects.alter_database(catalog, name, after)

    @runs(tree.Drop, "DATABASE")
    def _drop_database(self, statement: tree.Drop) -> None:
        catalog, name = self._database(statement.this)
        self._objects.drop_database(
            catalog,
            name,
            bool(statement.args.get("exists")),
            bool(statement.args.get("cascade")),
        )

    @runs(tree.Use)
    def _use(self, statement: tree.Use) -> None:
        kind = statement.args["kind"]
        if kind == "MODULES":
            self._refuse(statement, "USE MODULES is not supported: there is one module, core")
        if kind == "CATALOG":
            self._objects.use_catalog(statement.this.name)
            return
        parts = self._parts(statement.this, 2, "a database")
        if len(parts) == 1:
            self._objects.use_database(parts[0])
            return
        before = self._objects.catalog, self._objects.database
        self._objects.use_catalog(parts[0])
        try:
            self._objects.use_database(parts[1])
        except Exception:
            self._objects.catalog, self._objects.database = before
            raise

    def _database(self, name: exp.Expr) -> tuple[str, str]:
        """Return the catalog and the name of a database."""
        parts = self._parts(name, 2, "a database")
        return (parts[0], parts[1]) if len(parts) == 2 else (self._objects.catalog, parts[0])

    def _parts(self, name: exp.Expr, most: int, kind: str) -> list[str]:
        parts = parts_of(name)
        if len(parts) > most:
            form = "[catalog_name.]database_name" if most == 2 else "catalog_name"
            self._refuse(name, f"'{'.'.join(parts)}' is no name of {kind}: expected {form}")
        return parts
