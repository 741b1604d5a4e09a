"""A catalog over Spark's: its databases, tables and views, seen from both sides."""

from __future__ import annotations

import json
import sys
import time

import pytest

from deployments import PROGRAMS, run
from pyflow.table import DataTypes, Schema
from pyflow.table.catalog import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    ObjectPath,
    SparkCatalog,
)
from pyflow.table.udf import udf
from pyflow.util.exceptions import (
    CatalogException,
    DatabaseNotEmptyException,
    DatabaseNotExistException,
    FunctionNotExistException,
    PartitionAlreadyExistsException,
    PartitionNotExistException,
    PartitionSpecInvalidException,
    TableAlreadyExistException,
    TableException,
    TableNotExistException,
    TableNotPartitionedException,
)

ITEMS = """
CREATE TABLE items (
    id BIGINT, name STRING COMMENT 'what', tags ARRAY<ROW<`a b` INT>>, day_of STRING
)
COMMENT 'all of it''s items' PARTITIONED BY (day_of)
WITH ('format' = 'parquet', 'compression' = 'gzip')
"""


def rows(t_env, statement):
    with t_env.execute_sql(statement).collect() as found:
        return [tuple(row) for row in found]


@pytest.fixture
def shop(batch, tmp_path, spark):
    """An environment whose current database is one of Spark's."""
    batch.execute_sql("CREATE CATALOG lake WITH ('type' = 'spark')")
    batch.execute_sql(f"CREATE DATABASE lake.shop WITH ('location' = '{tmp_path}/shop')")
    batch.execute_sql("USE lake.shop")
    yield batch
    spark.sql("DROP DATABASE IF EXISTS spark_catalog.shop CASCADE")


def test_databases_are_those_of_spark(shop, spark, tmp_path):
    shop.execute_sql(
        f"CREATE DATABASE two COMMENT 'it''s' WITH ('k' = 'v', 'location' = '{tmp_path}/two')"
    )
    try:
        assert {"default", "shop", "two"} <= set(shop.list_databases())
        assert spark.catalog.databaseExists("two")
        shop.execute_sql("ALTER DATABASE two SET ('k' = 'w', 'l' = 'm')")
        assert rows(shop, "DESCRIBE DATABASE EXTENDED two") == [
            ("name", "two"),
            ("catalog", "lake"),
            ("comment", "it's"),
            ("option:k", "w"),
            ("option:l", "m"),
        ]
        lake = shop.get_catalog("lake")
        lake.alter_database("two", CatalogDatabase.create_instance({"l": "m"}, "new"), False)
        assert lake.get_database("two").get_properties() == {"l": "m"}
        assert lake.get_database("two").get_comment() == "new"
        spark.sql("CREATE TABLE two.t (a INT) USING parquet")
        with pytest.raises(TableException, match="Database two in catalog lake is not empty"):
            shop.execute_sql("DROP DATABASE two")
        with pytest.raises(DatabaseNotEmptyException):
            lake.drop_database("two", False)
        shop.execute_sql("CREATE DATABASE IF NOT EXISTS two")
        with pytest.raises(TableException, match="Database two already exists in Catalog lake"):
            shop.execute_sql("CREATE DATABASE two")
    finally:
        shop.execute_sql("DROP DATABASE IF EXISTS two CASCADE")
    assert not spark.catalog.databaseExists("two")
    with pytest.raises(TableException, match="Database two does not exist in Catalog lake"):
        shop.execute_sql("DROP DATABASE two")
    lake.drop_database("two", True)
    lake.alter_database("two", CatalogDatabase.create_instance({}), True)
    with pytest.raises(DatabaseNotExistException):
        lake.get_database("two")


