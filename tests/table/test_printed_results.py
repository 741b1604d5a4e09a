"""What print() shows of statements, and what schemas show of time attributes, as Flink 2.3 does."""

from __future__ import annotations

import pytest

TABLE = """
CREATE TABLE t (
  id INT NOT NULL, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'datagen', 'number-of-rows' = '1')
"""
PRINTED = {
    "SHOW TABLES": """
+------------+
| table name |
+------------+
|       sink |
|          t |
|          v |
+------------+
3 rows in set
""",
    "SHOW CURRENT DATABASE": """
+-----------------------+
| current database name |
+-----------------------+
|      default_database |
+-----------------------+
1 row in set
""",
    "SHOW JARS": "\nEmpty set\n",
    "DESCRIBE v": """
+------+-----------------------------+-------+-----+--------+-----------+
| name |                        type |  null | key | extras | watermark |
+------+-----------------------------+-------+-----+--------+-----------+
|   id |                         INT | FALSE |     |        |           |
|   ts |      TIMESTAMP(3) *ROWTIME* |  TRUE |     |        |           |
|   pt | TIMESTAMP_LTZ(3) *PROCTIME* | FALSE |     |        |           |
+------+-----------------------------+-------+-----+--------+-----------+
3 rows in set
""",
    "DESCRIBE t": """
+------+-----------------------------+-------+-----+---------------+----------------------------+
| name |                        type |  null | key |        extras |                  watermark |
+------+-----------------------------+-------+-----+---------------+----------------------------+
|   id |                         INT | FALSE |     |               |                            |
|   ts |      TIMESTAMP(3) *ROWTIME* |  TRUE |     |               | `ts` - INTERVAL '5' SECOND |
|   pt | TIMESTAMP_LTZ(3) *PROCTIME* | FALSE |     | AS PROCTIME() |                            |
+------+-----------------------------+-------+-----+---------------+----------------------------+
3 rows in set
""",
    "INSERT INTO sink SELECT 1": "\n-1\n",
}


@pytest.fixture
def tables(streaming):
    streaming.execute_sql(TABLE)
    streaming.execute_sql("CREATE TABLE sink (id INT) WITH ('connector' = 'blackhole')")
    streaming.execute_sql("CREATE VIEW v AS SELECT id, ts, pt FROM t")
    return streaming


@pytest.mark.parametrize("statement", PRINTED)
def test_statements_are_printed_as_wide_as_their_values(tables, capsys, statement):
    tables.execute_sql(statement).print()
    assert f"\n{capsys.readouterr().out}" == PRINTED[statement]


def test_a_long_value_of_a_statement_is_whole(tables, capsys):
    tables.execute_sql("SHOW CREATE TABLE t").print()
    shown = capsys.readouterr().out
    assert (
        "| CREATE TABLE `default_catalog`.`default_database`.`t` (\n  `id` INT NOT NULL," in shown
    )
    tables.execute_sql("EXPLAIN SELECT id FROM t").print()
    assert capsys.readouterr().out.startswith("== Spark's Plan ==\n")


def test_insertions_into_one_table_have_one_column(tables, capsys):
    statements = tables.create_statement_set()
    for number in (1, 2):
        statements.add_insert_sql(f"INSERT INTO sink SELECT {number}")
    result = statements.execute()
    assert result.get_table_schema().get_field_names() == ["default_catalog.default_database.sink"]
    result.print()
    assert capsys.readouterr().out == "-1\n"


def test_schemas_show_time_attributes(tables, capsys):
    table = tables.sql_query("SELECT id, ts, pt, id + 1 AS x FROM t")
    table.print_schema()
    assert capsys.readouterr().out == (
        "(\n"
        "  `id` INT NOT NULL,\n"
        "  `ts` TIMESTAMP(3) *ROWTIME*,\n"
        "  `pt` TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*,\n"
        "  `x` INT NOT NULL\n"
        ")\n"
    )
    assert " |-- ts: TIMESTAMP(3) *ROWTIME*\n" in repr(table.get_schema())
    tables.create_temporary_view("again", table)
    assert "again" in tables.list_temporary_tables()


def test_there_are_no_time_attributes_in_batch_mode(batch, capsys):
    batch.execute_sql(TABLE)
    batch.sql_query("SELECT ts FROM t").print_schema()
    assert capsys.readouterr().out == "(\n  `ts` TIMESTAMP(3)\n)\n"
    batch.execute_sql("DESCRIBE t").print()
    assert "*ROWTIME*" not in capsys.readouterr().out


def test_intervals_of_months_are_printed(batch, capsys):
    batch.execute_sql(
        "SELECT INTERVAL '1-2' YEAR TO MONTH AS i, ARRAY[INTERVAL '3' MONTH] a"
    ).print()
    line = capsys.readouterr().out.splitlines()[3]
    assert [part.strip() for part in line.strip("|").split("|")] == ["+1-02", "[+0-03]"]
