"""Queries as operations on relations, the same that the Table API is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from pyspark.sql import functions as F
from sqlglot import exp

from pyflow.table.changes.changelog import settled
from pyflow.table.changes.relation import Relation, unused
from pyflow.table.columns.nodes import (
    Alias,
    Call,
    Cast,
    Field,
    FunctionCall,
    Literal,
    Node,
    Ordering,
    Over,
    WindowProperty,
    transformed,
)
from pyflow.table.columns.type_rules import common_in_sql
from pyflow.table.expression import Expression
from pyflow.table.relations import correlation, grouping, joins, lookup_joins, projection, sorting
from pyflow.table.relations.predicates import all_of
from pyflow.table.relations.streams import windows as stream_windows
from pyflow.table.relations.tables import relation_of_entry
from pyflow.table.sql import lookups, over_windows, subqueries, table_functions, tree
from pyflow.table.sql.conditions import semi_join, subquery_conditions
from pyflow.table.sql.expressions import GROUP_WINDOWS, Grouping, NameNotFound, Translator, path_of
from pyflow.table.sql.names import Rows, Source, of_relation, output_names
from pyflow.table.sql.query_base import Query
from pyflow.table.window import GroupWindow
from pyflow.types.data_types import DataTypes
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import WindowSpec

    from pyflow.table.context import TableContext


def relation_of(context: TableContext, text: str, query: exp.Expr) -> Relation:
    """Return the rows of a query.

    Raises
    ------
    TableException
        With line and column, where a name means nothing, types do not fit, or something is not
        supported.
    """
    return _Query(context, text).result(query)


@dataclass(frozen=True)
class _Output:
    """A query's rows and what ORDER BY of it may name beside its columns."""

    relation: Relation
    expand: Callable[[list[exp.Expr]], tuple[Relation, list[Node]]] | None = None


