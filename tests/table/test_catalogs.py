"""Catalogs of an environment, what their names mean, and statements about them that Flink has not.

What Flink answers, too, is compared in test_catalogs_against_flink.py.
"""

from __future__ import annotations

import pytest

from pyflow.common import Configuration
from pyflow.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflow.table.catalog import (
    Catalog,
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    GenericInMemoryCatalog,
    ObjectPath,
)
from pyflow.table.expressions import call, col
from pyflow.table.table_schema import TableSchema
from pyflow.table.udf import udf
from pyflow.util.exceptions import (
    CatalogException,
    ModelNotExistException,
    PartitionNotExistException,
    TableException,
    TableNotExistException,
)

DATAGEN = "'connector' = 'datagen', 'number-of-rows' = '1'"


def rows(t_env, statement):
    with t_env.execute_sql(statement).collect() as found:
        return [tuple(row) for row in found]


class Fixed(Catalog):
    """A catalog of the program: one database with one table."""

    def __init__(self):
        super().__init__("fixed", "d")

    def list_databases(self):
        return ["d"]

    def get_database(self, database_name):
        self._check_database(database_name)
        return CatalogDatabase.create_instance({})

    def database_exists(self, database_name):
        return database_name == "d"

    def list_tables(self, database_name):
        return ["numbers"]

    def list_views(self, database_name):
        return []

    def get_table(self, table_path):
        if table_path != ObjectPath("d", "numbers"):
            raise TableNotExistException(f"no {table_path}")
        schema = TableSchema(["n"], [DataTypes.INT()])
        options = {
            "connector": "datagen",
            "number-of-rows": "2",
            "fields.n.kind": "sequence",
            "fields.n.start": "1",
            "fields.n.end": "2",
        }
        return CatalogBaseTable.create_table(schema, [], options)


def test_a_catalog_of_the_program(batch):
    batch.register_catalog("mine", Fixed())
    assert batch.list_catalogs() == ["default_catalog", "mine"]
    batch.use_catalog("mine")
    assert (batch.get_current_database(), batch.list_tables()) == ("d", ["numbers"])
    assert sorted(rows(batch, "SELECT n FROM numbers")) == [(1,), (2,)]
    with pytest.raises(CatalogException, match="create_table is not implemented for class Fixed"):
        batch.execute_sql(f"CREATE TABLE t (a INT) WITH ({DATAGEN})")
    with pytest.raises(CatalogException, match="create_database is not implemented"):
        batch.execute_sql("CREATE DATABASE e")
    assert batch.list_functions()
    with pytest.raises(CatalogException, match="Catalog mine already exists"):
        batch.register_catalog("mine", GenericInMemoryCatalog("mine"))
    with pytest.raises(TypeError, match="expected a Catalog, got str"):
        batch.register_catalog("other", "spark")
    with pytest.raises(TableException, match="Cannot obtain metadata information from Catalog"):
        batch.execute_sql("DESCRIBE CATALOG mine")


def test_catalogs_of_descriptors_and_objects(batch):
    made = Configuration.from_dict({"type": "generic_in_memory", "default-database": "d"})
    batch.create_catalog("one", CatalogDescriptor.of("one", made, "the first"))
    batch.register_catalog("two", GenericInMemoryCatalog("two", "e"))
    assert batch.get_catalog("one").get_default_database() == "d"
    assert batch.get_catalog("two").list_databases() == ["e"]
    assert batch.get_catalog("three") is None
    batch.get_catalog("one").create_table(
        ObjectPath("d", "t"),
        CatalogBaseTable.create_table(
            TableSchema(["a"], [DataTypes.INT()]), [], {"connector": "blackhole"}
        ),
        False,
    )
    assert rows(batch, "SHOW TABLES FROM one.d") == [("t",)]
    batch.execute_sql("INSERT INTO one.d.t VALUES (1)").wait()
    view = CatalogBaseTable.create_view(
        "SELECT 1", "SELECT 1", TableSchema(["x"], [DataTypes.INT()]), {}
    )
    batch.get_catalog("two").create_table(ObjectPath("e", "v"), view, False)
    assert rows(batch, "SELECT x FROM two.e.v") == [(1,)]


