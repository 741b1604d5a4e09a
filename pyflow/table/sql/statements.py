"""What a statement does: queries return rows, all others call methods of the table environment."""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from sqlglot import exp

from pyflow.common.types import Row
from pyflow.table import types
from pyflow.table.java_functions import JavaFunction
from pyflow.table.planner import projection
from pyflow.table.planner.nodes import Alias, Cast, Field, Literal, Node
from pyflow.table.planner.relation import Relation
from pyflow.table.schema import (
    Schema,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from pyflow.table.sql import tree
from pyflow.table.sql.dialect import parse
from pyflow.table.sql.names import Rows, Source
from pyflow.table.sql.queries import relation_of
from pyflow.table.sql.scalar import Translator, path_of
from pyflow.table.table import Table
from pyflow.table.table_descriptor import TableDescriptor
from pyflow.table.table_result import TableResult
from pyflow.table.types import DataTypes
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.statement_set import StatementSet
    from pyflow.table.table_environment import TableEnvironment

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)
_STRING = DataTypes.STRING()


def execute(environment: TableEnvironment, text: str) -> TableResult:
    """Run a statement.

    Raises
    ------
    TableException
        With line and column, where the statement is wrong or asks for what is not carried.
    """
    statement = parse(text)
    return _Execution(environment, text).run(statement)


def query(environment: TableEnvironment, text: str) -> Table:
    """Return the table of a query."""
    statement = parse(text)
    if not isinstance(statement, _QUERIES):
        tree.refuse(text, statement, "sql_query() takes a query; other statements: execute_sql()")
    return Table(relation_of(environment, text, statement), environment)


def explain(environment: TableEnvironment, text: str, *details: Any) -> str:
    """Return how a query or an insertion is run."""
    return _Execution(environment, text).explained(parse(text), details)


def add_insert(statements: StatementSet, text: str) -> None:
    """Add the INSERT of a text to a statement set."""
    statement = parse(text)
    if not isinstance(statement, tree.Insert):
        tree.refuse(text, statement, "add_insert_sql() takes an INSERT statement")
    _Execution(statements._t_env, text).add_insert(statements, statement)


def expression(environment: TableEnvironment, text: str, names: Sequence[str]) -> Node:
    """Return the node of an expression over columns of these names."""
    prefix = "SELECT "
    statement = parse(prefix + text)
    if not isinstance(statement, exp.Select) or len(statement.expressions) != 1:
        raise TableException(f"one SQL expression expected: {text}")
    source = Source((), tuple((name, name) for name in names))
    rows = Rows(Relation(None, ()), (source,))  # type: ignore[arg-type]
    item = statement.expressions[0]
    return Translator(environment, prefix + text, rows).node(
        item.this if isinstance(item, exp.Alias) else item
    )


