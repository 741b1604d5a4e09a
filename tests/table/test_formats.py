"""Formats of tables: what becomes of right and of wrong values, in files."""

from __future__ import annotations

import datetime
import json
import re
from decimal import Decimal

import pytest

from pyflow.common import Row
from pyflow.util.exceptions import TableException

NOTHING = [None]


def created(t_env, tmp_path, columns, format, text=None, **options):
    """A table ``t`` of files of a format, the first with the text."""
    path = tmp_path / "files"
    if text is not None:
        path.mkdir()
        (path / "part").write_text(text + "\n")
    given = {"connector": "filesystem", "path": str(path), "format": format, **options}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    t_env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({pairs})")


def read(t_env):
    with t_env.execute_sql("SELECT * FROM t").collect() as rows:
        return [[*row] for row in rows]


TEXTS = "2020-01-02 03:04:05"
NEW_YEAR = datetime.datetime(2020, 1, 2, 3, 4, 5)
JSON_VALUES = [
    ("INT", {"1": 1, '"1"': 1, '" 1 "': 1, "1.5": 1, "null": None}),
    ("BOOLEAN", {"true": True, '"TRUE"': True, '"x"': False, "1": False}),
    ("DOUBLE", {"1": 1.0, '"1.5"': 1.5, "1e2": 100.0}),
    (
        "DECIMAL(5, 2)",
        {"1": Decimal("1.00"), '"1.5"': Decimal("1.50"), "1.005": Decimal("1.01"), "99999": None},
    ),
    (
        "STRING",
        {'"x"': "x", "1.25": "1.25", "true": "true", '{"x": 1}': '{"x":1}', "[1, 2]": "[1,2]"},
    ),
    ("DATE", {'"2020-01-02"': datetime.date(2020, 1, 2)}),
    ("TIME", {'"03:04:05"': datetime.time(3, 4, 5)}),
    (
        "TIMESTAMP(3)",
        {f'"{TEXTS}"': NEW_YEAR, f'"{TEXTS}.678901"': NEW_YEAR.replace(microsecond=678000)},
    ),
    ("TIMESTAMP_LTZ(3)", {f'"{TEXTS}Z"': NEW_YEAR}),
    ("BYTES", {'"aGVsbG8="': b"hello"}),
    ("ROW<x INT, y STRING>", {'{"x": "1"}': Row(1, None), "null": None}),
    ("ARRAY<INT>", {'[1, "2", null]': [1, 2, None], "[]": []}),
    ("MAP<STRING, ARRAY<INT>>", {'{"k": [1], "l": null}': {"k": [1], "l": None}}),
]


def test_values_of_json(batch, tmp_path):
    """All at once: a column per type, a line per place in its list of cases."""
    columns = ", ".join(f"c{place} {name}" for place, (name, _) in enumerate(JSON_VALUES))
    lines, expected = [], []
    for turn in range(max(len(cases) for _, cases in JSON_VALUES)):
        texts, row = [], []
        for place, (_, cases) in enumerate(JSON_VALUES):
            text, value = [*cases.items(), ("null", None)][min(turn, len(cases))]
            texts.append(f'"c{place}": {text}')
            row.append(value)
        lines.append("{" + ", ".join(texts) + "}")
        expected.append(row)
    created(batch, tmp_path, columns, "json", "\n".join(lines))
    found = read(batch)
    for row in found:
        row[8] = row[8] and row[8].replace(tzinfo=None)
        row[9] = row[9] and bytes(row[9])
    assert found == expected


