"""Table environments: names of tables and functions, results, jobs."""

from __future__ import annotations

import time

import pytest
from pyspark.errors import PySparkException

from pyflow.common import Configuration, JobStatus, Row, RowKind
from pyflow.table import (
    DataTypes,
    EnvironmentSettings,
    ExplainDetail,
    ResultKind,
    Schema,
    StreamTableEnvironment,
    TableDescriptor,
    TableEnvironment,
)
from pyflow.table.expressions import call, col, lit
from pyflow.table.udf import udf
from pyflow.util.exceptions import CatalogException, TableException


def numbers(t_env, count=3):
    return t_env.from_elements([(number,) for number in range(count)], ["n"])


def blackhole(*columns):
    builder = Schema.new_builder()
    for name in columns:
        builder.column(name, DataTypes.BIGINT())
    return TableDescriptor.for_connector("blackhole").schema(builder.build()).build()


def rows(table):
    with table.execute().collect() as found:
        return list(found)


def test_an_environment_is_made_of_settings_or_a_configuration(environment):
    environment()
    configuration = Configuration()
    configuration.set_string("execution.runtime-mode", "BATCH")
    assert not TableEnvironment.create(configuration)._context.is_streaming
    assert TableEnvironment.create(Configuration())._context.is_streaming
    with pytest.raises(TypeError, match="EnvironmentSettings or Configuration"):
        TableEnvironment.create("batch")


def test_a_stream_environment_takes_settings_alone(environment):
    environment()
    settings = EnvironmentSettings.in_streaming_mode()
    t_env = StreamTableEnvironment.create(environment_settings=settings)
    assert rows(numbers(t_env)) == [Row(0), Row(1), Row(2)]
    with pytest.raises(TypeError, match="expected a StreamExecutionEnvironment, got object"):
        StreamTableEnvironment.create(object())
    with pytest.raises(ValueError, match="No argument found"):
        StreamTableEnvironment.create()


def test_views_and_tables_have_names(batch):
    batch.create_temporary_view("v", numbers(batch))
    batch.create_temporary_table("t", blackhole("n"))
    batch.create_view("pv", numbers(batch))
    batch.create_table("pt", blackhole("n"))
    assert batch.list_tables() == ["pt", "pv", "t", "v"]
    assert batch.list_views() == ["pv", "v"]
    assert batch.list_temporary_tables() == ["t", "v"]
    assert batch.list_temporary_views() == ["v"]
    assert rows(batch.from_path("default_catalog.default_database.v")) == [Row(0), Row(1), Row(2)]
    assert batch.drop_temporary_view("v")
    assert not batch.drop_temporary_view("v")
    assert batch.drop_temporary_table("t")
    assert batch.drop_view("pv")
    assert batch.drop_table("pt")
    assert not batch.drop_table("pt")
    assert batch.list_tables() == []
    with pytest.raises(TableException, match="does not exist"):
        batch.drop_table("pt", ignore_if_not_exists=False)
    with pytest.raises(TableException, match=r"'default_catalog.default_database.v' was not found"):
        batch.from_path("v")


def test_a_name_is_given_once(batch):
    batch.create_temporary_view("v", numbers(batch))
    with pytest.raises(TableException, match="already exists"):
        batch.create_temporary_view("v", numbers(batch))
    batch.create_table("t", blackhole("n"))
    batch.create_table("t", blackhole("n"), ignoreIfExists=True)
    with pytest.raises(TableException, match="already exists"):
        batch.create_table("t", blackhole("n"))


def test_temporary_tables_hide_those_of_the_catalog(batch):
    batch.create_view("v", numbers(batch, 1))
    batch.create_temporary_view("v", numbers(batch, 2))
    assert len(rows(batch.from_path("v"))) == 2
    with pytest.raises(TableException, match="Drop it first"):
        batch.drop_view("v")
    batch.drop_temporary_view("v")
    assert len(rows(batch.from_path("`v`"))) == 1


@pytest.mark.parametrize("path", ["", "a.b.c.d", "`a", "a..b", "`a`b"])
def test_names_that_are_none(batch, path):
    with pytest.raises(TableException, match="is no name"):
        batch.from_path(path)


def test_a_table_as_text_is_a_name(batch):
    table = numbers(batch)
    name = f"{table}"
    assert name == "UnnamedTable$0"
    assert str(table) == name
    assert rows(batch.from_path(name)) == rows(table)


