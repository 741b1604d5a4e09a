"""Every ``python.*`` setting of Flink 2.3 does what it says, or its meaning names what to use."""

from __future__ import annotations

import pytest

from pyflow.session.options import SETTINGS, Effect, check, find, of_spark
from pyflow.util.exceptions import TableException

# Of org.apache.flink.python.PythonOptions, with a value that is not the default.
BECOMES = {
    "python.execution-mode": ("thread", {"spark.pyflow.execution-mode": "thread"}),
    "python.executable": ("/env/bin/python", {"spark.pyspark.python": "/env/bin/python"}),
    "python.pythonpath": ("/a:/b", {"spark.executorEnv.PYTHONPATH": "/a:/b"}),
    "python.fn-execution.bundle.size": ("5", {"spark.pyflow.bundle.size": "5"}),
    "python.fn-execution.bundle.time": ("5 s", {"spark.pyflow.bundle.time": "5000ms"}),
    "python.fn-execution.arrow.batch.size": (
        "5",
        {"spark.sql.execution.arrow.maxRecordsPerBatch": "5"},
    ),
    "python.profile.enabled": ("true", {"spark.sql.pyspark.udf.profiler": "perf"}),
}
READ = {
    "python.client.executable": ("python3", Effect.SUBMIT),
    "python.files": ("a.py,b.zip", Effect.FILES),
    "python.archives": ("a.zip#a", Effect.FILES),
    "python.requirements": ("requirements.txt#wheels", Effect.FILES),
    "python.metric.enabled": ("false", Effect.READ),
    "python.logging.default.level": ("DEBUG", Effect.READ),
    "python.logging.level.overrides": ("a:DEBUG,b.c:30", Effect.READ),
    "python.debug.loopback": ("true", Effect.READ),  # ours
    "pipeline.jars": ("file:///a.jar;file:///b.jar", Effect.FILES),
    "pipeline.classpaths": ("file:///a.jar", Effect.FILES),
}
# With what the meaning has to name.
WITHOUT_EFFECT = {
    "python.operator-chaining.enabled": ("false", "one pass"),
    "python.fn-execution.memory.managed": ("false", "`spark.executor.pyspark.memory`"),
    "python.state.cache-size": ("5", "Spark's state store"),
    "python.map-state.read-cache-size": ("5", "Spark's state store"),
    "python.map-state.write-cache-size": ("5", "Spark's state store"),
    "python.map-state.iterate-response-batch-size": ("5", "Spark's state store"),
    "python.job-options": ("a:b", "PyFlink's own"),
    "python.internal.files-key-map": ("a:b", "PyFlink's own"),
    "python.internal.requirements-file-key": ("a", "PyFlink's own"),
    "python.internal.archives-key-map": ("a:b", "PyFlink's own"),
    "python.loopback-server.address": ("host:1", "PyFlink's own"),
}
REFUSED = {
    "python.systemenv.enabled": ("false", "`spark.executorEnv.*`"),
}


@pytest.mark.parametrize("key", BECOMES)
def test_settings_that_become_spark_s(key):
    value, expected = BECOMES[key]

    assert of_spark(check(key, value), value) == expected


@pytest.mark.parametrize("key", READ)
def test_settings_that_are_read(key):
    value, effect = READ[key]

    assert check(key, value).effect is effect


@pytest.mark.parametrize("key", WITHOUT_EFFECT)
def test_settings_without_effect_say_why(key):
    value, reason = WITHOUT_EFFECT[key]
    setting = check(key, value)

    assert setting.effect is Effect.NONE
    assert reason in setting.meaning


@pytest.mark.parametrize("key", REFUSED)
def test_settings_that_are_refused_say_what_to_use(key):
    value, instead = REFUSED[key]

    with pytest.raises(TableException) as refused:
        check(key, value)
    assert instead in str(refused.value)


def test_no_setting_of_python_is_left_out():
    # Flink has had these before.
    former = {f"python.fn-execution.{name}.memory.size" for name in ("buffer", "framework")}
    known = {key for key in SETTINGS if key.startswith("python.")} - former
    listed = {*BECOMES, *READ, *WITHOUT_EFFECT, *REFUSED}

    assert known == {find(key).key for key in listed if key.startswith("python.")}
