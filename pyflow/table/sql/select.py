"""One SELECT of a query: groups, OVER windows and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from sqlglot import exp

from pyflow.table.changes.changelog import settled
from pyflow.table.changes.relation import Relation
from pyflow.table.columns.nodes import (
    Alias,
    Call,
    Cast,
    Field,
    FunctionCall,
    Literal,
    Node,
    Over,
    WindowProperty,
    transformed,
)
from pyflow.table.expression import Expression
from pyflow.table.relations import correlation, grouping, joins, projection
from pyflow.table.relations.streams import windows as stream_windows
from pyflow.table.sql import over_windows, subqueries, table_functions
from pyflow.table.sql.calls import Grouping
from pyflow.table.sql.expressions import GROUP_WINDOWS, Translator, path_of
from pyflow.table.sql.from_clause import FromClause
from pyflow.table.sql.names import Rows, output_names
from pyflow.table.window import GroupWindow
from pyflow.types.data_types import DataTypes
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import WindowSpec

__all__ = ["HIDDEN", "Output", "Select"]

# Begins the names of columns that only order the rows.
HIDDEN = "$order"


@dataclass(frozen=True)
class Output:
    """A query's rows and what ORDER BY of it may name beside its columns."""

    relation: Relation
    expand: Callable[[list[exp.Expr]], tuple[Relation, list[Node]]] | None = None


@dataclass
class Select:
    """One SELECT: rows of FROM and WHERE, groups, OVER windows, columns."""

    query: FromClause
    select: exp.Select
    rows: Rows = field(init=False)
    translator: Translator = field(init=False)
    #: Queries whose values stand beside groups, and the names that stand for them.
    beside_groups: list[tuple[exp.Expr, str]] = field(default_factory=list)

    def output(self) -> Output:
        """Return the rows of the SELECT, before ORDER BY."""
        self.rows = self._from_and_where()
        self.translator = self.query.translator(self.rows)
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

    def _projected(self, more: list[exp.Expr]) -> Output:
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
        wanted += [f"{HIDDEN}{place}" for place in range(len(more))]
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
            return Output(result)
        return Output(result, self._expanded)

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

    def __init__(self, query: FromClause, relation: Relation, keys: Mapping[Node, str]) -> None:
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


# Functions that are called without parentheses: Calcite takes them for names.
_NAMED_AS_THEY_ARE = frozenset(
    {"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"}
)


def _named(item: exp.Expr, position: int) -> tuple[str, exp.Expr]:
    """Return the name of a column as Flink gives it, and its expression."""
    if isinstance(item, exp.Alias):
        return item.alias, item.this
    named = item.this if isinstance(item, exp.Window) else item
    path = path_of(named)
    if path:
        return path[-1], item
    if isinstance(named, exp.Anonymous) and named.name.upper() in _NAMED_AS_THEY_ARE:
        return named.name.upper(), item
    return f"EXPR${position}", item


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