WRONG = [
    ("json", "a INT", '{"a": "x"}', "column 'a' of type INT cannot be read from JSON.*: x"),
    ("json", "a TINYINT", '{"a": 300}', "column 'a' of type TINYINT.*300"),
    ("json", "a DATE", '{"a": "2020-1-2"}', "column 'a' of type DATE"),
    ("json", "a TIMESTAMP(3)", '{"a": "2020-01-02T03:04:05"}', "column 'a' of type TIMESTAMP"),
    ("json", "a ROW<b INT>", '{"a": {"b": "x"}}', "column 'a.b' of type INT"),
    ("json", "a ARRAY<INT>", '{"a": ["x"]}', "column 'a' of type INT"),
    ("json", "a ROW<b INT>", '{"a": [1]}', "not a JSON object with the table's columns"),
    ("json", "a DECIMAL(9, 2)", '{"a": "1,5"}', "not a JSON object with the table's columns"),
    ("json", "a INT", "nonsense", "not a JSON object.*nonsense"),
    ("json", "a INT", "[1]", "not a JSON object"),
    ("csv", "a INT, b STRING", "x,y", "column 'a' of type INT cannot be read from CSV.*: x"),
    ("csv", "a INT, b STRING", "1", "expected a CSV line of 2 columns: 1"),
    ("csv", "a INT, b STRING", "1,2,3", "expected a CSV line of 2 columns"),
    ("raw", "a INT", "abc", "the 4 bytes of a INT"),
]


@pytest.mark.parametrize(
    ("format", "columns", "text", "message"),
    [
        WRONG[0],
        WRONG[7],
        WRONG[10],
        *(pytest.param(*each, marks=pytest.mark.complete) for each in WRONG),
    ],
)
def test_a_wrong_text_is_an_error_with_table_and_column(
    batch, tmp_path, format, columns, text, message
):
    created(batch, tmp_path, columns, format, text)
    with pytest.raises(Exception, match=f"(?s)default_database.t.*{message}"):
        read(batch)


@pytest.mark.parametrize("lenient", ["true", "false"])
@pytest.mark.parametrize("format", ["json", "csv"])
def test_a_text_is_parsed_once(batch, tmp_path, format, lenient):
    option = {f"{format}.ignore-parse-errors": lenient}
    created(batch, tmp_path, "a INT, b STRING, c TIMESTAMP(3)", format, "", **option)
    rows = batch.sql_query("SELECT a, c FROM t WHERE b = 'x'").to_spark()

    plan = rows._jdf.queryExecution().optimizedPlan().toString()

    assert plan.count(f"from_{format}(StructField(a,") == 1


def test_errors_in_json_are_ignored_where_the_table_says_so(batch, tmp_path):
    lines = ['{"a": "x", "r": {"b": 1}}', "nonsense", "[1]", "", '{"a": 2, "r": [1]}', '{"a": 3}']
    columns = "a INT, r ROW<b INT>"
    ignore = {"json.ignore-parse-errors": "true"}
    created(batch, tmp_path, columns, "json", "\n".join(lines), **ignore)
    assert read(batch) == [[None, Row(1)], [2, None], [3, None]]


def test_decimals_with_commas_in_json_are_errors(batch, tmp_path):
    lines = [
        '{"a": "1,5", "b": 1, "r": [{"c": 2.5}]}',
        '{"a": "1.5", "b": 2, "r": [{"c": "2,5"}, {"c": "-2.5"}]}',
        '{"a": "10.5", "s": "1,5", "r": [{"c": 12345678901234567890.25}]}',
        '{"a": "1e1", "s": "a, b"}',
    ]
    columns = "a DECIMAL(9, 2), b INT, s STRING, r ARRAY<ROW<c DECIMAL(30, 2)>>"
    ignore = {"json.ignore-parse-errors": "true"}
    created(batch, tmp_path, columns, "json", "\n".join(lines), **ignore)
    assert read(batch) == [
        [None, 1, None, [Row(Decimal("2.50"))]],
        [Decimal("1.50"), 2, None, [Row(None), Row(Decimal("-2.50"))]],
        [Decimal("10.50"), None, "1,5", [Row(Decimal("12345678901234567890.25"))]],
        [Decimal("10.00"), None, "a, b", None],
    ]


def test_a_missing_field_of_json_is_null_or_an_error(batch, tmp_path):
    lines = '{"a": 1, "r": {"b": null}, "l": [{"c": 1}]}'
    columns = "a INT, r ROW<b INT>, l ARRAY<ROW<c INT>>"
    fail = {"json.fail-on-missing-field": "true"}
    created(batch, tmp_path, columns, "json", lines, **fail)
    assert read(batch) == [[1, Row(None), [Row(1)]]]
    (tmp_path / "files" / "part").write_text('{"a": 1, "r": {}, "l": []}\n')
    with pytest.raises(Exception, match=r"there is no field r\.b: "):
        read(batch)


