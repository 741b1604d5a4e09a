"""Expressions whose names and types are known (``pyflink.table.resolved_expression``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflow.table.columns.nodes import Node, Symbol
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
    """

    __slots__ = ("_scope",)

    def __init__(self, node: Node, scope: Scope) -> None:
        super().__init__(node)
        self._scope = scope

    def get_output_data_type(self) -> DataType:
        """Return the type of its values."""
        return self._scope.resolve(self._node).data_type

    def get_resolved_children(self) -> list[ResolvedExpression]:
        """Return the expressions directly inside."""
        return [
            ResolvedExpression(child, self._scope)
            for child in self._node.children
            if not isinstance(child, Symbol)
        ]

    def as_serializable_string(self) -> str:
        """Return the expression as a string."""
        return str(self)

    def as_summary_string(self) -> str:
        """Return the expression as a string for people."""
        return str(self)
