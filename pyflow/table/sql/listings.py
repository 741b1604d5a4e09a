"""SHOW and DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from pyflow.table.catalogs.objects import CatalogPartitionSpec, TableView
from pyflow.table.functions.java import JavaFunction
from pyflow.table.functions.names import built_in_names, is_built_in
from pyflow.table.module import MODULES
from pyflow.table.relations.tables import declared_fields, relation_of_entry
from pyflow.table.schema import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from pyflow.table.sql import tree
from pyflow.table.sql.catalog_statements import CatalogStatements
from pyflow.table.sql.execution import parts_of, path_text
from pyflow.table.sql.handlers import handlers_of, runs
from pyflow.table.table_descriptor import options_text
from pyflow.types.data_types import DataTypes
from pyflow.types.strings import attribute_text
from pyflow.util.exceptions import TableException
from pyflow.util.identifiers import literal, quoted, quoted_list

if TYPE_CHECKING:
    from pyflow.table.catalogs.manager import Entry, RegisteredFunction
    from pyflow.table.table_result import TableResult

_STRING = DataTypes.STRING()
_INFO = ("info name", "info value")
_KINDS = {
    "scalar": "SCALAR",
    "table": "TABLE",
    "aggregate": "AGGREGATE",
    "table_aggregate": "TABLE_AGGREGATE",
}


_ABBREVIATIONS = {"STRING": "VARCHAR(2147483647)", "BYTES": "VARBINARY(2147483647)"}
_TYPE_OR_QUOTED = re.compile(
    r"`(?:[^`]|``)*`|'(?:[^']|'')*'|\bSTRING\b|\bBYTES\b|\bTIMESTAMP_LTZ\(\d\)"
)


class Listings(CatalogStatements):
    """Statements that tell what there is."""

    @runs(tree.Show)
    def _show(self, statement: tree.Show) -> TableResult:
        what = statement.this
        method = _HANDLERS.get((tree.Show, what))
        if method is not None:
            result: TableResult = method(self, statement)
            return result
        listings: dict[str, tuple[str, Callable[[tree.Show], Sequence[str]]]] = {
            "CATALOGS": ("catalog name", lambda _: self._objects.catalogs()),
            "DATABASES": ("database name", self._databases),
            "TABLES": ("table name", lambda s: self._names(s, None)),
            "VIEWS": ("view name", lambda s: self._names(s, True)),
            "MATERIALIZED TABLES": ("materialized table", self._no_tables),
            "FUNCTIONS": ("function name", self._functions),
            "USER FUNCTIONS": ("function name", self._user_functions),
            "MODULES": ("module name", lambda _: [each.name() for each in MODULES]),
            "MODELS": ("model name", self._no_tables),
            "JARS": ("jars", lambda _: self._context.jars),
            "CURRENT CATALOG": ("current catalog name", lambda _: [self._objects.catalog]),
            "CURRENT DATABASE": ("current database name", lambda _: [self._objects.database]),
        }
        if what not in listings:
            self._refuse(statement, f"SHOW {what} is not supported")
        title, names = listings[what]
        found = [[name] for name in names(statement) if _matches(statement, name)]
        return self._rows([title], found)

    def _databases(self, statement: tree.Show) -> Sequence[str]:
        source = statement.args.get("source")
        if source is None:
            return self._objects.databases()
        return self._objects.databases(self._parts(source, 1, "a catalog")[0])

    def _place(self, statement: tree.Show) -> tuple[str, str]:
        """Return catalog and database of FROM, which there are."""
        source = statement.args.get("source")
        if source is None:
            return self._objects.catalog, self._objects.database
        catalog, database = self._database(source)
        if not self._objects.catalog_named(catalog).database_exists(database):
            self._refuse(source, f"Database '{catalog}'.'{database}' doesn't exist.")
        return catalog, database

    def _names(self, statement: tree.Show, view: bool | None) -> Sequence[str]:
        return self._objects.names(view, place=self._place(statement))

    def _no_tables(self, statement: tree.Show) -> Sequence[str]:
        self._place(statement)
        return []

    def _user_functions(self, statement: tree.Show) -> Sequence[str]:
        return self._objects.function_names(self._place(statement))

    def _functions(self, statement: tree.Show) -> Sequence[str]:
        return sorted({*built_in_names(), *self._user_functions(statement)})

    @runs(tree.Show, "FULL MODULES")
    def _show_full_modules(self, statement: tree.Show) -> TableResult:
        rows = [[each.name(), each.used()] for each in MODULES]
        return self._rows(["module name", "used"], rows, _STRING, DataTypes.BOOLEAN())

    @runs(tree.Show, "COLUMNS")
    def _show_columns(self, statement: tree.Show) -> TableResult:
        titles, rows, kinds = self._described(self._found(statement.args["source"]))
        return self._rows(titles, [row for row in rows if _matches(statement, row[0])], *kinds)

    @runs(tree.Show, "PARTITIONS")
    def _show_partitions(self, statement: tree.Show) -> TableResult:
        path = path_text(statement.args["source"])
        catalog, place = self._objects.place(path)
        wanted = self._partition_of(statement.args.get("partition") or ())
        found = catalog.list_partitions(place, wanted)
        keys = catalog.get_table(place).partition_keys
        texts = []
        for spec in found:
            values = spec.get_partition_spec()
            texts.append(["/".join(f"{key}={values[key]}" for key in keys)])
        return self._rows(["partition name"], texts)

    def _partition_of(self, pairs: Sequence[exp.Expr]) -> CatalogPartitionSpec:
        """Return the values of PARTITION, which are literals, as strings."""
        values = {}
        for pair in pairs:
            if not isinstance(pair.expression, exp.Literal):
                self._refuse(pair, "the value of a partition is a literal")
            values[pair.this.name] = pair.expression.name
        return CatalogPartitionSpec(values)

    @runs(tree.Show, "CREATE CATALOG")
    def _show_create_catalog(self, statement: tree.Show) -> TableResult:
        name = self._parts(statement.args["source"], 1, "a catalog")[0]
        descriptor = self._objects.descriptor_of(name)
        comment = "" if descriptor.comment is None else f"COMMENT {literal(descriptor.comment)}\n"
        options = dict(sorted(descriptor.configuration.to_dict().items()))
        text = f"CREATE CATALOG {quoted(name)}\n{comment}{options_text(options)}\n"
        return self._rows(["result"], [[text]])

    @runs(tree.Show, "CREATE TABLE")
    def _show_create_table(self, statement: tree.Show) -> TableResult:
        entry = self._to_show(statement, "TABLE")
        if entry.is_view:
            raise TableException(
                "SHOW CREATE TABLE is only supported for tables, but "
                f"{entry.object_identifier} is a view. Please use SHOW CREATE VIEW instead."
            )
        table = entry.table
        schema = table.schema
        lines = [f"{quoted(each.name)} {_declaration(each)}" for each in schema.columns]
        lines += [
            f"WATERMARK FOR {quoted(each.column_name)} AS {each.expression}"
            for each in schema.watermarks
        ]
        if schema.key is not None:
            lines.append(str(schema.key))
        text = _create_head(entry, "TABLE", lines)
        if table.partition_keys:
            text += f"PARTITIONED BY {quoted_list(table.partition_keys)}\n"
        if table.options:
            text += options_text(dict(sorted(table.options.items()))) + "\n"
        return self._rows(["result"], [[text]])

    @runs(tree.Show, "CREATE VIEW")
    def _show_create_view(self, statement: tree.Show) -> TableResult:
        entry = self._to_show(statement, "VIEW")
        if not entry.is_view:
            raise TableException(
                "SHOW CREATE VIEW is only supported for views, but "
                f"{entry.object_identifier} is a table. Please use SHOW CREATE TABLE instead."
            )
        if isinstance(entry.table, TableView):
            raise TableException(
                "SHOW CREATE VIEW is not supported for views registered by Table API."
            )
        names = [quoted(each.name) for each in entry.table.schema.columns]
        text = _create_head(entry, "VIEW", names) + f"AS {entry.table.expanded_query}\n"
        return self._rows(["result"], [[text]])

    def _to_show(self, statement: tree.Show, kind: str) -> Entry:
        path = path_text(statement.args["source"])
        entry = self._objects.find_or_none(path)
        if entry is None:
            name = ".".join(map(quoted, self._objects.qualified(path)))
            raise TableException(
                f"Could not execute SHOW CREATE {kind}. {kind.capitalize()} with identifier {name} "
                "does not exist."
            )
        return entry

    # DESCRIBE

    @runs(tree.Describe)
    def _describe(self, statement: tree.Describe) -> TableResult:
        kind = statement.args["kind"]
        if kind == "CATALOG":
            return self._described_catalog(statement)
        if kind == "DATABASE":
            return self._described_database(statement)
        if kind == "FUNCTION":
            return self._described_function(statement)
        titles, rows, kinds = self._described(self._found(statement.this))
        return self._rows(titles, rows, *kinds)

    def _found(self, name: exp.Expr) -> Entry:
        entry = self._objects.find_or_none(path_text(name))
        if entry is None:
            full = ".".join(self._objects.qualified(path_text(name)))
            self._refuse(name, f"Tables or views with the identifier '{full}' doesn't exist.")
        return entry

    def _described(self, entry: Entry) -> tuple[list[str], list[list[Any]], list[Any]]:
        """Return the titles, rows and types of a table's description."""
        schema = entry.table.schema
        keys: dict[str, str] = {}
        if schema.key is not None:
            keys = dict.fromkeys(schema.key.columns, f"PRI({', '.join(schema.key.columns)})")
        extras = {
            each.name: _without_comment(each)
            for each in schema.columns
            if not isinstance(each, UnresolvedPhysicalColumn)
        }
        watermarks = {each.column_name: str(each.expression) for each in schema.watermarks}
        comments = {each.name: each.comment for each in schema.columns}
        titles = ["name", "type", "null", "key", "extras", "watermark"]
        commented = any(comment is not None for comment in comments.values())
        attributes = self._time_attributes(entry)
        rows = []
        for name, data_type in declared_fields(schema, self._context):
            shown = attribute_text(data_type.nullable(), attributes.get(name))
            row = [name, shown, data_type._nullable, keys.get(name)]
            row += [extras.get(name), watermarks.get(name)]
            rows.append([*row, comments[name]] if commented else row)
        kinds = [_STRING, _STRING, DataTypes.BOOLEAN()]
        return [*titles, "comment"] if commented else titles, rows, kinds

    def _time_attributes(self, entry: Entry) -> dict[str, str]:
        """Return the kinds of time attributes by their names; there are none in batch mode."""
        if not self._context.is_streaming:
            return {}
        if entry.is_view:
            times = relation_of_entry(entry, self._context).time_attributes
            return {name: time.kind for name, time in times.items()}
        schema = entry.table.schema
        found = {each.column_name: "rowtime" for each in schema.watermarks}
        for each in schema.columns:
            if isinstance(each, UnresolvedComputedColumn) and _is_clock(each):
                found[each.name] = "proctime"
        return found

    def _described_catalog(self, statement: tree.Describe) -> TableResult:
        name = self._parts(statement.this, 1, "a catalog")[0]
        descriptor = self._objects.descriptor_of(name)
        options = descriptor.configuration.to_dict()
        rows: list[list[Any]] = [
            ["name", name],
            ["type", options.pop("type")],
            ["comment", descriptor.comment],
        ]
        if statement.args.get("extended"):
            rows += [[f"option:{key}", value] for key, value in sorted(options.items())]
        return self._rows(_INFO, rows)

    def _described_database(self, statement: tree.Describe) -> TableResult:
        catalog, name = self._database(statement.this)
        database = self._objects.catalog_named(catalog).get_database(name)
        rows: list[list[Any]] = [
            ["name", name],
            ["catalog", catalog],
            ["comment", database.get_comment()],
        ]
        if statement.args.get("extended"):
            properties = sorted(database.get_properties().items())
            rows += [[f"option:{key}", value] for key, value in properties]
        return self._rows(_INFO, rows)

    def _described_function(self, statement: tree.Describe) -> TableResult:
        parts = parts_of(statement.this)
        path = parts[0] if len(parts) == 1 else path_text(statement.this)
        found = self._objects.function(path)
        extended = bool(statement.args.get("extended"))
        if found is not None:
            return self._rows(_INFO, self._function_rows(path, found, extended))
        if not is_built_in(parts[0]) or len(parts) > 1:
            name = path_text(statement.this)
            self._refuse(statement.this, f"Function with the identifier '{name}' doesn't exist.")
        if extended:
            self._refuse(statement, "DESCRIBE FUNCTION EXTENDED of a built-in one is not supported")
        return self._rows(_INFO, [["is system function", "true"], ["is temporary", "false"]])

    def _function_rows(
        self, path: str, found: RegisteredFunction, extended: bool
    ) -> list[list[str]]:
        function = self._context.function(path)
        rows = [
            ["is system function", str(found.system).lower()],
            ["is temporary", str(found.temporary).lower()],
        ]
        if found.described is not None and not found.system:
            rows += [
                ["class name", found.described.get_class_name()],
                ["function language", found.described.get_function_language()],
                ["resource uris", "[]"],
            ]
        if extended:
            name = path if found.system else ".".join(self._function_name(path))
            is_java = isinstance(function, JavaFunction)
            deterministic = True if is_java else function.deterministic
            rows += [
                ["kind", "SCALAR" if is_java else _KINDS[function.kind]],
                ["requirements", "[]"],
                ["is deterministic", str(deterministic).lower()],
                ["supports constant folding", "true"],
                ["signature", f"{name}(*)"],
            ]
        return rows

    def _function_name(self, path: str) -> tuple[str, str, str]:
        catalog, database, name = self._objects.qualified(path)
        return catalog, database, name.lower()


