"""Expressions have the values, types and names that PyFlink gives them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import expression_cases
import expression_results as results
from expression_differences import DIFFERENCES
from function_docs import functions_page
from pyflow.table import expressions
from pyflow.table.columns.nodes import Node
from pyflow.table.expression import Expression
from pyflow.table.functions.resolution import Scope
from pyflow.table.types import DataTypes
from pyflow.util.exceptions import TableException

RECORDED = ["flags", "numbers", "bitmaps"]
VALUES = [*RECORDED, "groups", "texts", "json", "times", "dates_in_texts", "bitmap_groups"]
# Cases of which one in so many is compared unless all are.
ONE_IN = 5
AT_ONCE = 60


@pytest.fixture
def session(spark: SparkSession) -> Any:
    settings = {
        "spark.sql.session.timeZone": expression_cases.ZONE,
        "spark.sql.caseSensitive": "true",
        "spark.sql.timeType.enabled": "true",
    }
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield spark
    for key in settings:
        spark.conf.unset(key)


def _chosen(name: str, known: str, config: pytest.Config) -> list[dict[str, Any]]:
    """Return the cases that PyFlink gave something for."""
    found = [
        case
        for case in results.reference(name)
        if known in case and (name, case["case"]) not in DIFFERENCES
    ]
    return found if config.getoption("--complete") else found[::ONE_IN]


@pytest.mark.parametrize("name", VALUES)
def test_values(session: SparkSession, name: str, pytestconfig: pytest.Config) -> None:
    cases, scope = _chosen(name, "values", pytestconfig), results.table(session, name)
    different = []
    for start in range(0, len(cases), AT_ONCE):
        chosen = cases[start : start + AT_ONCE]
        resolved = [scope.resolve(results.build(name, case["case"])._node) for case in chosen]
        for case, each, actual in zip(chosen, resolved, results.run(scope, name, resolved)):
            if not _same_type(each.data_type.sql, case["type"]):
                different.append(f"{case['case']}: {each.data_type.sql}, not {case['type']}")
            tolerance = 1e-6 if "FLOAT" in case["type"] else 1e-12
            if not results.alike(case["values"], actual, tolerance):
                different.append(f"{case['case']}: {actual}, not {case['values']}")
    assert different == []


@pytest.mark.parametrize("name", ["types", "types_groups"])
def test_types_of_results(session: SparkSession, name: str, pytestconfig: pytest.Config) -> None:
    scope = results.table(session, name)
    different = []
    for case in _chosen(name, "type", pytestconfig):
        found = scope.resolve(results.build(name, case["case"])._node).data_type.sql
        is_same = _same_type if expression_cases.is_grouped(name) else str.__eq__
        if not is_same(found, case["type"]):
            different.append(f"{case['case']}: {found}, not {case['type']}")
    assert different == []


def _same_type(found: str, expected: str) -> bool:
    """Return whether types are the same, but for nulls at the top.

    Aggregates, and functions that may give null of values, are nullable here, in Flink not always.
    """
    return found.removesuffix(" NOT NULL") == expected.removesuffix(" NOT NULL")


@pytest.mark.parametrize("name", RECORDED)
def test_types_names_and_texts(session: SparkSession, name: str) -> None:
    scope = results.table(session, name)
    different = []
    for case in results.reference(name):
        if "type" not in case:
            continue
        built = results.build(name, case["case"])
        actual = (
            scope.resolve(built._node).data_type.sql,
            str(built),
            scope.name_of(built._node, 0) if name != "groups" else case["name"],
        )
        expected = case["type"], case["text"], case["name"]
        if actual != expected:
            different.append(f"{case['case']}: {actual}, not {expected}")
    assert different == []


def _scope(spark: SparkSession) -> Scope:
    return results.table(spark, "numbers")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("col('nothing')", "Cannot resolve field [nothing], input field list:[t, h, i"),
        ("i.substring(1)", "argument 1 is INT, but it takes (string, int, int?)"),
        ("i + null_of(DataTypes.DATE())", "there is no such operation of these types"),
        ("m.cast(DataTypes.DATE())", "Unsupported cast from 'DECIMAL(10, 2)' to 'DATE'."),
        ("array(1, 2).at(0)", "index starting at 1 but was 0"),
        ("call_sql('i + nothing')", "line 1, column 12: Column 'nothing' not found"),
        ("lit('{}').json_value('$.a[?(@.b)]')", "is no path that is supported"),
        ("i.round(i)", "argument 2 of round must be a literal"),
        ("i.asc", "can only be used in order_by"),
    ],
)
def test_what_is_wrong_is_told(session: SparkSession, text: str, message: str) -> None:
    scope = _scope(session)
    with pytest.raises(TableException) as raised:
        scope.resolve(results.build("numbers", text)._node)
    assert message in str(raised.value)


def test_columns_are_expanded(session: SparkSession) -> None:
    scope = _scope(session)

    def names(*selection: Expression[Any]) -> list[str]:
        expanded = scope.expand([each._node for each in selection])
        return [scope.name_of(node, index) for index, node in enumerate(expanded)]

    columns = list(scope.fields)
    assert names(expressions.col("*")) == columns
    assert names(expressions.with_all_columns()) == columns
    with_columns, without, between = (
        expressions.with_columns,
        expressions.without_columns,
        expressions.range_,
    )
    assert names(with_columns(between("h", "b"))) == ["h", "i", "b"]
    assert names(with_columns(between(2, 3), expressions.col("d"))) == ["h", "i", "d"]
    assert names(without(between("h", "w"))) == ["t", "z"]
    assert names(expressions.row(1, 2).flatten.alias("a", "b")) == ["a", "b"]


def test_aggregates_are_found(session: SparkSession) -> None:
    scope = _scope(session)
    col = expressions.col
    total = col("i").sum
    node: Node = (total + col("b").max.distinct * 2)._node
    assert [str(found) for found in scope.aggregates_of(node)] == ["sum(i)", "distinct(max(b))"]
    assert not scope.has_aggregates((col("i") + 1)._node)
    assert not scope.has_aggregates(total.over(col("w"))._node)
    assert (col("i") + 1)._node == (col("i") + 1)._node != (col("i") + True)._node


def test_what_is_not_supported_says_so() -> None:
    with pytest.raises(TableException, match="row"):
        expressions.object_of("a.B", "x", 1)


def test_expression_has_no_truth_value() -> None:
    with pytest.raises(ValueError, match="combine conditions with &"):
        bool(expressions.col("a") == 1)


def test_every_member_is_documented() -> None:
    members = {name: member for name, member in vars(Expression).items() if name[0] != "_"}
    assert len(members) > 190
    assert [name for name, member in members.items() if not inspect.getdoc(member)] == []
    assert [n for n in expressions.__all__ if not inspect.getdoc(getattr(expressions, n))] == []


def test_page_of_functions_is_that_of_the_table(pytestconfig: pytest.Config) -> None:
    page = Path(__file__).parents[2] / "docs" / "table-api" / "built-in-functions.md"
    if pytestconfig.getoption("--write-docs"):
        page.parent.mkdir(exist_ok=True)
        page.write_text(functions_page(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == functions_page()


def test_literals_of_every_type(session: SparkSession) -> None:
    texts = {
        "lit(None, DataTypes.INT())": None,
        "lit(5, DataTypes.BIGINT())": 5,
        "lit([1, None], DataTypes.ARRAY(DataTypes.INT()))": [1, None],
        "lit({'a': 1}, DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()))": {"map": [["a", 1]]},
        "lit('ab', DataTypes.CHAR(3))": "ab ",
    }
    scope = _scope(session)
    resolved = [scope.resolve(results.build("numbers", text)._node) for text in texts]
    values = results.run(scope, "numbers", resolved)
    assert [each[0] for each in values] == list(texts.values())
    assert resolved[1].data_type == DataTypes.BIGINT()
