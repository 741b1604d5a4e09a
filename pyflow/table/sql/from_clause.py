"""FROM and WHERE of a query: tables, joins and conditions, those with queries in them too."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sqlglot import exp

from pyflow.table.changes.relation import Relation, unused
from pyflow.table.columns.nodes import Alias, Field, Node
from pyflow.table.relations import correlation, joins, lookup_joins, projection, sorting
from pyflow.table.relations.predicates import all_of
from pyflow.table.relations.tables import relation_of_entry
from pyflow.table.sql import lookups, subqueries, table_functions, tree
from pyflow.table.sql.conditions import semi_join, subquery_conditions
from pyflow.table.sql.expressions import NameNotFound, path_of
from pyflow.table.sql.names import Rows, Source, of_relation
from pyflow.table.sql.qualify import HIDDEN
from pyflow.table.sql.query_base import Query

__all__ = ["FromClause"]


@dataclass(frozen=True)
class FromClause(Query):
    """A query that reads the tables of its FROM."""

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
            visible = [entry for entry in rows.visible() if not entry[0].startswith(HIDDEN)]
            return [(name, Field(column)) for name, column in visible]
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
            pairs = [translator.call("equals", Field(a), Field(b)) for _, a, b in shared]
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
        return translator.call("and", *found) if len(found) > 1 else next(iter(found), None)

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
                both = translator.call("COALESCE", Field(left), Field(right))
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
        """Return the rows of FROM for each combination of values of the outer query."""
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
        """Join tables, some of which refer to columns of the outer query, to their values."""
        if not isinstance(node, tree.JoinTree):
            return self._join(left, exp.Join(this=node, kind="CROSS"), [])
        rows = self._tables_for_each(left, node.this)
        for join in node.args["joins"]:
            if join.args.get("side") in ("RIGHT", "FULL"):
                self.refuse(
                    join,
                    f"{join.args['side']} JOIN with a table that refers to columns of the outer "
                    "query is not supported",
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