def test_names_of_the_built_in_catalog(environment):
    environment("batch")
    settings = EnvironmentSettings.new_instance().in_batch_mode()
    settings.with_built_in_catalog_name("mine").with_built_in_database_name("own")
    t_env = TableEnvironment.create(settings.build())
    assert (t_env.get_current_catalog(), t_env.get_current_database()) == ("mine", "own")
    t_env.execute_sql("CREATE VIEW v AS SELECT 1 AS a")
    assert rows(t_env, "SELECT a FROM mine.own.v") == [(1,)]


def test_what_is_told_of_a_database(batch):
    batch.execute_sql("CREATE DATABASE d COMMENT 'dee' WITH ('k' = 'v')")
    told = [("name", "d"), ("catalog", "default_catalog"), ("comment", "dee")]
    assert rows(batch, "DESCRIBE DATABASE d") == told
    assert rows(batch, "DESC DATABASE EXTENDED d") == [*told, ("option:k", "v")]
    batch.execute_sql("CREATE CATALOG c WITH ('type' = 'generic_in_memory')")
    with pytest.raises(CatalogException, match=r"\[nowhere\] does not exist in the catalog: \[c\]"):
        batch.execute_sql("USE c.nowhere")
    assert rows(batch, "SHOW CURRENT CATALOG") == [("default_catalog",)]


def test_settings_are_reset_to_the_start(environment, spark):
    environment("batch")
    before = spark.conf.get("spark.sql.session.timeZone")
    settings = EnvironmentSettings.in_batch_mode()
    settings.get_configuration().set_string("parallelism.default", "3")
    t_env = TableEnvironment.create(settings)
    t_env.execute_sql("SET 'table.local-time-zone' = 'Asia/Tokyo'")
    t_env.execute_sql("SET 'parallelism.default' = '1'")
    t_env.execute_sql("SET 'table.exec.state.ttl' = '1 h'")
    assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    t_env.execute_sql("RESET 'table.local-time-zone'")
    assert spark.conf.get("spark.sql.session.timeZone") == before
    assert t_env.get_config().get("table.exec.state.ttl", None) == "1 h"
    t_env.execute_sql("RESET 'table.exec.mini-batch.size'")
    t_env.execute_sql("RESET")
    assert t_env.get_config().to_map() == {
        "execution.runtime-mode": "BATCH",
        "parallelism.default": "3",
    }
    with pytest.raises(TableException, match=r"there is no setting 'no.such.key'"):
        t_env.execute_sql("RESET 'no.such.key'")


def test_functions_of_catalogs_hold_where_they_are(batch, monkeypatch, tmp_path):
    (tmp_path / "functions_of_catalogs.py").write_text(
        "from pyflow.table import DataTypes\nfrom pyflow.table.udf import udf\n"
        "one = udf(lambda x: x + 1, result_type=DataTypes.INT())\n"
        "ten = udf(lambda x: x + 10, result_type=DataTypes.INT())\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    create = "CREATE FUNCTION {} AS 'functions_of_catalogs.{}' LANGUAGE PYTHON"
    batch.execute_sql("CREATE DATABASE d")
    batch.execute_sql(create.format("f", "one"))
    batch.execute_sql(create.format("d.F", "ten"))
    batch.execute_sql("CREATE VIEW v AS SELECT f(1) AS a")
    assert rows(batch, "SELECT f(1), d.f(1), default_catalog.d.F(1)") == [(2, 11, 11)]
    batch.execute_sql("USE d")
    # The names in a view keep what they meant.
    assert rows(batch, "SELECT F(1), a FROM default_database.v") == [(11, 2)]
    table = batch.from_elements([(1,)], DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT())]))
    selected = table.select(call("f", col("x")), call("default_database.f", col("x")))
    assert [tuple(row) for row in selected.execute().collect()] == [(11, 2)]
    batch.create_temporary_function("f", udf(lambda x: -x, result_type=DataTypes.INT()))
    assert rows(batch, "SELECT f(1)") == [(-1,)]
    assert rows(batch, "SHOW USER FUNCTIONS") == [("f",)]
    batch.create_temporary_function("upper", udf(lambda x: x, result_type=DataTypes.INT()))
    shown = {name for (name,) in rows(batch, "SHOW FUNCTIONS FROM default_database")}
    assert {"f", "upper", "sum"} < shown
    batch.execute_sql("DROP TEMPORARY FUNCTION f")
    batch.execute_sql("ALTER FUNCTION f AS 'functions_of_catalogs.one' LANGUAGE PYTHON")
    assert rows(batch, "SELECT f(1)") == [(2,)]
    catalog = batch.get_catalog("default_catalog")
    catalog.create_function(ObjectPath("d", "g"), CatalogFunction.create_instance("no.f"), False)
    with pytest.raises(TableException, match=r"column 8: 'no.f' cannot be imported"):
        batch.execute_sql("SELECT g(1)")
    with pytest.raises(TableException, match=r"column 22: 'no.f' cannot be imported"):
        batch.execute_sql("CREATE FUNCTION h AS 'no.f' LANGUAGE PYTHON")


