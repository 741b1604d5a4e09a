"""Expressions whose names and types are known (``pyflink.table.resolved_expression``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflow.table.columns.nodes import Node, Sql, Symbol
from pyflow.table.expression import Expression

if TYPE_CHECKING:
    from pyflow.table.functions.resolution import Scope
    from pyflow.types.logical_types import DataType

__all__ = ["ResolvedExpression"]


class ResolvedExpression(Expression[Any]):
    """An expression that has been checked, with the type of its values.

    Parameters
    ----------
    node
        The expression.
    scope
        What its names mean.
    data_type
        The type of its values, where it is known.
    """

    __slots__ = ("_data_type", "_scope")

    def __init__(self, node: Node, scope: Scope, data_type: DataType | None = None) -> None:
        super().__init__(node)
        self._scope = scope
        self._data_type = data_type

    def get_output_data_type(self) -> DataType:
        """Return the type of its values."""
        return self._data_type or self._scope.resolve(self._node).data_type

    def get_resolved_children(self) -> list[ResolvedExpression]:
        """Return the expressions directly inside."""
        return [
            ResolvedExpression(child, self._scope)
            for child in self._node.children
            if not isinstance(child, Symbol)
        ]

    def as_serializable_string(self) -> str:
        """Return the expression as a string."""
        return self.as_summary_string()

    def as_summary_string(self) -> str:
        """Return the expression as a string for people."""
        return self._node.text if isinstance(self._node, Sql) else str(self)