def test_times_of_json_in_iso_form(batch, tmp_path):
    iso = {"json.timestamp-format.standard": "ISO-8601"}
    created(batch, tmp_path, "a TIMESTAMP(3), b TIMESTAMP_LTZ(3)", "json", **iso)
    times = "TIMESTAMP '2020-01-02 03:04:05.120', TIMESTAMP '2020-01-02 03:04:05'"
    batch.execute_sql(f"INSERT INTO t VALUES ({times})").wait()
    (line,) = lines_of(tmp_path)
    assert json.loads(line) == {"a": "2020-01-02T03:04:05.12", "b": "2020-01-02T03:04:05Z"}
    assert read(batch)[0][0] == NEW_YEAR.replace(microsecond=120000)


def lines_of(tmp_path):
    files = sorted((tmp_path / "files").glob("part-*"))
    return [line for file in files for line in file.read_text().splitlines()]


def test_csv_with_arrays_rows_and_errors_ignored(batch, tmp_path):
    ignore = {"csv.ignore-parse-errors": "true", "csv.array-element-delimiter": "|"}
    lines = ["1,1|2,3|x", "y,,", "2", "3,,,too long"]
    created(
        batch,
        tmp_path,
        "a INT, l ARRAY<INT>, r ROW<x INT, y STRING>",
        "csv",
        "\n".join(lines),
        **ignore,
    )
    assert read(batch) == [[1, [1, 2], Row(3, "x")], [None, [], None], [2, None, None]]


LENIENT = {"csv.ignore-parse-errors": "true"}
LITERAL = {"csv.null-literal": "n/a"}


# As Flink 2.3 reads them; an error is a string.
@pytest.mark.parametrize(
    ("columns", "text", "options", "expected"),
    [
        ("a INT, s STRING, b INT", '1,,2\n3,"",4', {}, [[1, "", 2], [3, "", 4]]),
        ("a INT, s STRING", ",x", {}, "column 'a' of type INT cannot be read from CSV"),
        (
            "a INT, s STRING, b INT",
            ",x,2\n1,x\n1\n1,x,2,3\n,,",
            LENIENT,
            [[None, "x", 2], [1, "x", None], [1, None, None], [None, "", None]],
        ),
        ("a STRING, b STRING", '"ab,2\n1,"x\n"ab""\nok,ok', LENIENT, [["ok", "ok"]]),
        (
            "a INT, s STRING",
            '1,n/a\n2,"n/a"\nn/a,',
            LITERAL,
            [[1, None], [2, None], [None, ""]],
        ),
        (
            "a INT, l ARRAY<STRING>",
            "1,x;n/a\n2,n/a\n3,",
            LITERAL,
            [[1, ["x", None]], [2, None], [3, []]],
        ),
        ("a INT, r ROW<x INT, y INT>", "1,\n2,3;4;5", {}, [[1, None], [2, Row(3, 4)]]),
        (
            "a INT, r ROW<x INT, y INT>",
            "1,1",
            {},
            "column 'r' has 2 fields, and its value fewer: 1",
        ),
        (
            "a DATE, b TIME, c TIMESTAMP(3)",
            "2020-1-2,10:30, 2020-01-02 03:04:05 ",
            {},
            [[datetime.date(2020, 1, 2), datetime.time(10, 30), NEW_YEAR]],
        ),
        ("a BOOLEAN, b STRING", ",x\nTRUE,y", {}, [[False, "x"], [True, "y"]]),
    ],
)
def test_csv_is_read_as_flink_reads_it(batch, tmp_path, columns, text, options, expected):
    created(batch, tmp_path, columns, "csv", text, **options)
    if isinstance(expected, str):
        with pytest.raises(Exception, match=re.escape(expected)):
            read(batch)
    else:
        assert read(batch) == expected