@dataclass(frozen=True)
class _Query(Query):
    def result(self, query: exp.Expr, inside: bool = False) -> Relation:
        """Return the rows of a query with its columns.

        Parameters
        ----------
        inside
            Whether it is a query inside another.
        """
        inner = self._with_common_tables(query)
        output = inner._body(query)
        relation = inner._ordered(query, output)
        return inner._limited(query, relation, inside)

    def nested(self, query: exp.Expr) -> Relation:
        """Return the rows of a query inside another, which may be in no order in streaming mode."""
        with self.translator(Rows(self.one_row())).at(query):
            return sorting.checked(self.result(query, inside=True), self.context, inside=True)

    def _with_common_tables(self, query: exp.Expr) -> _Query:
        with_ = query.args.get("with_")
        if with_ is None:
            return self
        if with_.args.get("recursive"):
            self.refuse(with_, "WITH RECURSIVE is not supported")
        found = self
        for table in with_.expressions:
            known = {**found.common_tables, table.alias: (table, replace(found, outer=None))}
            found = replace(found, common_tables=known)
        return found

    def _body(self, query: exp.Expr) -> _Output:
        if isinstance(query, exp.Select):
            return _Select(self, query).output()
        if isinstance(query, exp.SetOperation):
            return _Output(self._combined(query))
        if isinstance(query, exp.Subquery):
            return _Output(self.nested(query.this))
        if isinstance(query, exp.Values):
            return _Output(self.values(query))
        if isinstance(query, tree.NotSupported):
            self.refuse(query, f"{query.this} is not supported")
        return self.refuse(query, "a query expected here")

    # Set operations and VALUES

    def _combined(self, query: exp.SetOperation) -> Relation:
        left, right = self.nested(query.this), self.nested(query.expression)
        name = {"union": "union", "except": "minus", "intersect": "intersect"}[query.key]
        shown = {"minus": "EXCEPT"}.get(name, name.upper())
        if len(left.fields) != len(right.fields):
            self.refuse(
                query,
                f"Column count mismatch in {shown}: {len(left.fields)} and {len(right.fields)}",
            )
        wanted = []
        for (column_name, one), other in zip(left.fields, right.types):
            merged = common_in_sql([one, other])
            if merged is None:
                self.refuse(
                    query,
                    f"Type mismatch in column {column_name!r} of {shown}: {one.sql} and "
                    f"{other.sql}",
                )
            wanted.append(merged)
        every = not query.args.get("distinct")
        operation: joins.SetOperation = name  # type: ignore[assignment]
        with self.translator(of_relation(left)).at(query):
            if operation == "union" and self.context.is_streaming and not every:
                rows = joins.combine(
                    self._cast(left, wanted), self._cast(right, wanted), "union", True,
                    self.context,
                )  # fmt: skip
                return grouping.aggregate(rows, [Field(n) for n in rows.names], {}, self.context)
            return joins.combine(
                self._cast(left, wanted), self._cast(right, wanted), operation, every,
                self.context,
            )  # fmt: skip

    def _cast(self, relation: Relation, wanted: Sequence[object]) -> Relation:
        types = [data_type.nullable() for data_type in relation.types]
        if types == [data_type.nullable() for data_type in wanted]:  # type: ignore[attr-defined]
            return relation
        nodes: list[Node] = [
            Alias(Cast(Field(name), data_type, False), (name,))  # type: ignore[arg-type]
            for name, data_type in zip(relation.names, wanted)
        ]
        return projection.project(relation, nodes, self.context)

    def start(self) -> Rows:
        """Return the rows without FROM: one, or one for each of the query around."""
        return Rows(self.one_row()) if self.outer is None else self.outer.start()

    def values(self, values: exp.Values) -> Relation:
        """Return the rows of VALUES."""
        start = self.start()
        translator = self.translator(start)
        scope = projection.scope_of(start.relation, self.context)
        rows = [row.expressions for row in values.expressions]
        for row, written in zip(rows, values.expressions):
            if len(row) != len(rows[0]):
                self.refuse(
                    written, f"a row of VALUES has {len(row)} values, the first {len(rows[0])}"
                )
        columns: list[list[Node]] = []
        fields = []
        for position in range(len(rows[0])):
            nodes = [translator.node(row[position]) for row in rows]
            found = []
            for node, row in zip(nodes, rows):
                with translator.at(row[position]):
                    found.append(scope.resolve(node).data_type)
            merged = common_in_sql(found)
            if merged is None:
                self.refuse(values, f"the values of column {position + 1} have no common type")
            columns.append([Cast(node, merged, False) for node in nodes])
            fields.append((f"EXPR${position}", merged))
        structs = [
            F.struct(
                *(scope.resolve(node).column.alias(name) for node, (name, _) in zip(row, fields))
            )
            for row in zip(*columns)
        ]
        kept = start.relation
        frame = kept.frame.select(F.inline(F.array(*structs)), *kept.columns)
        return Relation(frame, (*fields, *kept.fields))

    @property
    def _domain_columns(self) -> list[str]:
        """Return the columns of the query around that rows of this one have."""
        return [] if self.outer is None else self.outer.domain.names

    # ORDER BY and LIMIT

    def _ordered(self, query: exp.Expr, output: _Output) -> Relation:
        order = query.args.get("order")
        if order is None:
            return output.relation
        domain = self._domain_columns
        names = [name for name in output.relation.names if name not in domain]
        written: list[exp.Expr] = [ordered.this for ordered in order.expressions]
        known: list[Node | None] = [self._output_column(node, names) for node in written]
        others = [node for node, name in zip(written, known) if name is None]
        relation = output.relation
        if others:
            if output.expand is None:
                self.refuse(others[0], "ORDER BY takes only the columns of the query here")
            relation, more = output.expand(others)
            rest = iter(more)
            nodes = [name if name is not None else next(rest) for name in known]
        else:
            nodes = [name for name in known if name is not None]
        orderings: list[Node] = []
        firsts: list[bool] = []
        for node, ordered in zip(nodes, order.expressions):
            ascending = not ordered.args.get("desc")
            nulls_first = ordered.args.get("nulls_first")
            orderings.append(Ordering(node, ascending))
            firsts.append(ascending if nulls_first is None else nulls_first)
        with self.translator(Rows(relation)).at(order):
            if self.outer is not None:
                return sorting.with_order(relation, orderings, self.context, firsts)
            # Columns that only order the rows go when the rows have been limited.
            return sorting.sort(relation, orderings, self.context, firsts)

    def _output_column(self, node: exp.Expr, names: Sequence[str]) -> Node | None:
        if isinstance(node, exp.Literal) and not node.is_string:
            place = int(node.name) if node.name.isdigit() else 0
            if not 1 <= place <= len(names):
                self.refuse(node, f"Ordinal out of range: the query has {len(names)} columns")
            return Field(names[place - 1])
        path = path_of(node)
        if path is not None and len(path) == 1 and path[0] in names:
            return Field(path[0])
        return None

    def _limited(self, query: exp.Expr, relation: Relation, inside: bool) -> Relation:
        offset, limit = query.args.get("offset"), query.args.get("limit")
        skipped = None if offset is None else int(offset.expression.name)
        count = None if limit is None else int(limit.expression.name)
        if self.outer is not None:
            if skipped is not None or count is not None:
                relation = correlation.limited(
                    relation, self._domain_columns, skipped or 0, count, self.context
                )
            relation = replace(relation, order=None)
        else:
            if skipped is not None:
                relation = sorting.offset(relation, skipped, self.context)
            if count is not None:
                relation = sorting.fetch(relation, count, self.context)
        hidden = [name for name in relation.names if name.startswith(_HIDDEN)]
        if hidden:
            kept = [Field(name) for name in relation.names if name not in hidden]
            if relation.unbounded:
                with self.translator(Rows(self.one_row())).at(query):
                    relation = sorting.checked(relation, self.context, inside)
            order = relation.order
            relation = projection.project(relation, kept, self.context)
            relation = replace(relation, order=order)
        return relation

    # FROM

    def from_(self, node: exp.Expr, conditions: list[exp.Expr] | None = None) -> Rows:
        """Return the rows of a table reference.

        Parameters
        ----------
        conditions
            Equalities of WHERE, by which rows of tables behind a comma are looked up; these are
            taken out.
        """
        alias = node.args.get("alias")
        rows = self._table(node, [] if conditions is None else conditions)
        if node.args.get("version") is not None:
            self.refuse(
                node.args["version"],
                "FOR SYSTEM_TIME AS OF stands at the right side of a join only",
            )
        return rows if alias is None else self.aliased(rows, alias)

    def starred(self, rows: Rows, item: exp.Expr) -> list[tuple[str, Node]] | None:
        """Return names and values that ``*``, ``t.*`` or ``.*`` of a row stands for, or None."""
        if isinstance(item, exp.Star):
            if not rows.sources:
                self.refuse(item, "'*' without FROM means nothing")
            return [(name, Field(column)) for name, column in rows.visible()]
        if isinstance(item, exp.Dot) and isinstance(item.expression, exp.Star):
            parts = path_of(item.this) or []
            source = next((s for s in rows.sources if s.qualified_by(parts)), None)
            if source is None:
                return self.translator(rows).fields_of(item)
            return [(name, Field(column)) for name, column in source.columns]
        return None

    def aliased(self, rows: Rows, alias: exp.Expr) -> Rows:
        """Return the rows as those of a table with other names."""
        columns = [identifier.name for identifier in alias.args.get("columns") or ()]
        if columns and len(columns) != len(rows.visible()):
            self.refuse(
                alias,
                f"{len(columns)} names of columns for a table of {len(rows.visible())} columns",
            )
        return rows.named((alias.this.name,), columns)

    def _table(self, node: exp.Expr, conditions: list[exp.Expr]) -> Rows:
        if isinstance(node, tree.JoinTree):
            rows = self.from_(node.this, conditions)
            for join in node.args["joins"]:
                rows = self._join(rows, join, conditions)
            return rows
        if isinstance(node, exp.Table):
            return self._named_table(node)
        if isinstance(node, exp.Subquery):
            if isinstance(node.this, (tree.JoinTree, exp.Table, exp.TableFromRows)):
                return self.from_(node.this)
            return of_relation(self.nested(node))
        if isinstance(node, exp.TableFromRows):
            return table_functions.table_function(self, node.this)
        if isinstance(node, (exp.Lateral, exp.Unnest)):
            return self._lateral(Rows(self.one_row()), node, "inner", None)
        if isinstance(node, tree.NotSupported):
            self.refuse(node, f"{node.this} is not supported")
        return self.refuse(node, "a table expected here")

    def _named_table(self, node: exp.Table) -> Rows:
        parts = [part.name for part in node.parts]
        for hint in node.args.get("hints") or ():
            self.refuse(hint, "OPTIONS and other hints of a table are not supported")
        known = self.common_tables.get(parts[0]) if len(parts) == 1 else None
        if known is not None:
            table, query = known
            relation = query.nested(table.this)
            columns = [identifier.name for identifier in table.args["alias"].columns or ()]
            if len(columns) > len(relation.names):
                self.refuse(table, f"{len(columns)} names for {len(relation.names)} columns")
            return of_relation(relation).named(parts, columns)
        with self.translator(Rows(self.one_row())).at(node):
            path = ".".join("`" + part.replace("`", "``") + "`" for part in parts)
            entry = self.context.catalogs.find(path)
            found = sorting.checked(relation_of_entry(entry, self.context), self.context)
            qualifier = self.context.catalogs.qualified(path)
        return of_relation(found, qualifier)

    def _join(self, left: Rows, join: exp.Join, conditions: list[exp.Expr]) -> Rows:
        side = (join.args.get("side") or "").upper()
        kind: joins.JoinType = {"LEFT": "left", "RIGHT": "right", "FULL": "full"}.get(side, "inner")  # type: ignore[assignment]
        table, on = join.this, join.args.get("on")
        if isinstance(on, exp.Boolean) and on.this:
            on = None
        if isinstance(table, (exp.Lateral, exp.Unnest)):
            if kind in ("right", "full"):
                self.refuse(join, f"{side} JOIN with LATERAL or UNNEST is not supported")
            return self._lateral(left, table, kind, on)
        dimension = None
        if table.args.get("version") is not None:
            dimension, right = lookups.dimension_of(self, left, join)
        else:
            try:
                right = self.from_(table)
            except NameNotFound:
                if left.around is None or not isinstance(table.this, exp.Query):
                    raise
                around = Rows(left.relation, (), left.around)
                return subqueries.lateral(self, left, table, table.this, kind, on, around)
        right = right.apart_from(left.relation.names)
        parts = [] if on is None else tree.conjuncts(on)
        later = [part for part in parts if dimension is None and subqueries.has_query(part)]
        known: dict[int, Node] = {}
        if later and kind == "inner":
            parts = [part for part in parts if part not in later]
        elif later:
            left, right, known = self._sides_with_queries(left, right, later)
            later = []
        joined = Relation(left.relation.frame, (*left.relation.fields, *right.relation.fields))
        both = replace(left, relation=joined, sources=(*left.sources, *right.sources))
        shared = self._shared(left, right, join)
        translator = self.translator(both)
        translator.subqueries = known
        if shared is not None:
            pairs = [translator._call("equals", Field(a), Field(b)) for _, a, b in shared]
            condition = all_of(pairs)
        elif dimension is not None and join.args.get("on") is None:
            condition = self._taken(both, conditions)
        else:
            condition = all_of([translator.node(part) for part in parts])
        with self.translator(left).at(join):
            if dimension is not None:
                shape = replace(dimension, shape=right.relation)
                relation = lookup_joins.join(left.relation, shape, condition, kind, self.context)
            else:
                relation = joins.join(
                    left.relation,
                    right.relation,
                    condition,
                    kind,
                    self.context,
                    every_condition=True,
                )
        rows = replace(both, relation=relation)
        for part in later:
            rows = self.where(rows, part)
        return rows if not shared else self._merged(rows, shared, kind)

    def _sides_with_queries(
        self, left: Rows, right: Rows, parts: Sequence[exp.Expr]
    ) -> tuple[Rows, Rows, dict[int, Node]]:
        """Return both sides of an outer join with the values of queries in its condition."""
        known: dict[int, Node] = {}
        for written in [each for part in parts for each in subqueries.nested_queries(part)]:
            try:
                left, values = subqueries.with_queries(self, left, [written])
            except NameNotFound:
                try:
                    right, values = subqueries.with_queries(self, right, [written])
                except NameNotFound:
                    self.refuse(
                        written,
                        "a query in ON of an outer join that names columns of both sides is not "
                        "supported",
                    )
            right = right.apart_from(left.relation.names)
            known.update(values)
        return left, right, known

    def _taken(self, rows: Rows, conditions: list[exp.Expr]) -> Node | None:
        """Take out those of some conditions that name nothing but columns of these rows."""
        translator = self.translator(rows)
        found: list[Node] = []
        for place in reversed(range(len(conditions))):
            with suppress(NameNotFound):
                found.insert(0, translator.node(conditions[place]))
                del conditions[place]
        return translator._call("and", *found) if len(found) > 1 else next(iter(found), None)

    def _shared(self, left: Rows, right: Rows, join: exp.Join) -> list[tuple[str, str, str]] | None:
        """Return the columns that USING or NATURAL joins by: name, left and right column."""
        using = join.args.get("using")
        if using:
            wanted = [identifier.name for identifier in using]
        elif join.args.get("method") == "NATURAL":
            names = [name for name, _ in right.visible()]
            wanted = [name for name, _ in left.visible() if name in names]
        else:
            return None
        shared = []
        for position, name in enumerate(wanted):
            sides = []
            for rows in (left, right):
                found, _ = rows.find([name])
                if len(found) != 1:
                    place = using[position] if using else join
                    self.refuse(
                        place,
                        rows.missing([name]) if not found else f"Column '{name}' is ambiguous",
                    )
                sides.append(found[0])
            shared.append((name, sides[0], sides[1]))
        return shared

    def _merged(self, rows: Rows, shared: list[tuple[str, str, str]], kind: joins.JoinType) -> Rows:
        """Return the rows with the shared columns once, before all others."""
        merged: list[tuple[str, str]] = []
        nodes: list[Node] = [Field(name) for name in rows.relation.names]
        translator = self.translator(rows)
        for name, left, right in shared:
            found = left if kind != "right" else right
            if kind == "full":
                found = unused("$merged", [*rows.relation.names, *(entry[1] for entry in merged)])
                both = translator._call("COALESCE", Field(left), Field(right))
                nodes.append(Alias(both, (found,)))
            merged.append((name, found))
        relation = rows.relation
        if len(nodes) > len(relation.names):
            relation = projection.project(relation, nodes, self.context)
        gone = {column for _, left, right in shared for column in (left, right)}
        sources = [replace(source, hidden=source.hidden | gone) for source in rows.sources]
        return replace(rows, relation=relation, sources=(Source((), tuple(merged)), *sources))

    def _lateral(
        self, left: Rows, table: exp.Expr, kind: joins.JoinType, on: exp.Expr | None
    ) -> Rows:
        call, outer = table.this, kind == "left"
        if (
            on is not None
            and outer
            and (subqueries.has_query(on) or not isinstance(call, exp.Query))
        ):
            self.refuse(on, "LEFT JOIN with LATERAL or UNNEST takes only ON TRUE")
        if isinstance(table, exp.Unnest):
            rows = table_functions.unnest(self, left, table, outer)
        elif isinstance(call, exp.Query):
            if outer:
                return subqueries.lateral(self, left, table, call, kind, on)
            rows = subqueries.lateral(self, left, table, call, kind)
        else:
            rows = table_functions.lateral(self, left, table, call, outer)
        return rows if on is None else self.where(rows, on)

    def from_for_each(self, from_: exp.Expr | None) -> Rows:
        """Return the rows of FROM for each of the values of the query around."""
        start, plain = self.start(), replace(self, outer=None)
        if from_ is None:
            return start
        try:
            rows = plain.from_(from_.this).apart_from(start.relation.names)
        except NameNotFound:
            rows = plain._tables_for_each(start, from_.this)
            return replace(rows, relation=correlation.bounded(rows.relation))
        relation = correlation.beside(rows.relation, start.relation, self.context)
        return Rows(relation, rows.sources, start.around)

    def _tables_for_each(self, left: Rows, node: exp.Expr) -> Rows:
        """Join tables, of which some name columns of the query around, to values of these."""
        if not isinstance(node, tree.JoinTree):
            return self._join(left, exp.Join(this=node, kind="CROSS"), [])
        rows = self._tables_for_each(left, node.this)
        for join in node.args["joins"]:
            if join.args.get("side") in ("RIGHT", "FULL"):
                self.refuse(
                    join,
                    f"{join.args['side']} JOIN of tables of which one names columns of the query "
                    "around is not supported",
                )
            rows = self._join(rows, join, [])
        return rows

    # WHERE

    def _filtered(self, rows: Rows, conditions: Sequence[exp.Expr]) -> Rows:
        written = [each for part in conditions for each in subqueries.nested_queries(part)]
        rows, known = subqueries.with_queries(self, rows, written)
        translator = self.translator(rows)
        translator.subqueries = known
        nodes = []
        for condition in conditions:
            with translator.at(condition):
                nodes.append(translator.node(condition))
                projection.check_condition(rows.relation, nodes[-1], self.context)
        together = all_of(nodes)
        if together is None:
            return rows
        with translator.at(conditions[0]):
            relation = projection.filter_rows(rows.relation, together, self.context)
        return replace(rows, relation=relation)

    def where(self, rows: Rows, condition: exp.Expr) -> Rows:
        """Return the rows for which a condition is true, which may have queries in it."""
        return self._where(rows, *subquery_conditions(condition))

    def _where(
        self, rows: Rows, plain: Sequence[exp.Expr], queries: Sequence[tuple[exp.Expr, bool]]
    ) -> Rows:
        # First those without queries, which joins of the tables may take.
        for nested in (False, True):
            rows = self._filtered(
                rows, [part for part in plain if subqueries.has_query(part) == nested]
            )
        for part, anti in queries:
            rows = semi_join(self, rows, part, anti)
        return rows

    def from_where(self, from_: exp.Expr, condition: exp.Expr) -> Rows:
        """Return the rows of a table reference for which a condition is true."""
        plain, queries = subquery_conditions(condition)
        equalities = [
            part
            for part in plain
            if isinstance(part.unnest(), exp.EQ) and not subqueries.has_query(part)
        ]
        sides = {join.args.get("side") for join in from_.args.get("joins") or ()}
        if sides & {"RIGHT", "FULL"}:
            # They add rows behind the lookup, which WHERE takes out.
            equalities = []
        left = [*equalities]
        rows = self.from_(from_, left)
        taken = {id(part) for part in equalities} - {id(part) for part in left}
        for part in equalities:
            if id(part) in taken:
                # Its names must mean one column of all tables.
                self.translator(rows).node(part)
        return self._where(rows, [part for part in plain if id(part) not in taken], queries)