def test_there_is_one_catalog_at_first(batch):
    assert (batch.get_current_catalog(), batch.get_current_database()) == (
        "default_catalog",
        "default_database",
    )
    assert batch.list_catalogs() == ["default_catalog"]
    assert batch.list_databases() == ["default_database"]
    batch.use_catalog("default_catalog")
    batch.use_database("default_database")
    with pytest.raises(CatalogException, match=r"\[other\] does not exist"):
        batch.use_catalog("other")
    with pytest.raises(CatalogException, match=r"\[other\] does not exist"):
        batch.use_database("other")
    with pytest.raises(CatalogException, match="Catalog other does not exist"):
        batch.create_view("other.default_database.v", numbers(batch))
    # What is temporary needs no catalog.
    batch.create_temporary_view("other.default_database.v", numbers(batch))
    assert len(rows(batch.from_path("other.default_database.v"))) == 3
    assert batch.list_modules() == ["core"]
    assert [module.name() for module in batch.list_full_modules()] == ["core"]
    nothing = (batch.list_models(), batch.list_temporary_models(), batch.list_materialized_tables())
    assert nothing == ([], [], [])


def test_functions_have_names(batch):
    batch.create_temporary_system_function(
        "Twice", udf(lambda n: 2 * n, result_type=DataTypes.BIGINT())
    )
    batch.create_temporary_function("next", udf(lambda n: n + 1, result_type=DataTypes.BIGINT()))
    assert batch.list_user_defined_functions() == ["next", "twice"]
    assert {"next", "twice"} < set(batch.list_functions())
    table = numbers(batch).select(call("twice", col("n")), call("NEXT", col("n")))
    assert rows(table) == [Row(0, 1), Row(2, 2), Row(4, 3)]
    with pytest.raises(TableException, match="already exist"):
        batch.create_temporary_function("next", udf(lambda n: n, result_type="BIGINT"))
    assert batch.drop_temporary_system_function("TWICE")
    assert not batch.drop_temporary_system_function("twice")
    assert batch.drop_temporary_function("next")
    assert not batch.drop_temporary_function("next")
    assert not batch.drop_function("next")
    with pytest.raises(TypeError, match="a function made by udf"):
        batch.create_temporary_function("f", len)


def test_a_name_means_a_system_function_then_a_built_in_one_then_one_of_the_catalog(batch):
    mine = udf(lambda n: f"mine {n}", result_type=DataTypes.STRING())
    batch.create_temporary_function("upper", mine)
    batch.create_temporary_system_function("lower", mine)
    place = f"{batch.get_current_catalog()}.{batch.get_current_database()}"
    batch.create_temporary_view("words", batch.from_elements([("Ab",)], ["w"]))

    table = batch.from_path("words").select(call("UPPER", col("w")), call("LOWER", col("w")))
    by_path = batch.from_path("words").select(call(f"{place}.upper", col("w")))

    assert rows(table) == [Row("AB", "mine Ab")]
    assert rows(by_path) == [Row("mine Ab")]
    assert rows(batch.sql_query("SELECT UPPER(w), LOWER(w) FROM words")) == [Row("AB", "mine Ab")]
    batch.execute_sql("CREATE TEMPORARY FUNCTION IF NOT EXISTS upper AS 'os.sep' LANGUAGE PYTHON")


def test_bytes_are_collected_as_a_bytearray(batch):
    kinds = DataTypes.ROW(
        [
            DataTypes.FIELD("b", DataTypes.BYTES()),
            DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.BYTES())),
        ]
    )
    (row,) = rows(batch.from_elements([(b"x", [b"y", None])], kinds))
    assert row == Row(bytearray(b"x"), [bytearray(b"y"), None])
    assert type(row[0]) is bytearray


def test_frames_of_spark_go_in_and_out(batch, spark):
    frame = spark.range(3).withColumnRenamed("id", "n")
    table = batch.from_spark(frame).select(col("n") * 2)
    assert table.to_spark().collect() == [(0,), (2,), (4,)]


