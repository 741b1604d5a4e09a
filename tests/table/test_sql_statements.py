"""Statements of SQL that are no queries, and what queries that are wrong are told."""

from __future__ import annotations

import re

import pytest

from pyflow.table import DataTypes
from pyflow.table.expressions import call_sql
from pyflow.table.udf import udf, udtf
from pyflow.util.exceptions import TableException

ORDERS = """
CREATE TEMPORARY VIEW orders AS
SELECT * FROM (VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'ann', 5)) AS t (id, customer, amount)
"""


def rows(t_env, statement):
    with t_env.execute_sql(statement).collect() as found:
        return [tuple(row) for row in found]


@udf(result_type=DataTypes.INT())
def plus_ten(x):
    return x + 10


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def letters(text):
    for place, letter in enumerate(text):
        yield letter, place


@pytest.fixture
def orders(batch):
    batch.execute_sql(ORDERS)
    return batch


def test_rows_of_a_statement_set_reach_their_files(orders, tmp_path):
    for name in ("cheap", "dear"):
        orders.execute_sql(
            f"CREATE TABLE {name} (id INT, customer STRING) WITH ("
            f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'csv')"
        )
    orders.execute_sql("""
        EXECUTE STATEMENT SET BEGIN
            INSERT INTO cheap SELECT id, customer FROM orders WHERE amount <= 10;
            INSERT INTO dear (customer, id) SELECT customer, id FROM orders WHERE amount > 10;
        END
    """).wait()
    assert sorted(rows(orders, "SELECT * FROM cheap")) == [(1, "ann"), (3, "ann")]
    assert rows(orders, "SELECT * FROM dear") == [(2, "bob")]
    orders.execute_sql("INSERT OVERWRITE dear (id) VALUES (7), (8)").wait()
    # Without a literal for it, null is an empty string in CSV.
    assert sorted(rows(orders, "SELECT * FROM dear")) == [(7, ""), (8, "")]


def test_table_is_created_as_another(batch, tmp_path):
    batch.execute_sql(
        f"CREATE TABLE base (a INT COMMENT 'the first', b AS a + 1, ts TIMESTAMP(3), "
        f"WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (a) NOT ENFORCED) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    batch.execute_sql("CREATE TABLE other (c STRING) LIKE base (EXCLUDING WATERMARKS)")
    described = rows(batch, "DESCRIBE other")
    assert [row[:2] for row in described] == [
        ("a", "INT"),
        ("b", "INT"),
        ("ts", "TIMESTAMP(3)"),
        ("c", "STRING"),
    ]
    assert described[0][3] == "PRI(a)"
    assert [row[5] for row in rows(batch, "SHOW COLUMNS FROM base LIKE 't%'")] == [
        "`ts` - INTERVAL '5' SECOND"
    ]
    [(text,)] = rows(batch, "SHOW CREATE TABLE base")
    assert "`b` AS `a` + 1" in text
    assert "'connector' = 'filesystem'" in text


def test_table_of_a_query(orders, tmp_path):
    orders.execute_sql(
        f"CREATE TABLE big WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', "
        "'format' = 'parquet') AS SELECT id, amount * 2 AS twice FROM orders WHERE amount > 5"
    ).wait()
    assert sorted(rows(orders, "SELECT twice FROM big")) == [(20,), (40,)]


@pytest.mark.parametrize(
    ("columns", "schema", "written"),
    [
        # As in Flink: columns of the table alone come first, the query's have the declared type.
        (
            "(note STRING, amount DOUBLE, twice AS amount * 2)",
            [
                "note STRING True",
                "twice DOUBLE True",
                "id INT False",
                "customer CHAR(3) False",
                "amount DOUBLE True",
            ],
            [",1,ann,10.0", ",2,bob,20.0", ",3,ann,5.0"],
        ),
        (
            "(amount, id, customer)",
            ["amount INT False", "id INT False", "customer CHAR(3) False"],
            ["10,1,ann", "20,2,bob", "5,3,ann"],
        ),
        (
            "(PRIMARY KEY (id) NOT ENFORCED)",
            ["id INT False", "customer CHAR(3) False", "amount INT False"],
            ["1,ann,10", "2,bob,20", "3,ann,5"],
        ),
    ],
)
def test_table_of_a_query_with_columns_of_its_own(orders, tmp_path, columns, schema, written):
    orders.execute_sql(
        f"CREATE TABLE made {columns} WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path / 'made'}', 'format' = 'csv') AS SELECT * FROM orders"
    ).wait()
    described = [" ".join(map(str, row[:3])) for row in rows(orders, "DESCRIBE made")]
    assert described == schema
    files = (tmp_path / "made").glob("part-*")
    lines = [line for file in files for line in file.read_text().splitlines()]
    assert sorted(filter(None, lines)) == written


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("(id, amount)", r"column 20: The number of columns in the column list must match"),
        ("(id, amount, custom)", r"column 32: Unknown target column 'custom'.*customer"),
        ("(note STRING NOT NULL)", r"column 20: Column 'note' has no default value"),
        ("(customer INT)", r"column 20: Incompatible types for sink column 'customer'.*CHAR\(3\)"),
        ("(id AS 5)", r"column 20: A column named 'id' already exists .*Computed"),
        ("(id INT METADATA VIRTUAL)", r"column 20: A column named 'id' already exists .*Virtual"),
    ],
)
def test_columns_that_a_query_does_not_fit_make_no_table(orders, columns, message):
    with pytest.raises(TableException, match=message):
        orders.execute_sql(
            f"CREATE TABLE made {columns} WITH ('connector' = 'blackhole') AS SELECT * FROM orders"
        )
    assert "made" not in orders.list_tables()