def test_a_table_is_made_written_read_and_dropped(shop, spark):
    shop.execute_sql(ITEMS)
    assert spark.catalog.tableExists("spark_catalog.shop.items")
    shop.execute_sql(
        "INSERT INTO items SELECT id, name, CAST(NULL AS ARRAY<ROW<`a b` INT>>), d FROM (VALUES "
        "(CAST(1 AS BIGINT), 'ann', 'mon'), (2, 'bob', 'mon'), (3, 'cid', 'tue')) "
        "AS t (id, name, d)"
    ).wait()
    shop.execute_sql("INSERT INTO items (day_of, id) VALUES ('wed', CAST(4 AS BIGINT))").wait()
    spark.sql("INSERT INTO shop.items VALUES (5, 'eve', array(named_struct('a b', 7)), 'wed')")
    assert sorted(rows(shop, "SELECT id, name, tags[1].`a b`, day_of FROM items"), key=str) == [
        (1, "ann", None, "mon"),
        (2, "bob", None, "mon"),
        (3, "cid", None, "tue"),
        (4, None, None, "wed"),
        (5, "eve", 7, "wed"),
    ]
    # As of files, those partitions are replaced that rows are written into.
    shop.execute_sql("INSERT OVERWRITE items (id, day_of) VALUES (CAST(6 AS BIGINT), 'mon')").wait()
    assert sorted(r.id for r in spark.table("shop.items").collect()) == [3, 4, 5, 6]
    assert rows(shop, "SHOW TABLES") == [("items",)]
    assert rows(shop, "DESCRIBE items") == [
        ("id", "BIGINT", True, None, None, None, None),
        ("name", "STRING", True, None, None, None, "what"),
        ("tags", "ARRAY<ROW<`a b` INT>>", True, None, None, None, None),
        ("day_of", "STRING", True, None, None, None, None),
    ]
    [(text,)] = rows(shop, "SHOW CREATE TABLE items")
    assert text.startswith("CREATE TABLE `lake`.`shop`.`items` (\n  `id` BIGINT,\n")
    assert text.endswith(
        "COMMENT 'all of it''s items'\nPARTITIONED BY (`day_of`)\n"
        "WITH (\n  'compression' = 'gzip',\n  'format' = 'parquet'\n)\n"
    )
    assert rows(shop, "SHOW PARTITIONS items PARTITION (day_of = 'tue')") == [("day_of=tue",)]
    shop.execute_sql("ALTER TABLE items DROP PARTITION (day_of = 'tue')")
    assert rows(shop, "SHOW PARTITIONS items") == [("day_of=mon",), ("day_of=wed",)]
    shop.execute_sql("ALTER TABLE items RENAME TO things")
    shop.execute_sql("CREATE TABLE copied AS SELECT id, day_of FROM things WHERE id > 4").wait()
    assert sorted(r.id for r in spark.table("shop.copied").collect()) == [5, 6]
    shop.execute_sql("INSERT OVERWRITE copied VALUES (CAST(9 AS BIGINT), 'x')").wait()
    assert [tuple(r) for r in spark.table("shop.copied").collect()] == [(9, "x")]
    shop.execute_sql("DROP TABLE things")
    assert not spark.catalog.tableExists("spark_catalog.shop.things")


def test_what_spark_has_made_is_there(shop, spark):
    spark.sql("CREATE TABLE shop.made (a INT, t TIMESTAMP_NTZ, c CHAR(2)) USING json COMMENT 'x'")
    spark.sql("CREATE VIEW shop.seen AS SELECT a + 1 AS b FROM spark_catalog.shop.made")
    spark.range(1).createOrReplaceTempView("of_the_session")
    spark.sql("INSERT INTO shop.made VALUES (1, TIMESTAMP_NTZ '2024-01-01 00:00:00', 'ab')")
    assert rows(shop, "SHOW TABLES") == [("made",), ("seen",)]
    assert rows(shop, "SHOW VIEWS") == [("seen",)]
    assert rows(shop, "SELECT b, CAST(t AS STRING), c FROM seen, made") == [
        (2, "2024-01-01 00:00:00.000000", "ab")
    ]
    assert shop.from_path("made").to_spark().collect() == spark.table("shop.made").collect()
    [(text,)] = rows(shop, "SHOW CREATE VIEW seen")
    assert text == (
        "CREATE VIEW `lake`.`shop`.`seen` (\n  `b`\n)\n"
        "AS SELECT a + 1 AS b FROM spark_catalog.shop.made\n"
    )
    with pytest.raises(TableException, match="is a view: it cannot be written"):
        shop.execute_sql("INSERT INTO seen VALUES (1)")
    with pytest.raises(TableException, match="ALTER TABLE for a view is not allowed"):
        shop.execute_sql("ALTER TABLE seen ADD c INT")
    with pytest.raises(TableException, match=r"Table with identifier 'lake.shop.seen' does not"):
        shop.execute_sql("DROP TABLE seen")
    shop.execute_sql("ALTER VIEW seen RENAME TO saw")
    shop.execute_sql("DROP VIEW saw")
    assert rows(shop, "SHOW VIEWS") == []
    spark.sql("CREATE TABLE shop.odd (v VARIANT) USING parquet")
    with pytest.raises(CatalogException, match=r"column 'v': .* Read it by from_spark"):
        shop.from_path("odd")