def test_frames_of_pandas_go_in_and_out(batch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None]})
    table = batch.from_pandas(frame)
    assert table.to_pandas().equals(frame)
    named = batch.from_pandas(frame, ["c", "d"], splits_num=2)
    assert named.get_resolved_schema().get_column_names() == ["c", "d"]
    typed = batch.from_pandas(frame, [DataTypes.INT(), DataTypes.STRING()])
    assert typed.get_schema().get_field_data_types()[0] == DataTypes.INT()
    assert list(table.filter(col("a") > 5).to_pandas().columns) == ["a", "b"]
    with pytest.raises(TypeError, match=r"expected pandas.DataFrame"):
        batch.from_pandas([1])


def test_pandas_sees_what_is_left_of_a_table_that_changes(streaming):
    pytest.importorskip("pandas")
    table = streaming.from_elements([("a",), ("b",), ("a",)], ["word"])
    counted = table.group_by(col("word")).select(col("word"), lit(1).count.alias("n"))
    assert dict(counted.to_pandas().to_numpy().tolist()) == {"a": 2, "b": 1}


def test_rows_have_kinds(streaming):
    table = streaming.from_elements([("a",), ("a",)], ["word"])
    found = rows(table.group_by(col("word")).select(col("word"), lit(1).count))
    kinds = [row.get_row_kind() for row in found]
    assert kinds == [RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER]
    assert [tuple(row) for row in found] == [("a", 1), ("a", 1), ("a", 2)]


def test_results_tell_their_schema_and_kind(batch):
    result = numbers(batch).execute()
    assert result.get_result_kind() == ResultKind.SUCCESS_WITH_CONTENT
    assert result.get_resolved_schema().get_column_names() == ["n"]
    assert result.get_table_schema().get_field_names() == ["n"]
    assert result.get_job_client() is None
    result.wait()
    with result.collect() as found:
        assert found.next() == Row(0)
    with pytest.raises(StopIteration):
        next(found)