def test_views_are_read_anew(batch):
    batch.execute_sql("CREATE VIEW base AS SELECT 1 AS a, 2 AS b")
    batch.execute_sql("CREATE VIEW v AS SELECT * FROM base")
    batch.execute_sql("ALTER VIEW base AS SELECT 5 AS c, 4 AS b, 3 AS a")
    assert rows(batch, "SELECT * FROM v") == [(3, 4)]
    batch.execute_sql("ALTER VIEW base AS SELECT 5 AS c, 4 AS b")
    with pytest.raises(TableException, match=r"its query has no column a any more"):
        batch.execute_sql("SELECT * FROM v")
    batch.execute_sql("ALTER VIEW base AS SELECT 1 AS a, 2 AS b")
    batch.execute_sql("ALTER VIEW base AS SELECT * FROM v")
    with pytest.raises(TableException, match="reads itself"):
        batch.execute_sql("SELECT * FROM v")


def test_a_table_changes_by_statements(batch, tmp_path):
    batch.execute_sql(
        f"CREATE TABLE t (a INT, b INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', "
        "'format' = 'csv')"
    )
    batch.execute_sql("INSERT INTO t VALUES (1, 2)").wait()
    batch.execute_sql("ALTER TABLE t RENAME b TO d")
    batch.execute_sql("ALTER TABLE t ADD (c AS a + d AFTER a)")
    assert rows(batch, "SELECT * FROM t") == [(1, 3, 2)]
    with pytest.raises(TableException, match="referenced by computed column `c`"):
        batch.execute_sql("ALTER TABLE t DROP d")
    with pytest.raises(TableException, match="column 22: The column `b` doesn't exist"):
        batch.execute_sql("ALTER TABLE t MODIFY b INT")


def test_partitions_have_figures_and_there_are_no_models(batch):
    catalog, path = batch.get_catalog("default_catalog"), ObjectPath("default_database", "t")
    schema = TableSchema(["a", "p"], [DataTypes.INT(), DataTypes.STRING()])
    catalog.create_table(path, CatalogBaseTable.create_table(schema, ["p"], {}), False)
    one, other = CatalogPartitionSpec({"p": "1"}), CatalogPartitionSpec({"p": "2"})
    catalog.create_partition(path, one, CatalogPartition.create_instance({}), False)
    figures, columns = CatalogTableStatistics(3, 1, 2, 2), CatalogColumnStatistics({"a": 1})
    catalog.alter_partition_statistics(path, one, figures, False)
    catalog.alter_partition_column_statistics(path, one, columns, False)
    catalog.rename_table(path, "u", False)
    path = ObjectPath("default_database", "u")
    assert catalog.bulk_get_partition_statistics(path, [one]) == [figures]
    assert catalog.bulk_get_partition_column_statistics(path, [one]) == [columns]
    catalog.alter_partition_statistics(path, other, figures, True)
    with pytest.raises(PartitionNotExistException):
        catalog.alter_partition_statistics(path, other, figures, False)
    plain = ObjectPath("default_database", "plain")
    catalog.create_table(plain, CatalogBaseTable.create_table(schema, [], {}), False)
    catalog.alter_table_statistics(plain, figures, False)
    catalog.alter_table_column_statistics(plain, columns, False)
    assert catalog.get_table_statistics(plain) == figures
    assert catalog.get_table_column_statistics(plain) == columns
    catalog.drop_table(path, False)
    with pytest.raises(PartitionNotExistException):
        catalog.get_partition_statistics(path, one)
    assert not catalog.model_exists(path)
    catalog.drop_model(path, True)
    with pytest.raises(ModelNotExistException, match="`u`' does not exist"):
        catalog.get_model(path)
    with pytest.raises(TableException, match="there are no models here"):
        catalog.create_model(path, None, False)