@pytest.mark.parametrize(
    ("columns", "values", "options", "line"),
    [
        ("l ARRAY<STRING>", "ARRAY['x', CAST(NULL AS STRING)]", LITERAL, "x;n/a"),
        ("l ARRAY<STRING>", "ARRAY['x', CAST(NULL AS STRING)]", {}, "x;"),
        ("r ROW<x INT, y STRING>", "ROW(CAST(NULL AS INT), 'y')", LITERAL, "n/a;y"),
        ("a STRING, b STRING", "'a,b', 'c\"d'", {"csv.disable-quote-character": "true"}, 'a,b,c"d'),
    ],
)
def test_csv_is_written_as_flink_writes_it(batch, tmp_path, columns, values, options, line):
    created(batch, tmp_path, columns, "csv", **options)
    batch.execute_sql(f"INSERT INTO t SELECT {values}").wait()
    assert lines_of(tmp_path) == [line]


def test_json_may_have_control_characters_in_strings(batch, tmp_path):
    created(
        batch, tmp_path, "a STRING, r ROW<b STRING>", "json", '{"a": "x\ty", "r": {"b": "\tz"}}'
    )
    assert read(batch) == [["x\ty", Row("\tz")]]


def test_decimals_that_would_have_exponents_are_refused(batch, tmp_path):
    plain = {"json.encode.decimal-as-plain-number": "true"}
    created(batch, tmp_path, "a DECIMAL(20, 6), l ARRAY<DECIMAL(20, 7)>", "json", **plain)
    with pytest.raises(TableException, match=r"not supported for DECIMAL\(20, 7\)"):
        batch.execute_sql("INSERT INTO t SELECT 1.5, ARRAY[1.5]").wait()


def test_changes_with_a_schema_are_not_written(batch, tmp_path):
    include = {"debezium-json.schema-include": "true"}
    created(batch, tmp_path, "a INT", "debezium-json", **include)
    with pytest.raises(TableException, match=r"schema-include' is not supported when a table is"):
        batch.execute_sql("INSERT INTO t SELECT 1").wait()


def test_nested_times_of_avro_have_no_zone(batch, tmp_path):
    batch.get_config().set_local_timezone("Asia/Shanghai")
    created(batch, tmp_path, "r ROW<a TIMESTAMP(3)>, l ARRAY<TIMESTAMP(3)>, t TIMESTAMP(3)", "avro")
    moment = "TIMESTAMP '2020-01-02 03:04:05'"
    batch.execute_sql(f"INSERT INTO t SELECT ROW({moment}), ARRAY[{moment}], {moment}").wait()
    assert read(batch) == [[Row(NEW_YEAR), [NEW_YEAR], NEW_YEAR]]
    batch.get_config().set_local_timezone("America/New_York")
    assert read(batch) == [[Row(NEW_YEAR), [NEW_YEAR], NEW_YEAR]]


@pytest.mark.parametrize("format", ["json", "csv", "avro", "parquet"])
def test_values_are_read_as_they_were_written(batch, tmp_path, format):
    columns = (
        "a BOOLEAN, b TINYINT, c BIGINT, d DOUBLE, e DECIMAL(20, 3), f STRING, g BYTES, h DATE, "
        "i TIMESTAMP(3), l ARRAY<INT>, r ROW<x INT, y STRING>"
    )
    created(batch, tmp_path, columns, format)
    values = (
        "TRUE, CAST(-3 AS TINYINT), 12345678901234567, 0.1E0, 12345678901234567.125, 'a \"b\", c', "
        "X'00ff', DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:05.100', ARRAY[1, 2], ROW(1, 'z')"
    )
    batch.execute_sql(f"INSERT INTO t VALUES ({values})").wait()
    (row,) = read(batch)
    assert row == [
        True,
        -3,
        12345678901234567,
        0.1,
        Decimal("12345678901234567.125"),
        'a "b", c',
        b"\x00\xff",
        datetime.date(2020, 1, 2),
        NEW_YEAR.replace(microsecond=100000),
        [1, 2],
        Row(1, "z"),
    ]


