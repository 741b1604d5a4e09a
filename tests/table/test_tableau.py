"""The table form of results, and values as texts."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from pyflow.common import Row, RowKind
from pyflow.table import DataTypes
from pyflow.types.strings import cast_text, java_text, row_text
from pyflow.types.tableau import display_width, lines_of, widths_of_types
from pyflow.util.java_numbers import java_float

UTC = datetime.timezone.utc
INNER = DataTypes.ROW(
    [DataTypes.FIELD("x", DataTypes.INT()), DataTypes.FIELD("y", DataTypes.STRING())]
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789.5, "1.234567895E8"),
        (1e100, "1.0E100"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles_are_written_as_java_does(value, text):
    assert java_float(value, single=False) == text


def test_floats_have_the_digits_that_single_precision_has():
    assert java_float(0.10000000149011612, single=True) == "0.1"


@pytest.mark.parametrize(
    ("value", "data_type", "text"),
    [
        (True, DataTypes.BOOLEAN(), "TRUE"),
        (Decimal("1.500"), DataTypes.DECIMAL(10, 3), "1.500"),
        (datetime.date(2020, 2, 29), DataTypes.DATE(), "2020-02-29"),
        (datetime.time(1, 2, 3), DataTypes.TIME(), "01:02:03"),
        (
            datetime.datetime(2020, 1, 2, 3, 4, 5, 6000),
            DataTypes.TIMESTAMP(3),
            "2020-01-02 03:04:05.006",
        ),
        ([1, None], DataTypes.ARRAY(DataTypes.INT()), "[1, NULL]"),
        ({"a": 1}, DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()), "{a=1}"),
        (Row(1, None), INNER, "(1, NULL)"),
        (None, DataTypes.INT(), "NULL"),
        (
            datetime.timedelta(days=1, seconds=61),
            DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)),
            "+1 00:01:01.000",
        ),
    ],
)
def test_values_are_cast_to_text_as_in_flink(value, data_type, text):
    assert cast_text(value, data_type, UTC) == text


@pytest.mark.parametrize(
    ("value", "data_type", "text"),
    [
        (True, DataTypes.BOOLEAN(), "true"),
        (datetime.datetime(2020, 1, 2, 3, 4), DataTypes.TIMESTAMP(3), "2020-01-02T03:04"),
        (
            datetime.datetime(2020, 1, 2, 3, 4, 5, 6000),
            DataTypes.TIMESTAMP(3),
            "2020-01-02T03:04:05.006",
        ),
        (
            datetime.datetime(2020, 1, 2, 3, 4, tzinfo=UTC),
            DataTypes.TIMESTAMP_LTZ(3),
            "2020-01-02T03:04:00Z",
        ),
        (b"\x01\xff", DataTypes.BYTES(), "[1, -1]"),
        (
            datetime.timedelta(hours=25, seconds=1.5),
            DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)),
            "PT25H1.5S",
        ),
        (Row(1, None), INNER, "+I[1, null]"),
    ],
)
def test_values_are_written_as_java_classes_do(value, data_type, text):
    assert java_text(value, data_type, UTC) == text


def test_a_row_begins_with_its_kind():
    row = Row(1, "a")
    row.set_row_kind(RowKind.UPDATE_BEFORE)
    assert row_text(row, [DataTypes.INT(), DataTypes.STRING()], UTC) == "-U[1, a]"


def test_wide_characters_take_two_columns():
    assert display_width("日本") == 4
    lines = list(lines_of(["a"], [("日本語日本語日本語",)], [10]))
    assert lines[3] == "|  日本語... |"


def test_no_rows_are_an_empty_set():
    assert list(lines_of(["a"], [], [3])) == ["Empty set"]


def test_widths_follow_from_types():
    types = [DataTypes.INT(), DataTypes.STRING(), DataTypes.BOOLEAN(), DataTypes.TIMESTAMP(3)]
    assert widths_of_types(["a", "b", "c", "d"], types, 30) == [11, 30, 6, 23]


def test_tables_in_notebooks(batch):
    """The first rows, escaped."""
    few = batch.from_elements([(1, "<b>"), (2, None)], ["n", "a&b"])
    assert few._repr_html_() == (
        "<table><thead><tr><th>n</th><th>a&amp;b</th></tr></thead><tbody>"
        "<tr><td>1</td><td>&lt;b&gt;</td></tr><tr><td>2</td><td>&lt;NULL&gt;</td></tr>"
        "</tbody></table><p>2 rows</p>"
    )
    many = batch.from_elements([(n,) for n in range(30)], ["n"])._repr_html_()
    assert many.count("<td>") == 20
    assert "the first 20 rows" in many


def test_changing_and_unbounded_tables_in_notebooks(streaming):
    """What is left of changes; of unbounded rows the columns."""
    streaming.create_temporary_view("t", streaming.from_elements([(1,), (2,)], ["n"]))
    total = streaming.sql_query("SELECT SUM(n) AS total FROM t")._repr_html_()
    assert "<th>total</th></tr></thead><tbody><tr><td>3</td></tr></tbody>" in total
    streaming.execute_sql("CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen')")
    unbounded = streaming.from_path("g")._repr_html_()
    assert "<th>id</th>" in unbounded
    assert "unbounded" in unbounded
    assert "<td>" not in unbounded
