"""ALTER of tables, views and functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp

from pyflow.table.catalogs.objects import CatalogFunction, CatalogPartition, QueryView
from pyflow.table.relations import projection
from pyflow.table.relations.tables import declared_fields
from pyflow.table.schema import (
    Schema,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)
from pyflow.table.sql import tree
from pyflow.table.sql.execution import keyed, options_of, path_text
from pyflow.table.sql.handlers import runs
from pyflow.table.sql.listings import Listings
from pyflow.table.sql.queries import relation_of
from pyflow.table.sql.views import columns_named
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.catalogs.objects import CatalogBaseTable


class Alterations(Listings):
    """Statements that change what a catalog has."""

    @runs(tree.AlterTable)
    def _alter_table(self, statement: tree.AlterTable) -> None:
        view = statement.args["kind"] == "VIEW"
        path = path_text(statement.this)
        entry = self._objects.to_alter(path, view, bool(statement.args.get("exists")))
        if entry is None:
            return
        if statement.args.get("rename") is not None:
            self._objects.rename(path, path_text(statement.args["rename"]))
        elif view:
            altered = self._query_view(statement, entry.table.comment)
            self._objects.alter(path, altered)
        else:
            options = self._altered_options(statement, entry.table.get_options())
            self._objects.alter(path, replace(entry.table, options=options))

    def _altered_options(
        self, statement: tree.AlterTable, options: dict[str, str]
    ) -> dict[str, str]:
        reset = statement.args.get("reset")
        if reset is None:
            return {**options, **options_of(statement)}
        if not reset:
            self._refuse(statement, "ALTER TABLE RESET does not support empty key")
        for key in reset:
            if key.name == "connector":
                self._refuse(key, "ALTER TABLE RESET does not support changing 'connector'")
            options.pop(key.name, None)
        return options

    def _query_view(self, statement: exp.Expr, comment: str | None) -> QueryView:
        """Return the view of a statement, whose query means something now."""
        relation = relation_of(self._context, self._text, statement.args["expression"])
        names = [column.name for column in statement.args.get("columns") or ()]
        if names and len(names) != len(relation.names):
            self._refuse(
                statement.args["columns"][0],
                f"the view has {len(names)} names for {len(relation.names)} columns",
            )
        renamed = projection.alias(relation, names)
        columns = [UnresolvedPhysicalColumn(n, None, t) for n, t in renamed.fields]
        text = statement.args["text"]
        return QueryView(
            Schema(columns, (), None),
            {},
            (),
            comment,
            text,
            text,
            tuple(relation.names),
            (self._objects.catalog, self._objects.database),
        )

    @runs(tree.AlterColumns)
    def _alter_columns(self, statement: tree.AlterColumns) -> None:
        path = path_text(statement.this)
        entry = self._objects.to_alter(path, False, bool(statement.args.get("exists")))
        if entry is None:
            return
        schema = entry.table.schema
        columns = list(schema.columns)
        place = self._added if statement.args["kind"] == "ADD" else self._modified
        for column in statement.args["columns"]:
            place(columns, column)
        changed = replace(
            entry.table,
            schema=Schema(
                columns, self._new_watermarks(statement, schema), self._new_key(statement, schema)
            ),
        )
        self._alter(statement, path, changed)

    def _added(self, columns: list[UnresolvedColumn], column: exp.Expr) -> None:
        name = column.this.name
        if name in [each.name for each in columns]:
            self._refuse(column, f"Try to add a column `{name}` which already exists in the table.")
        columns.insert(self._position(columns, column, len(columns)), self._column(column))

    def _modified(self, columns: list[UnresolvedColumn], column: exp.Expr) -> None:
        old = self._index(columns, column.this)
        new = self._column(column)
        if new.comment is None:
            new = replace(new, comment=columns[old].comment)
        del columns[old]
        columns.insert(self._position(columns, column, old), new)

    def _position(
        self, columns: Sequence[UnresolvedColumn], column: exp.Expr, otherwise: int
    ) -> int:
        if column.args.get("first"):
            return 0
        after = column.args.get("after")
        return otherwise if after is None else self._index(columns, after) + 1

    def _index(self, columns: Sequence[UnresolvedColumn], name: exp.Expr) -> int:
        names = [each.name for each in columns]
        if name.name not in names:
            self._refuse(name, f"The column `{name.name}` doesn't exist in the base table.")
        return names.index(name.name)

    def _new_watermarks(
        self, statement: tree.AlterColumns, schema: Schema
    ) -> Sequence[UnresolvedWatermarkSpec]:
        given = self._watermarks(statement)
        if not given:
            return schema.watermarks
        self._check_new(statement, "watermark", bool(schema.watermarks))
        return given

    def _new_key(self, statement: tree.AlterColumns, schema: Schema) -> UnresolvedPrimaryKey | None:
        given = self._primary_key(statement)
        if given is None:
            return schema.key
        self._check_new(statement, "primary key", schema.key is not None)
        return given

    def _check_new(self, statement: tree.AlterColumns, what: str, there: bool) -> None:
        """Refuse to add what exists, and to modify what does not."""
        adds = statement.args["kind"] == "ADD"
        if adds and there:
            self._refuse(
                statement,
                f"The base table has already defined the {what}. You might want to drop it before "
                "adding a new one.",
            )
        if not adds and not there:
            self._refuse(
                statement,
                f"The base table does not define any {what}. You might want to add a new one.",
            )

    @runs(tree.DropColumns)
    def _drop_columns(self, statement: tree.DropColumns) -> None:
        path = path_text(statement.this)
        entry = self._objects.to_alter(path, False, bool(statement.args.get("exists")))
        if entry is None:
            return
        kind, schema = statement.args["kind"], entry.table.schema
        columns, watermarks, key = list(schema.columns), schema.watermarks, schema.key
        if kind == "COLUMNS":
            dropped = [name.name for name in statement.expressions]
            for name in statement.expressions:
                self._check_unused(entry.table, name, dropped)
                del columns[self._index(columns, name)]
        elif kind == "WATERMARK":
            if not watermarks:
                self._refuse(statement, "The base table does not define any watermark strategy.")
            watermarks = ()
        else:
            if key is None:
                self._refuse(statement, "The base table does not define any primary key.")
            names = [name.name for name in statement.expressions]
            if names and names != [key.name]:
                self._refuse(
                    statement.expressions[0],
                    "The base table does not define a primary key constraint named "
                    f"'{names[0]}'. Available constraint name: ['{key.name}'].",
                )
            key = None
        changed = replace(entry.table, schema=Schema(columns, watermarks, key))
        self._alter(statement, path, changed)

    @runs(tree.RenameColumn)
    def _rename_column(self, statement: tree.RenameColumn) -> None:
        path = path_text(statement.this)
        entry = self._objects.to_alter(path, False, bool(statement.args.get("exists")))
        if entry is None:
            return
        old, new = statement.args["column"], statement.args["rename"]
        columns = list(entry.table.schema.columns)
        place = self._index(columns, old)
        if new.name in [each.name for each in columns]:
            self._refuse(new, f"The column `{new.name}` already existed in table schema.")
        self._check_unused(entry.table, old, [])
        columns[place] = replace(columns[place], name=new.name)
        schema = Schema(columns, entry.table.schema.watermarks, entry.table.schema.key)
        changed = replace(entry.table, schema=schema)
        self._alter(statement, path, changed, {old.name: new.name})

    def _check_unused(
        self, table: CatalogBaseTable, name: exp.Expr, dropped: Sequence[str]
    ) -> None:
        """Refuse to drop or rename a column that something else names, which is not dropped."""
        schema = table.schema

        def used_by(what: str) -> NoReturn:
            self._refuse(name, f"The column `{name.name}` is {what}.")

        if schema.key is not None and name.name in schema.key.columns:
            used_by("used as the primary key")
        if name.name in table.partition_keys:
            used_by("used as the partition keys")
        for watermark in schema.watermarks:
            named = columns_named(str(watermark.expression))
            if name.name == watermark.column_name or name.name in named:
                used_by("used as the watermark strategy")
        for column in schema.columns:
            if not isinstance(column, UnresolvedComputedColumn) or column.name in dropped:
                continue
            if column.name != name.name and name.name in columns_named(str(column.expression)):
                used_by(f"referenced by computed column `{column.name}`")

    def _alter(
        self,
        statement: exp.Expr,
        path: str,
        changed: CatalogBaseTable,
        renamed: dict[str, str] | None = None,
    ) -> None:
        """Replace a table by another one, if the expressions and the key of that are valid."""
        schema = changed.schema
        key = schema.key
        names = [each.name for each in schema.columns]
        for name in key.columns if key is not None else ():
            if name not in names:
                self._refuse(
                    statement,
                    f"Invalid primary key '{key.name if key else ''}'. Column '{name}' does not "
                    "exist.",
                )
        schema = Schema(keyed(schema.columns, key), schema.watermarks, key)
        declared_fields(schema, self._context)
        self._objects.alter(path, replace(changed, schema=schema), renamed)

    @runs(tree.AlterPartitions)
    def _alter_partitions(self, statement: tree.AlterPartitions) -> None:
        catalog, place = self._objects.place(path_text(statement.this))
        ignored = bool(statement.args.get("ignored"))
        for each in statement.expressions:
            spec = self._partition_of(each.expressions)
            if statement.args["kind"] == "ADD":
                partition = CatalogPartition.create_instance(options_of(each))
                catalog.create_partition(place, spec, partition, ignored)
            else:
                catalog.drop_partition(place, spec, ignored)

    @runs(tree.AlterFunction)
    def _alter_function(self, statement: tree.AlterFunction) -> None:
        kind = statement.args.get("kind")
        if kind is not None:
            words = "system" if kind == "TEMPORARY SYSTEM" else "catalog"
            self._refuse(statement, f"Alter temporary {words} function is not supported")
        path = path_text(statement.this)
        function = self._function_described(statement)
        self._objects.alter_function(path, function, bool(statement.args.get("exists")))

    def _function_described(self, statement: exp.Expr) -> CatalogFunction:
        """Return what AS and LANGUAGE of a function say, if there is such a function."""
        place, language = statement.args["implementation"], statement.args["language"]
        if statement.args.get("resources") or statement.args.get("options"):
            self._refuse(
                statement,
                "USING and WITH of a function are not supported; start Spark with pipeline.jars",
            )
        described = CatalogFunction.create_instance(place.name, language)
        try:
            self._context.instantiated(described)
        except (TableException, TypeError) as error:
            self._refuse(place, str(error))
        return described
