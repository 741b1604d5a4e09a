"""What tables say of the schema that they were declared with; the lines are PyFlink's."""

from __future__ import annotations

import pytest

from pyflow.common import Row, Types
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.table import ChangelogMode, DataTypes, Schema, StreamTableEnvironment, TableDescriptor
from pyflow.table.expressions import col
from pyflow.util.exceptions import TableException

COLUMNS = """
    id INT, seller VARCHAR COMMENT 'who', amount DOUBLE NOT NULL, r ROW<x INT>, ts TIMESTAMP(3),
    tot AS amount * 2, up AS UPPER(seller) || `seller`, rx AS r.x, proctime AS PROCTIME(),
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED
"""
DECLARED = [
    "`id` INT NOT NULL",
    "`seller` STRING COMMENT 'who'",
    "`amount` DOUBLE NOT NULL",
    "`r` ROW<`x` INT>",
    "`ts` TIMESTAMP(3) *ROWTIME*",
    "`tot` DOUBLE NOT NULL AS `amount` * 2",
    "`up` STRING AS UPPER(`seller`) || `seller`",
    "`rx` INT AS `r`.`x`",
    "`proctime` TIMESTAMP_LTZ(3) NOT NULL *PROCTIME* AS PROCTIME()",
    "WATERMARK FOR `ts`: TIMESTAMP(3) AS `ts` - INTERVAL '5' SECOND",
    "CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED",
]


@pytest.fixture
def streams(environment):
    environment()
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)


