"""INSERT jobs that are started again with other queries, or from a checkpoint elsewhere."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

import pytest

from pyflow.common import Configuration, Types, WatermarkStrategy
from pyflow.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflow.datastream.state import ValueStateDescriptor
from pyflow.datastream.testing import TestStream
from pyflow.streaming.jobs.query_manifest import _continues
from pyflow.table import StreamTableEnvironment
from pyflow.util.exceptions import TableException

ANOTHER = "is of another query"


class Job:
    """A job that writes to the standard output, until it has read all that there is."""

    def __init__(self, environment, spark, folder, capsys):
        self.environment, self.spark, self.folder, self.capsys = environment, spark, folder, capsys
        self.checkpoints = folder / "checkpoints"
        self.files = 0

    def add(self, name, *lines):
        (self.folder / name).mkdir(exist_ok=True)
        self.files += 1
        (self.folder / name / f"{self.files}.csv").write_text("".join(f"{x}\n" for x in lines))

    def run(self, *queries, **settings):
        t_env = self.environment(execution_checkpointing_dir=self.checkpoints.as_uri(), **settings)
        for name in ("a", "b"):
            (self.folder / name).mkdir(exist_ok=True)
            t_env.execute_sql(
                f"CREATE TABLE {name} (k STRING, v BIGINT) WITH ('connector' = 'filesystem', "
                f"'path' = '{(self.folder / name).as_uri()}', 'format' = 'csv', "
                "'source.monitor-interval' = '1 s')"
            )
        statements = t_env.create_statement_set()
        for number, query in enumerate(queries):
            t_env.execute_sql(
                f"CREATE TABLE found{number} (k STRING, v BIGINT) WITH ('connector' = 'print')"
            )
            statements.add_insert_sql(f"INSERT INTO found{number} {query}")
        client = statements.execute().get_job_client()
        try:
            active = self.spark.streams.active
            if not active:  # It has failed meanwhile.
                client.get_job_execution_result().result()
            for query in active:
                query.processAllAvailable()
        finally:
            client.cancel().result()
            for number, _ in enumerate(queries):
                t_env.execute_sql(f"DROP TABLE found{number}")
        return sorted(self.capsys.readouterr().out.splitlines())


@pytest.fixture
def job(environment, spark, tmp_path, capsys):
    yield Job(environment, spark, tmp_path, capsys)
    for query in spark.streams.active:
        query.stop()


def contents(directory):
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


BOTH = "SELECT * FROM a UNION ALL SELECT * FROM b"
SUMS = "SELECT k, SUM(v) FROM a GROUP BY k"


@pytest.mark.complete("DISTINCT", "a-SELECT * FROM b", "SELECT k, v FROM")
@pytest.mark.parametrize(
    ("query", "changed"),
    [
        (BOTH, "SELECT * FROM b UNION ALL SELECT * FROM a"),
        ("SELECT * FROM a", "SELECT * FROM b"),
        (SUMS, "SELECT k, SUM(v) FROM a GROUP BY k, v"),
        (SUMS, "SELECT k, v FROM a"),
        (SUMS, "SELECT DISTINCT k, v FROM a"),
    ],
)
def test_a_query_of_other_sources_or_operators_is_refused(job, query, changed):
    job.add("a", "x,1")
    job.add("b", "y,2")
    first = job.run(query)
    assert first
    before = contents(job.checkpoints)
    with pytest.raises(TableException, match=ANOTHER):
        job.run(changed)
    assert contents(job.checkpoints) == before
    # The query before goes on.
    assert job.run(query) == []
    job.add("a", "x,10")
    assert job.run(query) == (["+U[x, 11]", "-U[x, 1]"] if query == SUMS else ["+I[x, 10]"])
    # Another job has a checkpoint of its own.
    assert job.run(changed, pipeline_name="another")


def test_what_a_query_computes_of_rows_may_change(job):
    job.add("a", "x,1", "y,2")
    assert job.run("SELECT k, SUM(v) FROM a WHERE v < 2 GROUP BY k") == ["+I[x, 1]"]
    job.add("a", "x,3", "z,2")
    found = job.run("SELECT k, SUM(v) FROM a WHERE v < 4 GROUP BY k")
    assert found == ["+I[z, 2]", "+U[x, 4]", "-U[x, 1]"]


def test_a_query_that_committed_nothing_leaves_the_checkpoint_to_another(job):
    job.add("a", "x,1")
    with pytest.raises(Exception, match="by zero"):
        job.run("SELECT k, v / (v - v) FROM a")
    assert job.run(SUMS) == ["+I[x, 1]"]


def test_a_query_that_never_committed_does_not_take_the_place_of_the_one_before(job):
    job.add("a", "x,1")
    assert job.run(SUMS) == ["+I[x, 1]"]
    # As versions had it that described no queries.
    next(job.checkpoints.rglob("pyflow-manifest.json")).unlink()
    job.add("a", "x,2")
    with pytest.raises(Exception, match="by zero"):
        job.run("SELECT k, SUM(v / (v - v)) FROM a GROUP BY k")
    with pytest.raises(Exception, match="by zero"):
        job.run("SELECT k, SUM(v / (v - v)) FROM a GROUP BY k")
    assert job.run(SUMS) == ["+U[x, 3]", "-U[x, 1]"]


@pytest.mark.complete
def test_a_job_over_a_stream_with_bounded_and_unbounded_sources_goes_on(
    environment, spark, tmp_path, capsys
):
    environment()
    stream = TestStream(Types.LONG()).add_elements([1])

    def run(name):
        configuration = Configuration()
        configuration.set_string("python.execution-mode", "thread")
        configuration.set_string("execution.checkpointing.dir", tmp_path.as_uri())
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        t_env = StreamTableEnvironment.create(env)
        numbers = env.from_source(stream, WatermarkStrategy.no_watermarks(), "numbers")
        both = numbers.union(env.from_collection([10], Types.LONG()))
        keyed = both.key_by(lambda value: 0, Types.LONG()).process(Sum(), Types.LONG())
        t_env.create_temporary_view("sums", t_env.from_data_stream(keyed.name(name)))
        t_env.execute_sql("CREATE TABLE found (v BIGINT) WITH ('connector' = 'print')")
        client = t_env.execute_sql("INSERT INTO found SELECT * FROM sums").get_job_client()
        try:
            for query in spark.streams.active:
                query.processAllAvailable()
        finally:
            client.cancel().result()
        return capsys.readouterr().out.split()

    assert "+I[11]" in run("one name")
    stream.add_elements([100])
    assert run("another name")


def test_a_checkpoint_is_moved(job):
    job.add("a", "x,1")
    assert job.run(SUMS) == ["+I[x, 1]"]
    moved = job.folder / "moved"
    shutil.move(job.checkpoints, moved)
    job.checkpoints = moved
    job.add("a", "x,2")
    assert job.run(SUMS) == ["+U[x, 3]", "-U[x, 1]"]


def test_two_jobs_of_one_checkpoint_under_two_names_of_queries_are_refused(
    job, environment, tmp_path
):
    t_env = environment(
        execution_checkpointing_dir=job.checkpoints.as_uri(), pipeline_name="one name"
    )
    job.add("a", "x,1")
    schema = "(k STRING, v BIGINT)"
    source = f"'path' = '{(tmp_path / 'a').as_uri()}', 'source.monitor-interval' = '1 s'"
    target = f"'path' = '{(tmp_path / 'target').as_uri()}'"
    files = "'connector' = 'filesystem', 'format' = 'csv'"
    t_env.execute_sql(f"CREATE TABLE a {schema} WITH ({files}, {source})")
    t_env.execute_sql(f"CREATE TABLE lines {schema} WITH ({files}, {target})")
    t_env.execute_sql(f"CREATE TABLE printed {schema} WITH ('connector' = 'print')")
    statements = t_env.create_statement_set()
    for sink in ("lines", "printed"):
        statements.add_insert_sql(f"INSERT INTO {sink} SELECT * FROM a")
    client = statements.execute().get_job_client()
    try:
        with pytest.raises(TableException, match="A job runs whose checkpoint is"):
            t_env.execute_sql("INSERT INTO printed SELECT * FROM a")
        assert client.get_job_status().result().name == "RUNNING"
    finally:
        client.cancel().result()


@pytest.mark.parametrize(
    ("before", "now", "goes_on"),
    [
        ("subscribe a", "subscribe a", True),
        ("subscribe a,b", "subscribe c,b,a", True),
        ("subscribe a,b", "subscribe a", False),
        ("path /a", "path /a,b", False),
    ],
)
def test_a_topic_may_be_added(before, now, goes_on):
    assert _continues(["kafka", before], ["kafka", now]) is goes_on


class Sum(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value)
        yield self.sum.value()


def test_a_program_with_tables_starts_from_a_savepoint(environment, tmp_path, capsys):
    environment()
    stream = TestStream(Types.LONG())

    def start(directory, **settings):
        configuration = Configuration()
        configuration.set_string("python.execution-mode", "thread")
        configuration.set_string("execution.checkpointing.dir", (tmp_path / directory).as_uri())
        for key, value in settings.items():
            configuration.set_string(key.replace("_", "."), value)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        StreamTableEnvironment.create(env)
        numbers = env.set_parallelism(1).from_source(
            stream, WatermarkStrategy.no_watermarks(), "numbers"
        )
        sums = numbers.key_by(lambda value: 0, Types.LONG()).process(Sum(), Types.LONG())
        sums.uid("sums").print()
        client = env.execute_async(str(uuid.uuid4()))
        client.get_job_execution_result().result()
        return client

    stream.add_elements([1])
    path = start("first").stop_with_savepoint(False, (tmp_path / "saved").as_uri()).result()
    stream.add_elements([2])
    start("second", execution_savepoint_path=path)
    assert capsys.readouterr().out.split() == ["1", "3"]
    assert Path(tmp_path / "second" / "0").is_dir()


def test_bounded_sources_that_a_job_of_tables_reads_again_are_warned_of(
    environment, tmp_path, caplog
):
    environment()
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.dir", tmp_path.as_uri())
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    t_env = StreamTableEnvironment.create(env)
    nothing = WatermarkStrategy.no_watermarks()
    numbers = env.from_source(TestStream(Types.LONG()), nothing, "numbers")
    t_env.from_data_stream(numbers)
    assert "reads the bounded ones again" not in caplog.text
    t_env.from_data_stream(numbers.union(env.from_collection([1], Types.LONG())))
    assert "reads the bounded ones again when it resumes" in caplog.text
