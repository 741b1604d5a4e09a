"""What a statement does: queries return rows, all others call methods of the table environment."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from pyflow.session.session_configuration import SessionConfiguration
from pyflow.table import types
from pyflow.table.catalogs.objects import CatalogBaseTable
from pyflow.table.changes.relation import Relation
from pyflow.table.columns.nodes import Alias, Cast, Field, Literal, Node
from pyflow.table.relations import projection, sorting
from pyflow.table.relations.tables import fits, insertion_into
from pyflow.table.schema import (
    Schema,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
)
from pyflow.table.sql import tree
from pyflow.table.sql.alterations import Alterations
from pyflow.table.sql.dialect import parse
from pyflow.table.sql.execution import keyed, options_of, path_text
from pyflow.table.sql.expressions import Translator
from pyflow.table.sql.handlers import handlers_of, runs
from pyflow.table.sql.names import Rows, Source
from pyflow.table.sql.queries import relation_of
from pyflow.table.sql.views import view as view
from pyflow.table.table import Table
from pyflow.table.table_result import Style, TableResult, executed, explained
from pyflow.types.data_types import DataTypes
from pyflow.util.exceptions import CatalogException, JavaException, TableException
from pyflow.util.identifiers import quoted

if TYPE_CHECKING:
    from pyflow.table.context import TableContext
    from pyflow.table.relations.tables import Insertion

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)
_NO_VALUE = "Column '{}' has no default value and does not allow NULLs."


def execute(context: TableContext, text: str) -> TableResult:
    """Run a statement.

    Raises
    ------
    TableException
        With line and column, where the statement is wrong or asks for what is not supported.
    """
    statement = parse(text)
    return _Execution(context, text).run(statement)


def query(context: TableContext, text: str) -> Table:
    """Return the table of a query."""
    statement = parse(text)
    if not isinstance(statement, _QUERIES):
        tree.refuse(text, statement, "sql_query() takes a query; other statements: execute_sql()")
    return Table(relation_of(context, text, statement), context)


def explain(context: TableContext, text: str, *details: Any) -> str:
    """Return how a query or an insertion is run."""
    return _Execution(context, text).explained(parse(text), details)


def insertion(context: TableContext, text: str) -> Insertion:
    """Return what an INSERT statement writes."""
    statement = parse(text)
    if not isinstance(statement, tree.Insert):
        tree.refuse(text, statement, "add_insert_sql() takes an INSERT statement")
    return _Execution(context, text).insertion(statement)


def expression(context: TableContext, text: str, names: Sequence[str]) -> Node:
    """Return the node of an expression over columns of these names."""
    prefix = "SELECT "
    statement = parse(prefix + text)
    if not isinstance(statement, exp.Select) or len(statement.expressions) != 1:
        raise TableException(f"one SQL expression expected: {text}")
    source = Source((), tuple((name, name) for name in names))
    rows = Rows(Relation(None, ()), (source,))  # type: ignore[arg-type]
    item = statement.expressions[0]
    return Translator(context, prefix + text, rows).node(
        item.this if isinstance(item, exp.Alias) else item
    )


class _Execution(Alterations):
    """One statement in its environment."""

    def run(self, statement: exp.Expr) -> TableResult:
        """Run the statement."""
        if isinstance(statement, _QUERIES):
            return self._table(statement).execute()
        if isinstance(statement, tree.NotSupported):
            self._refuse(statement, f"{statement.this} is not supported")
        method = _HANDLERS.get((type(statement),))
        if method is None:
            self._refuse(statement, f"{statement.key.upper()} is not supported")
        try:
            result: TableResult | None = method(self, statement)
        except tree.SqlError:
            raise
        except JavaException as error:
            placed = tree.error_at(self._text, tree.start_of(statement), str(error))
            if isinstance(error, CatalogException):
                raise CatalogException(str(placed)) from error
            raise placed from error
        return TableResult.ok(self._context) if result is None else result

    def explained(self, statement: exp.Expr, details: Sequence[Any]) -> str:
        """Return how a query or an insertion is run."""
        if isinstance(statement, tree.Explain):
            from pyflow.table.explain_detail import ExplainDetail

            named = [getattr(ExplainDetail, name) for name in statement.args["details"]]
            return self.explained(statement.this, [*named, *details])
        if isinstance(statement, (tree.Insert, tree.StatementSet)):
            return explained(self._insertions(statement), details)
        if not isinstance(statement, _QUERIES):
            self._refuse(statement, "EXPLAIN takes a query, INSERT or STATEMENT SET")
        return self._table(statement).explain(*details)

    # Tables

    @runs(tree.CreateTable)
    def _create_table(self, statement: tree.CreateTable) -> TableResult | None:
        path = path_text(statement.this)
        query = statement.args.get("expression")
        source = self._table(query) if query is not None else None
        columns: list[UnresolvedColumn] = []
        watermarks: list[Any] = []
        options: dict[str, str] = {}
        partitions = [name.name for name in statement.args.get("partitions") or ()]
        like = statement.args.get("like")
        key = None
        if like is not None:
            base = self._taken_over(like, statement)
            columns, watermarks = [*base.schema.columns], [*base.schema.watermarks]
            key, options = base.schema.key, base.get_options()
            partitions = list(base.partition_keys) or partitions
        columns += [self._column(column) for column in statement.args.get("columns") or ()]
        watermarks += self._watermarks(statement)
        if source is not None:
            columns = self._with_query_columns(statement, columns, source._relation)
        key = self._primary_key(statement) or key
        self._check_names(statement, columns, watermarks, key, partitions)
        comment = statement.args.get("comment")
        table = CatalogBaseTable(
            Schema(keyed(columns, key), watermarks, key),
            {**options, **options_of(statement)},
            tuple(partitions),
            None if comment is None else comment.name,
        )
        temporary = bool(statement.args.get("temporary"))
        kept = self._objects.add(path, table, temporary, bool(statement.args.get("exists")))
        if source is None or not kept:
            return None
        written = [
            exp.Column(this=exp.to_identifier(name, quoted=True)) for name in source._relation.names
        ]
        insert = tree.Insert(this=statement.this, columns=written)
        placed = Table(self._placed(insert, source._relation), self._context)
        return placed.execute_insert(path)

    def _with_query_columns(
        self,
        statement: tree.CreateTable,
        declared: Sequence[UnresolvedColumn],
        query: Relation,
    ) -> list[UnresolvedColumn]:
        """Return the columns of a table that is made of a query.

        Those that are declared alone come first. One that is declared has the place that it has in
        the query, and the type that is declared.
        """
        fields = dict(query.fields)
        names = [each.name for each in statement.args.get("names") or ()] or list(fields)
        if len(names) != len(fields):
            self._refuse(
                statement.args["names"][0],
                "The number of columns in the column list must match the number of columns in the "
                f"source schema: {len(names)} and {len(fields)}.",
            )
        for name in statement.args.get("names") or ():
            self._target(name, name.name, list(fields))
        given = {column.name: column for column in declared}
        for node in statement.args.get("columns") or ():
            column = given[node.name]
            if node.name in fields:
                self._check_replacement(node, column, fields[node.name])
            elif (written := _written_type(column)) is not None and not written._nullable:
                self._refuse(node, _NO_VALUE.format(node.name))
        return [
            *(column for column in declared if column.name not in fields),
            *(given.get(n) or UnresolvedPhysicalColumn(n, None, fields[n]) for n in names),
        ]

    def _check_replacement(
        self, node: exp.Expr, column: UnresolvedColumn, source: types.DataType
    ) -> None:
        """Refuse a declared column that a column of the query cannot be written into."""
        if isinstance(column, UnresolvedComputedColumn):
            self._refuse(
                node,
                f"A column named '{column.name}' already exists in the source schema. Computed "
                "columns cannot overwrite columns from source.",
            )
        target = _written_type(column)
        if target is None:
            self._refuse(
                node,
                f"A column named '{column.name}' already exists in the source schema. Virtual "
                "metadata columns cannot overwrite columns from source.",
            )
        if not fits(source, target):
            self._refuse(
                node,
                f"Incompatible types for sink column '{column.name}'. The source column has type "
                f"'{source.sql}', while the target column has type '{target.sql}'.",
            )

    def _check_names(
        self,
        statement: tree.CreateTable,
        columns: Sequence[UnresolvedColumn],
        watermarks: Sequence[Any],
        key: UnresolvedPrimaryKey | None,
        partitions: Sequence[str],
    ) -> None:
        """Refuse columns of one name, and names of what is no column."""
        names = [each.name for each in columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            self._refuse(statement, f"A column named '{twice}' already exists in the table.")
        named = [
            *(("The rowtime attribute field", each.column_name) for each in watermarks),
            *(("Primary key column", name) for name in (() if key is None else key.columns)),
            *(("Partition column", name) for name in partitions),
        ]
        for what, name in named:
            if name not in names:
                shown = ", ".join(f"'{each}'" for each in names)
                self._refuse(
                    statement,
                    f"{what} '{name}' is not defined in the table schema. Available columns: "
                    f"[{shown}]",
                )

    def _taken_over(self, like: tree.LikeClause, statement: tree.CreateTable) -> CatalogBaseTable:
        """Return what LIKE takes over from another table."""
        entry = self._objects.find(path_text(like.this))
        if entry.is_view:
            self._refuse(like.this, "LIKE takes a table, not a view")
        base = entry.table
        strategies = {
            what.name: how.name for what, how in (pair.expressions for pair in like.expressions)
        }

        def includes(what: str) -> bool:
            return bool(strategies.get(what, strategies.get("ALL")) != "EXCLUDING")

        kinds = (
            (UnresolvedComputedColumn, "GENERATED"),
            (UnresolvedMetadataColumn, "METADATA"),
        )
        columns = [
            column
            for column in base.schema.columns
            if all(includes(what) or not isinstance(column, kind) for kind, what in kinds)
        ]
        watermarks = base.schema.watermarks if includes("WATERMARKS") else ()
        if watermarks and statement.args.get("watermark") is not None:
            if strategies.get("WATERMARKS") != "OVERWRITING":
                self._refuse(
                    statement.args["watermark"],
                    "the base table has a watermark; say OVERWRITING or EXCLUDING WATERMARKS",
                )
            watermarks = ()
        key = base.schema.key if includes("CONSTRAINTS") else None
        return CatalogBaseTable(
            Schema(columns, watermarks, key),
            base.get_options() if includes("OPTIONS") else {},
            base.partition_keys if includes("PARTITIONS") else (),
        )

    @runs(tree.CreateView)
    def _create_view(self, statement: tree.CreateView) -> None:
        comment = statement.args.get("comment")
        made = self._query_view(statement, None if comment is None else comment.name)
        temporary = bool(statement.args.get("temporary"))
        exists = bool(statement.args.get("exists"))
        self._objects.add(path_text(statement.this), made, temporary, exists)

    @runs(tree.Drop)
    def _drop(self, statement: tree.Drop) -> None:
        _HANDLERS[tree.Drop, statement.args["kind"]](self, statement)

    @runs(tree.Drop, "TABLE")
    def _drop_table(self, statement: tree.Drop) -> None:
        self._drop_kind(statement, view=False)

    @runs(tree.Drop, "VIEW")
    def _drop_view(self, statement: tree.Drop) -> None:
        self._drop_kind(statement, view=True)

    def _drop_kind(self, statement: tree.Drop, view: bool) -> None:
        path, exists = path_text(statement.this), bool(statement.args.get("exists"))
        if not statement.args.get("temporary"):
            self._objects.drop_permanent(path, view, exists)
        elif not self._objects.drop_temporary(path, view) and not exists:
            name = ".".join(self._objects.qualified(path))
            self._refuse(
                statement.this,
                f"Temporary table or view with identifier '{name}' does not exist.",
            )

    # Functions

    @runs(tree.CreateFunction)
    def _create_function(self, statement: tree.CreateFunction) -> None:
        name, kind = statement.this, statement.args.get("kind")
        path, system = path_text(name), kind == "TEMPORARY SYSTEM"
        exists = bool(statement.args.get("exists"))
        place = name.name if system else path
        if kind is not None and exists and self._objects.has_function(place, system):
            return
        described = self._function_described(statement)
        if kind is None:
            self._objects.create_function(path, described, exists)
            return
        function = self._context.instantiated(described)
        if system:
            self._objects.add_system_function(name.name, function, described)
        else:
            self._objects.add_function(path, function, described)

    @runs(tree.Drop, "FUNCTION")
    def _drop_function(self, statement: tree.Drop) -> None:
        path, exists = path_text(statement.this), bool(statement.args.get("exists"))
        if statement.args.get("system"):
            name = statement.this.name
            if not self._objects.drop_system_function(name) and not exists:
                self._refuse(
                    statement.this,
                    "Could not drop temporary system function. A function named "
                    f"'{name}' doesn't exist.",
                )
        elif not statement.args.get("temporary"):
            self._objects.drop_function(path, exists)
        elif not self._objects.drop_temporary_function(path) and not exists:
            name = ".".join(map(quoted, self._objects.qualified(path)))
            self._refuse(statement.this, f"Temporary catalog function {name} doesn't exist")

    # Insertions

    @runs(tree.Insert)
    def _insert(self, statement: tree.Insert) -> TableResult:
        return executed([self.insertion(statement)], self._context)

    @runs(tree.StatementSet)
    def _statement_set(self, statement: tree.StatementSet) -> TableResult:
        return executed(self._insertions(statement), self._context)

    def _insertions(self, statement: exp.Expr) -> list[Insertion]:
        inserts = statement.expressions if isinstance(statement, tree.StatementSet) else [statement]
        return [self.insertion(insert) for insert in inserts]

    def insertion(self, insert: exp.Expr) -> Insertion:
        """Return what an INSERT writes."""
        for hint in insert.args.get("hints") or ():
            self._refuse(hint, "OPTIONS and other hints of a table are not supported")
        query = relation_of(self._context, self._text, insert.expression)
        relation = self._placed(insert, query)
        try:
            return insertion_into(
                path_text(insert.this),
                sorting.checked(relation, self._context),
                bool(insert.args.get("overwrite")),
                self._context,
                insert.args.get("on_conflict"),
            )
        except tree.SqlError:
            raise
        except TableException as error:
            raise tree.error_at(self._text, tree.start_of(insert.this), str(error)) from error

    def _placed(self, insert: exp.Expr, query: Relation) -> Relation:
        """Return the rows with the columns of the table; columns that are not given are null."""
        columns, partition = insert.args.get("columns"), insert.args.get("partition")
        if not columns and not partition:
            return query
        wanted = self._columns_of(insert)
        names = [name for name, _ in wanted]
        given: dict[str, Node] = {}
        for pair in partition or ():
            translator = Translator(self._context, self._text, Rows(query, ()))
            given[self._target(pair.this, pair.this.name, names)] = translator.node(pair.expression)
        if columns:
            order = [self._target(column, column.name, names) for column in columns]
        else:
            order = [name for name in names if name not in given]
        found = query.names
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
            if node is None and not data_type._nullable:
                self._refuse(insert.this, _NO_VALUE.format(name))
            if node is None:
                node = Cast(Literal(None, DataTypes.NULL()), data_type.nullable(), False)
            nodes.append(Alias(node, (name,)))
        return projection.project(query, nodes, self._context)

    def _target(self, node: exp.Expr, name: str, names: Sequence[str]) -> str:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"; did you mean {near[0]}?" if near else f" (columns: {', '.join(names)})"
            self._refuse(node, f"Unknown target column '{name}'{hint}")
        return name

    def _columns_of(self, insert: exp.Expr) -> list[tuple[str, types.DataType]]:
        entry = self._objects.find(path_text(insert.this))
        if entry.is_view:
            self._refuse(insert.this, "a view cannot be written")
        return [
            (column.name, data_type)
            for column in entry.table.schema.columns
            if (data_type := _written_type(column)) is not None
        ]

    # Plans, names and settings

    @runs(tree.Explain)
    def _explain(self, statement: tree.Explain) -> TableResult:
        return self._rows(["result"], [[self.explained(statement, [])]], style=Style.RAW)

    @runs(tree.Set)
    def _set(self, statement: tree.Set) -> TableResult | None:
        config = self._context.config
        if statement.this is None:
            return self._rows(["key", "value"], sorted(config.to_map().items()))
        try:
            config.set(statement.this.name, statement.expression.name)
        except ValueError as error:
            self._refuse(statement.this, str(error))
        return None

    @runs(tree.Reset)
    def _reset(self, statement: tree.Reset) -> None:
        configuration = self._context.configuration
        assert isinstance(configuration, SessionConfiguration)
        key = statement.this
        if key is not None:
            configuration.reset(key.name)
            return
        for each in sorted(configuration.key_set()):
            configuration.reset(each)

    @runs(tree.Jar)
    def _jar(self, statement: tree.Jar) -> None:
        if statement.args["kind"] != "ADD":
            self._refuse(
                statement, "REMOVE JAR is not supported: a session of Spark keeps its jars"
            )
        path = statement.this.name
        try:
            self._context.session.addArtifacts(path)
        except Exception as error:
            self._refuse(statement.this, f"the jar cannot be added: {error}")
        self._context.jars.append(path)


_HANDLERS = handlers_of(_Execution)


def _written_type(column: UnresolvedColumn) -> types.DataType | None:
    """Return the type of a column that insertions write, None of any other column."""
    if isinstance(column, UnresolvedPhysicalColumn):
        return column.data_type
    if isinstance(column, UnresolvedMetadataColumn) and not column.is_virtual:
        return column.data_type
    return None
