"""What the APIs share beside values: jobs, settings of execution, descriptions, refusals."""

from __future__ import annotations

import copy
import datetime
import pickle
from concurrent.futures import Future

import pytest

import pyflow.common
import pyflow.table
from pyflow.common import (
    CompletableFuture,
    ConfigOptions,
    Configuration,
    Duration,
    Encoder,
    ExecutionConfig,
    JobClient,
    JobExecutionResult,
    JobID,
    JobStatus,
    RestartStrategies,
    RowKind,
    SimpleStringSchema,
    Types,
    TypeSerializer,
    WatermarkStrategy,
)
from pyflow.common.configuration import map_of, map_text
from pyflow.common.io import InputFormat
from pyflow.common.serialization import RowFieldExtractorSchema
from pyflow.common.typeinfo import ExternalTypeInfo, LocalTimeTypeInfo
from pyflow.common.watermark_strategy import (
    AssignerWithPeriodicWatermarksWrapper,
    TimestampAssigner,
)
from pyflow.table.catalog import Catalog, HiveCatalog, JdbcCatalog
from pyflow.table.changelog_mode import ChangelogMode
from pyflow.table.compiled_plan import CompiledPlan
from pyflow.table.model_descriptor import ModelDescriptor
from pyflow.table.module import HiveModule
from pyflow.table.plan_reference import PlanReference
from pyflow.table.types import from_spark, to_spark
from pyflow.util.exceptions import JavaException, TableException
from pyflow.util.unsupported import unsupported