def test_an_insertion_without_a_column_that_is_not_null_is_refused(orders):
    orders.execute_sql(
        "CREATE TABLE made (id INT, note STRING NOT NULL) WITH ('connector' = 'blackhole')"
    )
    with pytest.raises(TableException, match="Column 'note' has no default value and does not"):
        orders.execute_sql("INSERT INTO made (id) SELECT id FROM orders")


def test_functions(orders, tmp_path, monkeypatch):
    (tmp_path / "functions_in_sql.py").write_text(
        "from pyflow.table import DataTypes\n"
        "from pyflow.table.udf import udf\n"
        "twice = udf(lambda x: 2 * x, result_type=DataTypes.INT())\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    create = "CREATE TEMPORARY SYSTEM FUNCTION IF NOT EXISTS twice AS 'functions_in_sql.{}'"
    orders.execute_sql(create.format("twice") + " LANGUAGE PYTHON")
    orders.create_temporary_function("plus_ten", plus_ten)
    orders.create_temporary_function("letters", letters)
    assert rows(orders, "SELECT plus_ten(twice(id)) FROM orders WHERE twice(id) > 4") == [(16,)]
    assert rows(
        orders,
        "SELECT id, l, p FROM orders, LATERAL TABLE(letters(customer)) AS t (l, p) WHERE id = 2",
    ) == [(2, "b", 0), (2, "o", 1), (2, "b", 2)]
    assert ("twice",) in rows(orders, "SHOW USER FUNCTIONS")
    orders.execute_sql("DROP TEMPORARY SYSTEM FUNCTION twice")
    with pytest.raises(TableException, match="column 8: No match found for function 'twice'"):
        orders.sql_query("SELECT twice(id) FROM orders")
    with pytest.raises(
        TableException, match=r"column 32: 'functions_in_sql.no' cannot be imported"
    ):
        orders.execute_sql("CREATE TEMPORARY FUNCTION f AS 'functions_in_sql.no' LANGUAGE PYTHON")


def test_names_and_settings(orders):
    assert rows(orders, "SHOW TABLES") == [("orders",)]
    assert rows(orders, "SHOW VIEWS LIKE 'ord%'") == [("orders",)]
    assert rows(orders, "SHOW VIEWS NOT LIKE 'ord%'") == []
    assert rows(orders, "SHOW CURRENT CATALOG") == [("default_catalog",)]
    assert rows(orders, "SHOW CURRENT DATABASE") == [("default_database",)]
    orders.execute_sql("USE default_catalog.default_database")
    orders.execute_sql("SET 'table.local-time-zone' = 'Asia/Tokyo'")
    assert ("table.local-time-zone", "Asia/Tokyo") in rows(orders, "SET")
    orders.execute_sql("DROP TEMPORARY VIEW orders")
    orders.execute_sql("DROP TEMPORARY VIEW IF EXISTS orders")
    assert rows(orders, "SHOW TABLES") == []


def test_plan_of_a_query(orders):
    [(text,)] = rows(orders, "EXPLAIN SELECT customer FROM orders WHERE amount > 5")
    explained = orders.explain_sql("SELECT customer FROM orders WHERE amount > 5")
    numbers = re.compile(r"#\d+")
    assert numbers.sub("", text) == numbers.sub("", explained)
    assert "==" in text


def test_statement_set_takes_text(streaming, capfd):
    streaming.execute_sql(ORDERS)
    streaming.execute_sql("CREATE TABLE shown (id INT) WITH ('connector' = 'print')")
    statements = streaming.create_statement_set()
    statements.add_insert_sql("INSERT INTO shown SELECT id FROM orders WHERE id < 3")
    statements.execute().wait()
    assert sorted(capfd.readouterr().out.split("\n")) == ["", "+I[1]", "+I[2]"]


def test_expression_of_a_text(orders):
    table = orders.from_path("orders")
    selected = table.select(call_sql("amount * 2 + CHAR_LENGTH(customer)")).execute()
    assert sorted(tuple(row) for row in selected.collect()) == [(13,), (23,), (43,)]


def test_view_keeps_its_names(orders):
    orders.execute_sql("CREATE VIEW named (a, b) AS SELECT id, amount FROM orders")
    assert rows(orders, "SELECT b FROM named WHERE a = 2") == [(20,)]


WRONG = {
    "SELECT amuont FROM orders": (1, 8, "Column 'amuont' not found in any table; did you mean"),
    "SELECT o.id\nFROM orders": (1, 8, "Column 'o.id' not found"),
    "SELECT id FROM orders a, orders b": (1, 8, "Column 'id' is ambiguous"),
    "SELECT id FROM nowhere": (1, 16, "was not found"),
    "SELECT x.* FROM orders": (1, 8, "no table is called 'x'"),
    "SELECT id +\n  nothing(id) FROM orders": (2, 3, "No match found for function 'nothing'"),
    "SELECT customer, amount FROM orders GROUP BY customer": (1, 18, "is not being grouped"),
    "SELECT id FROM orders WHERE amount": (1, 29, "requires a boolean expression"),
    "SELECT CAST(id AS INTT) FROM orders": (1, 19, "INTT"),
    "SELECT DATE '2020-13-01'": (1, 8, "'2020-13-01' is no DATE"),
    "SELECT INTERVAL '1:2' DAY TO SECOND": (1, 8, "is no interval of DAY TO SECOND"),
    "SELECT id FROM orders UNION ALL SELECT id, amount FROM orders": (1, 1, "1 and 2"),
    "SELECT id FROM orders ORDER BY 2": (1, 32, "Ordinal out of range"),
    "SELECT SUM(id) OVER w FROM orders": (1, 21, "Window 'w' not found"),
    "SELECT * FROM orders MATCH_RECOGNIZE (PATTERN (a))": (
        1,
        22,
        "MATCH_RECOGNIZE is not supported",
    ),
    "SELECT * FROM orders FOR SYSTEM_TIME AS OF ts": (1, 22, "FOR SYSTEM_TIME AS OF"),
    "SELECT * FROM orders /*+ OPTIONS('a' = 'b') */": (1, 22, "hints of a table"),
    "SELECT * FROM orders TABLESAMPLE BERNOULLI (10)": (1, 22, "TABLESAMPLE is not supported"),
    "SELECT (SELECT id, amount FROM orders)": (1, 8, "has one column, this one 2"),
    "SELECT id IN (SELECT 1, 2) FROM orders": (1, 8, "IN with 1 values and a query of 2 columns"),
    "SELECT EXISTS (SELECT MAX(x) FROM orders)": (1, 27, "Column 'x' not found"),
    "CREATE MODEL m INPUT (a INT) OUTPUT (b INT)": (1, 1, "CREATE MODEL is not supported"),
    "DELETE FROM orders": (1, 1, "DELETE is not supported"),
    "ANALYZE TABLE orders COMPUTE STATISTICS": (1, 1, "ANALYZE TABLE is not supported"),
    "RESET 'table.local-time-zon'": (1, 1, "Similar names: table.local-time-zone"),
    "REMOVE JAR '/a.jar'": (1, 1, "REMOVE JAR is not supported"),
    "TRUNCATE TABLE orders": (1, 1, "TRUNCATE TABLE is not supported"),
    "CREATE FUNCTION f AS 'a.B' LANGUAGE JAVA": (1, 22, "The class a.B is no function here"),
    "INSERT INTO nowhere SELECT 1": (1, 13, "was not found"),
    "DROP VIEW nothing": (1, 1, "does not exist"),
}


@pytest.mark.parametrize("text", WRONG)
def test_errors_have_line_and_column(orders, text):
    line, column, reason = WRONG[text]
    with pytest.raises(TableException) as raised:
        orders.execute_sql(text)
    first = str(raised.value).split("\n")[0]
    assert first.startswith(f"SQL statement, line {line}, column {column}: ")
    assert reason in first


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount) FROM orders",
            "ROW_NUMBER in streaming mode is supported where the outer query limits it",
        ),
        (
            "SELECT SUM(amount) OVER (ORDER BY id) FROM orders",
            "ordering in stream mode must be defined on a time attribute",
        ),
        (
            "SELECT id FROM orders ORDER BY id",
            "Sort on a non-time-attribute field is not supported in streaming mode",
        ),
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(id), INTERVAL '1' DAY))",
            "requires the timecol is a time attribute type, but is INT NOT NULL",
        ),
    ],
)
def test_refused_in_streaming_mode(streaming, text, message):
    streaming.execute_sql(ORDERS)
    with pytest.raises(TableException, match=message):
        streaming.execute_sql(text).collect()


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ("a INT, a STRING", "A column named 'a' already exists"),
        (
            "a INT, ts TIMESTAMP(3), WATERMARK FOR t AS t",
            r"attribute field 't' is not defined .* Available columns: \['a', 'ts'\]",
        ),
        ("a INT, PRIMARY KEY (b) NOT ENFORCED", "Primary key column 'b' is not defined"),
        ("a INT) PARTITIONED BY (dt", "Partition column 'dt' is not defined"),
    ],
)
def test_a_table_names_its_own_columns(batch, columns, error):
    with pytest.raises(TableException, match=error):
        batch.execute_sql(f"CREATE TABLE wrong ({columns}) WITH ('connector' = 'blackhole')")
    assert "wrong" not in batch.list_tables()
