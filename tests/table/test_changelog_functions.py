"""Changes as rows that tell their kind, and back; PyFlink's answers are in sql_queries.json."""

from __future__ import annotations

import pytest

from pyflow.table.expressions import col, descriptor, lit, map_
from pyflow.util.exceptions import TableException
from streams import Source, changes

CHANGES = [("a", 1), ("b", 5), ("a", 2)]


@pytest.fixture
def totals(streaming):
    table = streaming.from_elements(CHANGES, ["k", "v"])
    return table.group_by(col("k")).select(col("k"), col("v").sum.alias("total"))


def rows(table):
    with table.execute().collect() as found:
        return [(str(row.get_row_kind()), *row) for row in found]


def op(name):
    return descriptor(name).as_argument("op")


def mapping(*pairs):
    return map_(*pairs).as_argument("op_mapping")


def test_changes_become_rows_and_changes_again(totals):
    told = totals.to_changelog(op("kind"))

    assert told.get_schema().get_field_names() == ["kind", "k", "total"]
    assert rows(told) == [
        ("+I", "INSERT", "a", 1),
        ("+I", "INSERT", "b", 5),
        ("+I", "UPDATE_BEFORE", "a", 1),
        ("+I", "UPDATE_AFTER", "a", 3),
    ]
    assert rows(told.from_changelog(op("kind"))) == rows(totals)


def test_kinds_without_a_code_are_left_out(totals):
    told = totals.to_changelog(mapping("INSERT, UPDATE_AFTER", "now", "DELETE", "gone"))

    assert [row[1:] for row in rows(told)] == [("now", "a", 1), ("now", "b", 5), ("now", "a", 3)]


def test_changes_of_rows_can_be_aggregated(streaming):
    told = streaming.from_elements(
        [
            ("c", 1, "a"),
            ("c", 2, "a"),
            ("ub", 1, "a"),
            ("ua", 1, "b"),
            ("d", 2, "a"),
        ],
        ["code", "id", "v"],
    )
    table = told.from_changelog(
        op("code"),
        mapping("c, r", "INSERT", "ub", "UPDATE_BEFORE", "ua", "UPDATE_AFTER", "d", "DELETE"),
    )

    assert table.get_schema().get_field_names() == ["id", "v"]
    counted = table.group_by(col("v")).select(col("v"), lit(1).count.alias("n"))
    assert rows(counted) == [
        ("+I", "a", 1),
        ("-U", "a", 1),
        ("+U", "a", 2),
        ("-U", "a", 2),
        ("+U", "a", 1),
        ("+I", "b", 1),
        ("-D", "a", 1),
    ]


@pytest.mark.parametrize("code", ["?", None])
def test_rows_with_other_codes_fail_the_query(streaming, code):
    told = streaming.from_elements([("INSERT", 1), (code, 2)], ["op", "id"])

    with pytest.raises(Exception, match=rf"invalid op code '{'NULL' if code is None else '.'}'"):
        rows(told.from_changelog())


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("to_changelog", [op("k")], "has a column 'k' already"),
        ("to_changelog", [descriptor("x")], "is no argument here"),
        ("to_changelog", [descriptor("x", "y").as_argument("op")], "is no argument here"),
        ("to_changelog", [mapping("UPSERT", "U")], "Unknown change operation: 'UPSERT'"),
        (
            "to_changelog",
            [mapping("INSERT", "a", "DELETE, INSERT", "b")],
            "Duplicate change operation",
        ),
        ("to_changelog", [mapping("INSERT", 1)], "takes string literals"),
        ("from_changelog", [op("k")], "doesn't support consuming update and delete changes"),
    ],
)
def test_wrong_arguments(totals, function, arguments, message):
    with pytest.raises(TableException, match=message):
        getattr(totals, function)(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "op column 'op' does not exist"),
        ([op("v")], "must be of STRING type, but was 'BIGINT'"),
        ([op("k"), mapping("a", "INSERTED")], "Unknown change operation: 'INSERTED'"),
        ([op("k"), mapping("a", "UPDATE_AFTER")], "must include UPDATE_BEFORE"),
    ],
)
def test_rows_that_cannot_be_changes(streaming, arguments, message):
    table = streaming.from_elements(CHANGES, ["k", "v"])

    with pytest.raises(TableException, match=message):
        table.from_changelog(*arguments)


def test_batch_mode_has_no_changes(batch):
    table = batch.from_elements(CHANGES, ["k", "v"])

    for function in (table.to_changelog, table.from_changelog):
        with pytest.raises(TableException, match="is for streaming mode"):
            function()


def test_a_descriptor_is_no_value(totals):
    with pytest.raises(TableException, match="can only be an argument"):
        totals.select(descriptor("k"))


def test_changes_of_an_unbounded_table(spark, streaming, tmp_path):
    source = Source(spark, tmp_path, "op STRING; k STRING; v BIGINT")
    streaming.create_temporary_view("told", source.table(streaming))
    table = streaming.sql_query(
        "SELECT * FROM TO_CHANGELOG(input => ("
        "SELECT k, SUM(v) AS total FROM FROM_CHANGELOG(input => TABLE told) GROUP BY k))"
    )
    source.add([("INSERT", "a", 1), ("INSERT", "b", 2)])
    source.add([("UPDATE_BEFORE", "a", 1), ("UPDATE_AFTER", "a", 5), ("DELETE", "b", 2)])

    first, second = changes(table, tmp_path / "checkpoint")

    assert sorted(first) == [("+I", "INSERT", "a", 1), ("+I", "INSERT", "b", 2)]
    assert [row for row in second if row[2] == "b"] == [("+I", "DELETE", "b", 2)]
    of_a = [row for row in second if row[2] == "a"]
    assert of_a[0] in (("+I", "DELETE", "a", 1), ("+I", "UPDATE_BEFORE", "a", 1))
    assert of_a[-1][3] == 5