def test_packages_import_nothing_before_it_is_asked_for(tmp_path):
    import subprocess
    import sys

    program = (
        "import sys, pyflow.common, pyflow.table, pyflow.common.types, pyflow.table.types\n"
        "assert pyflow.table.Row is pyflow.common.Row\n"
        "heavy = {'pyspark', 'numpy', 'pandas', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("package", [pyflow.common, pyflow.table])
def test_unknown_names_are_an_error(package):
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = package.Nothing
    assert set(package.__all__) <= set(dir(package))


@unsupported("there is no sea")
class Ship:
    def __init__(self, name):
        self.name = name

    def sail(self):
        return self.name

    @staticmethod
    def build():
        return Ship("a")

    class Cabin:
        def enter(self):
            return self


def test_what_is_unsupported_says_so():
    for call in (lambda: Ship("a"), Ship.build, lambda: Ship.sail(None), Ship.Cabin):
        with pytest.raises(TableException, match="is not supported: there is no sea"):
            call()
    assert {Ship.__unsupported__, Ship.build.__unsupported__, Ship.sail.__unsupported__} == {
        "there is no sea"
    }


@pytest.mark.parametrize(
    "call",
    [
        RowKind.INSERT.to_j_row_kind,
        Types.INT().get_java_type_info,
        lambda: InputFormat(None),
        lambda: AssignerWithPeriodicWatermarksWrapper(None),
        lambda: CompiledPlan(None, None),
        HiveModule,
        lambda: HiveCatalog("hive"),
        lambda: JdbcCatalog("jdbc", "d", "u", "p", "jdbc:x"),
        lambda: Catalog.list_procedures(None, "d"),
    ],
)
def test_java_objects_of_flink_are_unsupported(call):
    with pytest.raises(TableException, match="is not supported"):
        call()


def test_errors_carry_their_message():
    error = pickle.loads(pickle.dumps(TableException("x is wrong")))

    assert isinstance(error, JavaException)
    assert (str(error), error.stack_trace) == ("x is wrong", "x is wrong")


def job():
    result: Future[JobExecutionResult] = Future()
    return JobClient(JobID(), result, result.cancel), result


def test_jobs_are_running_until_they_have_a_result():
    client, result = job()
    later = client.get_job_execution_result()
    assert client.get_job_status().result() is JobStatus.RUNNING
    assert not later.done()
    assert later.exception() is None

    result.set_result(JobExecutionResult(client.get_job_id(), 12, {"rows": 3}))

    assert client.get_job_status().result() is JobStatus.FINISHED
    assert later.done()
    assert later.result().get_net_runtime() == 12
    assert later.result().get_accumulator_result("rows") == 3
    assert later.result().get_all_accumulator_results() == {"rows": 3}
    assert client.get_accumulators().result() == {"rows": 3}
    assert str(later.result().get_job_id()) == str(client.get_job_id())
    assert str(client.get_job_id()) in str(later.result())
    assert client.get_job_id() != JobID()


def test_jobs_fail_and_are_cancelled():
    client, result = job()
    result.set_exception(ValueError("no"))
    assert client.get_job_status().result() is JobStatus.FAILED
    assert isinstance(client.get_job_execution_result().exception(), ValueError)

    client, result = job()
    ended = client.cancel()
    assert ended.done()
    assert client.get_job_status().result() is JobStatus.CANCELED
    assert client.get_job_execution_result().cancelled()


def test_jobs_have_no_savepoints():
    client, _ = job()
    for call in (client.trigger_savepoint, lambda: client.stop_with_savepoint(True)):
        with pytest.raises(TableException, match=r"checkpoint"):
            call()


def test_futures_convert_results():
    future: Future[int] = Future()
    text = CompletableFuture(future, str)
    assert text.cancel()
    assert text.cancelled()
    assert CompletableFuture.completed(3).result() == 3
    assert "finished" in str(CompletableFuture.completed(3))


def test_execution_settings_are_settings():
    configuration = Configuration()
    config = ExecutionConfig(configuration)
    assert config.get_parallelism() == ExecutionConfig.PARALLELISM_DEFAULT
    assert config.is_closure_cleaner_enabled()
    assert config.has_auto_generated_uids_enabled()
    assert config.get_auto_watermark_interval() == 200
    assert config.get_task_cancellation_interval() == 30_000
    assert config.get_task_cancellation_timeout() == 180_000
    assert config.get_latency_tracking_interval() == 0
    assert config.get_max_parallelism() == -1

    config.set_parallelism(3).set_max_parallelism(9).set_auto_watermark_interval(100)
    config.set_parallelism(ExecutionConfig.PARALLELISM_UNKNOWN)
    config.set_latency_tracking_interval(7).set_task_cancellation_interval(8)
    config.set_task_cancellation_timeout(9).set_use_snapshot_compression(True)
    config.set_global_job_parameters({"a": 1, "b": "x,y: 'z'"})
    config.disable_closure_cleaner().enable_object_reuse().disable_generic_types()
    config.enable_force_kryo().enable_force_avro().disable_auto_generated_uids()

    same = ExecutionConfig(configuration)
    assert same == config
    assert hash(same) == hash(config)
    assert (same.get_parallelism(), same.get_max_parallelism()) == (3, 9)
    assert same.get_auto_watermark_interval() == 100
    assert same.get_latency_tracking_interval() == 7
    assert same.get_task_cancellation_interval() == 8
    assert same.get_task_cancellation_timeout() == 9
    assert same.is_use_snapshot_compression()
    assert same.get_global_job_parameters() == {"a": "1", "b": "x,y: 'z'"}
    assert not same.is_closure_cleaner_enabled()
    assert same.is_object_reuse_enabled()
    assert same.has_generic_types_disabled()
    assert same.is_force_kryo_enabled()
    assert same.is_force_avro_enabled()
    assert not same.has_auto_generated_uids_enabled()
    config.enable_closure_cleaner().disable_object_reuse().enable_generic_types()
    config.disable_force_kryo().disable_force_avro().enable_auto_generated_uids()
    assert same.is_closure_cleaner_enabled()
    assert not same.is_object_reuse_enabled()
    assert not same.has_generic_types_disabled()
    assert not same.is_force_kryo_enabled()
    assert not same.is_force_avro_enabled()
    assert same.has_auto_generated_uids_enabled()
    assert same.get_default_kryo_serializer_classes() == {}
    assert same.get_registered_kryo_types() == same.get_registered_pojo_types() == []


@pytest.mark.parametrize(
    "set_wrong",
    [
        lambda config: config.set_parallelism(0),
        lambda config: config.set_max_parallelism(0),
        lambda config: config.set_auto_watermark_interval(-1),
    ],
)
def test_numbers_of_execution_are_checked(set_wrong):
    with pytest.raises(ValueError, match="must"):
        set_wrong(ExecutionConfig())


def test_settings_of_named_values():
    values = {"a": "1", "b": "x,y", "c": "it's: ok"}

    assert map_of(map_text(values)) == values
    with pytest.raises(ValueError, match="'a'"):
        map_of("a")


def test_configurations_are_copied():
    configuration = Configuration().set_string("a", "b")
    copied = copy.deepcopy(configuration)
    copied.set_string("a", "c")
    texts: dict[str, str] = {}
    configuration.add_all_to_dict(texts)

    assert texts == {"a": "b"}
    assert hash(configuration) == hash(Configuration().set_string("a", "x"))
    with pytest.raises(TypeError, match="'a' takes a str"):
        configuration.set_string("a", 5)
    with pytest.raises(ValueError, match="'a' is 'b', which is not of type int"):
        configuration.get_integer("a", 1)


def test_options_are_described():
    option = ConfigOptions.key("tmp.dir").string_type().default_value("/tmp")

    assert (option.key, option.value_type, option.default) == ("tmp.dir", "string", "/tmp")
    builder = ConfigOptions.key("n")
    kinds = [builder.boolean_type, builder.int_type, builder.long_type, builder.float_type]
    assert [kind().no_default_value().value_type for kind in (*kinds, builder.double_type)] == [
        "boolean",
        "int",
        "long",
        "float",
        "double",
    ]


@pytest.mark.parametrize(
    ("text", "millis"),
    [("5", 5), ("5 ms", 5), ("2s", 2000), ("3 min", 180_000), ("1 d", 86_400_000), ("7000us", 7)],
)
def test_lengths_of_time_are_read(text, millis):
    assert Duration.parse(text) == Duration.of_millis(millis)
    assert Duration.parse(str(Duration.parse(text))) == Duration.of_millis(millis)


@pytest.mark.parametrize("text", ["", "s", "1 week", "-1 s", "1.5 s"])
def test_other_lengths_of_time_are_an_error(text):
    with pytest.raises(ValueError, match="no length of time"):
        Duration.parse(text)


class Length(TypeSerializer[str]):
    def serialize(self, element, stream):
        stream.write(element.encode())

    def deserialize(self, stream):
        return stream.read().decode()


def test_serializers_are_equal_by_value():
    assert Length() == Length()
    assert repr(Length()) == "Length()"
    assert hash(Length()) == hash(Length())


class Assigner(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def test_watermarks_are_described():
    strategy = (
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
        .with_timestamp_assigner(Assigner())
        .with_idleness(Duration.of_minutes(1))
        .with_watermark_alignment("group", Duration.of_seconds(20))
    )

    assert strategy.max_out_of_orderness == Duration.of_seconds(5)
    assert strategy.idle_timeout == Duration.of_minutes(1)
    assert strategy.timestamp_assigner.extract_timestamp(3, -1) == 3
    assert strategy.alignment.update_interval == Duration.of_seconds(1)
    assert WatermarkStrategy.for_monotonous_timestamps().max_out_of_orderness == Duration(0)
    assert WatermarkStrategy.no_watermarks().max_out_of_orderness is None


def test_serialization_is_described():
    assert SimpleStringSchema().charset == "UTF-8"
    assert Encoder.simple_string_encoder("latin-1").charset == "latin-1"
    assert RowFieldExtractorSchema(1).field_index == 1
    with pytest.raises(LookupError):
        SimpleStringSchema("no such")
    with pytest.raises(ValueError, match="-1"):
        RowFieldExtractorSchema(-1)


def test_restart_strategies_are_described():
    fixed = RestartStrategies.fixed_delay_restart(3, 1000)

    assert fixed == RestartStrategies.fixed_delay_restart(3, datetime.timedelta(seconds=1))
    assert fixed != RestartStrategies.no_restart()
    assert fixed.get_restart_attempts() == 3
    assert fixed.get_delay_between_attempts_interval() == datetime.timedelta(seconds=1)
    rate = RestartStrategies.failure_rate_restart(1, 2, 3)
    assert rate.get_max_failure_rate() == 1
    assert rate.get_failure_interval() == datetime.timedelta(milliseconds=2)
    assert rate.get_delay_between_attempts_interval() == datetime.timedelta(milliseconds=3)
    with pytest.raises(TypeError, match="'a'"):
        RestartStrategies.fixed_delay_restart(3, "a")
    for strategy in (
        fixed,
        RestartStrategies.no_restart(),
        RestartStrategies.fall_back_restart(),
        RestartStrategies.failure_rate_restart(1, 2, 3),
    ):
        assert "estart" in strategy.get_description()
        assert hash(strategy) == hash(copy.copy(strategy))


@pytest.mark.parametrize(
    ("type_info", "expected"),
    [
        (Types.STRING(), "STRING"),
        (Types.BYTE(), "TINYINT"),
        (Types.BOOLEAN(), "BOOLEAN"),
        (Types.SHORT(), "SMALLINT"),
        (Types.INT(), "INT"),
        (Types.LONG(), "BIGINT"),
        (Types.FLOAT(), "FLOAT"),
        (Types.DOUBLE(), "DOUBLE"),
        (Types.BIG_INT(), "DECIMAL(38, 0)"),
        (Types.BIG_DEC(), "DECIMAL(38, 18)"),
        (Types.SQL_DATE(), "DATE"),
        (Types.SQL_TIME(), "TIME(0)"),
        (Types.INSTANT(), "TIMESTAMP_LTZ(6)"),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), "BYTES"),
        (Types.PRIMITIVE_ARRAY(Types.INT()), "ARRAY<INT NOT NULL>"),
        (Types.BASIC_ARRAY(Types.INT()), "ARRAY<INT>"),
        (Types.OBJECT_ARRAY(Types.STRING()), "ARRAY<STRING>"),
        (Types.LIST(Types.LONG()), "ARRAY<BIGINT>"),
        (Types.MAP(Types.STRING(), Types.LONG()), "MAP<STRING, BIGINT>"),
        (Types.TUPLE([Types.INT(), Types.STRING()]), "ROW<`f0` INT, `f1` STRING>"),
        (Types.ROW_NAMED(["a"], [Types.ROW([Types.INT()])]), "ROW<`a` ROW<`f0` INT>>"),
        (Types.PICKLED_BYTE_ARRAY(), "RAW"),
        (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME), "TIMESTAMP(6)"),
        (ExternalTypeInfo(Types.INT()), "INT"),
    ],
    ids=str,
)
def test_types_of_streams_are_types_of_tables(type_info, expected):
    data_type = type_info.data_type()

    assert data_type.sql == expected
    assert to_spark(from_spark(to_spark(data_type))) == to_spark(data_type)


def test_changelogs_have_kinds():
    assert ChangelogMode.insert_only().kinds == {RowKind.INSERT}
    assert RowKind.UPDATE_BEFORE not in ChangelogMode.upsert().kinds
    assert ChangelogMode.all().kinds == set(RowKind)


def test_plans_and_models_are_described(tmp_path):
    assert PlanReference.from_file(tmp_path / "plan").get_file() == tmp_path / "plan"
    assert PlanReference.from_json_string("{}") == PlanReference.from_json_string("{}")
    assert PlanReference.from_smile_bytes(b"x").get_content() == b"x"
    model = ModelDescriptor.for_provider("x").comment("c").build()
    assert model.get_comment() == "c"
    assert model.get_input_schema() is model.get_output_schema() is None
