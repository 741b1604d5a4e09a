"""OVER: functions of the rows around each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as F
from sqlglot import exp

from pyflow.table.changes.changelog import numbered, settled
from pyflow.table.changes.relation import SEQUENCE, Relation, SortKey, column
from pyflow.table.columns.arithmetic import is_floating
from pyflow.table.columns.nodes import Distinct, Field, FunctionCall, Node, Over, transformed
from pyflow.table.columns.type_rules import decimal_of
from pyflow.table.functions.resolution import interval_ms
from pyflow.table.relations import projection
from pyflow.table.relations.streams import over as stream_over
from pyflow.table.relations.streams import windows as stream_windows
from pyflow.table.relations.streams.over import StreamWindow
from pyflow.table.relations.streams.ranks import first_rows
from pyflow.table.relations.streams.windows import has_partitions
from pyflow.table.relations.windows import micros_of
from pyflow.table.runtime.streams.over import Frame
from pyflow.table.sql import builtin_functions, tree
from pyflow.table.sql.expressions import Translator
from pyflow.table.sql.names import Rows
from pyflow.table.sql.ranks import wanted_places
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import MAX_DECIMAL_PRECISION, LocalZonedTimestampType, TimestampType
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, WindowSpec

    from pyflow.table.context import TableContext
    from pyflow.table.functions.resolution import Resolved


@dataclass(frozen=True)
class _Specification:
    """A window, its expressions as nodes."""

    call: exp.Window
    partitions: tuple[Node, ...]
    orders: tuple[tuple[Node, bool, bool | None], ...]
    frame: exp.WindowSpec | None
    ranks: bool


def _function_or_none(context: TableContext, name: str) -> Any:
    """Return a function; None also where it cannot be imported, which its translation tells."""
    try:
        return context.function(name)
    except TableException:
        return None


def has_aggregate(context: TableContext, expression: exp.Expr) -> bool:
    """Return whether an expression has an aggregate that is not taken OVER a window."""
    if isinstance(expression, exp.Window):
        inner = [*_arguments(expression.this), *(expression.args.get("partition_by") or ())]
        order = expression.args.get("order")
        inner += [ordered.this for ordered in order.expressions] if order is not None else []
        return any(has_aggregate(context, part) for part in inner)
    if isinstance(expression, (exp.Subquery, exp.Select)):
        return False
    if _is_aggregate(context, expression):
        return True
    return any(has_aggregate(context, child) for child in expression.iter_expressions())


def _is_aggregate(context: TableContext, call: exp.Expr) -> bool:
    if not isinstance(call, exp.Anonymous):
        return False
    wrapper = _function_or_none(context, call.name)
    if wrapper is not None:
        return getattr(wrapper, "kind", "") == "aggregate"
    function = builtin_functions.find(call.name)
    if function is not None and function.aggregate:
        return True
    return call.name.upper() in ("JSON_OBJECTAGG", "JSON_ARRAYAGG")


_WRAPPERS = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)


def is_aggregated(context: TableContext, part: exp.Expr, whole: exp.Expr) -> bool:
    """Return whether a part of an expression is in an aggregate that has no OVER window."""
    while part is not whole and part.parent is not None:
        part = part.parent
        call = part
        while isinstance(call, _WRAPPERS):
            call = call.this
        if not _is_aggregate(context, call):
            continue
        while isinstance(part.parent, _WRAPPERS):
            part = part.parent
        if not (isinstance(part.parent, exp.Window) and part.parent.this is part):
            return True
    return False


def _arguments(expression: exp.Expr) -> list[exp.Expr]:
    return [child for child in expression.iter_expressions() if isinstance(child, exp.Expr)]


class OverWindows:
    """The OVER windows of one SELECT."""

    def __init__(
        self,
        context: TableContext,
        text: str,
        select: exp.Select,
        partitions: tuple[Node, ...] = (),
    ) -> None:
        self._context = context
        self._text = text
        self._select = select
        #: What divides the rows of all windows, beside their own partitions.
        self._partitions = partitions
        self._computed: set[str] = set()
        self._named = {window.this.name: window for window in select.args.get("windows") or ()}
        self.specifications: dict[str, _Specification] = {}

    def __bool__(self) -> bool:
        return bool(self.specifications)

    def translated(self, translator: Translator, expression: exp.Expr) -> Node:
        """Return the node of an expression that may have OVER in it."""
        known = dict(translator.subqueries)
        for call in expression.find_all(exp.Window):
            if id(call) in known or _is_inside_another(call, expression):
                continue
            known[id(call)] = self._over(translator, call)
        translator.subqueries = known
        return translator.node(expression)

    def _over(self, translator: Translator, call: exp.Window) -> Node:
        window = self._complete(call)
        name = f"$over{len(self.specifications)}"
        function = call.this
        unwrapped = function
        while isinstance(unwrapped, _WRAPPERS):
            unwrapped = unwrapped.this
        named = unwrapped.name.upper() if isinstance(unwrapped, exp.Anonymous) else ""
        aggregate = translator.node(function)
        if isinstance(aggregate, Distinct) and not translator.rows.relation.unbounded:
            if not self._context.is_streaming:
                tree.refuse(self._text, call, "DISTINCT with OVER is for streaming mode")
            if isinstance(aggregate.child, FunctionCall):
                tree.refuse(
                    self._text,
                    call,
                    "DISTINCT with OVER is supported over bounded rows for built-in functions only",
                )
        order = window.args.get("order")
        if named in builtin_functions.OVER_ONLY and order is None and named != "ROW_NUMBER":
            tree.refuse(self._text, call, f"{named} needs ORDER BY in its window")
        self.specifications[name] = _Specification(
            call,
            (
                *self._partitions,
                *(translator.node(part) for part in window.args.get("partition_by") or ()),
            ),
            tuple(
                (
                    translator.node(ordered.this),
                    not ordered.args.get("desc"),
                    ordered.args.get("nulls_first"),
                )
                for ordered in (order.expressions if order is not None else ())
            ),
            window.args.get("spec"),
            named in builtin_functions.OVER_ONLY,
        )
        return Over(aggregate, name)

    def _complete(self, call: exp.Window) -> exp.Window:
        """Return a window with what it takes from the named one."""
        alias = call.args.get("alias")
        if alias is None:
            return call
        base = self._named.get(alias.name)
        if base is None:
            tree.refuse(self._text, alias, f"Window '{alias.name}' not found")
        base = self._complete(base)
        whole = base.copy()
        for key in ("partition_by", "order", "spec"):
            given = call.args.get(key)
            if given:
                if base.args.get(key):
                    tree.refuse(
                        self._text,
                        call,
                        f"window '{alias.name}' has {key.replace('_', ' ')} already",
                    )
                whole.set(key, given)
        return whole

    def rewrite(self, replaced: Callable[[Node], Node]) -> None:
        """Put the columns of groups into the expressions of the windows."""
        self.specifications = {
            name: replace(
                window,
                partitions=tuple(map(replaced, window.partitions)),
                orders=tuple((replaced(node), *rest) for node, *rest in window.orders),  # type: ignore[misc]
            )
            for name, window in self.specifications.items()
        }

    def on(
        self, relation: Relation, rows: Rows, nodes: Sequence[Node]
    ) -> tuple[Relation, dict[str, WindowSpec]]:
        """Return the windows as Spark has them, and the rows with what these need.

        Those of an unbounded table are columns already.
        """
        streaming = self._context.is_streaming
        ranking = self._ranking(relation)
        if ranking is not None:
            return self._first_rows(relation, *ranking), {}
        if relation.unbounded:
            return self._over_streams(relation, rows, nodes), {}
        for window in self.specifications.values():
            if streaming:
                self._check_streaming(relation, window)
        prepared = replace(numbered(settled(relation)), updating=False)
        result = {}
        for name, window in self.specifications.items():
            try:
                result[name] = self._specification(prepared, window)
            except tree.SqlError:
                raise
            except TableException as error:
                start = tree.start_of(window.call)
                raise tree.error_at(self._text, start, str(error)) from error
        first = next(iter(self.specifications.values()))
        if streaming and first.orders:
            node = first.orders[0][0]
            assert isinstance(node, Field)
            frame = prepared.frame.orderBy(column(node.name), column(SEQUENCE))
            prepared = replace(prepared, frame=frame)
        return prepared, result

    def with_columns(self, node: Node) -> Node:
        """Return a node with the columns that windows over an unbounded table have become."""
        return transformed(node, self._column_of)

    def _column_of(self, node: Node) -> Node | None:
        if isinstance(node, Over) and node.alias in self._computed:
            return Field(node.alias)
        return None

    def _over_streams(self, relation: Relation, rows: Rows, nodes: Sequence[Node]) -> Relation:
        """Return the rows of an unbounded table with the aggregates of its windows."""
        aggregates: dict[str, Node] = {}

        def taken(node: Node) -> Node | None:
            if not isinstance(node, Over):
                return None
            aggregates[node.alias] = node.aggregate
            return node

        for node in nodes:
            transformed(node, taken)
        windows: dict[StreamWindow, dict[str, Node]] = {}
        for name, specification in self.specifications.items():
            self._check_streaming(relation, specification)
            window = self._stream_window(specification)
            windows.setdefault(window, {})[name] = aggregates[name]
        for window, found in windows.items():
            call = self.specifications[next(iter(found))].call
            with Translator(self._context, self._text, rows).at(call):
                relation = stream_over.over(relation, window, found, self._context)
        self._computed = set(self.specifications)
        return relation

    def _stream_window(self, window: _Specification) -> StreamWindow:
        order = window.orders[0][0]
        assert isinstance(order, Field)
        written = window.frame
        if window.ranks or written is None:
            return StreamWindow(window.partitions, order.name, Frame(window.ranks, None))
        by_rows = written.args["kind"] == "ROWS"
        start, end = self._bounds(window, self._rows if by_rows else self._time)
        if end != Window.currentRow:
            tree.refuse(self._text, window.call, stream_over.FOLLOWING.format(written.args["kind"]))
        preceding = None if start == Window.unboundedPreceding else -start
        return StreamWindow(window.partitions, order.name, Frame(by_rows, preceding))

    def _ranking(self, relation: Relation) -> tuple[str, _Specification] | None:
        """Return the window of ROW_NUMBER in streaming mode, if it is the only one.

        That of bounded rows of windows is computed as in batch mode.
        """
        if not self._context.is_streaming or len(self.specifications) != 1:
            return None
        ((name, window),) = self.specifications.items()
        if not relation.unbounded and has_partitions(relation, window.partitions):
            return None
        function = window.call.this
        is_number = isinstance(function, exp.Anonymous) and function.name.upper() == "ROW_NUMBER"
        if not is_number:
            return None
        limited = wanted_places(self._select, window.call) is not None
        return (name, window) if limited or not _is_by_time(relation, window) else None

    def _first_rows(self, relation: Relation, name: str, window: _Specification) -> Relation:
        """Return the rows whose numbers the outer query selects, with their row number."""
        wanted = wanted_places(self._select, window.call)
        if wanted is None:
            tree.refuse(
                self._text,
                window.call,
                "ROW_NUMBER in streaming mode is supported where the outer query limits it: "
                "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (...) AS n FROM t) WHERE n <= 3",
            )
        order = [
            SortKey(node, ascending, ascending if first is None else first)
            for node, ascending, first in window.orders
        ]
        self._computed = {name}
        rank = name if wanted.shown else None
        places = (wanted.first, wanted.last)
        in_windows = not relation.updating and has_partitions(relation, window.partitions)
        planned = stream_windows.first_rows if in_windows else first_rows
        with Translator(self._context, self._text, Rows(relation)).at(window.call):
            found = planned(relation, window.partitions, order, places, rank, self._context)
        if wanted.shown:
            return found
        # The condition on the row number stays: it holds for all of these rows.
        place = F.lit(wanted.first).cast("bigint").alias(name)
        return replace(
            found,
            frame=found.rows(place, *found.changes),
            fields=(*found.fields, (name, DataTypes.BIGINT().not_null())),
        )

    def _check_streaming(self, relation: Relation, window: _Specification) -> None:
        if has_partitions(relation, window.partitions) and not relation.unbounded:
            return
        by_time = _is_by_time(relation, window)
        if not by_time:
            tree.refuse(
                self._text,
                window.call,
                "OVER windows' ordering in stream mode must be defined on a time attribute",
            )
        if relation.updating:
            tree.refuse(
                self._text,
                window.call,
                "OVER of rows that change is not supported in streaming mode",
            )

    def _specification(self, relation: Relation, window: _Specification) -> WindowSpec:
        scope = projection.scope_of(relation, self._context)
        spec = Window.partitionBy(*(scope.resolve(node).column for node in window.partitions))
        if not window.orders:
            if window.ranks:
                spec = spec.orderBy(column(SEQUENCE))
            elif window.frame is not None and window.frame.args["kind"] == "ROWS":
                spec = spec.orderBy(column(SEQUENCE))
                return spec.rowsBetween(*self._bounds(window, self._rows))
            return spec
        orders = [
            _sorted(scope.resolve(node).column, ascending, nulls_first)
            for node, ascending, nulls_first in window.orders
        ]
        frame = window.frame
        if window.ranks:
            if frame is not None:
                tree.refuse(
                    self._text,
                    window.call,
                    "ROW/RANGE not allowed with ranking functions, LAG and LEAD",
                )
            return (
                spec.orderBy(*orders, column(SEQUENCE))
                if self._is_row_number(window)
                else (spec.orderBy(*orders))
            )
        if _is_by_clock(relation, window) and _reaches_here(frame):
            # Each row has a time of its own, in the order in which they come.
            ordered = spec.orderBy(column(SEQUENCE))
            return ordered.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        if frame is None:
            whole = spec.orderBy(*orders)
            return whole.rangeBetween(Window.unboundedPreceding, Window.currentRow)
        if frame.args["kind"] == "ROWS":
            ordered = spec.orderBy(*orders, column(SEQUENCE))
            return ordered.rowsBetween(*self._bounds(window, self._rows))
        return self._range(relation, spec, orders, window)

    def _is_row_number(self, window: _Specification) -> bool:
        return window.call.this.name.upper() in ("ROW_NUMBER", "LAG", "LEAD", "NTILE")

    def _range(
        self,
        relation: Relation,
        spec: WindowSpec,
        orders: list[Column],
        window: _Specification,
    ) -> WindowSpec:
        frame = window.frame
        assert frame is not None
        plain = [frame.args["start"], frame.args["end"]]
        if all(isinstance(bound, str) for bound in plain):
            return spec.orderBy(*orders).rangeBetween(*self._bounds(window, self._rows))
        if len(window.orders) != 1:
            tree.refuse(
                self._text, window.call, "RANGE with a distance takes one column to order by"
            )
        node, ascending, nulls_first = window.orders[0]
        resolved = projection.scope_of(relation, self._context).resolve(node)
        if isinstance(resolved.data_type, (TimestampType, LocalZonedTimestampType)):
            if not isinstance(node, Field):
                tree.refuse(
                    self._text, window.call, "RANGE with a time is ordered by a column only"
                )
            value = micros_of(node.name, resolved.data_type)
            ordered = spec.orderBy(value.asc() if ascending else value.desc())
            return ordered.rangeBetween(*self._bounds(window, self._time))
        places = max(_places(bound) for bound in plain)
        if not places:
            return spec.orderBy(*orders).rangeBetween(*self._bounds(window, self._rows))
        # Spark takes whole distances: the distances and what they are between are made greater.
        value = self._enlarged(resolved, places, window)
        ordered = spec.orderBy(_sorted(value, ascending, nulls_first))
        return ordered.rangeBetween(
            *self._bounds(window, lambda bound: int(Decimal(bound.name).scaleb(places)))
        )

    def _enlarged(self, resolved: Resolved, places: int, window: _Specification) -> Column:
        """Return a number multiplied by 10 to the power of `places`."""
        data_type = resolved.data_type
        if is_floating(data_type):
            return resolved.column.cast("double") * float(10**places)
        exact = decimal_of(data_type)
        if exact is None or exact.precision + places + 1 > MAX_DECIMAL_PRECISION:
            tree.refuse(
                self._text,
                window.call,
                f"RANGE with a distance of {places} decimal places is not supported for "
                f"{data_type.sql}",
            )
        return resolved.column.cast(to_spark(exact)) * F.lit(Decimal(10**places))

    def _bounds(
        self, window: _Specification, distance: Callable[[exp.Expr], int]
    ) -> tuple[int, int]:
        frame = window.frame
        assert frame is not None
        found = []
        for key in ("start", "end"):
            value, side = frame.args[key], frame.args.get(f"{key}_side")
            if value == "CURRENT ROW":
                found.append(Window.currentRow)
            elif value == "UNBOUNDED":
                preceding = side == "PRECEDING"
                found.append(Window.unboundedPreceding if preceding else Window.unboundedFollowing)
            else:
                found.append(distance(value) * (-1 if side == "PRECEDING" else 1))
        return found[0], found[1]

    def _rows(self, value: exp.Expr) -> int:
        if isinstance(value, exp.Literal) and not value.is_string and value.name.isdigit():
            return int(value.name)
        return tree.refuse(
            self._text, value, "a whole number expected as the distance of a window's end"
        )

    def _time(self, value: exp.Expr) -> int:
        translator = Translator(self._context, self._text, Rows(Relation(None, ())))  # type: ignore[arg-type]
        return interval_ms(translator.node(value)) * 1000


def _sorted(value: Column, ascending: bool, nulls_first: bool | None) -> Column:
    """Return a sort key; nulls are less than other values unless the order says otherwise."""
    first = ascending if nulls_first is None else nulls_first
    if ascending:
        return value.asc_nulls_first() if first else value.asc_nulls_last()
    return value.desc_nulls_first() if first else value.desc_nulls_last()


def _places(bound: str | exp.Expr) -> int:
    """Return the number of decimal places of a distance."""
    if not isinstance(bound, exp.Literal) or bound.is_string:
        return 0
    return max(0, -int(Decimal(bound.name).normalize().as_tuple().exponent))


def _is_by_time(relation: Relation, window: _Specification) -> bool:
    """Return whether the rows of a window are in the order of a time attribute."""
    node, ascending, _ = window.orders[0] if window.orders else (None, False, None)
    return isinstance(node, Field) and node.name in relation.time_attributes and ascending


def _is_by_clock(relation: Relation, window: _Specification) -> bool:
    """Return whether the rows of a window are in the order of the processing time."""
    node, _, _ = window.orders[0]
    time = relation.time_attributes.get(node.name) if isinstance(node, Field) else None
    return time is not None and time.kind == "proctime"


def _reaches_here(frame: exp.WindowSpec | None) -> bool:
    """Return whether a frame has all rows until the current one and its peers."""
    if frame is None:
        return True
    kind, start, end = (frame.args.get(each) for each in ("kind", "start", "end"))
    return kind != "ROWS" and start == "UNBOUNDED" and end in (None, "CURRENT ROW")


def _is_inside_another(call: exp.Window, top: exp.Expr) -> bool:
    """Return whether a window is part of another one, or of a subquery of the expression."""
    node: exp.Expr | None = call
    while node is not None and node is not top:
        node = node.parent
        if isinstance(node, (exp.Window, exp.Query)):
            return True
    return False