_HIDDEN = "$order"


@dataclass
class _Select:
    """One SELECT: rows of FROM and WHERE, groups, OVER windows, columns."""

    query: _Query
    select: exp.Select
    rows: Rows = field(init=False)
    translator: Translator = field(init=False)
    #: Queries whose values stand beside groups, and the names that stand for them.
    beside_groups: list[tuple[exp.Expr, str]] = field(default_factory=list)

    def output(self) -> _Output:
        """Return the rows of the SELECT, before ORDER BY."""
        select, query = self.select, self.query
        for key, what in (("qualify", "QUALIFY"),):
            if select.args.get(key) is not None:
                query.refuse(select.args[key], f"{what} is not supported")
        self.rows = self._from_and_where()
        self.translator = query.translator(self.rows)
        return self._projected([])

    def _from_and_where(self) -> Rows:
        query = self.query
        from_, where = self.select.args.get("from_"), self.select.args.get("where")
        if query.outer is None and from_ is not None and where is not None:
            return query.from_where(from_.this, where.this)
        if query.outer is not None:
            rows = query.from_for_each(from_)
        else:
            rows = query.start() if from_ is None else query.from_(from_.this)
        return rows if where is None else query.where(rows, where.this)

    def _projected(self, more: list[exp.Expr]) -> _Output:
        select = self.select
        items: list[tuple[Node, exp.Expr]] = []
        wanted: list[str] = []
        grouped = self._is_grouped(more)
        if grouped:
            self._group_windows()
        having = select.args.get("having")
        self._with_queries([*select.expressions, *more, having], grouped)
        translator = self.translator
        outer = self.rows.outer_columns
        windows = over_windows.OverWindows(
            self.query.context, self.query.text, select, tuple(map(Field, outer))
        )
        for item in select.expressions:
            starred = self.query.starred(self.rows, item)
            if starred is not None:
                wanted += [name for name, _ in starred]
                items += [(node, item) for _, node in starred]
                continue
            name, expression = _named(item, len(items))
            wanted.append(name)
            items.append((windows.translated(translator, expression), item))
        wanted += outer
        items += [(Field(name), select) for name in outer]
        wanted += [f"{_HIDDEN}{place}" for place in range(len(more))]
        items += [(windows.translated(translator, item), item) for item in more]
        condition = None if having is None else translator.node(having.this)
        nodes = [node for node, _ in items]
        if grouped:
            relation, nodes, condition = self._grouped(nodes, condition, windows)
            if having is not None and condition is not None:
                with translator.at(having):
                    relation = projection.filter_rows(relation, condition, self.query.context)
        else:
            relation = self.rows.relation
        names = output_names(wanted)
        aliases: list[Node] = [Alias(node, (name,)) for node, name in zip(nodes, names)]
        result = self._computed(relation, aliases, [item for _, item in items], windows)
        if select.args.get("distinct") is not None:
            if more:
                self.query.refuse(
                    more[0], "with SELECT DISTINCT, ORDER BY takes only the columns of the query"
                )
            result = self._distinct(result)
        if more:
            return _Output(result)
        return _Output(result, self._expanded)

    def _distinct(self, relation: Relation) -> Relation:
        keys: list[Node] = [Field(name) for name in relation.names]
        if self.query.outer is not None:
            return correlation.aggregate(relation, keys, {}, self.query.context, None)
        return grouping.aggregate(relation, keys, {}, self.query.context)

    def _with_queries(self, places: Sequence[exp.Expr | None], grouped: bool) -> None:
        """Add the values of queries in expressions to the rows; some of them wait for groups."""
        known = dict(self.translator.subqueries)
        for place in places:
            for written in [] if place is None else subqueries.nested_queries(place):
                if place is None or id(written) in known:
                    continue
                if grouped and not over_windows.is_aggregated(self.query.context, written, place):
                    name = f"$query{len(self.beside_groups)}"
                    self.beside_groups.append((written, name))
                    known[id(written)] = Field(name)
                    continue
                self.translator.subqueries = known
                self.rows, found = subqueries.with_queries(
                    self.query, self.rows, [written], self.translator.node
                )
                self.translator.rows = self.rows
                known.update(found)
        self.translator.subqueries = known

    def _expanded(self, more: list[exp.Expr]) -> tuple[Relation, list[Node]]:
        """Return the rows with columns to order by."""
        relation = self._projected(more).relation
        return relation, [Field(name) for name in relation.names[-len(more) :]]

    # Groups

    def _is_grouped(self, more: list[exp.Expr]) -> bool:
        select = self.select
        if select.args.get("group") is not None or select.args.get("having") is not None:
            return True
        return any(
            over_windows.has_aggregate(self.query.context, item)
            for item in [*select.expressions, *more]
        )

    def _grouping_sets(self) -> list[list[exp.Expr]]:
        group = self.select.args.get("group")
        sets: list[list[exp.Expr]] = [[]]
        for item in group.expressions if group is not None else ():
            options = _sets_of(item)
            sets = [[*one, *other] for one in sets for other in options]
        return sets

    def _group_windows(self) -> None:
        calls: list[tuple[exp.Anonymous, str]] = []
        for group in self._grouping_sets():
            for item in group:
                known = [call for call, _ in calls]
                if _is_group_window(item) and item not in known:
                    calls.append((item, f"$window{len(calls)}"))
        if len(calls) > 1:
            self.query.refuse(calls[1][0], "a second group window of one query")
        self.translator.group_windows = calls

    def _grouped(
        self, nodes: list[Node], having: Node | None, windows: over_windows.OverWindows
    ) -> tuple[Relation, list[Node], Node | None]:
        context, relation = self.query.context, self.rows.relation
        sets = self._grouping_sets()
        window_names = [name for _, name in self.translator.group_windows]
        outer = self.rows.outer_columns
        keys: dict[Node, str] = {Field(name): name for name in outer}
        groups: list[list[str]] = []
        for group in sets:
            names = [*outer]
            for item in group:
                node = self.translator.node(item)
                if isinstance(node, Field) and node.name in window_names:
                    continue
                if node not in keys:
                    keys[node] = node.name if isinstance(node, Field) else f"$key{len(keys)}"
                if keys[node] not in names:
                    names.append(keys[node])
            groups.append(names)
        groupings: dict[str, Node] = {
            name: node if isinstance(node, Field) else Alias(node, (name,))
            for node, name in keys.items()
        }
        parts = _Aggregates(self.query, relation, keys)
        rewritten = [parts.replaced(node) for node in [*nodes, *([having] if having else [])]]
        windows.rewrite(parts.replaced)
        for written, _ in self.beside_groups:
            for value in subqueries.values_of(written):
                parts.replaced(self.translator.node(value))
        results = []
        for place, names in enumerate(groups):
            chosen = [groupings[name] for name in names]
            repeated = [set(each) for each in groups[:place]].count(set(names))
            with self.translator.at(self.select.args.get("group") or self.select):
                # As one set of several, all rows are a group only where there are some.
                result = self._aggregated(relation, chosen, parts, window_names, sets == [[]])
                results.append(
                    self._with_missing(result, relation, names, groupings, parts, sets, repeated)
                )
        combined = results[0]
        for result in results[1:]:
            combined = joins.combine(combined, result, "union", True, context)
        combined, with_values = self._beside_groups(combined, keys, parts)
        rewritten = [with_values(node) for node in rewritten]
        windows.rewrite(with_values)
        self._check_grouped(rewritten, combined)
        condition = rewritten.pop() if having else None
        return combined, rewritten, condition

    def _beside_groups(
        self, relation: Relation, keys: Mapping[Node, str], parts: _Aggregates
    ) -> tuple[Relation, Callable[[Node], Node]]:
        """Return groups with the values of queries, and what puts these into an expression."""
        grouped = {name for node, name in keys.items() if isinstance(node, Field)}
        sources = tuple(
            replace(each, columns=tuple(entry for entry in each.columns if entry[1] in grouped))
            for each in self.rows.sources
        )
        rows = Rows(relation, sources, self.rows.around)
        values: dict[Node, Node] = {}

        def with_values(node: Node) -> Node:
            return transformed(node, values.get)

        def node_of(value: exp.Expr) -> Node:
            return with_values(parts.replaced(self.translator.node(value)))

        for written, name in self.beside_groups:
            rows, found = subqueries.with_queries(self.query, rows, [written], node_of)
            values[Field(name)] = found[id(written)]
        return rows.relation, with_values

    def _aggregated(
        self,
        relation: Relation,
        groupings: list[Node],
        parts: _Aggregates,
        window_names: list[str],
        empty: bool,
    ) -> Relation:
        context, outer = self.query.context, self.query.outer
        if window_names:
            call = self.translator.group_windows[0][0]
            return grouping.aggregate_windowed(
                relation,
                groupings,
                self._window_of(call, window_names[0]),
                parts.aggregates,
                parts.properties,
                context,
            )
        if outer is not None:
            domain = outer.domain.relation if empty else None
            return correlation.aggregate(relation, groupings, parts.aggregates, context, domain)
        if context.is_streaming and stream_windows.has_partitions(relation, groupings):
            return table_functions.aggregate_windows(
                settled(relation), groupings, parts.aggregates, context
            )
        return grouping.aggregate(relation, groupings, parts.aggregates, context, empty)

    def _window_of(self, call: exp.Anonymous, name: str) -> GroupWindow:
        arguments: list[Expression[Any]] = [
            Expression(self.translator.node(part)) for part in call.expressions
        ]
        kind = GROUP_WINDOWS[call.name.upper()]
        count = 3 if kind == "slide" else 2
        if len(arguments) != count:
            self.query.refuse(
                call, f"{call.name.upper()} takes {count} arguments here, got {len(arguments)}"
            )
        if kind == "slide":
            time, slide, size = arguments
            return GroupWindow("slide", size, slide, time, name)
        time, size = arguments
        return GroupWindow(kind, size, None, time, name)  # type: ignore[arg-type]

    def _with_missing(
        self,
        result: Relation,
        relation: Relation,
        names: list[str],
        groupings: dict[str, Node],
        parts: _Aggregates,
        sets: list[list[exp.Expr]],
        repeated: int,
    ) -> Relation:
        """Return the groups of one grouping set with null for the keys of the others.

        Before it, the same set was there already a `repeated` number of times.
        """
        if len(sets) == 1 and not parts.groupings:
            return result
        context = self.query.context
        scope = projection.scope_of(relation, context)
        nodes: list[Node] = []
        for name, node in groupings.items():
            if name in names:
                nodes.append(Field(name))
                continue
            inner = node.child if isinstance(node, Alias) else node
            data_type = scope.resolve(inner).data_type.nullable()
            nodes.append(Alias(Cast(Literal(None, DataTypes.NULL()), data_type, False), (name,)))
        nodes += [Field(name) for name in (*parts.aggregates, *parts.properties)]
        for name, wanted in parts.groupings.items():
            bits = 0 if wanted else repeated
            for key in wanted:
                bits = bits * 2 + (key not in names)
            nodes.append(Alias(Literal(bits, DataTypes.BIGINT().not_null()), (name,)))
        return projection.project(result, nodes, context)

    def _check_grouped(self, nodes: list[Node], grouped: Relation) -> None:
        items = [*self.select.expressions]
        for position, node in enumerate(nodes):
            for name in _fields_of(node):
                if name in grouped.names or name.startswith("$window"):
                    continue
                place = items[position] if position < len(items) else self.select
                visible = next((v for v, f in self.rows.visible() if f == name), name)
                self.query.refuse(place, f"Expression '{visible}' is not being grouped")

    # Columns

    def _computed(
        self,
        relation: Relation,
        nodes: list[Node],
        items: list[exp.Expr],
        windows: over_windows.OverWindows,
    ) -> Relation:
        context = self.query.context
        specifications: dict[str, WindowSpec] = {}
        if windows:
            relation, specifications = windows.on(relation, self.rows, nodes)
            nodes = [windows.with_columns(node) for node in nodes]
        scope = replace(projection.scope_of(relation, context), windows=specifications)
        for node, item in zip(nodes, items):
            with self.translator.at(item):
                scope.resolve(node)
        with self.translator.at(self.select):
            return projection.project(relation, nodes, context, specifications)


