"""TO_CHANGELOG and FROM_CHANGELOG: changes to rows with a column for their kind, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.table.changes.changelog import in_order, numbered
from pyflow.table.changes.relation import (
    DELETE,
    INSERT,
    KIND,
    SEQUENCE,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Relation,
    column,
)
from pyflow.table.columns.nodes import Call, Descriptor, Literal, NamedArgument, Node
from pyflow.table.columns.type_rules import STRINGS
from pyflow.types.data_types import DataTypes
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.context import TableContext

__all__ = ["Operations", "from_changelog", "to_changelog"]

_KINDS = {
    "INSERT": INSERT,
    "UPDATE_BEFORE": UPDATE_BEFORE,
    "UPDATE_AFTER": UPDATE_AFTER,
    "DELETE": DELETE,
}

_INVALID = "Invalid target mapping for argument 'op_mapping'."


@dataclass(frozen=True)
class Operations:
    """How a column encodes kinds of changes.

    Parameters
    ----------
    name
        Of the column.
    codes
        The mapping between kinds and codes. Its keys are lists, separated by commas. By default the
        names of the kinds are the codes.
    """

    name: str = "op"
    codes: Mapping[str, str] = field(default_factory=lambda: {kind: kind for kind in _KINDS})

    @classmethod
    def of(cls, arguments: Sequence[Node]) -> Operations:
        """Return what the arguments ``op`` and ``op_mapping`` say.

        Raises
        ------
        TableException
            For other arguments, and for others than literals.
        """
        found = cls()
        for argument in arguments:
            value = argument.child if isinstance(argument, NamedArgument) else None
            name = argument.name if isinstance(argument, NamedArgument) else None
            if name == "op" and isinstance(value, Descriptor) and len(value.names) == 1:
                found = replace(found, name=value.names[0])
            elif name == "op_mapping" and isinstance(value, Call) and value.function.name == "map":
                found = replace(found, codes=_mapping(value))
            else:
                raise TableException(
                    f"{argument} is no argument here; there are op, a descriptor of one column, "
                    "and op_mapping, a map of strings: descriptor('code').as_argument('op') and "
                    "map_('INSERT', 'I').as_argument('op_mapping')"
                )
        return found

    def of_kinds(self) -> dict[int, str]:
        """Return the code of each kind of change that has one."""
        pairs = _pairs(self.codes)
        return {_kind(kind): code for kind, code in pairs.items()}

    def of_codes(self) -> dict[str, int]:
        """Return the kind of change of each code."""
        found = {code: _kind(kind) for code, kind in _pairs(self.codes).items()}
        if UPDATE_AFTER in found.values() and UPDATE_BEFORE not in found.values():
            raise TableException(
                "The 'op_mapping' must include UPDATE_BEFORE where it includes UPDATE_AFTER: an "
                "update retracts the row from before it, which has to be among the rows"
            )
        return found


def _mapping(call: Call) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in zip(call.arguments[::2], call.arguments[1::2]):
        if not (_is_text(key) and _is_text(value)):
            raise TableException(f"op_mapping takes string literals, not {key} and {value}")
        found[key.value] = value.value  # type: ignore[attr-defined]
    return found


def _is_text(node: Node) -> bool:
    return isinstance(node, Literal) and isinstance(node.value, str)


def _pairs(codes: Mapping[str, str]) -> dict[str, str]:
    """Return each part of the keys, which are lists, with its value."""
    found: dict[str, str] = {}
    for keys, value in codes.items():
        for key in map(str.strip, keys.split(",")):
            if key in found:
                raise TableException(f"{_INVALID} Duplicate change operation or code: '{key}'.")
            found[key] = value
    return found


def _kind(name: str) -> int:
    if name not in _KINDS:
        raise TableException(
            f"{_INVALID} Unknown change operation: '{name}'. Valid values are: {', '.join(_KINDS)}."
        )
    return _KINDS[name]


def to_changelog(relation: Relation, operations: Operations, context: TableContext) -> Relation:
    """Return each change as a row that is added: its code, and the columns of the row.

    Changes of kinds without a code are left out.
    """
    _refuse_batch("TO_CHANGELOG", context)
    name = operations.name
    if name in relation.names:
        raise TableException(
            f"Field names must be unique. The table has a column '{name}' already; choose another "
            "by the argument op."
        )
    code = F.lit(None)
    kind = column(KIND) if relation.updating else F.lit(INSERT)
    for number, entry in operations.of_kinds().items():
        code = F.when(kind == number, F.lit(entry)).otherwise(code)
    # Operators over streams emit the changes of a key in their order.
    changes = relation.frame if relation.unbounded else in_order(relation)
    frame = changes.filter(code.isNotNull()).select(code.alias(name), *relation.columns)
    return Relation(frame, ((name, DataTypes.STRING()), *relation.fields))


def from_changelog(relation: Relation, operations: Operations, context: TableContext) -> Relation:
    """Return the rows as changes, of the kind that the code of each says.

    Another code fails the query.
    """
    _refuse_batch("FROM_CHANGELOG", context)
    if relation.updating:
        raise TableException(
            "FROM_CHANGELOG doesn't support consuming update and delete changes: it takes a table "
            "to which rows are only added"
        )
    name = operations.name
    types = dict(relation.fields)
    if name not in types:
        raise TableException(
            f"The op column '{name}' does not exist in the input schema: "
            f"{', '.join(relation.names)}"
        )
    if not isinstance(types[name], STRINGS):
        raise TableException(
            f"The op column '{name}' must be of STRING type, but was '{types[name].sql}'."
        )
    codes = operations.of_codes()
    found = F.coalesce(column(name), F.lit("NULL"))
    defined = f"'. Defined op codes are: {', '.join(codes)}."
    kind = F.raise_error(F.concat(F.lit("Received invalid op code '"), found, F.lit(defined)))
    for code, number in codes.items():
        kind = F.when(column(name) == code, F.lit(number)).otherwise(kind)
    fields = tuple(entry for entry in relation.fields if entry[0] != name)
    changes = numbered(relation).frame.withColumn(KIND, kind.cast("tinyint"))
    kept = changes.select(*(column(each) for each, _ in fields), column(KIND), column(SEQUENCE))
    return Relation(kept, fields, updating=True)


def _refuse_batch(function: str, context: TableContext) -> None:
    if not context.is_streaming:
        raise TableException(f"{function} is for streaming mode; in batch mode rows never change")