def test_a_table_is_altered_as_spark_can(shop, spark):
    shop.execute_sql("CREATE TABLE t (a INT, b STRING) WITH ('format' = 'parquet')")
    shop.execute_sql("INSERT INTO t VALUES (1, 'x')").wait()
    shop.execute_sql("ALTER TABLE t ADD (c BIGINT COMMENT 'see', d DATE)")
    shop.execute_sql("ALTER TABLE t MODIFY a INT COMMENT 'ay'")
    shop.execute_sql("ALTER TABLE t SET ('keeper' = 'ann', 'team' = 'x')")
    shop.execute_sql("ALTER TABLE t RESET ('team')")
    assert rows(shop, "SELECT * FROM t") == [(1, "x", None, None)]
    found = shop.get_catalog("lake").get_table(ObjectPath("shop", "t"))
    assert found.get_options() == {"format": "parquet", "keeper": "ann"}
    assert [row[6] for row in rows(shop, "DESCRIBE t")] == ["ay", None, "see", None]
    refused = {
        "ALTER TABLE t ADD e INT FIRST": "Spark puts new columns of table .* behind the others",
        "ALTER TABLE t DROP c": "does not support DROP COLUMN",
        "ALTER TABLE t RENAME c TO e": "does not support RENAME COLUMN",
        "ALTER TABLE t MODIFY a BIGINT": "is not supported for changing",
        "ALTER TABLE t MODIFY b STRING FIRST": "stay in their order",
        "ALTER TABLE t SET ('format' = 'orc')": "says how table .* is stored",
        "ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED": "have no primary keys",
        "ALTER TABLE t ADD PARTITION (a = '1')": "is not partitioned",
        "ALTER TABLE t RENAME TO default_catalog.default_database.t": "stays in its catalog",
    }
    for statement, reason in refused.items():
        with pytest.raises((TableException, CatalogException), match=reason):
            shop.execute_sql(statement)


def test_what_spark_cannot_keep_says_what_to_do(shop):
    with_ = "WITH ('format' = 'parquet')"
    refused = {
        "CREATE TABLE t (a INT) WITH ('connector' = 'kafka')": "CREATE TEMPORARY TABLE",
        f"CREATE TABLE t (a INT, b AS a + 1) {with_}": "no computed and metadata columns",
        f"CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED) {with_}": "no primary keys",
        f"CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR a AS a) {with_}": "no watermarks",
        f"CREATE TABLE t (a INT, b INT) PARTITIONED BY (a) {with_}": "declare a last",
        "CREATE TABLE t (a INT) WITH ('format' = 'nothing')": "Spark's catalog 'spark_catalog'",
        "CREATE TABLE nowhere.t (a INT)": "Database nowhere does not exist in Catalog lake",
        "CREATE VIEW v AS SELECT 1 AS a": "CREATE TEMPORARY VIEW",
        "CREATE FUNCTION f AS 'os.sep' LANGUAGE PYTHON": "cannot be imported|got str",
    }
    for statement, reason in refused.items():
        with pytest.raises((TableException, CatalogException, TypeError), match=reason):
            shop.execute_sql(statement)
    lake = shop.get_catalog("lake")
    with pytest.raises(TableException, match="CREATE TEMPORARY FUNCTION"):
        lake.create_function(ObjectPath("shop", "f"), CatalogFunction.create_instance("a.b"), False)
    shop.create_temporary_function("f", udf(lambda x: x + 1, result_type=DataTypes.INT()))
    shop.execute_sql("CREATE TEMPORARY VIEW v AS SELECT 1 AS a")
    assert rows(shop, "SELECT f(a), lake.shop.f(a) FROM v") == [(2, 2)]
    assert rows(shop, "SHOW TABLES") == [("v",)]