class _Aggregates:
    """The aggregates of a selection, taken out of it, each once."""

    def __init__(self, query: _Query, relation: Relation, keys: Mapping[Node, str]) -> None:
        self._scope = projection.scope_of(relation, query.context)
        self._keys = keys
        self.aggregates: dict[str, Node] = {}
        self.properties: dict[str, Node] = {}
        self.groupings: dict[str, list[str]] = {}

    def replaced(self, node: Node) -> Node:
        """Return a node with columns of the groups in place of keys and aggregates."""
        return transformed(node, self._group_column)

    def _group_column(self, node: Node) -> Node | None:
        known = self._keys.get(node)
        if known is not None:
            return Field(known)
        if isinstance(node, Grouping):
            return self._grouping(node)
        if isinstance(node, WindowProperty):
            return Field(self._name(self.properties, node, "$property"))
        if isinstance(node, Over):
            aggregate = node.aggregate
            if isinstance(aggregate, (Call, FunctionCall)):
                inner = tuple(map(self.replaced, aggregate.arguments))
                return Over(replace(aggregate, arguments=inner), node.alias)
            return node
        if self._scope.aggregates_of(node) == [node]:
            return Field(self._name(self.aggregates, node, "$aggregate"))
        return None

    def _grouping(self, node: Grouping) -> Node:
        wanted = []
        for key in node.keys:
            if key not in self._keys:
                raise TableException("the argument of GROUPING is no key of GROUP BY")
            wanted.append(self._keys[key])
        for name, known in self.groupings.items():
            if known == wanted:
                return Field(name)
        name = f"$grouping{len(self.groupings)}"
        self.groupings[name] = wanted
        return Field(name)

    def _name(self, known: dict[str, Node], node: Node, prefix: str) -> str:
        for name, other in known.items():
            if other == node:
                return name
        name = f"{prefix}{len(known)}"
        known[name] = node
        return name


