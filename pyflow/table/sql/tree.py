"""The syntax tree of a statement: what sqlglot's own classes do not have.

Queries are sqlglot's classes (``exp.Select``, ``exp.Join``, ...), functions ``exp.Anonymous`` by
their Flink name. Each node that can be wrong knows where it begins in the text.
"""

from __future__ import annotations

from typing import ClassVar, NoReturn, TypeVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from pyflow.util.exceptions import TableException

Tree = TypeVar("Tree", bound=exp.Expr)

_START, _END = "start", "end"


class TypeName(exp.Expression):
    """A data type as it is written."""


class UnitRange(exp.Expression):
    """The units of an interval, as in ``DAY TO SECOND``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "to": False}


class Temporal(exp.Expression):
    """A literal like ``DATE '2020-01-01'``; ``kind`` is DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True}


class MapValue(exp.Expression):
    """``MAP[key, value, ...]``."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": False}


class IsJson(exp.Expression):
    """``x IS JSON [VALUE | SCALAR | ARRAY | OBJECT]``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True}


class Quantified(exp.Expression):
    """``x > ALL (query)``; ``operator`` is sqlglot's comparison, ``word`` ANY or ALL."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "operator": True,
        "word": True,
        "query": True,
    }


class SystemTime(exp.Expression):
    """``FOR SYSTEM_TIME AS OF x`` of a table."""


class NotSupported(exp.Expression):
    """Something of Flink's that PyFlow does not support; ``this`` is its name."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "alias": False}


class JoinTree(exp.Expression):
    """Tables joined from left to right."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "joins": True, "alias": False}


class TableArgument(exp.Expression):
    """``TABLE t PARTITION BY a ORDER BY b`` as an argument of a table function."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "partitions": False, "order": False}


class Descriptor(exp.Expression):
    """``DESCRIPTOR(column)`` as an argument of a table function."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class ColumnDefinition(exp.Expression):
    """A physical, computed or metadata column of CREATE TABLE and ALTER TABLE.

    ``text`` is what computes it, as written; ``first`` and ``after`` are its position in ALTER
    TABLE.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "type": False,
        "computed": False,
        "text": False,
        "metadata": False,
        "metadata_key": False,
        "virtual": False,
        "comment": False,
        "primary_key": False,
        "first": False,
        "after": False,
    }


class WatermarkDefinition(exp.Expression):
    """``WATERMARK FOR column AS expression``; ``text`` is the expression as written."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True, "text": True}


class PrimaryKeyDefinition(exp.Expression):
    """``[CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": False, "expressions": True}


class Option(exp.Expression):
    """``'key' = 'value'``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class LikeClause(exp.Expression):
    """``LIKE table (INCLUDING OPTIONS, ...)``; each option is (what, strategy)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": False}


class Statement(exp.Expression):
    """What is not a query."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class CreateTable(Statement):
    """CREATE TABLE, also with LIKE or AS; ``names`` are those of the query's columns, in order."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "temporary": False,
        "exists": False,
        "columns": False,
        "names": False,
        "watermark": False,
        "primary_key": False,
        "comment": False,
        "distribution": False,
        "partitions": False,
        "options": False,
        "like": False,
        "expression": False,
    }


class CreateView(Statement):
    """CREATE VIEW; ``text`` is the query as written."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "temporary": False,
        "exists": False,
        "columns": False,
        "comment": False,
        "expression": True,
        "text": True,
    }


class CreateFunction(Statement):
    """CREATE FUNCTION; ``kind`` is TEMPORARY, TEMPORARY SYSTEM or nothing."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "kind": False,
        "exists": False,
        "implementation": True,
        "language": True,
        "resources": False,
        "options": False,
    }


class CreateDatabase(Statement):
    """CREATE DATABASE."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "exists": False,
        "comment": False,
        "options": False,
    }


class CreateCatalog(Statement):
    """CREATE CATALOG."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "exists": False,
        "comment": False,
        "options": False,
    }


class Drop(Statement):
    """DROP; ``kind`` is TABLE, VIEW, FUNCTION, DATABASE or CATALOG."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "kind": True,
        "temporary": False,
        "system": False,
        "exists": False,
        "cascade": False,
    }


class AlterTable(Statement):
    """ALTER TABLE or VIEW: RENAME TO, SET, RESET, and for views AS."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "kind": True,
        "exists": False,
        "rename": False,
        "options": False,
        "reset": False,
        "expression": False,
        "text": False,
    }