@pytest.mark.since_spark("4.2")
def test_the_driver_drops_plans_whose_rows_were_taken(batch, spark):
    """Spark keeps them with what was broadcast: a program that takes rows often would fill it."""
    kept = spark.sparkContext._jsc.sc().dagScheduler().activeQueryToJobs()
    fails = udf(lambda n: 1 // n, result_type=DataTypes.BIGINT())
    before = set(kept.keySet())
    with pytest.raises(PySparkException, match="ZeroDivisionError"):
        rows(numbers(batch).select(fails(col("n"))))
    with numbers(batch).execute().collect() as found:
        next(found)
    # Those of results that were not read to their end, with the next one.
    assert rows(numbers(batch)) == [Row(0), Row(1), Row(2)]
    deadline = time.monotonic() + 30
    while set(kept.keySet()) - before:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_insertions_are_jobs(batch):
    result = numbers(batch).execute_insert(blackhole("n"))
    result.wait(60_000)
    client = result.get_job_client()
    assert client.get_job_status().result() == JobStatus.FINISHED
    assert client.get_job_execution_result().result().get_net_runtime() >= 0
    assert list(result.collect()) == [Row(-1)]


def test_a_job_can_be_cancelled(batch):
    slow = udf(lambda n: time.sleep(60) or n, result_type=DataTypes.BIGINT())
    result = numbers(batch).select(slow(col("n"))).execute_insert(blackhole("n"))
    with pytest.raises(TimeoutError, match="has not ended in 3000 ms"):
        result.wait(3000)
    assert result.get_job_client().get_job_status().result() == JobStatus.RUNNING
    result.get_job_client().cancel().result()
    assert result.get_job_client().get_job_status().result() == JobStatus.CANCELED
    with pytest.raises(TableException, match="was cancelled"):
        result.wait()


def test_a_job_that_fails_says_why(batch):
    fails = udf(lambda n: 1 // 0, result_type=DataTypes.BIGINT())
    result = numbers(batch).select(fails(col("n"))).execute_insert(blackhole("n"))
    with pytest.raises(Exception, match="ZeroDivisionError"):
        result.wait()
    assert result.get_job_client().get_job_status().result() == JobStatus.FAILED


def test_pipelines_and_statement_sets(batch, capsys):
    batch.create_temporary_table("sink", blackhole("n"))
    pipeline = numbers(batch).insert_into("sink")
    assert str(pipeline.get_sink_identifier()) == "`default_catalog`.`default_database`.`sink`"
    assert "Plan" in pipeline.explain()
    pipeline.print_explain()
    pipeline.execute().wait()
    assert numbers(batch).insert_into(blackhole("n")).get_sink_identifier() is None
    statements = batch.create_statement_set()
    with pytest.raises(TableException, match="No statements"):
        statements.execute()
    statements.add(pipeline).add_insert("sink", numbers(batch)).add_insert(
        blackhole("n"), numbers(batch)
    )
    assert statements.explain().count("Spark's Plan") == 3
    statements.print_explain()
    result = statements.execute()
    result.wait()
    # Insertions into one table have one column.
    assert list(result.collect()) == [Row(-1, -1)]
    capsys.readouterr()
    result.print()


def test_explanations(streaming, capsys):
    table = numbers(streaming)
    counted = table.group_by(col("n")).select(col("n"), lit(1).count)
    assert "== Physical Plan ==" in table.explain()
    assert "sizeInBytes" in table.explain(ExplainDetail.ESTIMATED_COST)
    assert "changelogMode=[I]" in table.explain(ExplainDetail.CHANGELOG_MODE)
    assert "changelogMode=[I,UB,UA,D]" in counted.explain(ExplainDetail.CHANGELOG_MODE)
    table.print_explain()
    assert "Window" in counted.explain()


def test_what_is_not_supported_says_why():
    """Each member that is declared unsupported raises its reason."""
    from pyflow.table import StatementSet, Table, TablePipeline

    found = []
    for owner in (TableEnvironment, StreamTableEnvironment, Table, StatementSet, TablePipeline):
        for name, member in vars(owner).items():
            reason = getattr(member, "__unsupported__", None)
            if reason is not None:
                with pytest.raises(TableException) as raised:
                    member(None)
                assert reason in str(raised.value)
                found.append(name)
    assert {"create_model", "load_plan", "compile_plan"} <= {*found}


def test_dependencies(batch, tmp_path):
    package = tmp_path / "directory"
    package.mkdir()
    (package / "lent_module.py").write_text("VALUE = 41\n")
    batch.add_python_file(str(package))

    def value(n):
        import lent_module

        return lent_module.VALUE + n

    table = numbers(batch).select(udf(value, result_type=DataTypes.BIGINT())(col("n")))
    assert rows(table) == [Row(41), Row(42), Row(43)]
    with pytest.raises(TableException, match="there is no file"):
        batch.add_python_file(str(tmp_path / "nothing.py"))
    with pytest.raises(TableException, match="there is no file"):
        batch.add_python_archive(str(tmp_path / "nothing.zip"))


def test_watermarks_and_computed_columns(streaming, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("1,2024-01-01 00:00:01\n2,2024-01-01 00:00:07\n3,2024-01-01 00:00:02\n")
    schema = (
        Schema.new_builder()
        .column("n", DataTypes.BIGINT())
        .column("ts", DataTypes.TIMESTAMP(3))
        .column_by_expression("twice", col("n") * 2)
        .watermark("ts", "ts - INTERVAL '5' SECOND")
        .build()
    )
    from pyflow.table.window import Tumble

    descriptor = (
        TableDescriptor.for_connector("filesystem")
        .schema(schema)
        .format("csv")
        .option("path", str(path))
        .build()
    )
    table = streaming.from_descriptor(descriptor)
    window = Tumble.over(lit(5).seconds).on(col("ts")).alias("w")
    counted = table.window(window).group_by(col("w")).select(col("w").start, col("twice").sum)
    assert [row[1] for row in rows(counted)] == [8, 4]
    sorted_by_time = table.order_by(col("ts")).select(col("n"))
    assert [row[0] for row in rows(sorted_by_time)] == [1, 3, 2]


@pytest.mark.parametrize(
    ("watermark", "message"),
    [
        (("n", "n"), "must be a column of type TIMESTAMP"),
        (("ts", "ts + 1"), "expected the column, or the column minus an interval"),
    ],
)
def test_watermarks_that_are_not_supported(streaming, watermark, message):
    schema = Schema.new_builder().column("n", "BIGINT").column("ts", "TIMESTAMP(3)")
    descriptor = (
        TableDescriptor.for_connector("datagen")
        .schema(schema.watermark(*watermark).build())
        .option("number-of-rows", "1")
        .build()
    )
    with pytest.raises(TableException, match=message):
        streaming.from_descriptor(descriptor)


def test_no_elements_are_an_empty_table(t_env):
    row_type = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())])

    assert list(t_env.from_elements([], row_type).execute().collect()) == []
    assert len(t_env.from_elements([], row_type).to_pandas()) == 0
