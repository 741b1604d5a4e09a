"""Settings of Flink become settings of the session, or errors; docs list what becomes of each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pyflow.common import Configuration, Duration
from pyflow.session.options import SETTINGS, Effect, check, find, is_in, start_settings, value_of
from pyflow.table import EnvironmentSettings, SqlDialect, TableConfig
from pyflow.util.exceptions import TableException

PAGE = Path(__file__).parents[2] / "docs" / "table-api" / "configuration.md"
BEGIN = "<!-- written by tests/table/test_table_settings.py --write-docs -->\n"
END = "<!-- end -->"


@pytest.fixture
def session(spark):
    before = spark.conf.getAll
    yield spark
    for key, value in spark.conf.getAll.items():
        if key not in before:
            spark.conf.unset(key)
        elif value != before[key]:
            spark.conf.set(key, before[key])


@pytest.mark.parametrize(
    ("key", "value", "spark_key", "expected"),
    [
        ("python.execution-mode", "thread", "spark.pyflow.execution-mode", "thread"),
        ("python.fn-execution.bundle.size", "5", "spark.pyflow.bundle.size", "5"),
        ("python.fn-execution.bundle.time", "20", "spark.pyflow.bundle.time", "20ms"),
        (
            "python.fn-execution.arrow.batch.size",
            "7",
            "spark.sql.execution.arrow.maxRecordsPerBatch",
            "7",
        ),
        ("python.profile.enabled", "true", "spark.sql.pyspark.udf.profiler", "perf"),
        ("table.local-time-zone", "Asia/Tokyo", "spark.sql.session.timeZone", "Asia/Tokyo"),
        ("table.local-time-zone", "GMT-08:00", "spark.sql.session.timeZone", "GMT-08:00"),
        ("parallelism.default", "3", "spark.sql.shuffle.partitions", "3"),
        ("table.exec.resource.default-parallelism", "4", "spark.sql.shuffle.partitions", "4"),
        (
            "table.optimizer.join.broadcast-threshold",
            "-1",
            "spark.sql.autoBroadcastJoinThreshold",
            "-1",
        ),
        ("spark.sql.ansi.enabled", "true", "spark.sql.ansi.enabled", "true"),
    ],
)
def test_a_session_follows_settings(session, key, value, spark_key, expected):
    config = TableConfig(Configuration(), session)

    config.set(key, value)

    assert session.conf.get(spark_key) == expected
    assert config.get(key, None) == value


def test_a_session_follows_settings_that_are_not_the_configs_own(session):
    given = Configuration().set_string("parallelism.default", "5")
    config = TableConfig(given, session)
    assert session.conf.get("spark.sql.shuffle.partitions") == "5"

    config.get_configuration().set_integer("parallelism.default", 6)
    assert session.conf.get("spark.sql.shuffle.partitions") == "6"

    config.add_configuration(Configuration().set_string("parallelism.default", "7"))
    assert session.conf.get("spark.sql.shuffle.partitions") == "7"

    config.set("parallelism.default", "-1")
    assert session.conf.get("spark.sql.shuffle.partitions") == "7"


def test_the_time_zone_is_the_sessions(session):
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")

    assert TableConfig(Configuration(), session).get_local_timezone() == "Europe/Berlin"


def test_modules_reach_functions(session, tmp_path):
    from pyspark.sql.functions import udf

    module = tmp_path / "module_of_settings.py"
    module.write_text("ANSWER = 42\n")

    TableConfig(Configuration().set_string("python.files", str(module)), session)

    def answer(_):
        import module_of_settings

        return module_of_settings.ANSWER

    session.conf.set("spark.pyflow.execution-mode", "process")
    assert session.range(1).select(udf(answer, "int")("id")).first()[0] == 42


def test_settings_for_the_start_come_too_late(session):
    config = TableConfig(Configuration(), session)

    with pytest.raises(TableException, match=r"'python.pythonpath' comes too late"):
        config.set("python.pythonpath", "/nowhere")
    assert config.get("python.pythonpath", None) is None


def test_the_python_of_the_session_may_be_set(session):
    import os
    import shutil

    current = session.conf.get("spark.pyspark.python", None)
    python = current or shutil.which(os.environ.get("PYSPARK_PYTHON", "python3"))
    config = TableConfig(Configuration(), session)

    config.set_python_executable(python)

    assert config.get_python_executable() == python
    with pytest.raises(TableException, match=r"spark.pyspark.python=/nowhere/python"):
        config.set_python_executable("/nowhere/python")


def test_a_session_is_started_with_settings():
    configuration = (
        Configuration()
        .set_string("python.executable", sys.executable)
        .set_boolean("execution.batch.speculative.enabled", True)
        .set_string("parallelism.default", "3")
    )

    assert start_settings(configuration) == {
        "spark.pyspark.python": sys.executable,
        "spark.speculation": "true",
    }


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ("/a:/b", True),
        ("/a<CPS>/b<CPS>{{PWD}}/pyspark.zip", True),
        ("pyflow-requirements-1:/b:/a", True),
        ("/a", False),
        (None, False),
    ],
)
def test_paths_stay_that_more_was_added_to(present, expected):
    assert is_in("spark.executorEnv.PYTHONPATH", "/a:/b", present) is expected
    assert not is_in("spark.pyspark.python", "/a:/b", f"{present}:")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("python.fn-execution.bundel.size", "5", r"Similar names: python.fn-execution.bundle.size"),
        ("nonsense", "5", "there is no setting 'nonsense'.$"),
        ("python.fn-execution.bundle.size", "0", "'0': it must be a positive whole number"),
        ("python.fn-execution.bundle.size", "a", "'a': it must be a whole number"),
        ("python.execution-mode", "fast", "it must be one of process, thread, auto"),
        ("python.metric.enabled", "yes", "it must be true or false"),
        ("table.exec.state.ttl", "1 week", "no length of time"),
        ("table.exec.sink.not-null-enforcer", "DROP", "only 'ERROR'"),
        ("table.local-time-zone", "Europe/Berln", "a zone is named as 'Europe/Berlin'"),
        ("table.dml-sync", "true", r"`wait\(\)` waits for it"),
        ("execution.state-recovery.path", "/x", "there are no savepoints"),
        ("pipeline.global-job-parameters", "a", "'a' is not of the form name:value"),
    ],
)
def test_wrong_settings_are_an_error(key, value, message):
    config = TableConfig()
    for set_it in (
        lambda: config.set(key, value),
        lambda: config.add_configuration(Configuration().set_string(key, value)),
    ):
        with pytest.raises(TableException, match=message):
            set_it()
    assert config.to_map() == {}


@pytest.mark.parametrize(
    "key",
    [
        "state.backend.rocksdb.memory.managed",
        "taskmanager.memory.process.size",
        "metrics.latency.x",
    ],
)
def test_whole_groups_have_no_effect(key):
    assert find(key).effect is Effect.NONE


def test_settings_have_types():
    configuration = Configuration().set_string("table.exec.state.ttl", "1 h")

    assert value_of(configuration, "table.exec.state.ttl") == Duration.of_hours(1)
    assert value_of(configuration, "table.exec.async-scalar.timeout") == Duration.of_minutes(3)
    assert value_of(configuration, "table.exec.mini-batch.enabled") is False
    assert value_of(configuration, "pipeline.global-job-parameters") is None


def test_defaults_and_conversions_are_sound():
    for setting in SETTINGS.values():
        if setting.default is not None:
            check(setting.key, setting.default)
        assert bool(setting.spark) == (setting.effect in (Effect.SESSION, Effect.START))


def test_modes_and_dialects():
    config = TableConfig.get_default()
    config.set_sql_dialect(SqlDialect.DEFAULT)
    with pytest.raises(TableException, match="Hive"):
        config.set_sql_dialect(SqlDialect.HIVE)
    with pytest.raises(TypeError, match="no dialect"):
        config.set_sql_dialect(7)
    with pytest.raises(TypeError, match="takes a str"):
        config.set("parallelism.default", 3)
    config.set_max_generated_code_length(5)
    assert config.get_max_generated_code_length() == 5
    with pytest.raises(TypeError, match="must be an int"):
        config.set_max_generated_code_length("5")
    batch = EnvironmentSettings.new_instance().in_batch_mode().with_built_in_catalog_name("c")
    assert batch.build().get_built_in_catalog_name() == "c"
    assert batch.build().get_configuration().get_string("execution.runtime-mode", "") == "BATCH"


def row(setting):
    effect = setting.effect.value
    if setting.spark:
        effect = f"{effect} {', '.join(f'`{key}`' for key in setting.spark)}"
    default = "" if setting.default is None else f"`{setting.default}`" if setting.default else ""
    return f"| `{setting.key}` | {default} | {effect} | {setting.meaning} |"


def test_docs_list_all_settings(request):
    rows = [row(setting) for setting in SETTINGS.values()]
    table = "\n".join(["| key | default | effect | meaning |", "| --- | --- | --- | --- |", *rows])
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text[text.index(END) :]
    expected = f"{before}{BEGIN}{table}\n{after}"

    if request.config.getoption("--write-docs"):
        PAGE.write_text(expected)
    assert PAGE.read_text() == expected, "pytest tests/table/test_table_settings.py --write-docs"
