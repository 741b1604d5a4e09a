"""Queries as operations on relations, the same that the Table API is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from sqlglot import exp

from pyflow.table.changes.relation import Relation
from pyflow.table.columns.nodes import Alias, Cast, Field, Node, Ordering
from pyflow.table.columns.type_rules import common_in_sql
from pyflow.table.relations import correlation, grouping, joins, projection, sorting
from pyflow.table.sql import tree
from pyflow.table.sql.expressions import path_of
from pyflow.table.sql.from_clause import FromClause
from pyflow.table.sql.names import Rows, of_relation
from pyflow.table.sql.select import HIDDEN, Output, Select

if TYPE_CHECKING:
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
class _Query(FromClause):
    def result(self, query: exp.Expr, inside: bool = False) -> Relation:
        """Return the rows of a query with its columns.

        Parameters
        ----------
        inside
            Whether it is a subquery.
        """
        inner = self._with_common_tables(query)
        output = inner._body(query)
        relation = inner._ordered(query, output)
        return inner._limited(query, relation, inside)

    def nested(self, query: exp.Expr) -> Relation:
        """Return the rows of a subquery, whose order means nothing."""
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

    def _body(self, query: exp.Expr) -> Output:
        if isinstance(query, exp.Select):
            return Select(self, query).output()
        if isinstance(query, exp.SetOperation):
            return Output(self._combined(query))
        if isinstance(query, exp.Subquery):
            return Output(self.nested(query.this))
        if isinstance(query, exp.Values):
            return Output(self.values(query))
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
        """Return the columns of the outer query that rows of this one have."""
        return [] if self.outer is None else self.outer.domain.names

    # ORDER BY and LIMIT

    def _ordered(self, query: exp.Expr, output: Output) -> Relation:
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
        hidden = [name for name in relation.names if name.startswith(HIDDEN)]
        if hidden:
            kept = [Field(name) for name in relation.names if name not in hidden]
            if relation.unbounded:
                with self.translator(Rows(self.one_row())).at(query):
                    relation = sorting.checked(relation, self.context, inside)
            order = relation.order
            relation = projection.project(relation, kept, self.context)
            relation = replace(relation, order=order)
        return relation
