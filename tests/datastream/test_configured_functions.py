"""Settings of functions that programs of data streams have in their Configuration."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest
from pyspark import SparkFiles

from pyflow.common import Types
from pyflow.util.exceptions import TableException


def helped(value):
    import configured_helper

    return configured_helper.WORD * value


def test_python_files_reach_functions(make_env, tmp_path, mode):
    (tmp_path / "configured_helper.py").write_text("WORD = 'w'\n")
    env = make_env(mode=mode, python_files=tmp_path / "configured_helper.py")

    with env.from_collection([2]).map(helped, Types.STRING()).execute_and_collect() as found:
        assert list(found) == ["ww"]


def test_python_archives_reach_functions(make_env, tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "words.zip", "w") as archive:
        archive.writestr("word.txt", "archived")
    env = make_env(python_archives=f"{tmp_path / 'words.zip'}#configured_words")

    def read(value):
        with open("configured_words/word.txt") as file:
            return file.read()

    with env.from_collection([2]).map(read, Types.STRING()).execute_and_collect() as found:
        assert list(found) == ["archived"]


def test_functions_find_cached_files_by_the_names_that_they_were_given(make_env, tmp_path, mode):
    (tmp_path / "folder").mkdir()
    (tmp_path / "one.txt").write_text("one")
    (tmp_path / "folder" / "two.txt").write_text("two")
    names = [f"{tmp_path.name}-{name}" for name in ("file", "folder")]
    env = make_env(mode=mode)
    env.register_cached_file(str(tmp_path / "one.txt"), names[0])
    env.register_cached_file((tmp_path / "folder").as_uri(), names[1])

    def read(_):
        file, folder = map(SparkFiles.get, names)
        return [Path(file).read_text(), Path(folder, "two.txt").read_text()]

    with env.from_collection([0]).map(read).execute_and_collect() as found:
        assert list(found) == [["one", "two"]]


@pytest.mark.parametrize(
    ("path", "name", "message"),
    [
        ("/nowhere/file", "file", "there is no file '/nowhere/file'"),
        (__file__, "folder/file", "'folder/file' is no name of a file"),
        ("hdfs://host/file", "other", "register 'hdfs://host/file' as 'file'"),
    ],
)
def test_files_that_cannot_be_cached_are_refused(make_env, path, name, message):
    env = make_env()
    env.register_cached_file(path, name)
    env.from_collection([0]).print()

    with pytest.raises(TableException, match=re.escape(message)):
        env.execute()


class Session:
    """Standard output that notes a setting of the session when something is printed."""

    def __init__(self, spark, key):
        self.spark = spark
        self.key = key
        self.seen = set()

    def write(self, text):
        self.seen.add(self.spark.conf.get(self.key))

    def flush(self):
        pass


@pytest.mark.parametrize(
    ("setting", "key"),
    [
        ("python_fn-execution_bundle_size", "spark.pyflow.bundle.size"),
        (
            "python_fn-execution_arrow_batch_size",
            "spark.sql.execution.arrow.maxRecordsPerBatch",
        ),
    ],
)
def test_sizes_hold_while_a_job_runs(make_env, spark, monkeypatch, setting, key):
    before = spark.conf.get(key)
    env = make_env(**{setting: 77})
    env.from_collection([1]).print()
    out = Session(spark, key)
    monkeypatch.setattr(sys, "stdout", out)

    env.execute()

    assert out.seen == {"77"}
    assert spark.conf.get(key) == before


def test_a_wrong_size_is_an_error(make_env):
    env = make_env(**{"python_fn-execution_bundle_size": 0})
    env.from_collection([1]).print()

    with pytest.raises(TableException, match="must be a positive whole number"):
        env.execute()