@pytest.fixture
def tables(streams):
    tables = StreamTableEnvironment.create(streams)
    tables.execute_sql(
        f"CREATE TABLE sales ({COLUMNS}) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    )
    return tables


@pytest.fixture
def stream(streams):
    names, types = ["a", "b", "ms"], [Types.INT(), Types.STRING(), Types.LONG()]
    return streams.from_collection([Row(1, "a", 5)], Types.ROW_NAMED(names, types))


def lines_of(table):
    return [line.strip(" ,") for line in str(table.get_resolved_schema()).splitlines()[1:-1]]


def builder():
    return Schema.new_builder()


def test_a_table_of_the_catalog_has_its_whole_schema(tables):
    assert lines_of(tables.from_path("sales")) == DECLARED


def test_a_query_has_columns_alone(tables):
    selected = tables.from_path("sales").select(col("id"), col("tot"), col("ts"))
    assert lines_of(selected) == [
        "`id` INT NOT NULL",
        "`tot` DOUBLE NOT NULL",
        "`ts` TIMESTAMP(3) *ROWTIME*",
    ]
    tables.create_temporary_view("selected", selected)
    assert lines_of(tables.from_path("selected")) == lines_of(selected)


def test_expressions_are_shown_with_quoted_names(tables):
    described = {row[0]: row for row in tables.execute_sql("DESCRIBE sales").collect()}
    assert described["up"][4] == "AS UPPER(`seller`) || `seller`"
    assert described["ts"][5] == "`ts` - INTERVAL '5' SECOND"
    ((created,),) = tables.execute_sql("SHOW CREATE TABLE sales").collect()
    assert "`rx` AS `r`.`x`" in created
    # It can be read again.
    tables.execute_sql("DROP TABLE sales")
    tables.execute_sql(created)
    assert lines_of(tables.from_path("sales")) == DECLARED


def test_a_table_of_a_stream_has_its_whole_schema(tables, stream):
    schema = builder().column_by_expression("at", "TO_TIMESTAMP_LTZ(ms, 3)")
    schema = schema.column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime")
    table = tables.from_data_stream(stream, schema.watermark("at", "SOURCE_WATERMARK()").build())
    assert lines_of(table) == [
        "`a` INT",
        "`b` STRING",
        "`ms` BIGINT",
        "`at` TIMESTAMP_LTZ(3) *ROWTIME* AS TO_TIMESTAMP_LTZ(ms, 3)",
        "`rt` TIMESTAMP_LTZ(3) METADATA FROM 'rowtime'",
        "WATERMARK FOR `at`: TIMESTAMP_LTZ(3) AS SOURCE_WATERMARK()",
    ]
    (watermark,) = table.get_resolved_schema().get_watermark_specs()
    assert watermark.get_rowtime_attribute() == "at"


def test_a_table_of_changes_has_its_key(tables, stream):
    schema = builder().primary_key("a").build()
    table = tables.from_changelog_stream(stream, schema, ChangelogMode.upsert())
    assert lines_of(table)[0] == "`a` INT NOT NULL"
    assert lines_of(table)[-1] == "CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED"


def test_types_that_are_declared_as_strings_are_shown_as_sql(tables):
    schema = builder().column("a", "STRING").column("b", "ROW<x INT>")
    schema = schema.column("c", DataTypes.BIGINT().not_null()).build()
    descriptor = TableDescriptor.for_connector("datagen").schema(schema)
    tables.create_table("described", descriptor.option("number-of-rows", "1").build())
    ((created,),) = tables.execute_sql("SHOW CREATE TABLE described").collect()
    assert "`a` VARCHAR(2147483647),\n  `b` ROW<`x` INT>,\n  `c` BIGINT NOT NULL" in created


def test_show_create_table_has_types_without_abbreviations(tables):
    """As PyFlink 2.3 shows them."""
    tables.execute_sql(
        "CREATE TABLE spelled (a STRING COMMENT 'no STRING', b BYTES, c TIMESTAMP_LTZ(3), "
        "d MAP<STRING, ARRAY<BYTES>>, e ROW<`STRING` STRING NOT NULL, f TIMESTAMP_LTZ(2)>, "
        "g VARCHAR(7), h STRING METADATA) WITH ('connector' = 'kafka')"
    )
    ((created,),) = tables.execute_sql("SHOW CREATE TABLE spelled").collect()
    assert created.partition("(\n")[2].partition("\n)")[0].split(",\n") == [
        "  `a` VARCHAR(2147483647) COMMENT 'no STRING'",
        "  `b` VARBINARY(2147483647)",
        "  `c` TIMESTAMP(3) WITH LOCAL TIME ZONE",
        "  `d` MAP<VARCHAR(2147483647), ARRAY<VARBINARY(2147483647)>>",
        "  `e` ROW<`STRING` VARCHAR(2147483647) NOT NULL, `f` TIMESTAMP(2) WITH LOCAL TIME ZONE>",
        "  `g` VARCHAR(7)",
        "  `h` VARCHAR(2147483647) METADATA",
    ]


def test_functions_without_parentheses_name_their_columns(tables):
    query = tables.sql_query("SELECT CURRENT_DATE, localtimestamp, id, id + 1, NOW() FROM sales")
    assert query.get_resolved_schema().get_column_names() == [
        "CURRENT_DATE",
        "LOCALTIMESTAMP",
        "id",
        "EXPR$3",
        "EXPR$4",
    ]
    inner = "SELECT id, CURRENT_DATE FROM sales"
    tables.sql_query(f"SELECT COUNT(`CURRENT_DATE`) FROM ({inner})")


def test_a_window_keeps_the_time_attribute_of_its_table(tables):
    window = "TABLE(TUMBLE(TABLE sales, DESCRIPTOR(ts), INTERVAL '10' MINUTES))"
    lines = lines_of(tables.sql_query(f"SELECT ts, window_time FROM {window}"))
    assert lines == [
        "`ts` TIMESTAMP(3) *ROWTIME*",
        "`window_time` TIMESTAMP(3) NOT NULL *ROWTIME*",
    ]
    over = f"SELECT id, SUM(amount) OVER (PARTITION BY id ORDER BY ts) FROM {window}"
    with tables.execute_sql(over).collect() as rows:
        assert len(list(rows)) == 1


def test_a_stream_has_one_event_time(tables):
    window = "TABLE(TUMBLE(TABLE sales, DESCRIPTOR(ts), INTERVAL '10' MINUTES))"
    with pytest.raises(TableException, match=r"more than one rowtime .* \[ts, window_time\]"):
        tables.to_data_stream(tables.sql_query(f"SELECT id, ts, window_time FROM {window}"))
    one = "SELECT id, CAST(ts AS TIMESTAMP(3)) AS ts, window_time"
    stream = tables.to_data_stream(tables.sql_query(f"{one} FROM {window}"))
    with stream.execute_and_collect() as found:
        assert len(list(found)) == 1