CHANGES = {
    "debezium-json": [
        {"before": None, "after": {"a": 1, "b": "x"}, "op": "c"},
        {"before": {"a": 1, "b": "x"}, "after": {"a": 1, "b": "y"}, "op": "u"},
        {"before": {"a": 1, "b": "y"}, "after": None, "op": "d"},
        {"before": None, "after": {"a": 2, "b": None}, "op": "r"},
    ],
    "canal-json": [
        {"data": [{"a": 1, "b": "x"}], "type": "INSERT"},
        {"data": [{"a": 1, "b": "y"}], "old": [{"b": "x"}], "type": "UPDATE"},
        {"data": [{"a": 1, "b": "y"}], "type": "DELETE"},
        {"data": None, "type": "CREATE"},
        {"data": [{"a": 2, "b": None}], "type": "INSERT"},
    ],
}


@pytest.mark.parametrize("format", sorted(CHANGES))
def test_changes_are_read_from_formats_of_changes(streaming, tmp_path, format):
    lines = "\n".join(json.dumps(line) for line in CHANGES[format])
    created(streaming, tmp_path, "a INT, b STRING", format, lines)
    with streaming.execute_sql("SELECT * FROM t").collect() as rows:
        found = [(str(row.get_row_kind()), *row) for row in rows]
    assert found == [
        ("+I", 1, "x"),
        ("-U", 1, "x"),
        ("+U", 1, "y"),
        ("-D", 1, "y"),
        ("+I", 2, None),
    ]
    with streaming.execute_sql("SELECT SUM(a) AS s FROM t").collect() as rows:
        assert [*list(rows)[-1]] == [2]


@pytest.mark.parametrize(
    ("format", "line", "message"),
    [
        ("debezium-json", {"after": {"a": 1}, "op": "u"}, "REPLICA IDENTITY"),
        pytest.param(
            *("debezium-json", {"after": {"a": 1}, "op": "q"}, "no change of Debezium"),
            marks=pytest.mark.complete,
        ),
        ("canal-json", {"data": [{"a": 1}], "type": "WHAT"}, "no change of Canal"),
    ],
)
def test_changes_that_cannot_be_understood(streaming, tmp_path, format, line, message):
    created(streaming, tmp_path, "a INT", format, json.dumps(line))
    with pytest.raises(Exception, match=message):
        read(streaming)
    streaming.execute_sql("DROP TABLE t")
    (tmp_path / "files" / "part").rename(tmp_path / "part")
    (tmp_path / "files").rmdir()
    ignore = {f"{format}.ignore-parse-errors": "true"}
    created(streaming, tmp_path, "a INT", format, json.dumps(line), **ignore)
    assert read(streaming) == []


def test_changes_are_refused_in_batch_mode(batch, tmp_path):
    created(batch, tmp_path, "a INT", "canal-json", "{}")
    with pytest.raises(TableException, match="only possible for INSERT-only table sources"):
        read(batch)


@pytest.mark.parametrize(
    ("columns", "format", "options", "message"),
    [
        ("a INT, b INT", "raw", {}, "the format 'raw' has one column, not a, b"),
        ("a MAP<INT, INT>", "json", {}, "column 'a'.*keys in JSON are strings"),
        ("a TIME", "avro", {}, "column 'a' has the type TIME"),
        ("a TIMESTAMP_LTZ(3)", "avro", {}, "avro.timestamp_mapping.legacy"),
        ("a INT", "csv", {"csv.field-delimiter": "ab"}, "'csv.field-delimiter' is 'ab'"),
        (
            "a INT",
            "json",
            {"json.fail-on-missing-field": "true", "json.ignore-parse-errors": "true"},
            "shouldn't both be true",
        ),
        ("a INT", "json", {"json.timestamp-format.standard": "x"}, "expected SQL or ISO-8601"),
    ],
)
def test_what_a_format_does_not_have(batch, tmp_path, columns, format, options, message):
    created(batch, tmp_path, columns, format, "x", **options)
    with pytest.raises(TableException, match=f"(?s)database.t.*{message}"):
        read(batch)
