"""Flink's SQL as a tree: forms that must be read, trees that they give, and mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from pyflow.table.sql import tree
from pyflow.table.sql.dialect import Flink, parse
from pyflow.util.exceptions import TableException

pytestmark = pytest.mark.core

REFERENCE = Path(__file__).parent / "reference"
SEPARATOR = "\n--\n"
FORMS = (REFERENCE / "sql_forms.sql").read_text(encoding="utf-8").strip().split(SEPARATOR)
TREES = REFERENCE / "sql_trees.txt"


def test_forms_are_read_into_their_trees():
    """`python test_sql_grammar.py` writes the trees again: look at the difference."""
    recorded = TREES.read_text(encoding="utf-8").strip().split(SEPARATOR)
    assert dict(zip(FORMS, map(repr, map(parse, FORMS)))) == dict(zip(FORMS, recorded))
    assert len(FORMS) == len(recorded)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_left_as_opaque_text(form):
    found = [type(node) for node in parse(form).walk()]
    assert exp.Command not in found
    assert "sqlglot" in found[0].__module__ or issubclass(
        found[0], (tree.Statement, tree.NotSupported)
    )


def test_dialect_is_one_of_sqlglot():
    assert sqlglot.parse_one("SHOW TABLES", read=Flink) == tree.Show(this="TABLES")


@pytest.mark.parametrize("form", [form for form in FORMS if ";" not in form])
def test_a_semicolon_may_end_a_statement(form):
    assert parse(f"{form} ;\n") == parse(form)


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("a OR b AND NOT c = d", "a OR (b AND (NOT (c = d)))"),
        ("a = b IS NOT NULL", "(a = b) IS NOT NULL"),
        ("a + b BETWEEN c AND d AND e", "((a + b) BETWEEN c AND d) AND e"),
        ("a = b < c", "(a = b) < c"),
        ("a || b + c", "(a || b) + c"),
        ("a - b - c * -d", "(a - b) - (c * (-d))"),
        ("a NOT IN (b, c) OR d NOT LIKE e", "(NOT (a IN (b, c))) OR (NOT (d LIKE e))"),
        ("a IS DISTINCT FROM b + c AND d", "(a IS DISTINCT FROM (b + c)) AND d"),
        ("a.b[c].d + e", "(((a.b)[c]).d) + e"),
    ],
)
def test_operators_bind_as_in_flink(text, grouped):
    written, wanted = (_without_parentheses(parse(f"SELECT {t}")) for t in (text, grouped))
    assert written == wanted


def _without_parentheses(statement):
    for parenthesis in list(statement.find_all(exp.Paren)):
        parenthesis.replace(parenthesis.this)
    return statement


def test_names_keep_their_case_and_stand_between_backticks():
    columns = parse("SELECT Id, `the ``count```, `SELECT` FROM `My Table`").find_all(exp.Column)
    assert [column.name for column in columns] == ["Id", "the `count`", "SELECT"]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'it''s \\n'", "it's \\n"),
        (r"U&'\0041\\b'", r"A\b"),
        (r"U&'!00e9' UESCAPE '!'", "é"),
        ("_UTF16'x'", "x"),
        ("N'y'", "y"),
    ],
)
def test_strings(literal, value):
    assert parse(f"SELECT {literal}").expressions[0].name == value


WRONG = {
    "": (1, 1, "a statement (SELECT, INSERT,"),
    "SELEC 1": (1, 1, "found 'SELEC'"),
    "SELECT": (1, 7, "an expression expected, found the end of the statement"),
    "SELECT a,, b FROM t": (1, 10, "an expression expected, found ','"),
    "SELECT a\nFROM t\nWHERE": (3, 6, "an expression expected"),
    "SELECT a +\n  FROM t": (2, 3, "an expression expected, found 'FROM'"),
    "SELECT (a FROM t": (1, 11, "',' or ')' expected"),
    "SELECT a FROM t GROUP a": (1, 23, "'BY' expected, found 'a'"),
    "SELECT a b c FROM t": (1, 12, "the end of the statement expected"),
    "SELECT 'abc": (1, 8, "' is not closed"),
    "SELECT a, `abc": (1, 11, "` is not closed"),
    "SELECT /* abc": (1, 8, "/* is not closed"),
    'SELECT "a" FROM t': (1, 8, "an expression expected, found '\"'"),
    "SELECT CASE a END": (1, 15, "'WHEN' expected"),
    "SELECT CAST(a INT)": (1, 15, "'AS' expected"),
    "SELECT CAST(a AS ROW<b>)": (1, 23, "a data type expected"),
    "SELECT a BETWEEN 1 OR 2": (1, 20, "'AND' expected, found 'OR'"),
    "SELECT a IS 5": (1, 13, "NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM expected"),
    "SELECT INTERVAL 1.5 DAY": (1, 17, "a whole number"),
    "SELECT INTERVAL * DAY": (1, 17, "the interval's value: a string, a whole number, a column"),
    "SELECT INTERVAL 1 YEAR TO MONTH": (1, 24, "the end of the statement"),
    "CREATE TABLE t (a, b) WITH ('c' = 'd')": (1, 39, "AS and a query"),
    "SELECT a OVERLAPS (b, c) FROM t": (1, 8, "(time, time) or (time, interval)"),
    "SELECT a FROM t QUALIFY a = (SELECT SUM(b) OVER w FROM s)": (1, 25, "must contain a window"),
    "SELECT a FROM t QUALIFY a = 1": (1, 25, "must contain a window function"),
    "SELECT INTERVAL '5' DOG": (1, 21, "a unit of time"),
    "SELECT x'ABC'": (1, 8, "an even number of hexadecimal digits"),
    r"SELECT U&'\00'": (1, 8, "four hexadecimal digits"),
    "SELECT * FROM a JOIN b": (1, 23, "ON or USING expected"),
    "SELECT a FROM t LIMIT x": (1, 23, "a whole number expected"),
    "SELECT SUM(a) OVER (ORDER b) FROM t": (1, 27, "'BY' expected"),
    "SELECT 1; SELECT 2": (1, 11, "one statement at a time"),
    "CREATE TABL t": (1, 8, "TABLE, VIEW, FUNCTION, DATABASE or CATALOG expected"),
    "CREATE TABLE t (a)": (1, 19, "AS and a query, as the columns have no types,"),
    "CREATE TABLE t (a INT) WITH (a = 'b')": (1, 30, "an option's name in single quotes"),
    "CREATE TABLE t (a INT, PRIMARY KEY (a))": (1, 39, "'NOT ENFORCED'"),
    "INSERT t SELECT 1": (1, 8, "'INTO' or 'OVERWRITE' expected"),
    "INSERT INTO t": (1, 14, "a query expected"),
    "INSERT INTO t SELECT 1 ON CONFLICT DO UPDATE": (
        (1, 39, "'DEDUPLICATE' or 'ERROR' or 'NOTHING' expected")
    ),
    "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 END": (1, 52, "';' expected"),
    "SHOW TABLE": (1, 6, "what to show"),
    "SET a = 1": (1, 5, "a key in single quotes expected"),
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_have_line_column_and_what_was_expected(text):
    line, column, expected = WRONG[text]
    with pytest.raises(TableException) as raised:
        parse(text)
    first, *rest = str(raised.value).split("\n")
    assert first.startswith(f"SQL statement, line {line}, column {column}: ")
    assert expected in first
    assert rest[-1] == " " * (column - 1) + "^"


if __name__ == "__main__":
    TREES.write_text(SEPARATOR.join(repr(parse(form)) for form in FORMS) + "\n", encoding="utf-8")
