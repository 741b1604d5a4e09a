"""The statements of Spark's SQL that change one table into another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyflow.table.catalogs.spark_sql import column_text, listed, literal, type_text
from pyflow.table.schema import UnresolvedPhysicalColumn
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import CatalogException
from pyflow.util.identifiers import quoted, quoted_list

if TYPE_CHECKING:
    from pyflow.table.catalogs.objects import CatalogBaseTable
    from pyflow.table.catalogs.spark_table import SparkTable


def changes(
    old: SparkTable,
    new: CatalogBaseTable,
    columns: Sequence[UnresolvedPhysicalColumn],
    renamed: Mapping[str, str],
    placed: bool,
) -> list[str]:
    """Return the statements.

    Parameters
    ----------
    old, new
        The table, and what it becomes.
    columns
        The columns of that.
    renamed
        New names of columns by their old ones.
    placed
        Whether Spark can put a new column at a position; otherwise new columns are appended.

    Raises
    ------
    CatalogException
        If Spark has no statement for a difference.
    """
    if old.partition_keys != new.partition_keys:
        raise CatalogException(
            f"Table {old.full_name} stays partitioned as it is: drop and create it."
        )
    before = [
        replace(each, name=renamed.get(each.name, each.name))
        for each in old.schema.columns
        if isinstance(each, UnresolvedPhysicalColumn)
    ]
    return [
        *_properties(old, new),
        *(
            f"ALTER TABLE {old.full_name} RENAME COLUMN {quoted(one)} TO {quoted(other)}"
            for one, other in renamed.items()
        ),
        *_columns(old.full_name, before, columns, placed),
    ]


def _properties(old: SparkTable, new: CatalogBaseTable) -> Iterator[str]:
    before, after = old.get_options(), new.get_options()
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    dropped = [key for key in before if key not in after]
    for key in (*changed, *dropped):
        if key in old.stored:
            raise CatalogException(
                f"The option {key!r} says how table {old.full_name} is stored, which stays so: "
                "drop and create it."
            )
    if changed:
        yield f"ALTER TABLE {old.full_name} SET TBLPROPERTIES {listed(changed)}"
    if dropped:
        yield (
            f"ALTER TABLE {old.full_name} UNSET TBLPROPERTIES ({', '.join(map(literal, dropped))})"
        )
    if old.comment != new.comment:
        comment = "NULL" if new.comment is None else literal(new.comment)
        yield f"COMMENT ON TABLE {old.full_name} IS {comment}"


def _columns(
    name: str,
    before: Sequence[UnresolvedPhysicalColumn],
    after: Sequence[UnresolvedPhysicalColumn],
    placed: bool,
) -> Iterator[str]:
    known = {each.name: each for each in before}
    names = [each.name for each in after]
    dropped = [each.name for each in before if each.name not in names]
    kept = [each.name for each in before if each.name in names]
    if kept != [each for each in names if each in known]:
        raise CatalogException(f"The columns of table {name} stay in their order.")
    if dropped:
        yield f"ALTER TABLE {name} DROP COLUMNS {quoted_list(dropped)}"
    for position, column in enumerate(after):
        if column.name in known:
            yield from _changed(name, known[column.name], column)
            continue
        place = ""
        if any(each in known for each in names[position + 1 :]):
            if not placed:
                raise CatalogException(
                    f"Spark puts new columns of table {name} behind the others: leave FIRST and "
                    "AFTER out."
                )
            place = f" AFTER {quoted(names[position - 1])}" if position else " FIRST"
        yield f"ALTER TABLE {name} ADD COLUMNS ({column_text(column)}{place})"


def _changed(
    name: str, old: UnresolvedPhysicalColumn, new: UnresolvedPhysicalColumn
) -> Iterator[str]:
    alter = f"ALTER TABLE {name} ALTER COLUMN {quoted(new.name)}"
    one, other = to_spark(old.data_type), to_spark(new.data_type)
    if one != other:
        yield f"{alter} TYPE {type_text(other)}"
    if old.data_type._nullable != new.data_type._nullable:
        yield f"{alter} {'DROP' if new.data_type._nullable else 'SET'} NOT NULL"
    if old.comment != new.comment:
        yield f"{alter} COMMENT {literal(new.comment or '')}"