def test_methods_of_the_catalog(shop, spark):
    lake = shop.get_catalog("lake")
    path, other = ObjectPath("shop", "t"), ObjectPath("shop", "u")
    schema = Schema.new_builder().column("a", "INT").column("p", "STRING").build()
    table = CatalogBaseTable(schema, {"format": "parquet"}, ("p",), "tee")
    lake.create_table(path, table, False)
    lake.create_table(path, table, True)
    with pytest.raises(TableAlreadyExistException, match=r"shop.t already exists in Catalog lake"):
        lake.create_table(path, table, False)
    assert lake.table_exists(path)
    assert (lake.list_tables("shop"), lake.list_views("shop")) == (["t"], [])
    found = lake.get_table(path)
    assert isinstance(found, CatalogBaseTable)
    assert (found.get_comment(), found.get_options()) == ("tee", {"format": "parquet"})
    assert str(found.get_unresolved_schema()) == "(\n  `a` INT,\n  `p` STRING\n)"
    one = CatalogPartitionSpec({"p": "x=y/z"})
    lake.create_partition(path, one, CatalogPartition.create_instance({}), False)
    lake.create_partition(path, one, CatalogPartition.create_instance({}), True)
    with pytest.raises(PartitionAlreadyExistsException):
        lake.create_partition(path, one, CatalogPartition.create_instance({}), False)
    with pytest.raises(PartitionSpecInvalidException):
        lake.create_partition(
            path, CatalogPartitionSpec({"a": "1"}), CatalogPartition.create_instance({}), False
        )
    assert lake.list_partitions(path) == [one]
    assert lake.list_partitions(path, CatalogPartitionSpec({"p": "q"})) == []
    assert lake.partition_exists(path, one)
    assert lake.get_partition(path, one).get_properties() == {}
    assert lake.get_partition_statistics(path, one).get_row_count() == -1
    lake.drop_partition(path, one, False)
    lake.drop_partition(path, one, True)
    with pytest.raises(PartitionNotExistException):
        lake.drop_partition(path, one, False)
    lake.rename_table(path, "u", False)
    lake.rename_table(path, "u", True)
    with pytest.raises(TableNotExistException, match=r"shop.t does not exist in Catalog lake"):
        lake.get_table(path)
    spark.sql("CREATE TABLE shop.t (a INT) USING parquet")
    with pytest.raises(TableAlreadyExistException):
        lake.rename_table(path, "u", False)
    with pytest.raises(TableNotPartitionedException):
        lake.list_partitions(path)
    assert lake.get_table_statistics(other).get_row_count() == -1
    lake.drop_table(other, False)
    lake.drop_table(other, True)
    with pytest.raises(TableNotExistException):
        lake.drop_table(other, False)
    assert lake.list_functions("shop") == []
    with pytest.raises(FunctionNotExistException):
        lake.get_function(ObjectPath("shop", "f"))
    with pytest.raises(CatalogException, match="alter_table_statistics is not implemented"):
        lake.alter_table_statistics(path, lake.get_table_statistics(path), False)
    with pytest.raises(DatabaseNotExistException):
        lake.list_tables("nowhere")


# Spark 4.1 itself does not find a table of Derby again that it has renamed.
@pytest.mark.since_spark("4.2")
def test_another_catalog_of_spark(batch, spark, tmp_path):
    """Spark's catalog of a relational database, here Derby in memory, by its name in Spark."""
    with pytest.raises(CatalogException, match=r"Set spark.sql.catalog.derby to the class of one"):
        batch.execute_sql("CREATE CATALOG d WITH ('type' = 'spark', 'catalog' = 'derby')")
    place = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    name = "spark.sql.catalog.derby"
    spark.conf.set(name, place)
    spark.conf.set(f"{name}.url", "jdbc:derby:memory:catalogs;create=true")
    spark.conf.set(f"{name}.driver", "org.apache.derby.jdbc.EmbeddedDriver")
    batch.register_catalog("d", SparkCatalog("d", spark, "derby", "APP"))
    batch.use_catalog("d")
    assert batch.get_current_database() == "APP"
    batch.execute_sql("CREATE TABLE t (a INT, b STRING)")
    batch.execute_sql("INSERT INTO t VALUES (1, 'x'), (2, 'y')").wait()
    assert sorted(rows(batch, "SELECT b, a FROM d.APP.t")) == [("x", 1), ("y", 2)]
    assert rows(batch, "SHOW TABLES") == [("t",)]
    assert rows(batch, "SHOW VIEWS") == []
    batch.execute_sql("ALTER TABLE t RENAME TO u")
    batch.execute_sql("ALTER TABLE u ADD c INT")
    assert rows(batch, "SELECT c FROM u WHERE a = 2") == [(None,)]
    batch.execute_sql("DROP TABLE u")
    assert rows(batch, "SHOW TABLES") == []


