"""Jobs go on from checkpoints that were recorded by a version of PyFlow before this one.

What users' jobs have in their checkpoints stays: the names and schemas of state variables, the
columns of keys, and the classes that pickled values refer to. `record_checkpoints.py` records.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import job_runs
from checkpoint_archives import unpack
from stateful_jobs import JOBS

REFERENCE = Path(__file__).parent / "reference" / "checkpoints"
#: The job that stands for the others, which run with all tests.
SHORT = "slice"


def recorded(name):
    return json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))


def net(lines):
    """How often each row of each table is added by changes, or retracted.

    Which of two inputs is read first is left to chance, and so are changes that cancel out.
    """
    changes = Counter()
    for line in lines:
        table, kind, row = re.fullmatch(r"(\w+> )?([+-][IUD])(.*)", line).groups()
        changes[table, row] += 1 if kind in ("+I", "+U") else -1
    return {change: count for change, count in changes.items() if count}


def marked(*values):
    short = values == (SHORT,)
    return pytest.param(*values, marks=[] if short else pytest.mark.complete)


@pytest.mark.parametrize(
    ("name", "mode"), [marked(name, mode) for name in JOBS for mode in ("thread", "process")]
)
def test_a_job_goes_on_from_a_recorded_checkpoint(environment, tmp_path, name, mode):
    job, expected = JOBS[name], recorded(name)["rows after"]
    unpack(REFERENCE / f"{name}.zip", tmp_path)
    t_env = environment()
    t_env.get_config().set("python.execution-mode", mode)

    if job.by_clock:
        # In how many windows a row is depends on when it comes.
        until = lambda lines: set(expected) <= set(lines)  # noqa: E731
        found = job_runs.run(t_env, job, tmp_path, job.later, 1, until)
        assert set(found) == set(expected)
    else:
        assert net(job_runs.run(t_env, job, tmp_path, job.later, 1)) == net(expected)


@pytest.mark.parametrize("name", [marked(name) for name in JOBS])
def test_state_has_the_names_schemas_and_classes_of_the_recorded_one(
    environment, spark, tmp_path, name
):
    job = JOBS[name]
    until = (lambda lines: job_runs.is_committed(tmp_path)) if job.by_clock else None
    found = job_runs.run(environment(), job, tmp_path, [job.recorded], until=until)
    assert job_runs.states(spark, tmp_path) == recorded(name)["states"]
    assert net(found) == net(recorded(name)["rows before"])


def test_every_job_has_its_recording():
    files = {file.name for file in REFERENCE.iterdir()}
    assert files == {f"{name}.{ending}" for name in JOBS for ending in ("zip", "json")}
