"""Names of built-in functions, functions registered under them, and texts of expressions.

``reference/function_names.json`` has PyFlink's answers; ``reference/record_function_names.py``
writes it.
"""

from __future__ import annotations

import datetime
import decimal

import function_names as cases
import pytest
import recordings

from pyflow.table import DataTypes, expression, expressions
from pyflow.table.expressions import call, call_sql, col, lit
from pyflow.table.functions.names import UNSUPPORTED, is_built_in
from pyflow.table.udf import udaf, udf
from pyflow.util.exceptions import TableException

RECORDED = recordings.load("function_names")
# Calls of which one in so many is planned unless all are.
ONE_IN = 6
OWN = "BINARY(7)"
# What Flink types before it finds that it cannot run, or what has another type here.
OTHER_TYPES = {
    "SOURCE_WATERMARK": "Spark does not tell functions the watermark",
    "distinct": "only an aggregate can be distinct",
    "asc": "can only be used in order_by",
    "desc": "can only be used in order_by",
    "lead": "needs an OVER window",
    "lag": "needs an OVER window",
    "ascii": "INT",
}
# Forms of the Table API that a function of a program does not take the place of.
FORMS = {"as", "asc", "desc", "cast", "TRY_CAST", "flatten", "rangeTo", "ASSIGNMENT"}


@udf(result_type=DataTypes.BINARY(7))
def function(*values):
    return b"1234567"


NAMES = {
    **vars(expression),
    **vars(expressions),
    "DataTypes": DataTypes,
    "abs": abs,
    "datetime": datetime,
    "decimal": decimal,
    "function": function,
    **{name: col(name) for name in cases.COLUMNS},
}


@pytest.fixture
def planned(batch):
    """The table of the cases, and what the type of an expression over it is."""
    columns = ", ".join(f"`{name}` {data_type}" for name, data_type in cases.COLUMNS.items())
    batch.execute_sql(
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    )
    table = batch.from_path("t")

    def type_of(text):
        try:
            schema = table.select(eval(text, NAMES)).get_resolved_schema()
        except TableException as error:
            return str(error)
        return schema.get_column_data_types()[0].nullable().sql

    return batch, type_of


def test_expressions_have_the_texts_of_flink():
    found = {text: str(eval(text, NAMES)) for text, known in RECORDED["texts"].items() if known}
    assert found == {text: known for text, known in RECORDED["texts"].items() if known}


def test_call_knows_the_names_that_flink_knows(planned):
    _, type_of = planned
    assert [name for name in RECORDED["names"] if not is_built_in(name)] == []
    assert [name for name in UNSUPPORTED if name not in map(str.upper, RECORDED["names"])] == []
    for name, answer in RECORDED["others"].items():
        assert "Undefined function" in answer["error"]
        assert not is_built_in(name), name
        assert f"there is no function named {name!r}" in type_of(f"call({name!r}, s)")
    assert "in the Table API it is 'charLength'" in type_of("call('CHAR_LENGTH', s)")


def test_all_functions_are_listed_by_their_names_or_refused(batch):
    refused = [name for name in RECORDED["names"] if name.upper() in UNSUPPORTED]
    assert set(RECORDED["internal"]) < set(refused)
    assert batch.list_functions() == sorted(set(RECORDED["names"]) - set(refused))
    with batch.execute_sql("SHOW FUNCTIONS").collect() as rows:
        assert [name for (name,) in rows] == batch.list_functions()


def test_calls_by_name_have_the_types_of_flink(planned, pytestconfig):
    _, type_of = planned
    every = list(zip(RECORDED["calls"].items(), cases.CALLS))
    different = []
    for (text, answer), (name, _) in every[
        :: 1 if pytestconfig.getoption("--complete") else ONE_IN
    ]:
        expected = answer.get("type", "").removesuffix(" NOT NULL")
        found = type_of(text)
        if name.upper() in UNSUPPORTED:
            expected = f"call({name!r}) is not supported: {UNSUPPORTED[name.upper()]}"
        if OTHER_TYPES.get(name, "none") in found or not expected or found == expected:
            continue
        different.append(f"{text}: {found}, not {expected}")
    assert different == []


def _overridden(name):
    """Whether PyFlink has a temporary system function before the built-in one, in call()."""
    return RECORDED["overridden"][name] == {
        "temporary_system_function": True,
        "temporary_function": False,
    }


def _is_own(found):
    """Whether the function of the program is called, or refuses the arguments."""
    refusals = ("a function of the program cannot take", "can neither take nor return")
    return found == OWN or any(refusal in found for refusal in refusals)


def test_a_system_function_is_before_the_built_in_one_of_its_name(planned, pytestconfig):
    t_env, type_of = planned
    step = 1 if pytestconfig.getoption("--complete") else ONE_IN
    different = []
    for name, text in cases.CALLS[::step]:
        assert _overridden(name) or name == "as"
        t_env.create_temporary_function(f"`{name}`", function)
        if type_of(text) == OWN:
            different.append(f"{text}: a function of a catalog is called")
        t_env.drop_temporary_function(f"`{name}`")
        t_env.create_temporary_system_function(name, function)
        if not _is_own(type_of(text)):
            different.append(text)
        t_env.drop_temporary_system_function(name)
    assert different == []


