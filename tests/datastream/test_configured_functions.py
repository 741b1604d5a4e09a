"""Settings of functions that programs of data streams have in their Configuration."""

from __future__ import annotations

import sys
import zipfile

import pytest

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
