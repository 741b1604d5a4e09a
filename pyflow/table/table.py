"""Tables: lazy relations of a table environment (PyFlink: ``pyflink.table.table``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflow.table.changes.changelog import settled
from pyflow.table.changes.relation import Relation, unused
from pyflow.table.columns.nodes import Alias, Call, Field, FunctionCall, InTable, Node, Sql
from pyflow.table.expression import Expression
from pyflow.table.relations import joins, projection, sorting
from pyflow.table.relations.changelog_functions import Operations, from_changelog, to_changelog
from pyflow.table.relations.grouping import (
    aggregate_rows,
    flattened,
    select_grouped,
    select_windowed,
    split,
)
from pyflow.table.relations.joins import with_row, without_row
from pyflow.table.relations.over_windows import select_over
from pyflow.table.relations.projection import node_of, nodes_of, scope_of
from pyflow.table.relations.table_aggregates import flat_aggregate
from pyflow.table.relations.tables import insertion_into
from pyflow.table.resolved_expression import ResolvedExpression
from pyflow.table.udf import check_wrapper
from pyflow.table.window import GroupWindow, OverWindow
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame

    from pyflow.table.catalogs.resolved_schema import ResolvedSchema
    from pyflow.table.context import TableContext
    from pyflow.table.table_descriptor import TableDescriptor
    from pyflow.table.table_pipeline import TablePipeline
    from pyflow.table.table_result import TableResult
    from pyflow.table.table_schema import TableSchema
    from pyflow.types.logical_types import DataType

__all__ = [
    "AggregatedTable",
    "FlatAggregateTable",
    "GroupWindowedTable",
    "GroupedTable",
    "OverWindowedTable",
    "Table",
    "WindowGroupedTable",
]


class Table:
    """Rows that are computed when they are asked for.

    A table is made by a :class:`TableEnvironment` and belongs to it. Its operations return new
    tables and compute nothing; :meth:`execute`, :meth:`execute_insert` and :meth:`to_pandas` do.
    ``table.name`` is the column ``name`` as an expression. ``str(table)`` registers the table under
    a name of its own and returns the name, so that it can be used in a statement.
    """

    def __init__(self, relation: Relation, context: TableContext) -> None:
        self._relation = relation
        self._context = context
        self._registered: str | None = None

    def __str__(self) -> str:
        if self._registered is None:
            self._registered = self._context.unnamed()
            self._register(f"`{self._registered}`", temporary=True)
        return self._registered

    def __getattr__(self, name: str) -> Expression[Any]:
        if name.startswith("_") and "_relation" not in self.__dict__:
            raise AttributeError(name)  # while a copy is made
        names = self._relation.names
        if name not in names:
            raise AttributeError(
                f"The current table has no column named '{name}', "
                f"available columns: [{', '.join(names)}]"
            )
        from pyflow.table.expressions import col

        return col(name)

    def _register(self, path: str, temporary: bool, ignore: bool = False) -> None:
        """Give the table a name."""
        from pyflow.table.catalogs.resolved_schema import ResolvedSchema

        fields = ResolvedSchema.of_fields(self._relation.fields, self._time_attributes())
        schema = fields.to_schema()
        self._context.catalogs.add_view(path, schema, self._relation, temporary, ignore)

    @property
    def _rows(self) -> Relation:
        """The relation as operations read it."""
        return sorting.checked(self._relation, self._context)

    def _of(self, relation: Relation) -> Table:
        return Table(relation, self._context)

    def select(self, *fields: Expression[Any]) -> Table:
        """Return a table of the values of expressions.

        Parameters
        ----------
        *fields : Expression
            The new columns. With aggregates among them, all rows are one group.

        Returns
        -------
        Table
            The selection. A column without a name of its own is named by its position: ``_c0``.
        """
        nodes = nodes_of(fields, self._context)
        relation = self._rows
        scope = scope_of(relation, self._context)
        parts = split(scope.expand(nodes), scope)
        if parts.properties:
            raise TableException("Window properties can only be used on windowed tables.")
        if parts.aggregates:
            return self._of(select_grouped(relation, [], nodes, self._context))
        return self._of(projection.project(relation, nodes, self._context))

    def alias(self, field: str, *fields: str) -> Table:
        """Return the table with new names for its first columns.

        Parameters
        ----------
        field, *fields : str
            The names, in the order of the columns. One string may have several, with commas.
        """
        names = [field, *fields]
        if not fields and len(self._relation.names) > 1:
            names = [name.strip() for name in field.split(",")]
        return self._of(projection.alias(self._rows, names))

    def filter(self, predicate: Expression[bool]) -> Table:
        """Return the rows for which a predicate is true.

        Parameters
        ----------
        predicate : Expression
            A BOOLEAN; rows for which it is null are left out. What `Expression.in_` says of a
            table may stand in it beside others that are joined by AND.
        """
        others, memberships = projection.split_memberships(node_of(predicate, self._context))
        table = self
        for node in others:
            table = self._of(projection.filter_rows(table._rows, node, self._context))
        for each, is_negated in memberships:
            table = table._in_table(each, is_negated)
        return table

    def _in_table(self, membership: InTable, is_negated: bool) -> Table:
        """Return the rows whose value is in a table, or those for which that is not true."""
        context, names = self._context, self._rows.names
        if len(membership.table._relation.names) != 1:
            raise TableException(f"{membership}: the table has more than one column")
        value, left, right = unused("value", names), context.unnamed(), context.unnamed()
        fields: list[Node] = [*map(Field, names), Alias(membership.child, (value,))]
        extended = self._of(projection.project(self._rows, fields, context))
        # For the statement alone.
        extended._register(f"`{left}`", temporary=True)
        membership.table._register(f"`{right}`", temporary=True)
        try:
            (other,) = membership.table._relation.names
            condition = f"`{value}` IN (SELECT * FROM `{right}`)"
            if is_negated:
                equal = f"`{right}`.`{other}` = `{left}`.`{value}`"
                condition = f"NOT EXISTS (SELECT * FROM `{right}` WHERE {equal})"
            shown = ", ".join(f"`{name}`" for name in names)
            found: Table = context.sql.query(
                context, f"SELECT {shown} FROM `{left}` WHERE {condition}"
            )
        finally:
            for name in (left, right):
                context.catalogs.drop_temporary(f"`{name}`", view=True)
        return found

    def where(self, predicate: Expression[bool]) -> Table:
        """Return the rows for which a predicate is true, as :meth:`filter`."""
        return self.filter(predicate)

    def group_by(self, *fields: Expression[Any]) -> GroupedTable:
        """Group the rows that have the same values.

        Parameters
        ----------
        *fields : Expression
            The grouping expressions; one that is not a column needs an alias to be selected.
        """
        return GroupedTable(self, nodes_of(fields, self._context))

    def distinct(self) -> Table:
        """Return each different row once."""
        return self._of(joins.distinct(self._rows, self._context))

    def join(self, right: Table, join_predicate: Expression[bool] | None = None) -> Table:
        """Return the pairs of rows of two tables for which a predicate is true.

        Parameters
        ----------
        right : Table
            A table of the same environment; its columns must have other names.
        join_predicate : Expression, optional
            With at least one equality of a column of each side. All pairs without it.
        """
        return self._join(right, join_predicate, "inner")

    def left_outer_join(
        self, right: Table, join_predicate: Expression[bool] | None = None
    ) -> Table:
        """Return pairs as :meth:`join`, and rows of the left without one, padded with nulls."""
        return self._join(right, join_predicate, "left")

    def right_outer_join(self, right: Table, join_predicate: Expression[bool]) -> Table:
        """Return pairs as :meth:`join`, and rows of the right without one, padded with nulls."""
        return self._join(right, join_predicate, "right")

    def full_outer_join(self, right: Table, join_predicate: Expression[bool]) -> Table:
        """Return pairs as :meth:`join`, and rows of both sides without one, padded with nulls."""
        return self._join(right, join_predicate, "full")

    def _join(
        self, right: Table, predicate: Expression[bool] | None, kind: joins.JoinType
    ) -> Table:
        self._check_environment(right)
        node = None if predicate is None else node_of(predicate, self._context)
        return self._of(joins.join(self._rows, right._rows, node, kind, self._context))

    def _check_environment(self, right: Table) -> None:
        if right._context is not self._context:
            raise TableException("Only tables from the same TableEnvironment can be joined.")

    def join_lateral(
        self, table_function_call: Any, join_predicate: Expression[bool] | None = None
    ) -> Table:
        """Return each row with the rows that a table function returns for it.

        Parameters
        ----------
        table_function_call : Expression or wrapper of a table function
            The call, with an alias for its columns; or the function itself with an alias, which is
            then called with the whole row.
        join_predicate : Expression, optional
            Pairs for which it is not true are left out.
        """
        return self._join_lateral(table_function_call, join_predicate, outer=False)

    def left_outer_join_lateral(
        self, table_function_call: Any, join_predicate: Expression[bool] | None = None
    ) -> Table:
        """Return rows as :meth:`join_lateral`, and those without any result, padded with nulls.

        Parameters
        ----------
        table_function_call : Expression or wrapper of a table function
            As for :meth:`join_lateral`.
        join_predicate : Expression, optional
            Only a literal true.
        """
        return self._join_lateral(table_function_call, join_predicate, outer=True)

    def _join_lateral(self, call: Any, predicate: Expression[bool] | None, outer: bool) -> Table:
        if not isinstance(call, Expression) and not getattr(call, "_alias_names", None):
            raise AttributeError(
                "table_function_call must be followed by a alias function"
                'e.g. table_function.alias("a", "b")'
            )
        relation, node = self._called(call)
        condition = None if predicate is None else node_of(predicate, self._context)
        return self._of(
            without_row(joins.join_lateral(relation, node, condition, outer, self._context))
        )

    def _called(self, function: Any, without: Sequence[str] = ()) -> tuple[Relation, Node]:
        """Return the relation to call a function on, and the call.

        A function that is given without arguments takes the whole row.
        """
        relation = self._rows
        if isinstance(function, Expression):
            return relation, node_of(function, self._context)
        check_wrapper(function)
        relation, row = with_row(relation, without, flat=function.func_type == "pandas")
        call: Node = FunctionCall(function, (row,))
        names = getattr(function, "_alias_names", None)
        return relation, Alias(call, tuple(names)) if names else call

    def minus(self, right: Table) -> Table:
        """Return the different rows that the right table does not have. Batch mode only."""
        return self._combine(right, "minus", every=False)

    def minus_all(self, right: Table) -> Table:
        """Return the rows without as many equal ones as the right table has. Batch mode only."""
        return self._combine(right, "minus", every=True)

    def union(self, right: Table) -> Table:
        """Return the different rows of both tables. Batch mode only."""
        return self._combine(right, "union", every=False)

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables; columns are matched by position."""
        return self._combine(right, "union", every=True)

    def intersect(self, right: Table) -> Table:
        """Return the different rows that both tables have. Batch mode only."""
        return self._combine(right, "intersect", every=False)

    def intersect_all(self, right: Table) -> Table:
        """Return the rows as often as both tables have them. Batch mode only."""
        return self._combine(right, "intersect", every=True)

    def _combine(self, right: Table, operation: joins.SetOperation, every: bool) -> Table:
        self._check_environment(right)
        return self._of(joins.combine(self._rows, right._rows, operation, every, self._context))

    def order_by(self, *fields: Expression[Any]) -> Table:
        """Return the rows in an order.

        Parameters
        ----------
        *fields : Expression
            What to order by: ascending with nulls last, or ``.desc`` with nulls first. In
            streaming mode :meth:`fetch` must follow, unless the first is a time attribute.
        """
        return self._of(sorting.sort(self._rows, nodes_of(fields, self._context), self._context))

    def offset(self, offset: int) -> Table:
        """Return the rows without the first ones.

        Parameters
        ----------
        offset : int
            How many are left out. In streaming mode :meth:`fetch` must follow.
        """
        return self._of(sorting.offset(self._relation, offset, self._context))

    def fetch(self, fetch: int) -> Table:
        """Return the first rows.

        Parameters
        ----------
        fetch : int
            How many.
        """
        return self._of(sorting.fetch(self._relation, fetch, self._context))

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """Return the first rows after some that are left out.

        Parameters
        ----------
        fetch : int
            How many rows.
        offset : int
            How many are left out before them.
        """
        return self.offset(offset).fetch(fetch)

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        """Assign the rows to windows by time or number.

        Parameters
        ----------
        window : GroupWindow
            Made by :class:`Tumble`, :class:`Slide` or :class:`Session`, with an alias.
        """
        return GroupWindowedTable(self, window)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        """Say which rows around each row ``Expression.over`` takes.

        Parameters
        ----------
        *over_windows : OverWindow
            One window, made by :class:`Over`, with an alias.
        """
        return OverWindowedTable(self, over_windows)

    def add_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table with more columns at its end.

        Parameters
        ----------
        *fields : Expression
            The new columns, without aggregates, under names that are not there yet.
        """
        return self._of(
            projection.add_columns(self._rows, nodes_of(fields, self._context), self._context)
        )

    def add_or_replace_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table with more columns, which replace those of the same name.

        Parameters
        ----------
        *fields : Expression
            The new columns, without aggregates; of several with one name the last counts.
        """
        return self._of(
            projection.add_or_replace_columns(
                self._rows, nodes_of(fields, self._context), self._context
            )
        )

    def rename_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table with other names for some columns.

        Parameters
        ----------
        *fields : Expression
            Columns with an alias: ``col("a").alias("b")``.
        """
        return self._of(
            projection.rename_columns(self._rows, nodes_of(fields, self._context), self._context)
        )

    def drop_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table without some columns.

        Parameters
        ----------
        *fields : Expression
            The columns.
        """
        return self._of(
            projection.drop_columns(self._rows, nodes_of(fields, self._context), self._context)
        )

    def map(self, func: Any) -> Table:
        """Return a table of what a scalar function returns for each row.

        Parameters
        ----------
        func : Expression or wrapper of a scalar function
            The call; or the function itself, which is then called with the whole row. The fields
            of a ROW that it returns become the columns.
        """
        relation, node = self._called(func)
        inner = node.child if isinstance(node, Alias) else node
        if isinstance(inner, FunctionCall):
            self._context.function_of(inner, "scalar", "async")
        elif not isinstance(inner, Call) or scope_of(relation, self._context).has_aggregates(inner):
            raise TableException("Only a scalar function can be used in the map operator.")
        mapped = projection.project(relation, [Alias(inner, ("f0",))], self._context)
        return self._of(flattened(mapped, "f0"))

    def flat_map(self, func: Any) -> Table:
        """Return a table of the rows that a table function returns for each row.

        Parameters
        ----------
        func : Expression or wrapper of a table function
            The call; or the function itself, which is then called with the whole row.
        """
        relation, node = self._called(func)
        return self._of(joins.flat_map(relation, node, self._context))

    def aggregate(self, func: Any) -> AggregatedTable:
        """Aggregate all rows as one group, as :meth:`GroupedTable.aggregate`."""
        return GroupedTable(self, []).aggregate(func)

    def flat_aggregate(self, func: Any) -> FlatAggregateTable:
        """Take all rows as one group of a function that returns many rows.

        See :meth:`GroupedTable.flat_aggregate`.
        """
        return GroupedTable(self, []).flat_aggregate(func)

    def to_pandas(self) -> pandas.DataFrame:
        """Return all rows as a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            In streaming mode the rows that are left when all changes have been applied.
        """
        from pyflow.table.relations.data_frames import to_pandas

        return to_pandas(settled(self._rows), self._context)

    def to_spark(self) -> DataFrame:
        """Return the table as a data frame of Spark.

        Returns
        -------
        pyspark.sql.DataFrame
            The same rows, not computed yet; of a table that changes, those that are left when all
            changes have been applied.
        """
        return settled(self._rows).rows()

    def get_schema(self) -> TableSchema:
        """Return names and types of the columns; newer programs use :meth:`get_resolved_schema`."""
        from pyflow.table.table_schema import TableSchema

        return TableSchema(self._relation.names, self._relation.types, self._time_attributes())

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return names and types of the columns; of a declared table all of its schema."""
        from pyflow.table.catalogs.resolved_schema import ResolvedSchema

        relation, attributes = self._relation, self._time_attributes()
        declared = relation.declared
        if declared is None or declared.frame is not relation.frame:
            return ResolvedSchema.of_fields(relation.fields, attributes)
        scope = scope_of(relation, self._context)

        def resolved(expression: Any, data_type: DataType) -> ResolvedExpression:
            node = Sql(expression) if isinstance(expression, str) else expression._node
            return ResolvedExpression(node, scope, data_type)

        return ResolvedSchema.of_declared(declared.schema, relation.fields, attributes, resolved)

    def _time_attributes(self) -> dict[str, str]:
        """Return the kinds of time attributes by their names; there are none in batch mode."""
        times = self._relation.time_attributes if self._context.is_streaming else {}
        return {name: time.kind for name, time in times.items()}

    def _repr_html_(self) -> str:
        """Return the first rows for a notebook; of an unbounded table the columns."""
        from pyflow.table.table_result import html_of

        return html_of(self._rows, self._context)

    def print_schema(self) -> None:
        """Print names and types of the columns."""
        print(self.get_resolved_schema())

    def execute_insert(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TableResult:
        """Start to write the rows into a table.

        Parameters
        ----------
        table_path_or_descriptor : str or TableDescriptor
            A table that was created under this name, or what describes one.
        overwrite : bool
            Whether rows that are there are replaced.

        Returns
        -------
        TableResult
            ``wait()`` on it until all is written.
        """
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def insert_into(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TablePipeline:
        """Return what writes the rows into a table when it is executed.

        Parameters
        ----------
        table_path_or_descriptor, overwrite
            As for :meth:`execute_insert`.
        """
        from pyflow.table.table_pipeline import TablePipeline

        return TablePipeline(
            insertion_into(table_path_or_descriptor, self._rows, overwrite, self._context),
            self._context,
        )

    def execute(self) -> TableResult:
        """Return the rows.

        Returns
        -------
        TableResult
            ``print()`` or ``collect()`` computes them.
        """
        from pyflow.table.table_result import TableResult

        return TableResult.of_rows(self._rows, self._context)

    def explain(self, *extra_details: int) -> str:
        """Return how the rows are computed, in Spark's words.

        Parameters
        ----------
        *extra_details : ExplainDetail
            ``ESTIMATED_COST`` adds sizes; ``CHANGELOG_MODE`` the kinds of changes.
        """
        from pyflow.table.relations.explanation import explain

        return explain([("", self._rows)], extra_details)

    def print_explain(self, *extra_details: int) -> None:
        """Print what :meth:`explain` returns."""
        print(self.explain(*extra_details))

    def to_changelog(self, *arguments: Expression[Any]) -> Table:
        """Return each change as a row that is added, with the kind of the change in a column.

        Parameters
        ----------
        *arguments : Expression
            ``descriptor(name).as_argument("op")`` names the column, which is the first of the
            result; ``op`` by default. ``map_(kind, code, ...).as_argument("op_mapping")`` says what
            stands for INSERT, UPDATE_BEFORE, UPDATE_AFTER and DELETE, or several of them separated
            by commas; changes of other kinds are left out. By default their names do.
        """
        operations = Operations.of(nodes_of(arguments, self._context))
        return self._of(to_changelog(self._rows, operations, self._context))

    def from_changelog(self, *arguments: Expression[Any]) -> Table:
        """Return the rows as changes of a table, of the kinds that one of their columns tells.

        Parameters
        ----------
        *arguments : Expression
            ``descriptor(name).as_argument("op")`` names the column, which the result does not have;
            ``op`` by default. ``map_(code, kind, ...).as_argument("op_mapping")`` says which kind a
            code, or several separated by commas, stands for; another code fails the query.
        """
        operations = Operations.of(nodes_of(arguments, self._context))
        return self._of(from_changelog(self._rows, operations, self._context))


class GroupedTable:
    """A table whose rows have been grouped."""

    def __init__(self, table: Table, groupings: Sequence[Node]) -> None:
        self._table = table
        self._groupings = list(groupings)

    def select(self, *fields: Expression[Any]) -> Table:
        """Return one row per group.

        Parameters
        ----------
        *fields : Expression
            Grouping columns and aggregates. In streaming mode the table changes while its input
            goes by.
        """
        table = self._table
        return table._of(
            select_grouped(
                table._rows, self._groupings, nodes_of(fields, table._context), table._context
            )
        )

    def aggregate(self, func: Any) -> AggregatedTable:
        """Aggregate each group by a function whose result becomes columns.

        Parameters
        ----------
        func : Expression or wrapper of an aggregate function
            The call, which may have aliases for its columns; or the function itself, which is then
            called with the whole rows.
        """
        return AggregatedTable(self._table, self._groupings, func)

    def flat_aggregate(self, func: Any) -> FlatAggregateTable:
        """Aggregate each group by a function that returns many rows.

        Parameters
        ----------
        func : Expression or wrapper of a table aggregate function
            As for :meth:`aggregate`.
        """
        return FlatAggregateTable(self._table, self._groupings, func)


class GroupWindowedTable:
    """A table whose rows have been assigned to windows."""

    def __init__(self, table: Table, window: GroupWindow) -> None:
        self._table = table
        self._window = window

    def group_by(self, *fields: Expression[Any]) -> WindowGroupedTable:
        """Group the rows by their window and more.

        Parameters
        ----------
        *fields : Expression
            The window by its alias, and any grouping expressions.
        """
        nodes = nodes_of(fields, self._table._context)
        groupings = [node for node in nodes if node != Field(self._window.name)]
        if len(groupings) != len(nodes) - 1:
            raise TableException("GroupBy must contain exactly one window alias.")
        return WindowGroupedTable(self._table, groupings, self._window)


class WindowGroupedTable:
    """A table whose rows have been grouped by window and more."""

    def __init__(self, table: Table, groupings: Sequence[Node], window: GroupWindow) -> None:
        self._table = table
        self._groupings = list(groupings)
        self._window = window

    def select(self, *fields: Expression[Any]) -> Table:
        """Return one row per group and window.

        Parameters
        ----------
        *fields : Expression
            Grouping columns, aggregates, and properties of the window: ``col("w").start``.
        """
        table = self._table
        return table._of(
            select_windowed(
                table._rows,
                self._groupings,
                self._window,
                nodes_of(fields, table._context),
                table._context,
            )
        )

    def aggregate(self, func: Any) -> AggregatedTable:
        """Aggregate each group and window by a function whose result becomes columns.

        Parameters
        ----------
        func : Expression or wrapper of an aggregate function
            The call; or the function itself, which is then called with rows of all columns but the
            time of the window.
        """
        return AggregatedTable(self._table, self._groupings, func, self._window)


class OverWindowedTable:
    """A table with a window around each row."""

    def __init__(self, table: Table, windows: Sequence[OverWindow]) -> None:
        self._table = table
        self._windows = list(windows)

    def select(self, *fields: Expression[Any]) -> Table:
        """Return one row per row.

        Parameters
        ----------
        *fields : Expression
            Expressions, with aggregates over the window: ``col("a").sum.over(col("w"))``.
        """
        table = self._table
        return table._of(
            select_over(
                table._rows, self._windows, nodes_of(fields, table._context), table._context
            )
        )


class AggregatedTable:
    """A table that an aggregate function has been applied to."""

    def __init__(
        self,
        table: Table,
        groupings: Sequence[Node],
        func: Any,
        window: GroupWindow | None = None,
    ) -> None:
        self._table = table
        self._groupings = list(groupings)
        self._func = func
        self._window = window

    def select(self, *fields: Expression[Any]) -> Table:
        """Return one row per group.

        Parameters
        ----------
        *fields : Expression
            Grouping columns and columns of the function's result, without aggregates.
        """
        table = self._table
        hidden = () if self._window is None else [_name_of(self._window.time, table._context)]
        relation, call = table._called(self._func, hidden)
        nodes = nodes_of(fields, table._context)
        properties: dict[str, Node] = {}
        if self._window is not None:
            parts = split(nodes, scope_of(relation, table._context))
            if not parts.aggregates:
                nodes, properties = parts.projections, parts.properties
        grouped = aggregate_rows(
            relation, self._groupings, call, table._context, self._window, properties
        )
        return table._of(_selected(grouped, nodes, table._context))


class FlatAggregateTable:
    """A table that a function returning many rows per group has been applied to."""

    def __init__(self, table: Table, groupings: Sequence[Node], func: Any) -> None:
        self._table = table
        self._groupings = list(groupings)
        self._func = func

    def select(self, *fields: Expression[Any]) -> Table:
        """Return the rows of all groups.

        Parameters
        ----------
        *fields : Expression
            Grouping columns and columns of the function's result, without aggregates.
        """
        table = self._table
        relation, call = table._called(self._func)
        grouped = flat_aggregate(relation, self._groupings, call, table._context)
        return table._of(_selected(grouped, nodes_of(fields, table._context), table._context))


def _name_of(time: Expression[Any], context: TableContext) -> str:
    node = node_of(time, context)
    return node.name if isinstance(node, Field) else ""


def _selected(relation: Relation, nodes: Sequence[Node], context: TableContext) -> Relation:
    scope = scope_of(relation, context)
    if any(scope.has_aggregates(node) for node in nodes):
        raise TableException(
            "Aggregate functions are not supported in the select right after the aggregate"
            " or flatAggregate operation."
        )
    return projection.project(relation, nodes, context)
