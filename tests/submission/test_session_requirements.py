"""Packages that programs require for their functions with ``set_python_requirements``."""

from __future__ import annotations

import os
import re
import uuid

import pandas as pd
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row
from pyspark.sql.functions import udf as pyspark_udf
from pyspark.sql.functions import udtf
from pyspark.sql.streaming import StatefulProcessor
from submitted import PROGRAMS, User, write_wheel

from comparison import MODE, operator, settings
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.table import EnvironmentSettings, TableEnvironment
from pyflow.table.udf import udf
from pyflow.util.exceptions import TableException


@pytest.fixture
def session(spark):
    """The shared session, without what table environments set and require afterwards."""
    before = spark.conf.getAll
    includes = spark.sparkContext._python_includes
    included = list(includes)
    yield spark
    includes[:] = included
    for key in spark.conf.getAll.keys() - before.keys():
        spark.conf.unset(key)
    for key, value in before.items():
        if spark.conf.get(key) != value:
            spark.conf.set(key, value)


@pytest.fixture
def require(tmp_path, monkeypatch):
    """Gives an environment packages of a directory of wheels, offline."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    wheels = tmp_path / "wheels"
    wheels.mkdir()

    def make(environment, text, **packages):
        for name, module in packages.items():
            write_wheel(wheels, name, "1.5", **{name: module})
        (tmp_path / "requirements.txt").write_text(text)
        environment.set_python_requirements(str(tmp_path / "requirements.txt"), str(wheels))

    return make


@pytest.mark.parametrize("mode", ["thread", "process"])
def test_functions_of_both_apis_find_them(session, require, mode, capsys):
    with settings(session, {MODE: mode}):
        t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        name = f"required_by_{mode}"
        require(t_env, f"{name}>=1\n", **{name: "VALUE = 42\n"})

        def required(_):
            return __import__(name).VALUE

        t_env.create_temporary_system_function("required", udf(required, result_type="BIGINT"))
        rows = t_env.execute_sql("SELECT required(x) FROM (VALUES (1)) AS t(x)").collect()
        assert [row[0] for row in rows] == [42]
        assert f"Requirements of requirements.txt: {name}==1.5 in " in capsys.readouterr().err
        env = StreamExecutionEnvironment.get_execution_environment()
        with env.from_collection([1]).map(required).execute_and_collect() as found:
            assert list(found) == [42]


@pytest.fixture
def other_version(session, require):
    """A table environment whose functions require a package that the executor has another of."""
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("python.execution-mode", "thread")
    require(t_env, "py4j==1.5\n", py4j="VALUE = 42\n")
    return t_env


def process_of(x):
    return os.getpid()


@pytest.mark.parametrize("kind", ["general", "pandas"])
def test_functions_go_to_workers_where_another_version_is_loaded(other_version, session, kind):
    function = {
        "general": udf(process_of, result_type="BIGINT"),
        "pandas": udf(lambda x: x * 0 + os.getpid(), result_type="BIGINT", func_type="pandas"),
    }[kind]
    other_version.create_temporary_system_function("process_of", function)
    jvm = session._jvm.java.lang.ProcessHandle.current().pid()

    rows = other_version.execute_sql("SELECT process_of(x) FROM (VALUES (1)) AS t(x)").collect()

    ((process,),) = [tuple(row) for row in rows]
    assert process != jvm


def test_where_no_worker_may_run_them_they_fail_with_both_versions(other_version, session):
    other_version.create_temporary_system_function(
        "process_of", udf(process_of, result_type="BIGINT")
    )
    query = "SELECT process_of(x) FROM (VALUES (1)) AS t(x)"
    said = (
        r"process_of cannot run in thread mode any more: its requirements have py4j 1\.5, and this "
        r"executor has loaded py4j 0\..*spark\.pyflow\.fallback"
    )
    with (
        settings(session, {"spark.pyflow.fallback": "false"}),
        pytest.raises(Exception, match=said),
    ):
        other_version.execute_sql(query).print()


def test_workers_get_the_rows_of_batches_from_the_first_on(other_version, session, tmp_path):
    session.range(100, numPartitions=1).write.parquet(str(tmp_path / "numbers"))
    numbers = session.read.parquet(str(tmp_path / "numbers"))
    plus = pyspark_udf(lambda n: n + 1, "long", useArrow=True)

    with settings(session, {MODE: "thread"}):
        rows = numbers.select(plus("id")).collect()

    assert sorted(row[0] for row in rows) == [*range(1, 101)]


def test_rows_of_a_table_function_in_workers_are_counted(other_version, session):
    @udtf(returnType="n int, process long", useArrow=False)
    class Twice:
        def eval(self, n):
            for _ in range(2):
                yield n, os.getpid()

    with settings(session, {MODE: "thread"}):
        session.udtf.register("twice", Twice)
        frame = session.sql("SELECT t.* FROM range(3), LATERAL twice(CAST(id AS INT)) AS t")
        rows = frame.collect()
        plan = frame._jdf.queryExecution().executedPlan()
        metrics = operator(plan, "ThreadEvalPythonUDTF").metrics()

    assert sorted(row.n for row in rows) == [0, 0, 1, 1, 2, 2]
    assert {row.process for row in rows}.isdisjoint({os.getpid()})
    jvm = session._jvm.java.lang.ProcessHandle.current().pid()
    assert jvm not in {row.process for row in rows}
    assert metrics.apply("numOutputRows").value() == 6


@pytest.fixture
def numbers(other_version, session, tmp_path):
    """A stream of the numbers from 0 to 9, in two files, and where its checkpoint is to be."""
    session.range(10, numPartitions=2).write.parquet(str(tmp_path / "numbers"))
    stream = session.readStream.schema("id BIGINT").parquet(str(tmp_path / "numbers"))
    with settings(session, {MODE: "thread", "spark.sql.shuffle.partitions": "2"}):
        yield stream, str(tmp_path / "checkpoint")


def run(writer, checkpoint):
    writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    writer.start().awaitTermination()


class Noting:
    """Writes the process and the value of each row, into a file for each process."""

    def __init__(self, folder):
        self.folder = folder

    def process(self, row):
        with open(f"{self.folder}/{os.getpid()}", "a") as file:
            file.write(f"{row.id}\n")


def test_a_writer_for_each_row_goes_to_workers(numbers, session, tmp_path):
    stream, checkpoint = numbers
    noted = tmp_path / "noted"
    noted.mkdir()
    jvm = session._jvm.java.lang.ProcessHandle.current().pid()

    run(stream.writeStream.foreach(Noting(str(noted))), checkpoint)

    assert sorted(int(each) for file in noted.iterdir() for each in file.read_text().split()) == [
        *range(10)
    ]
    assert str(jvm) not in {file.name for file in noted.iterdir()}


def test_functions_with_state_go_to_workers(numbers, session):
    stream, checkpoint = numbers
    jvm = session._jvm.java.lang.ProcessHandle.current().pid()
    name = f"counted_{uuid.uuid4().hex}"

    def count(key, frames, state):
        rows = sum(map(len, frames))
        yield pd.DataFrame({"key": [key[0]], "n": [rows], "process": [os.getpid()]})

    counted = stream.groupBy("id").applyInPandasWithState(
        count, "key BIGINT, n BIGINT, process BIGINT", "n BIGINT", "update", "NoTimeout"
    )
    run(counted.writeStream.format("memory").queryName(name).outputMode("update"), checkpoint)

    rows = session.table(name).collect()
    assert sorted((row.key, row.n) for row in rows) == [(key, 1) for key in range(10)]
    assert jvm not in {row.process for row in rows}


class Counting(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "n BIGINT")

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803
        yield Row(key=key[0], n=sum(1 for _ in rows))

    def close(self):
        pass


def test_processors_fail_with_both_versions(numbers, session):
    stream, checkpoint = numbers
    name = f"counted_{uuid.uuid4().hex}"
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    counted = stream.groupBy("id").transformWithState(
        Counting(), "key BIGINT, n BIGINT", "Update", "None"
    )
    said = r"its requirements have py4j 1\.5, and this executor has loaded py4j 0\."
    with (
        settings(session, {"spark.sql.streaming.stateStore.providerClass": provider}),
        pytest.raises(StreamingQueryException, match=said),
    ):
        run(counted.writeStream.format("memory").queryName(name).outputMode("update"), checkpoint)


class Loaded:
    """A function that notes in a file that it has been loaded."""

    def __init__(self, file):
        self.file = file

    def __call__(self, x):
        return x

    def __setstate__(self, state):
        self.__dict__.update(state)
        with open(self.file, "a") as file:
            file.write("loaded\n")


def test_tasks_without_rows_do_not_load_them(session, require, tmp_path):
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    require(t_env, "needless\n", needless="VALUE = 42\n")
    function = pyspark_udf(Loaded(str(tmp_path / "loaded")), "long")

    with settings(session, {MODE: "thread"}):
        rows = session.range(1, numPartitions=2).select(function("id")).collect()

    assert rows == [(0,)]
    assert (tmp_path / "loaded").read_text() == "loaded\n"


def test_what_cannot_be_resolved_is_named_and_costs_no_executor(session, require):
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())

    with pytest.raises(TableException, match=r"cannot be installed:\n(.*\n)*.*absent"):
        require(t_env, "absent\n")

    assert session.range(1).count() == 1


def test_files_that_are_not_there(session):
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())

    with pytest.raises(TableException, match=r"there is no file or directory 'none\.txt'"):
        t_env.set_python_requirements("none.txt")


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
def test_executors_of_a_cluster_have_them(tmp_path, standalone, mode):
    user = User(tmp_path)
    (tmp_path / "wheels").mkdir()
    write_wheel(tmp_path / "wheels", "required", "1.5", required="VALUE = 42\n")
    (tmp_path / "requirements.txt").write_text("required\n")
    flags = ("-D", f"python.execution-mode={mode}", "-py", str(PROGRAMS / "required_packages.py"))

    done = user.ran(standalone, *flags)

    assert done.returncode == 0, done.stdout[-4000:]
    directory = r"pyflow-requirements-\w{32}"
    assert re.search(rf"FOUND \[\(42, '\S+/app-\S+/\d/{directory}'\)", done.stdout)
    user.end_all()
