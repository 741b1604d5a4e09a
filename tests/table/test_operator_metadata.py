"""The state of operators in Spark's plans: without it Spark asks a worker for what they keep."""

from __future__ import annotations

import json

import pytest

import job_runs
from pyflow.common import Types, WatermarkStrategy
from pyflow.datastream import KeyedProcessFunction
from pyflow.datastream.testing import TestStream
from pyflow.streaming.plan import operator_metadata
from sessions import logged
from stateful_jobs import JOBS

#: The class that asks such a worker, and what it logs in the end.
RUNNER = (
    "org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkPythonPreInitRunner"
)
ENDED = "closing the state server socket"


@pytest.fixture
def asked(spark):
    """Counts how often Spark has asked a worker since."""
    jvm = spark._jvm
    levels = jvm.org.apache.logging.log4j.Level
    configurator = jvm.org.apache.logging.log4j.core.config.Configurator
    with logged(spark) as text:
        configurator.setLevel(RUNNER, levels.INFO)
        yield lambda: text.toString().count(ENDED)
        context = jvm.org.apache.logging.log4j.LogManager.getContext(False)
        context.getConfiguration().removeLogger(RUNNER)
        context.updateLoggers()


def schemas(folder):
    """The state variables of each operator of a checkpoint, and the files of their schemas.

    Spark's own operators, as of windows, have another metadata.
    """
    found = {}
    for directory in sorted((folder / job_runs.CHECKPOINT).glob("state/*/_metadata/v2")):
        operator = directory.parent.parent
        metadata = (directory / "0").read_text()
        properties = json.loads(json.loads(metadata.split("\n", 1)[1])["operatorPropertiesJson"])
        files = [each for each in (operator / "_stateSchema").rglob("*") if each.is_file()]
        contents = [each.read_bytes() for each in files if not each.name.endswith(".crc")]
        variables = sorted(map(str, properties.pop("stateVariables")))
        found[operator.name] = (properties, variables, contents)
    return found


#: Timers of a clock end the others' windows.
NAMES = [name for name, job in JOBS.items() if not job.by_clock]


@pytest.mark.complete
@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=() if each == "slice" else pytest.mark.complete) for each in NAMES],
)
def test_state_is_what_a_worker_says_it_is(environment, tmp_path, monkeypatch, asked, name):
    job = JOBS[name]
    for folder in ("known", "asked"):
        (tmp_path / folder).mkdir()
    job_runs.run(environment(), job, tmp_path / "known", [job.recorded])
    assert asked() == 0
    monkeypatch.setattr(operator_metadata, "_STATE", "unknown")
    job_runs.run(environment(), job, tmp_path / "asked", [job.recorded])
    assert asked() > 0

    known = schemas(tmp_path / "known")

    assert len(known) == asked()
    assert known == schemas(tmp_path / "asked")
    assert any(variables for _, variables, _ in known.values())


class Keys(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.get_current_key()


@pytest.mark.parametrize("mode", ["thread", "process"])
def test_stages_of_data_streams_ask_no_worker(spark, asked, mode):
    from pyflow.common import Configuration
    from pyflow.datastream import StreamExecutionEnvironment

    configuration = Configuration()
    configuration.set_string("python.execution-mode", mode)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    source = TestStream(Types.LONG()).add_elements([1, 2]).add_elements([3])
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    with stream.key_by(lambda value: value).process(Keys()).execute_and_collect() as keys:
        assert sorted(keys) == [1, 2, 3]

    assert asked() == 0
