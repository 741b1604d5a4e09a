"""Files that functions name by the ID of their process."""

from __future__ import annotations

import os

import pytest
from pyspark import TaskContext
from pyspark.sql.functions import udf

import sessions
from comparison import settings, thread_modes

WRITES = {
    "open": "with open(path, 'w') as file: file.write(own)",
    "Path": "__import__('pathlib').Path(path).write_bytes(own.encode())",
    "os.open": "os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))",
    "in a directory": "os.makedirs(path, exist_ok=True); open(path + '/file', 'w').write(own)",
    "relative": "open(os.path.relpath(path), 'w').write(own)",
    "os.replace": "open(path + own, 'a').close(); os.replace(path + own, path)",
    "sqlite3": "__import__('sqlite3').connect(path).close()",
}


@pytest.fixture
def run(spark, tmp_path, make_udf):
    """Has two tasks write at once; returns what each finds, or the error."""

    def of(writes, mode, path="process-{process}"):
        together = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        together.mkdir()
        template = str(tmp_path / path)

        def write(n):
            import time

            def reach(state):
                (together / f"{state} {n}").touch()
                deadline = time.monotonic() + 60
                while len([*together.glob(f"{state} *")]) < 2 and time.monotonic() < deadline:
                    time.sleep(0.01)

            partition = TaskContext.get().partitionId()
            names = {"path": template.format(process=os.getpid(), n=n), "own": str(partition)}
            reach("begun")
            try:
                exec(writes, {"os": os, **names})
            finally:
                reach("written")
            return names["path"]

        with settings(spark, mode):
            rows = spark.range(0, 2, 1, 2).select(make_udf(write)("id")).collect()
            return [row[0] for row in rows]

    return of


@pytest.mark.parametrize("writes", WRITES.values(), ids=WRITES)
def test_two_tasks_do_not_write_one_file(run, writes):
    assert len({*run(writes, {sessions.MODE: "process"})}) == 2
    for mode in thread_modes():
        with pytest.raises(Exception, match=r"os\.getpid\(\) is the same for all tasks"):
            run(writes, mode)


@pytest.mark.parametrize(
    ("writes", "path"),
    [
        ("open(path, 'w').write(own)", "process-{process}-{n}"),
        ("open(path, 'w').write(own)", "1{process}"),
        ("open(path, 'a').write(own)", "process-{process}"),
        ("open(path, 'w').write(own)", "all"),
    ],
    ids=["names that differ", "another number", "to append", "a name without it"],
)
def test_other_files_are_written(run, writes, path):
    for mode in thread_modes():
        run(writes, mode, path)


MOVES_AWAY = {
    "os.replace": "os.replace(path, path.rsplit('/', 2)[0] + '/all')",
    "os.remove": "os.remove(path)",
    "Path.unlink": "__import__('pathlib').Path(path).unlink()",
    "shutil.rmtree": "__import__('shutil').rmtree(path.rsplit('/', 1)[0])",
    "os.rename": "os.rename(path.rsplit('/', 1)[0], path.rsplit('/', 2)[0] + os.urandom(4).hex())",
}


@pytest.mark.parametrize("moves", MOVES_AWAY.values(), ids=MOVES_AWAY)
def test_a_file_that_has_been_moved_away_is_written_again(run, moves):
    writes = (
        f"os.makedirs(path.rpartition('/')[0], exist_ok=True); open(path, 'w').close(); {moves}"
    )
    in_turn = f"import time; time.sleep(int(own)); {writes}"
    for mode in thread_modes():
        run(in_turn, mode, "process-{process}/{process}")


def test_a_file_that_another_task_is_about_to_create(run):
    opens_late = "lambda path, flags: (__import__('time').sleep(2), os.open(path, flags))[1]"
    writes = f"open(path, 'w', opener={opens_late}).close()"
    for mode in thread_modes():
        with pytest.raises(Exception, match=r"os\.getpid\(\) is the same for all tasks"):
            run(writes, mode)


@pytest.mark.parametrize(
    "module",
    ["import os\nPID = os.getpid()\n", "import posix\nPID = posix.getpid()\n"],
    ids=["os", "posix"],
)
def test_the_id_that_a_module_has_asked_for(spark, tmp_path, module):
    name = f"asks_{abs(hash((module, str(tmp_path))))}"
    (tmp_path / f"{name}.py").write_text(module)

    def write(n):
        import importlib
        import sys
        import time

        sys.path.insert(0, str(tmp_path))
        process = importlib.import_module(name).PID
        sys.path.remove(str(tmp_path))
        (tmp_path / f"begun {n}").touch()
        while len([*tmp_path.glob("begun *")]) < 2:
            time.sleep(0.01)
        try:
            (tmp_path / str(process)).write_text("")
        finally:
            time.sleep(1)

    with settings(spark, thread_modes()[-1]):
        frame = spark.range(0, 2, 1, 2).select(udf(write)("id"))
        with pytest.raises(Exception, match=r"os\.getpid\(\) is the same for all tasks"):
            frame.collect()


def test_a_file_is_written_again_by_a_later_task(spark, tmp_path, make_udf):
    def write(n):
        path = f"{tmp_path}/{os.getpid()}"
        for _ in range(2):
            with open(path, "w") as file:
                file.write(str(n))
        return path

    for mode in thread_modes():
        with settings(spark, mode):
            for _ in range(2):
                rows = spark.range(0, 3, 1, 1).select(make_udf(write)("id")).collect()
                assert len({*rows}) == 1