_HANDLERS = handlers_of(Listings)


def _create_head(entry: Entry, kind: str, lines: Sequence[str]) -> str:
    """Return a statement up to the comment."""
    temporary = "TEMPORARY " if entry.temporary else ""
    text = f"CREATE {temporary}{kind} {entry.object_identifier} (\n  "
    text += ",\n  ".join(lines) + "\n)\n"
    comment = entry.table.comment
    return text if comment is None else f"{text}COMMENT {literal(comment)}\n"


def _declaration(column: UnresolvedColumn) -> str:
    """Return what a column is, as CREATE TABLE has it."""
    if isinstance(column, UnresolvedComputedColumn):
        comment = "" if column.comment is None else f" COMMENT {literal(column.comment)}"
        return f"AS {column.expression}{comment}"
    kind = ""
    if isinstance(column, (UnresolvedPhysicalColumn, UnresolvedMetadataColumn)):
        column = replace(column, declared=column.data_type)
        kind = column.data_type.sql
    rest = str(column).removeprefix(f"{quoted(column.name)} {kind}")
    return _TYPE_OR_QUOTED.sub(lambda found: _in_full(found.group()), kind) + rest


def _in_full(part: str) -> str:
    """Return a part of a type's text without Flink's abbreviations."""
    if part.startswith("TIMESTAMP_LTZ"):
        return part.replace("_LTZ", "") + " WITH LOCAL TIME ZONE"
    return _ABBREVIATIONS.get(part, part)


def _without_comment(column: UnresolvedColumn) -> str:
    """Return what a column is that is not stored, without its type."""
    if isinstance(column, UnresolvedComputedColumn):
        return f"AS {column.expression}"
    return "METADATA" + column._declaration().partition(" METADATA")[2]


def _is_clock(column: UnresolvedComputedColumn) -> bool:
    return re.fullmatch(r"\s*PROCTIME\s*\(\s*\)\s*", str(column.expression), re.I) is not None


def _matches(statement: tree.Show, name: str) -> bool:
    pattern = statement.args.get("pattern")
    if pattern is None:
        return True
    flags = re.IGNORECASE if statement.args["operator"] == "ILIKE" else 0
    form = "".join(
        {"%": ".*", "_": "."}.get(character, re.escape(character)) for character in pattern.name
    )
    found = re.fullmatch(form, name, flags | re.DOTALL) is not None
    return found != bool(statement.args.get("negated"))
