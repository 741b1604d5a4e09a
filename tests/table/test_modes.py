"""The same table programs in thread mode and in process mode, and over Spark Connect."""

from __future__ import annotations

import json
import sys

import pytest
from pyspark import cloudpickle

import mode_cases
from deployments import PROGRAMS, run
from mode_cases import (
    CASES,
    CONNECT,
    JOB,
    PLACES,
    STREAMS,
    TABLES,
    add_rows,
    environment,
    outcome,
    place,
    register,
    start_job,
    stream_query,
)
from streams import Source, applied, changes

cloudpickle.register_pickle_by_value(mode_cases)

COMPLETE = pytest.mark.complete

#: Each program, where it runs.
RUNS = [
    pytest.param(kind, name, id=f"{name}-{kind}", marks=() if short else COMPLETE)
    for name, case in CASES.items()
    for kind in case.environments
    for short in [case.in_slice and kind == case.environments[-1]]
]


@pytest.fixture(autouse=True)
def restored(request):
    """Settings of the session that environments and these tests change are as they were."""
    request.getfixturevalue("environment")


def seen(kind, name, mode):
    return outcome(CASES[name].run, environment(kind, mode))


@pytest.mark.parametrize("mode", PLACES)
def test_functions_run_where_the_mode_says(spark, mode):
    assert place(environment("batch", mode)) == [PLACES[mode]]


@pytest.mark.parametrize(("kind", "name"), RUNS)
def test_programs_give_in_thread_mode_what_they_give_in_process_mode(spark, kind, name):
    in_process = seen(kind, name, "process")

    assert seen(kind, name, "thread") == in_process
    assert in_process.get("error") != "Py4JJavaError", "an error as no class of PySpark shows it"


# Unbounded rows


class Streams:
    """The tables that a query reads, in an environment, and the query's changes batch by batch."""

    def __init__(self, spark, folder, name):
        self._case = STREAMS[name]
        self._name = name
        self._folder = folder
        folder.mkdir()
        self._sources = {
            table: Source(spark, folder, TABLES[table].columns) for table in self._case.tables
        }

    def observe(self, modes):
        """What the query gives that is started in each of the modes in turn."""
        t_env = environment("streaming", modes[0])
        register(t_env)
        for table, source in self._sources.items():
            about = TABLES[table]
            made = source.table(t_env, about.changing, about.watermark, about.proctime)
            t_env.create_temporary_view(table, made)
        query = stream_query(self._name, t_env)
        found, everything = [], []
        for number, mode in enumerate(modes):
            for table, source in self._sources.items():
                source.add(TABLES[table].batches[number], TABLES[table].changing)
            got = changes(query, self._folder / "checkpoint", mode)
            if not self._case.ordered:
                # Which table is read first is left to chance, and so is what is retracted.
                everything += got
                found.append(applied(everything))
            elif query._relation.updating:
                found.append(got)
            else:
                found.append([sorted(batch, key=repr) for batch in got])
        return found


#: What stands for the others in `make test`.
SHORT = ["python_aggregate"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SHORT else COMPLETE) for name in STREAMS]
)
def test_rows_without_end_and_their_state_are_the_same_in_each_mode(spark, tmp_path, name):
    thread = ("thread", "thread")
    expected = Streams(spark, tmp_path / "expected", name).observe(thread)
    assert any(expected[0]) or any(expected[1])
    for modes in (("thread", "process"), ("process", "thread")):
        found = Streams(spark, tmp_path / "-".join(modes), name).observe(modes)
        assert found == expected, modes


def job_started_in(modes, spark, folder, capsys):
    """What a job prints that is stopped and started anew in these modes."""
    source = folder / "source"
    source.mkdir(parents=True)
    printed = []
    for number, mode in enumerate(modes):
        add_rows(source, number)
        result = start_job(environment("streaming", mode), source, folder / "checkpoints")
        for query in spark.streams.active:
            query.processAllAvailable()
        result.get_job_client().cancel().result()
        lines = capsys.readouterr().out.splitlines()
        printed.append({name: [x for x in lines if x.startswith(f"{name}>")] for name in JOB})
    for each in printed:
        # Which side of a row comes first at the join of a table with itself is left to chance.
        each["joined"].sort()
    return printed


@COMPLETE
def test_a_job_goes_on_in_the_other_mode(spark, tmp_path, capsys):
    modes = ("thread", "thread", "thread")
    expected = job_started_in(modes, spark, tmp_path / "expected", capsys)
    assert all(expected[0][name] for name in JOB)

    found = job_started_in(("thread", "process", "thread"), spark, tmp_path / "found", capsys)

    assert found == expected


# Spark Connect


def over_connect(folder, modes, names):
    """What programs give in a session of Connect, by mode, kind of environment and name."""
    file = folder / "found.json"
    program = [sys.executable, PROGRAMS / "table_modes.py", "local[2]", file]
    run([*program, *modes, "--", *names], folder, seconds=900)
    return json.loads(file.read_text())


def assert_same_over_connect(folder, modes, names, unbounded):
    found = over_connect(folder, modes, [*names, *unbounded])
    for mode in modes:
        assert found.pop(f"{mode} streaming place") == {"rows": [PLACES[mode]]}
        for name in unbounded:
            _, expected = CONNECT[name]
            made = found.pop(f"{mode} streaming {name}")
            if isinstance(expected, str):
                assert made["error"] in ("SqlError", "TableException"), (mode, name, made)
                assert expected in made["detail"], (mode, name, made)
            else:
                assert made == {"rows": expected}, (mode, name)
    for where, made in found.items():
        mode, kind, name = where.split(" ")
        assert made == seen(kind, name, mode), where


@pytest.mark.complete
def test_programs_give_the_same_over_connect(spark, tmp_path):
    names = ["scalar_of_every_type", "aggregate_of_every_type", "pandas_aggregates", "eval_raises"]
    names += ["asynchronous_function", "table_aggregates", "sql_lateral", "statement_set"]
    unbounded = ["unbounded_rows", "unbounded_result", "windows_of_the_clock"]
    assert_same_over_connect(tmp_path, ["thread"], names, unbounded)


#: The cases are divided into so many sessions, since all of them take a quarter of an hour.
SHARES = 4


@COMPLETE
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("mode", PLACES)
def test_all_programs_give_the_same_over_connect(spark, tmp_path, mode, share):
    names, unbounded = list(CASES)[share::SHARES], list(CONNECT)[share::SHARES]
    assert_same_over_connect(tmp_path, [mode], names, unbounded)