def _named(item: exp.Expr, position: int) -> tuple[str, exp.Expr]:
    """Return the name of a column as Flink gives it, and its expression."""
    if isinstance(item, exp.Alias):
        return item.alias, item.this
    named = item.this if isinstance(item, exp.Window) else item
    path = path_of(named)
    return (path[-1] if path else f"EXPR${position}"), item


def _is_group_window(item: exp.Expr) -> TypeGuard[exp.Anonymous]:
    return isinstance(item, exp.Anonymous) and item.name.upper() in GROUP_WINDOWS


def _sets_of(item: exp.Expr) -> list[list[exp.Expr]]:
    """Return the grouping sets that an item of GROUP BY stands for."""
    if isinstance(item, exp.GroupingSets):
        return [option for inner in item.expressions for option in _sets_of(inner)]
    if isinstance(item, (exp.Rollup, exp.Cube)):
        parts = [_sets_of(part)[0] for part in item.expressions]
        if isinstance(item, exp.Rollup):
            chosen = [parts[:length] for length in range(len(parts), -1, -1)]
        else:
            chosen = [
                [part for bit, part in enumerate(parts) if not mask >> (len(parts) - 1 - bit) & 1]
                for mask in range(1 << len(parts))
            ]
        return [[each for part in option for each in part] for option in chosen]
    if isinstance(item, exp.Paren):
        return _sets_of(item.this)
    if isinstance(item, exp.Tuple):
        return [list(item.expressions)]
    return [[item]]


def _fields_of(node: Node) -> list[str]:
    if isinstance(node, Field):
        return [node.name]
    return [name for child in node.children for name in _fields_of(child)]