class AlterColumns(Statement):
    """ALTER TABLE ADD or MODIFY: columns, watermark and primary key; ``kind`` is which."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "kind": True,
        "exists": False,
        "columns": False,
        "watermark": False,
        "primary_key": False,
    }


class DropColumns(Statement):
    """ALTER TABLE DROP; ``kind`` is COLUMNS, WATERMARK, PRIMARY KEY or CONSTRAINT."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "kind": True,
        "exists": False,
        "expressions": False,
    }


class RenameColumn(Statement):
    """ALTER TABLE RENAME column TO name."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "exists": False,
        "column": True,
        "rename": True,
    }


class AlterPartitions(Statement):
    """ALTER TABLE ADD or DROP PARTITION; ``kind`` is which, ``ignored`` is IF [NOT] EXISTS."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "kind": True,
        "ignored": False,
        "expressions": True,
    }


class Partition(exp.Expression):
    """``PARTITION (column = value, ...) WITH (...)``."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True, "options": False}


class AlterFunction(Statement):
    """ALTER FUNCTION; ``kind`` as of CREATE FUNCTION."""

    arg_types: ClassVar[dict[str, bool]] = CreateFunction.arg_types


class AlterDatabase(Statement):
    """ALTER DATABASE SET."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "options": True}


class AlterCatalog(Statement):
    """ALTER CATALOG: SET, RESET, COMMENT."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "options": False,
        "reset": False,
        "comment": False,
    }


class Insert(Statement):
    """INSERT INTO or OVERWRITE."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "overwrite": False,
        "partition": False,
        "columns": False,
        "hints": False,
        "expression": True,
        "on_conflict": False,
    }


class StatementSet(Statement):
    """Several INSERT statements that run as one job."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class Explain(Statement):
    """EXPLAIN; ``details`` are names as in ExplainDetail."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "details": False}


class Describe(Statement):
    """DESCRIBE; ``kind`` is TABLE, CATALOG, DATABASE or FUNCTION."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True, "extended": False}


class Show(Statement):
    """SHOW; ``this`` is what, as in ``CURRENT CATALOG``."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "source": False,
        "negated": False,
        "operator": False,
        "pattern": False,
        "partition": False,
    }


class Use(Statement):
    """USE of a database, catalog or list of modules."""

    arg_types: ClassVar[dict[str, bool]] = {"this": False, "kind": True, "expressions": False}


class Set(Statement):
    """SET, alone or with key and value."""

    arg_types: ClassVar[dict[str, bool]] = {"this": False, "expression": False}


class Reset(Statement):
    """RESET, alone or with a key."""

    arg_types: ClassVar[dict[str, bool]] = {"this": False}


class Jar(Statement):
    """ADD, REMOVE JAR."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True}


def at(node: Tree, first: Token, last: Token | None = None) -> Tree:
    """Set which tokens a node begins and ends with, and return the node."""
    node.meta[_START] = first.start
    node.meta[_END] = (last or first).end + 1
    return node


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """Return the conditions that are combined by AND."""
    if isinstance(condition, exp.Paren):
        return conjuncts(condition.this)
    if isinstance(condition, exp.And):
        return [*conjuncts(condition.this), *conjuncts(condition.expression)]
    return [condition]


def start_of(node: exp.Expr) -> int | None:
    """Where the node begins in the text, or None of a node that was not written."""
    starts = [child.meta[_START] for child in node.walk() if _START in child.meta]
    return min(starts) if starts else None


def line_and_column(text: str, start: int) -> tuple[int, int]:
    """Return the line and the column of a position in a statement, both from 1."""
    return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)


class SqlError(TableException):
    """A statement is wrong or asks for what is not supported; the message says where."""


def refuse(text: str, node: exp.Expr, reason: str) -> NoReturn:
    """Raise a SqlError that says where in the statement the reason lies."""
    raise error_at(text, start_of(node), reason)


def error_at(text: str, start: int | None, reason: str) -> SqlError:
    """Return an error with the line, the column, and a mark below this position of the line."""
    if start is None:
        return SqlError(f"SQL statement: {reason}")
    line, column = line_and_column(text, start)
    source = text.split("\n")[line - 1]
    mark = "".join("\t" if character == "\t" else " " for character in source[: column - 1])
    return SqlError(f"SQL statement, line {line}, column {column}: {reason}\n{source}\n{mark}^")