class _Execution:
    """One statement in its environment."""

    def __init__(self, environment: TableEnvironment, text: str) -> None:
        self._environment = environment
        self._text = text

    def run(self, statement: exp.Expr) -> TableResult:
        """Run the statement."""
        if isinstance(statement, _QUERIES):
            return self._table(statement).execute()
        if isinstance(statement, tree.NotCarried):
            self._refuse(statement, f"{statement.this} is not carried")
        method = getattr(self, "_" + type(statement).__name__.lower(), None)
        if method is None:
            self._refuse(statement, f"{statement.key.upper()} is not carried")
        try:
            result: TableResult | None = method(statement)
        except TableException as error:
            if str(error).startswith("SQL statement"):
                raise
            raise tree.error_at(self._text, tree.start_of(statement), str(error)) from error
        return TableResult.ok(self._environment) if result is None else result

    def explained(self, statement: exp.Expr, details: Sequence[Any]) -> str:
        """Return how a query or an insertion is run."""
        if isinstance(statement, tree.Explain):
            from pyflow.table.explain_detail import ExplainDetail

            named = [getattr(ExplainDetail, name) for name in statement.args["details"]]
            return self.explained(statement.this, [*named, *details])
        if isinstance(statement, (tree.Insert, tree.StatementSet)):
            return self._statements(statement).explain(*details)
        if not isinstance(statement, _QUERIES):
            self._refuse(statement, "EXPLAIN takes a query, INSERT or STATEMENT SET")
        return self._table(statement).explain(*details)

    def _refuse(self, node: exp.Expr, reason: str) -> NoReturn:
        tree.refuse(self._text, node, reason)

    def _table(self, statement: exp.Expr) -> Table:
        return Table(relation_of(self._environment, self._text, statement), self._environment)

    def _rows(
        self, names: Sequence[str], rows: Sequence[Sequence[Any]], *kinds: Any
    ) -> TableResult:
        """Return a result of rows that are known."""
        data_types = [*kinds, *[_STRING] * (len(names) - len(kinds))]

        def made() -> Iterator[Row]:
            return iter([Row(*row) for row in rows])

        return TableResult(list(zip(names, data_types)), self._environment, made)

    # Tables

    def _createtable(self, statement: tree.CreateTable) -> TableResult | None:
        path = _path(statement.this)
        query = statement.args.get("expression")
        source = self._table(query) if query is not None else None
        builder = Schema.new_builder()
        options: dict[str, str] = {}
        like = statement.args.get("like")
        partitions = [name.name for name in statement.args.get("partitions") or ()]
        if like is not None:
            partitions = self._take_over(like, statement, builder, options) or partitions
        self._declare(statement, builder)
        if source is not None:
            if statement.args.get("columns"):
                self._refuse(statement, "CREATE TABLE ... AS takes its columns from the query here")
            for name, data_type in source._relation.fields:
                builder.column(name, data_type)
        options.update(_options(statement))
        if "connector" not in options:
            self._refuse(statement, "Table options do not contain an option key 'connector'")
        descriptor = TableDescriptor.for_connector(options.pop("connector")).schema(builder.build())
        for key, value in options.items():
            descriptor.option(key, value)
        if partitions:
            descriptor.partitioned_by(*partitions)
        comment = statement.args.get("comment")
        if comment is not None:
            descriptor.comment(comment.name)
        create = (
            self._environment.create_temporary_table
            if statement.args.get("temporary")
            else self._environment.create_table
        )
        create(path, descriptor.build(), bool(statement.args.get("exists")))
        return source.execute_insert(path) if source is not None else None

    def _declare(self, statement: tree.CreateTable, builder: Schema.Builder) -> None:
        """Add what is written between the parentheses to a schema."""
        keys = []
        for column in statement.args.get("columns") or ():
            name = column.this.name
            if column.args.get("computed") is not None:
                builder.column_by_expression(name, column.args["text"])
            elif column.args.get("metadata"):
                key = column.args.get("metadata_key")
                builder.column_by_metadata(
                    name,
                    self._type(column.args["type"]),
                    key.name if key is not None else None,
                    bool(column.args.get("virtual")),
                )
            else:
                builder.column(name, self._type(column.args["type"]))
            comment = column.args.get("comment")
            if comment is not None:
                # The builder of PyFlink has no method for it.
                builder._columns[-1] = replace(builder._columns[-1], comment=comment.name)
            if column.args.get("primary_key"):
                keys.append(name)
        watermark = statement.args.get("watermark")
        if watermark is not None:
            path = path_of(watermark.this) or []
            if len(path) != 1:
                self._refuse(watermark.this, "a watermark of a nested field is not carried")
            builder.watermark(path[0], watermark.args["text"])
        key = statement.args.get("primary_key")
        if key is not None:
            keys += [name.name for name in key.expressions]
            if key.this is not None:
                builder.primary_key_named(key.this.name, *keys)
                return
        if keys:
            builder.primary_key(*keys)

    def _type(self, name: exp.Expr) -> types.DataType:
        try:
            return types.parse(name.this)
        except TableException as error:
            self._refuse(name, str(error))

    def _take_over(
        self,
        like: tree.LikeClause,
        statement: tree.CreateTable,
        builder: Schema.Builder,
        options: dict[str, str],
    ) -> list[str]:
        """Add what LIKE takes over from another table; return its partition keys."""
        entry = self._environment._objects.find(_path(like.this))
        if entry.is_view:
            self._refuse(like.this, "LIKE takes a table, not a view")
        base = entry.content
        assert isinstance(base, TableDescriptor)
        strategies = {
            what.name: how.name for what, how in (pair.expressions for pair in like.expressions)
        }

        def includes(what: str) -> bool:
            return bool(strategies.get(what, strategies.get("ALL")) != "EXCLUDING")

        schema = base.get_schema()
        assert schema is not None
        for column in schema.columns:
            if isinstance(column, UnresolvedComputedColumn):
                if includes("GENERATED"):
                    builder.column_by_expression(column.name, column.expression)
            elif isinstance(column, UnresolvedMetadataColumn):
                if includes("METADATA"):
                    builder.column_by_metadata(
                        column.name, column.declared, column.metadata_key, column.is_virtual
                    )
            elif isinstance(column, UnresolvedPhysicalColumn):
                builder.column(column.name, column.declared)
        if includes("WATERMARKS"):
            if schema.watermarks and statement.args.get("watermark") is not None:
                if strategies.get("WATERMARKS") != "OVERWRITING":
                    self._refuse(
                        statement.args["watermark"],
                        "the base table has a watermark; say OVERWRITING or EXCLUDING WATERMARKS",
                    )
            else:
                for watermark in schema.watermarks:
                    builder.watermark(watermark.column_name, watermark.expression)
        if includes("CONSTRAINTS") and schema.key is not None:
            builder.primary_key_named(schema.key.name, *schema.key.columns)
        if includes("OPTIONS"):
            options.update(base.get_options())
        return base.get_partition_keys() if includes("PARTITIONS") else []

    def _createview(self, statement: tree.CreateView) -> None:
        relation = relation_of(self._environment, self._text, statement.expression)
        columns = statement.args.get("columns")
        if columns:
            if len(columns) != len(relation.names):
                self._refuse(
                    columns[0],
                    f"the view has {len(columns)} names for {len(relation.names)} columns",
                )
            relation = projection.alias(relation, [column.name for column in columns])
        table, path = Table(relation, self._environment), _path(statement.this)
        if statement.args.get("temporary"):
            if statement.args.get("exists") and self._exists(path, view=None):
                return
            self._environment.create_temporary_view(path, table)
        else:
            self._environment.create_view(path, table, bool(statement.args.get("exists")))

    def _exists(self, path: str, view: bool | None) -> bool:
        try:
            entry = self._environment._objects.find(path)
        except TableException:
            return False
        return view is None or bool(entry.is_view) == view

    def _drop(self, statement: tree.Drop) -> None:
        kind, path = statement.args["kind"], _path(statement.this)
        exists = bool(statement.args.get("exists"))
        temporary = bool(statement.args.get("temporary"))
        if kind in ("DATABASE", "CATALOG"):
            self._refuse(statement, f"DROP {kind}: there is one {kind.lower()}, in memory")
        if kind == "FUNCTION":
            self._drop_function(statement, path, exists)
            return
        view = kind == "VIEW"
        if temporary:
            drop = (
                self._environment.drop_temporary_view
                if view
                else self._environment.drop_temporary_table
            )
            if not drop(path) and not exists:
                self._refuse(
                    statement.this, f"Temporary {kind.lower()} {_shown(path)} does not exist"
                )
        elif view:
            self._environment.drop_view(path, exists)
        else:
            self._environment.drop_table(path, exists)

    def _altertable(self, statement: tree.AlterTable) -> None:
        self._refuse(
            statement, f"ALTER {statement.args['kind']} is not carried; drop and create it"
        )

    def _alterdatabase(self, statement: tree.AlterDatabase) -> None:
        self._refuse(statement, "ALTER DATABASE is not carried")

    def _createdatabase(self, statement: tree.CreateDatabase) -> None:
        self._only_one(statement, "database", self._environment.list_databases())

    def _createcatalog(self, statement: tree.CreateCatalog) -> None:
        self._only_one(statement, "catalog", self._environment.list_catalogs())

    def _only_one(self, statement: exp.Expr, kind: str, names: Sequence[str]) -> None:
        if statement.args.get("exists") and statement.this.name in names:
            return
        self._refuse(
            statement,
            f"CREATE {kind.upper()} is not carried: there is one {kind}, in memory ({names[0]})",
        )

    # Functions

    def _createfunction(self, statement: tree.CreateFunction) -> None:
        name, kind = statement.this, statement.args.get("kind")
        path = _path(name)
        language, place = statement.args["language"], statement.args["implementation"]
        if statement.args.get("resources") or statement.args.get("options"):
            self._refuse(
                statement,
                "USING and WITH of a function are not carried; start Spark with pipeline.jars",
            )
        system = kind == "TEMPORARY SYSTEM"
        kept = self._environment._objects.has_function(name.name if system else path, system)
        if statement.args.get("exists") and kept:
            return
        environment = self._environment
        if language == "PYTHON":
            function = self._imported(place)
        else:
            try:
                function = JavaFunction(place.name, environment._spark)
            except TableException as error:
                self._refuse(place, str(error))
        if system:
            environment.create_temporary_system_function(name.name, function)
        else:
            environment.create_temporary_function(path, function)

    def _imported(self, place: exp.Literal) -> Any:
        module, _, attribute = place.name.rpartition(".")
        if not module or not attribute:
            self._refuse(place, "the place of a Python function is 'module.name'")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            self._refuse(place, f"'{place.name}' cannot be imported: {error}")
        return found

    def _drop_function(self, statement: tree.Drop, path: str, exists: bool) -> None:
        system = bool(statement.args.get("system"))
        if system:
            found = self._environment.drop_temporary_system_function(statement.this.name)
        else:
            found = self._environment.drop_temporary_function(path)
        if not found and not exists:
            self._refuse(statement.this, f"Function {_shown(path)} does not exist")

    # Insertions

    def _insert(self, statement: tree.Insert) -> TableResult:
        return self._statements(statement).execute()

    def _statementset(self, statement: tree.StatementSet) -> TableResult:
        return self._statements(statement).execute()

    def _statements(self, statement: exp.Expr) -> StatementSet:
        statements = self._environment.create_statement_set()
        inserts = statement.expressions if isinstance(statement, tree.StatementSet) else [statement]
        for insert in inserts:
            assert isinstance(insert, tree.Insert)
            self.add_insert(statements, insert)
        return statements

    def add_insert(self, statements: StatementSet, insert: tree.Insert) -> None:
        """Add an insertion to a statement set."""
        for hint in insert.args.get("hints") or ():
            self._refuse(hint, "OPTIONS and other hints of a table are not carried")
        table = self._placed(insert, self._table(insert.expression))
        try:
            statements.add_insert(_path(insert.this), table, bool(insert.args.get("overwrite")))
        except TableException as error:
            if str(error).startswith("SQL statement"):
                raise
            raise tree.error_at(self._text, tree.start_of(insert.this), str(error)) from error

    def _placed(self, insert: tree.Insert, table: Table) -> Table:
        """Return the rows with the columns of the table: given ones in their place, others null."""
        columns, partition = insert.args.get("columns"), insert.args.get("partition")
        if not columns and not partition:
            return table
        wanted = self._columns_of(insert)
        names = [name for name, _ in wanted]
        given: dict[str, Node] = {}
        for pair in partition or ():
            translator = Translator(self._environment, self._text, Rows(table._relation, ()))
            given[self._target(pair.this, pair.this.name, names)] = translator.node(pair.expression)
        if columns:
            order = [self._target(column, column.name, names) for column in columns]
        else:
            order = [name for name in names if name not in given]
        found = table._relation.names
        if len(order) != len(found):
            self._refuse(
                insert.this,
                f"the query has {len(found)} columns, the table takes {len(order)} here: "
                f"{', '.join(order)}",
            )
        given.update({name: Field(field) for name, field in zip(order, found)})
        nodes: list[Node] = []
        for name, data_type in wanted:
            node = given.get(name)
            if node is None:
                node = Cast(Literal(None, DataTypes.NULL()), data_type.nullable(), False)
            nodes.append(Alias(node, (name,)))
        relation = projection.project(table._relation, nodes, self._environment)
        return Table(relation, self._environment)

    def _target(self, node: exp.Expr, name: str, names: Sequence[str]) -> str:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"; did you mean {near[0]}?" if near else f" (columns: {', '.join(names)})"
            self._refuse(node, f"Unknown target column '{name}'{hint}")
        return name

    def _columns_of(self, insert: tree.Insert) -> list[tuple[str, types.DataType]]:
        entry = self._environment._objects.find(_path(insert.this))
        if not isinstance(entry.content, TableDescriptor):
            self._refuse(insert.this, "a view cannot be written")
        schema = entry.content.get_schema()
        assert schema is not None
        return [
            (column.name, column.data_type)
            for column in schema.columns
            if isinstance(column, UnresolvedPhysicalColumn)
            or (isinstance(column, UnresolvedMetadataColumn) and not column.is_virtual)
        ]

    # Plans, names and settings

    def _explain(self, statement: tree.Explain) -> TableResult:
        return self._rows(["result"], [[self.explained(statement, [])]])

    def _describe(self, statement: tree.Describe) -> TableResult:
        if statement.args["kind"] != "TABLE":
            self._refuse(statement, "DESCRIBE CATALOG is not carried")
        path = _path(statement.this)
        entry = self._environment._objects.find(path)
        keys: dict[str, str] = {}
        extras: dict[str, str] = {}
        watermarks: dict[str, str] = {}
        if isinstance(entry.content, TableDescriptor):
            schema = entry.content.get_schema()
            assert schema is not None
            if schema.key is not None:
                keys = dict.fromkeys(schema.key.columns, f"PRI({', '.join(schema.key.columns)})")
            for column in schema.columns:
                if not isinstance(column, UnresolvedPhysicalColumn):
                    extras[column.name] = _declaration(column)
            watermarks = {each.column_name: str(each.expression) for each in schema.watermarks}
        rows = []
        for name, data_type in self._environment.from_path(path)._relation.fields:
            shown = str(data_type.nullable())
            rows.append(
                [
                    name,
                    shown,
                    data_type._nullable,
                    keys.get(name),
                    extras.get(name),
                    watermarks.get(name),
                ]
            )
        return self._rows(
            ["name", "type", "null", "key", "extras", "watermark"],
            rows,
            _STRING,
            _STRING,
            DataTypes.BOOLEAN(),
        )

    def _show(self, statement: tree.Show) -> TableResult:
        what = statement.this
        simple: dict[str, tuple[str, Callable[[], Sequence[str]]]] = {
            "CATALOGS": ("catalog name", self._environment.list_catalogs),
            "DATABASES": ("database name", self._environment.list_databases),
            "TABLES": ("table name", self._environment.list_tables),
            "VIEWS": ("view name", self._environment.list_views),
            "FUNCTIONS": ("function name", self._environment.list_functions),
            "USER FUNCTIONS": ("function name", self._environment.list_user_defined_functions),
            "MODULES": ("module name", self._environment.list_modules),
            "CURRENT CATALOG": (
                "current catalog name",
                lambda: [self._environment.get_current_catalog()],
            ),
            "CURRENT DATABASE": (
                "current database name",
                lambda: [self._environment.get_current_database()],
            ),
        }
        if what in simple:
            self._check_source(statement)
            title, names = simple[what]
            return self._rows([title], [[name] for name in names() if _matches(statement, name)])
        if what in ("CREATE TABLE", "CREATE VIEW"):
            return self._show_create(statement)
        if what == "COLUMNS":
            described = self._describe(tree.Describe(this=statement.args["source"], kind="TABLE"))
            rows = [list(row) for row in described.collect() if _matches(statement, row[0])]
            titles = [name for name, _ in described._fields]
            return self._rows(titles, rows, _STRING, _STRING, DataTypes.BOOLEAN())
        return self._refuse(statement, f"SHOW {what} is not carried")

    def _check_source(self, statement: tree.Show) -> None:
        source = statement.args.get("source")
        if source is None:
            return
        here = [self._environment.get_current_catalog(), self._environment.get_current_database()]
        named = [part.name for part in source.parts]
        wanted = here if statement.this != "DATABASES" else here[:1]
        if named != wanted[-len(named) :]:
            self._refuse(source, f"'{'.'.join(named)}' does not exist")

    def _show_create(self, statement: tree.Show) -> TableResult:
        path = _path(statement.args["source"])
        entry = self._environment._objects.find(path)
        if entry.is_view or statement.this == "CREATE VIEW":
            self._refuse(statement, f"SHOW {statement.this} of a view is not carried")
        assert isinstance(entry.content, TableDescriptor)
        schema = entry.content.get_schema()
        assert schema is not None
        name = ".".join(map(_name, entry.path))
        temporary = "TEMPORARY " if entry.temporary else ""
        lines = [f"{_name(column.name)} {_declaration(column)}" for column in schema.columns]
        lines += [
            f"WATERMARK FOR {_name(each.column_name)} AS {each.expression}"
            for each in schema.watermarks
        ]
        if schema.key is not None:
            columns = ", ".join(map(_name, schema.key.columns))
            lines.append(
                f"CONSTRAINT {_name(schema.key.name)} PRIMARY KEY ({columns}) NOT ENFORCED"
            )
        partitions = ", ".join(map(_name, entry.content.get_partition_keys()))
        comment = entry.content.get_comment()
        text = f"CREATE {temporary}TABLE {name} (\n  " + ",\n  ".join(lines) + "\n)\n"
        text += "" if comment is None else f"COMMENT {_literal(comment)}\n"
        text += f"PARTITIONED BY ({partitions})\n" if partitions else ""
        options = [
            f"{_literal(key)} = {_literal(value)}"
            for key, value in entry.content.get_options().items()
        ]
        text += "WITH (\n  " + ",\n  ".join(options) + "\n)"
        return self._rows(["result"], [[text]])

    def _use(self, statement: tree.Use) -> None:
        kind = statement.args["kind"]
        if kind == "MODULES":
            self._refuse(statement, "USE MODULES is not carried: there is one module, core")
        if kind == "CATALOG":
            self._environment.use_catalog(statement.this.name)
            return
        parts = [part.name for part in statement.this.parts]
        if len(parts) > 1:
            self._environment.use_catalog(parts[0])
        self._environment.use_database(parts[-1])

    def _set(self, statement: tree.Set) -> TableResult | None:
        config = self._environment.get_config()
        if statement.this is None:
            return self._rows(["key", "value"], sorted(config.to_map().items()))
        try:
            config.set(statement.this.name, statement.expression.name)
        except ValueError as error:
            self._refuse(statement.this, str(error))
        return None

    def _reset(self, statement: tree.Reset) -> None:
        self._refuse(statement, "RESET is not carried; SET the key to the value it had")

    def _jar(self, statement: tree.Jar) -> None:
        if statement.args["kind"] != "ADD":
            self._refuse(statement, "REMOVE JAR is not carried")
        try:
            self._environment._spark.addArtifacts(statement.this.name)
        except Exception as error:
            self._refuse(statement.this, f"the jar cannot be added: {error}")


def _path(name: exp.Expr) -> str:
    parts = name.parts if isinstance(name, exp.Table) else [name]
    return ".".join(_name(part.name) for part in parts)


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _declaration(column: UnresolvedColumn) -> str:
    """Return what a column is, as CREATE TABLE has it."""
    if isinstance(column, UnresolvedComputedColumn):
        return f"AS {column.expression}"
    return str(column).removeprefix(_name(column.name) + " ")


def _shown(path: str) -> str:
    return "'" + path.replace("`", "") + "'"


def _options(statement: exp.Expr) -> dict[str, str]:
    return {
        option.this.name: option.expression.name for option in statement.args.get("options") or ()
    }


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
