"""Functions and forms that only SQL has give what Flink's own functions give."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from pyflow.util.exceptions import TableException

LONGEST = 10**38 - 1


def _rows(t_env, query):
    with t_env.sql_query(query).execute().collect() as rows:
        return [list(row) for row in rows]


def _first(t_env, *expressions):
    return _rows(t_env, f"SELECT {', '.join(expressions)} FROM (VALUES (1)) AS t (id)")[0]


@pytest.fixture
def numbers(batch):
    batch.execute_sql(
        f"""
        CREATE TEMPORARY VIEW numbers AS SELECT
            id, CAST(w AS DECIMAL(38, 0)) AS w, CAST(p AS DECIMAL(5, 2)) AS p, b
        FROM (VALUES
            (1, '{LONGEST}', '1.50', 9223372036854775807), (2, '{LONGEST - 1}', '2.25', 1),
            (3, '1', '0.00', 1), (4, CAST(NULL AS STRING), '-1.00', CAST(NULL AS BIGINT))
        ) AS t (id, w, p, b)"""
    )
    return batch


def test_a_text_is_found_from_a_place_on(batch):
    found = _first(
        batch,
        "POSITION('an' IN 'banana' FROM 3)",
        "POSITION('an' IN 'banana' FROM 0)",
        "INSTR('banana', 'an', 3)",
        "INSTR('banana', 'an', 0)",
        "INSTR('banana', 'an', 1, 2)",
        "INSTR('banana', 'an', -1)",
        "INSTR('banana', 'an', -1, 2)",
        "INSTR('aaaa', 'aa', 1, 2)",
        "INSTR('banana', '', -1)",
        "INSTR('añb😀ñ', 'ñ', -1)",
    )

    assert found == [4, 2, 4, 0, 4, 4, 2, 2, 7, 5]


def test_what_is_escaped_in_a_pattern_stands_for_itself(batch):
    found = _first(
        batch,
        *(
            f"'{text}' SIMILAR TO '{pattern}' ESCAPE '#'"
            for text, pattern in (
                ("a%b", "a#%b"),
                ("axb", "a#%b"),
                ("a_b", "a#_b"),
                ("a(b", "a#(b"),
                ("a#b", "a##b"),
                ("-", "[a#-c]"),
                ("b", "[a#-c]"),
                ("abab", "(ab)+"),
            )
        ),
    )

    assert found == [True, False, True, True, True, True, False, True]
    with pytest.raises(TableException, match="'#' escapes nothing"):
        _first(batch, "'ab' SIMILAR TO 'a#b' ESCAPE '#'")


def test_texts_are_told_from_numbers(batch):
    texts = ["", "ä", "a b", "٣", "1.5", " 1.5 ", "-1e5", "0x1p3", "NaN", "-", "😀", "1d"]
    found = {
        name: _first(
            batch, *(f"{name}('{text}')" for text in texts), f"{name}(5)", f"{name}(1.5e0)"
        )
        for name in ("IS_ALPHA", "IS_DIGIT", "IS_DECIMAL")
    }

    assert [text for text, is_one in zip(texts, found["IS_ALPHA"]) if is_one] == ["ä", "NaN"]
    assert [text for text, is_one in zip(texts, found["IS_DIGIT"]) if is_one] == ["٣"]
    assert [text for text, is_one in zip(texts, found["IS_DECIMAL"]) if not is_one] == [
        "",
        "ä",
        "a b",
        "-",
        "😀",
    ]
    assert [found[name][-2:] for name in found] == [[False, False], [True, False], [True, True]]


def test_texts_are_compared_as_values_of_the_other_type(batch):
    found = _first(
        batch,
        "id < '2'",
        "10 > '9'",
        "1.5 <= '1.50'",
        "id BETWEEN '0' AND '2'",
        "id IN ('1', '2')",
        "DATE '2020-02-09' = '2020-2-9'",
        "TIMESTAMP '2020-02-09 01:00:00' < '2020-02-09 10:00:00'",
        "CAST(0.5 AS BOOLEAN)",
        "CAST(0e0 AS BOOLEAN)",
        "TRUE IN ('true', 'false')",
        "DATE '2020-02-09' = CONCAT('x', '')",
        "DATE '2020-02-09' IN ('2020-02-09', CAST(NULL AS STRING))",
        "CAST(NULL AS DATE) IS DISTINCT FROM CONCAT('x', '')",
        "CAST(NULL AS DATE) IS DISTINCT FROM CAST(NULL AS STRING)",
        "ARRAY[CAST('0.1' AS DECIMAL(3, 1))] = ARRAY[CAST('0.1' AS FLOAT)]",
        "ARRAY[DATE '2020-02-09'] = ARRAY[TIMESTAMP '2020-02-09 01:00:00']",
        "ARRAY[1] = NULL",
        "ARRAY[1] IS DISTINCT FROM NULL",
        "ROW(1, 2) IN (ROW(1, 3), NULL)",
    )

    assert found[:13] == [True] * 8 + [False, True, None, True, True]
    assert found[13:] == [False, False, False, None, True, None]
    with pytest.raises(TableException, match="the arguments cannot be compared"):
        _first(batch, "'1' BETWEEN 0 AND DATE '2020-02-09'")
    with pytest.raises(Exception, match="'x'"):
        _rows(
            batch,
            "SELECT d IN (SELECT s FROM (VALUES ('x'), ('y')) AS w (s)) "
            "FROM (VALUES (DATE '2020-02-09')) AS v (d)",
        )
    with pytest.raises(Exception, match="'x'"):
        _first(batch, "DATE '2020-02-09' = 'x'")
    with pytest.raises(Exception, match="cannot cast 'x'"):
        _first(batch, "id < CONCAT('x', '')")
    with pytest.raises(TableException, match="the arguments cannot be compared"):
        _first(batch, "id = '1'")


@pytest.mark.parametrize("form", ["ARRAY[{}]", "ROW(1, {})", "MAP['k', {}]", "ARRAY[ROW({})]"])
def test_timestamps_inside_are_not_cut_to_dates(batch, form):
    stamp = form.format("TIMESTAMP '2020-02-09 01:00:00'")
    date = form.format("DATE '2020-02-09'")
    for query in (
        f"SELECT {stamp} UNION ALL SELECT {date}",
        f"SELECT * FROM (VALUES ({date}), ({stamp})) AS t (a)",
        f"SELECT CASE WHEN RAND() < 2 THEN {stamp} ELSE {date} END",
    ):
        with pytest.raises(TableException, match=r"common type|Type mismatch"):
            batch.sql_query(query)


def test_sums_wrap_around_or_are_null(numbers):
    columns = (
        "SUM(w)",
        "AVG(w)",
        "SUM(DISTINCT w)",
        "AVG(DISTINCT w)",
        "SUM(b)",
        "SUM(DISTINCT b)",
    )
    whole = [None, None, None, None, -(1 << 63) + 1, -(1 << 63)]

    assert _rows(numbers, f"SELECT {', '.join(columns)} FROM numbers") == [whole]
    over = ", ".join(f"{column} OVER ()" for column in ("SUM(w)", "AVG(w)", "SUM(b)"))
    assert _rows(numbers, f"SELECT {over} FROM numbers") == [[None, None, whole[4]]] * 4
    assert _rows(numbers, "SELECT SUM(DISTINCT w), AVG(b) FROM numbers WHERE id > 1") == [
        [Decimal(LONGEST), 1]
    ]


def test_distinct_values_of_the_rows_around_a_row(environment, tmp_path):
    (tmp_path / "rows.csv").write_text(
        f"1,2024-01-01 00:00:01,{LONGEST},2.25\n2,2024-01-01 00:00:02,{LONGEST},2.25\n"
        "3,2024-01-01 00:00:03,1,0.00\n"
    )
    query = """
        SELECT id, COUNT(DISTINCT p) OVER w, SUM(DISTINCT n) OVER w, AVG(DISTINCT p) OVER w,
               SUM(DISTINCT CAST(p AS DOUBLE)) OVER w, SUM(DISTINCT CAST(id AS BIGINT)) OVER w
        FROM rows_in_order WINDOW w AS (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"""
    for mode in ("streaming", "batch"):
        t_env = environment(mode)
        t_env.execute_sql(
            "CREATE TABLE rows_in_order (id INT, ts TIMESTAMP(3), n DECIMAL(38, 0), "
            f"p DECIMAL(5, 2), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = "
            f"'{tmp_path}/rows.csv', 'format' = 'csv')"
        )
        if mode == "streaming":
            found = _rows(t_env, query)
    with pytest.raises(TableException, match="DISTINCT with OVER is for streaming mode"):
        t_env.sql_query(query)

    longest = Decimal(LONGEST)
    assert found == [
        [1, 1, longest, Decimal("2.250000"), 2.25, 1],
        [2, 1, longest, Decimal("2.250000"), 2.25, 3],
        [3, 2, None, Decimal("1.125000"), 2.25, 5],
    ]


def test_equal_grouping_sets_are_told_apart(numbers):
    query = """
        SELECT MOD(id, 2), GROUP_ID(), COUNT(*) FROM numbers
        GROUP BY GROUPING SETS ((MOD(id, 2)), (), (MOD(id, 2)))"""

    assert sorted(_rows(numbers, query), key=str) == [
        [0, 0, 2],
        [0, 1, 2],
        [1, 0, 2],
        [1, 1, 2],
        [None, 0, 4],
    ]
    assert _rows(numbers, "SELECT GROUP_ID() FROM numbers GROUP BY w IS NULL") == [[0], [0]]
    with pytest.raises(TableException, match="GROUPING takes keys"):
        numbers.sql_query("SELECT GROUPING() FROM numbers GROUP BY id")


def test_a_year_of_a_pattern_has_either_letter(batch):
    found = _first(
        batch,
        "DATE_FORMAT(TIMESTAMP '2020-01-31 00:00:00', 'uuuu-MM')",
        "DATE_FORMAT(CAST(TIMESTAMP '2020-01-31 00:00:00' AS TIMESTAMP_LTZ(3)), 'uu''u''')",
        "TO_TIMESTAMP('31.1.2020', 'd.M.uuuu')",
        "TO_TIMESTAMP('Jan 5, 2020', 'MMM d, uuuu')",
    )

    assert found == ["2020-01", "20u", dt.datetime(2020, 1, 31), dt.datetime(2020, 1, 5)]


def test_what_is_added_to_a_time_shows(batch):
    query = """
        SELECT TIMESTAMPADD(HOUR, 25, d), TIMESTAMPADD(MILLISECOND, 15, t), TIMESTAMPADD(DAY, 1, d),
               d + INTERVAL '25' HOUR, t + CAST(id AS INTERVAL DAY),
               CAST(t AS TIMESTAMP(3)) + INTERVAL '1.9999' SECOND,
               CAST(CAST(2 AS INTERVAL YEAR) AS STRING), EXTRACT(EPOCH FROM t)
        FROM (VALUES (5, DATE '2020-1-31', TIMESTAMP '2020-01-31')) AS v (id, d, t)"""
    types = batch.sql_query(query).get_resolved_schema().get_column_data_types()

    assert [each.nullable().sql for each in types[:3]] == ["TIMESTAMP(6)", "TIMESTAMP(3)", "DATE"]
    day = dt.date(2020, 2, 1)
    assert _rows(batch, query) == [
        [
            dt.datetime(2020, 2, 1, 1),
            dt.datetime(2020, 1, 31, 0, 0, 0, 15000),
            day,
            day,
            dt.datetime(2020, 2, 5),
            dt.datetime(2020, 1, 31, 0, 0, 1, 999000),
            "+2-00",
            1580428800,
        ]
    ]
    for wrong in ("INTERVAL '1 24:00:00' DAY TO SECOND", "DATE '2020-W09-6'"):
        with pytest.raises(TableException, match="is no"):
            batch.sql_query(f"SELECT {wrong}")


def test_a_range_has_distances_with_a_point(numbers):
    query = """
        SELECT id, COUNT(*) OVER (ORDER BY p RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW),
               COUNT(*) OVER (ORDER BY p DESC RANGE BETWEEN 0.75 PRECEDING AND 0.5 FOLLOWING),
               COUNT(*) OVER (ORDER BY CAST(p AS DOUBLE)
                   RANGE BETWEEN 0.5 PRECEDING AND 1.5 FOLLOWING)
        FROM numbers"""

    assert sorted(_rows(numbers, query)) == [[1, 2, 2, 2], [2, 2, 1, 1], [3, 2, 1, 2], [4, 1, 1, 2]]


def test_the_fields_of_a_row_are_columns(t_env):
    t_env.execute_sql(
        """
        CREATE TEMPORARY VIEW nested_rows AS
        SELECT id, CAST(ROW(id, ROW('x', id)) AS ROW<a INT, r ROW<b STRING, c INT>>) AS c
        FROM (VALUES (7)) AS t (id)"""
    )
    table = t_env.sql_query("SELECT c.r.*, n.c.* FROM nested_rows AS n")

    assert table.get_schema().get_field_names() == ["b", "c", "a", "r"]
    assert _rows(t_env, "SELECT id, c.r.* FROM nested_rows") == [[7, "x", 7]]
    for wrong, message in (("q.*", "no table is called 'q' here"), ("id.*", "'.\\*' takes a row")):
        with pytest.raises(TableException, match=message):
            t_env.sql_query(f"SELECT {wrong} FROM nested_rows")


def test_maps_are_keys_of_groups(t_env):
    t_env.execute_sql(
        """
        CREATE TEMPORARY VIEW maps AS SELECT id, MAP['k', MOD(id, 2), 'a', 0] AS m
        FROM (VALUES (1), (2), (3)) AS t (id)"""
    )
    with t_env.sql_query("SELECT m, SUM(id) FROM maps GROUP BY m").execute().collect() as rows:
        last = {row[0]["k"]: (row[0], row[1]) for row in rows}

    assert last == {1: ({"k": 1, "a": 0}, 4), 0: ({"k": 0, "a": 0}, 2)}
    assert len(_rows(t_env, "SELECT DISTINCT m FROM maps")) == 2


def test_values_are_counted_approximately_in_batch_mode(t_env, mode):
    query = "SELECT APPROX_COUNT_DISTINCT(id) FROM (VALUES (1), (2), (2)) AS t (id)"
    if mode == "batch":
        assert _rows(t_env, query) == [[2]]
        return
    with pytest.raises(TableException, match="it is for batch mode"):
        _rows(t_env, query)


def test_rows_between_windows_are_in_none(t_env, tmp_path):
    (tmp_path / "rows.csv").write_text("1,2024-01-01 00:00:01\n2,2024-01-01 00:00:07\n")
    t_env.execute_sql(
        "CREATE TABLE rows_of_time (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
        f"('connector' = 'filesystem', 'path' = '{tmp_path}/rows.csv', 'format' = 'csv')"
    )
    hop = "INTERVAL '10' SECOND, INTERVAL '4' SECOND"
    of_function = _rows(
        t_env,
        "SELECT CAST(window_start AS STRING), CAST(window_end AS STRING), COUNT(*) FROM "
        f"TABLE(HOP(TABLE rows_of_time, DESCRIPTOR(ts), {hop})) GROUP BY window_start, window_end",
    )
    of_groups = _rows(
        t_env,
        f"SELECT CAST(HOP_START(ts, {hop}) AS STRING), CAST(HOP_END(ts, {hop}) AS STRING), "
        f"COUNT(*) FROM rows_of_time GROUP BY HOP(ts, {hop})",
    )

    assert of_function == of_groups
    assert of_function == [["2024-01-01 00:00:00.000", "2024-01-01 00:00:04.000", 1]]