def test_operators_and_methods_call_a_system_function_of_their_name(planned, pytestconfig):
    t_env, type_of = planned
    step = 1 if pytestconfig.getoption("--complete") else ONE_IN
    different = []
    for text in [text for text, own in RECORDED["methods"].items() if own][::step]:
        name = RECORDED["texts"][text].partition("(")[0]
        t_env.create_temporary_system_function(name, function)
        found = type_of(text)
        t_env.drop_temporary_system_function(name)
        if name not in FORMS and not _is_own(found):
            different.append(f"{text}: {found}")
    assert different == []


def rows(table):
    with table.execute().collect() as found:
        return sorted(tuple(row) for row in found)


@udf(result_type=DataTypes.STRING())
def joined(*values):
    return "-".join(map(str, values))


@udf(result_type=DataTypes.BOOLEAN())
def next_to(one, other):
    return abs(one - other) == 1


def test_functions_are_called_in_the_place_of_built_in_ones(batch):
    table = batch.from_elements([(1, "a"), (2, "b")], ["i", "s"])
    batch.create_temporary_view("T", table)
    batch.create_temporary_system_function("plus", joined)
    batch.create_temporary_system_function("UPPER", joined)
    batch.create_temporary_function("abs", joined)
    assert rows(
        table.select(
            col("i") + 1,
            1 + col("i"),
            col("s").upper_case,
            (col("i") + 3).char_length,
            call("plus", col("i"), col("s")),
            col("i").abs,
            call_sql("i + 1"),
            call_sql("UPPER(s)"),
        )
    ) == [
        ("1-1", "1-1", "a", 3, "1-a", 1, 2, "a"),
        ("2-1", "1-2", "b", 3, "2-b", 2, 3, "b"),
    ]
    assert rows(batch.sql_query("SELECT i + 1, UPPER(s), ABS(i) FROM T")) == [
        (2, "a", 1),
        (3, "b", 2),
    ]
    batch.drop_temporary_system_function("plus")
    assert rows(table.select(col("i") + 1)) == [(2,), (3,)]


def test_conditions_call_a_system_function_in_the_place_of_an_operator(batch):
    left = batch.from_elements([(1,), (2,), (5,)], ["a"])
    right = batch.from_elements([(2,), (4,)], ["b"])
    assert rows(left.join(right, call("equals", col("a"), col("b")))) == [(2, 2)]
    batch.create_temporary_system_function("equals", next_to)
    with pytest.raises(TableException, match=r"At least one equi-join predicate is required"):
        left.join(right, col("a") == col("b"))
    assert rows(left.filter(col("a") == 2)) == [(1,)]


def test_groups_call_a_system_function_in_the_place_of_an_aggregate(batch):
    @udaf(result_type=DataTypes.BIGINT(), func_type="pandas")
    def product(values):
        return values.prod()

    table = batch.from_elements([("a", 2), ("a", 3), ("b", 4)], ["k", "v"])
    summed = table.group_by(col("k")).select(col("k"), col("v").sum)
    batch.create_temporary_system_function("sum", product)
    multiplied = table.group_by(col("k")).select(col("k"), col("v").sum)
    assert rows(summed) == [("a", 5), ("b", 4)]
    assert rows(multiplied) == [("a", 6), ("b", 4)]


def test_a_function_of_a_catalog_is_called_where_the_table_api_has_no_such_name(batch):
    table = batch.from_elements([("abc",)], ["s"])
    batch.create_temporary_view("T", table)
    batch.create_temporary_function("char_length", joined)
    assert rows(table.select(call("char_length", col("s")), col("s").char_length)) == [("abc", 3)]
    assert rows(batch.sql_query("SELECT CHAR_LENGTH(s) FROM T")) == [("abc",)]


def test_forms_can_be_called_by_their_names(batch):
    table = batch.from_elements([(1, 2), (3, 4)], ["a", "b"])
    ordered = table.order_by(call("desc", col("a"))).select(
        call("as", col("a"), "x"), call("withoutColumns", col("a")), call("TYPEOF", col("b"))
    )
    assert ordered.get_schema().get_field_names() == ["x", "b", "_c2"]
    with ordered.execute().collect() as found:
        assert [tuple(row) for row in found] == [(3, 4, "BIGINT"), (1, 2, "BIGINT")]
    with pytest.raises(TableException, match=r"as\(a, b\): it takes other arguments"):
        table.select(call("as", col("a"), col("b")))


def test_a_computed_column_can_be_made_of_a_text_in_sql(batch):
    assert str(lit(1.5).hours) == "3600000"
    assert rows(batch.from_elements([(1,)], ["a"]).select(lit(1.5).days == lit(1).day)) == [(True,)]