def test_the_connector_reads_and_writes_a_table_of_spark(batch, spark, tmp_path):
    spark.sql(f"CREATE TABLE default.numbers (a INT, b STRING) USING json LOCATION '{tmp_path}/n'")
    try:
        batch.execute_sql(
            "CREATE TABLE n (b STRING, a BIGINT, twice AS a * 2) "
            "WITH ('connector' = 'spark', 'table' = 'spark_catalog.default.numbers')"
        )
        batch.execute_sql("INSERT INTO n VALUES ('x', CAST(3 AS BIGINT))").wait()
        assert rows(batch, "SELECT * FROM n") == [("x", 3, 6)]
        with_ = "WITH ('connector' = 'spark', 'table' = 'default.{}')"
        batch.execute_sql(f"CREATE TABLE m (a INT, z INT) {with_.format('numbers')}")
        batch.execute_sql(f"CREATE TABLE o (a INT) {with_.format('nothing')}")
        with pytest.raises(TableException, match="has the columns a, b, and not z"):
            batch.from_path("m")
        with pytest.raises(TableException, match=r"Spark cannot read 'default.nothing'"):
            batch.from_path("o")
        with pytest.raises(TableException, match="has the columns a, b, and not a, z"):
            batch.execute_sql("INSERT INTO m VALUES (1, 2)").wait()
    finally:
        spark.sql("DROP TABLE default.numbers")


def test_insertions_at_once_into_a_table_of_spark_lose_nothing(batch, spark, tmp_path):
    spark.sql(f"CREATE TABLE default.busy (a INT) USING json LOCATION '{tmp_path}/n'")
    try:
        names = ("spark_catalog.default.busy", "busy")
        for place, name in enumerate(names):
            with_ = f"WITH ('connector' = 'spark', 'table' = '{name}')"
            batch.execute_sql(f"CREATE TABLE busy{place} (a INT) {with_}")
        jobs = [batch.execute_sql(f"INSERT INTO busy{n % 2} VALUES {n}") for n in range(8)]
        for job in jobs:
            job.wait()
        assert sorted(rows(batch, "SELECT a FROM busy0")) == [(n,) for n in range(8)]
    finally:
        spark.sql("DROP TABLE default.busy")


@pytest.mark.complete
def test_the_same_over_spark_connect(tmp_path):
    printed = run(
        # It waits until no other program has a Connect server.
        [sys.executable, PROGRAMS / "spark_catalog.py", tmp_path],
        tmp_path,
        seconds=900,
    )

    answers = json.loads(printed.strip().splitlines()[-1])
    assert answers["SELECT a, p FROM t"] == [[1, "x"], [3, "y"]]
    assert answers["SELECT * FROM v"] == [[1], [3]]
    assert answers["SHOW TABLES"] == [["t"], ["v"]]
    assert answers["SHOW VIEWS"] == [["v"]]
    assert answers["SHOW PARTITIONS t"] == [["p=x"], ["p=y"]]
    assert [row[:2] for row in answers["DESCRIBE t"]] == [
        ["a", "INT"],
        ["b", "BIGINT"],
        ["p", "STRING"],
    ]
    assert "COMMENT 'tee'\nPARTITIONED BY (`p`)" in answers["SHOW CREATE TABLE t"][0][0]
    assert answers["SHOW DATABASES"] == [["default"], ["shop"]]
    assert "'lake.shop.nothing' was not found" in answers["missing"]
    assert "Failed to find the data source: no" in answers["format"]
    assert answers["databases"] == ["default"]


def test_rows_without_end_are_appended(streaming, spark, tmp_path):
    streaming.execute_sql("CREATE CATALOG lake WITH ('type' = 'spark')")
    streaming.execute_sql(f"CREATE DATABASE lake.shop WITH ('location' = '{tmp_path}/shop')")
    try:
        streaming.execute_sql("CREATE TABLE lake.shop.t (a INT) WITH ('format' = 'parquet')")
        streaming.execute_sql(
            "CREATE TABLE ticks (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')"
        )
        result = streaming.execute_sql("INSERT INTO lake.shop.t SELECT a FROM ticks")
        end = time.monotonic() + 60
        while spark.table("shop.t").count() < 5 and time.monotonic() < end:
            time.sleep(0.2)
        result.get_job_client().cancel().result()
        assert spark.table("shop.t").count() >= 5
        # What is there is bounded.
        assert len(rows(streaming, "SELECT a FROM lake.shop.t")) >= 5
    finally:
        spark.sql("DROP DATABASE spark_catalog.shop CASCADE")
