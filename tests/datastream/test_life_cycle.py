"""How long operators live over the batches of a job, without Spark.

Tasks are those of a worker process: one ends where PySpark drops its context.
"""

from __future__ import annotations

import uuid

import pytest
from pyspark import TaskContext

from pyflow.datastream.runtime import life_cycle

BATCH = "streaming.sql.batchId"


class Operators:
    def __init__(self):
        self.failed = False
        self.closings = 0

    def close(self):
        self.closings += 1


class Job:
    """Runs tasks of a job, and has all operators that they have opened."""

    def __init__(self):
        self.name = str(uuid.uuid4())
        self.opened = []

    def open(self):
        self.opened.append(Operators())
        return self.opened[-1]

    def task(self, batch, subtask=0, stage=0, fails=False):
        """The operators that a task of a batch runs with; no batch is that of bounded input."""
        context, taken = self.begin(batch, subtask, stage)
        assert taken.closings == 0
        taken.failed = fails
        del context
        return taken

    def begin(self, batch, subtask=0, stage=0):
        """A task's context, with which it ends, and the operators that it runs with."""
        context = TaskContext._getOrCreate()
        context._partitionId = subtask
        context._localProperties = {} if batch is None else {BATCH: str(batch)}
        try:
            return context, life_cycle.taken(self.name, stage, self.open)
        finally:
            TaskContext._setTaskContext(None)


@pytest.fixture
def job():
    made = Job()
    yield made
    TaskContext._setTaskContext(None)
    life_cycle.close_job(made.name)


def test_operators_are_kept_from_batch_to_batch(job):
    assert len({id(job.task(batch)) for batch in range(200)}) == 1
    assert [each.closings for each in job.opened] == [0]


@pytest.mark.parametrize("place", ["subtask", "stage"])
def test_each_subtask_and_stage_has_its_own(job, place):
    for batch in range(3):
        for number in range(4):
            job.task(batch, **{place: number})
    assert len(job.opened) == 4


def test_jobs_do_not_share_operators(job):
    other = Job()
    first = job.task(0)
    assert other.task(1) is not first
    assert job.task(1) is first
    life_cycle.close_job(other.name)


def test_a_query_may_begin_with_any_batch(job):
    assert job.task(41) is job.task(42)


def test_operators_of_a_failed_batch_are_closed_with_its_task(job):
    failed = job.task(0, fails=True)
    assert failed.closings == 1
    assert job.task(0) is not failed
    assert failed.closings == 1


@pytest.mark.parametrize(
    "batch", [pytest.param(3, id="the same again"), pytest.param(5, id="a gap"), 2]
)
def test_operators_are_opened_anew_where_the_batch_before_was_not_theirs(job, batch):
    before = job.task(3)
    after = job.task(batch)
    assert after is not before
    assert (before.closings, after.closings) == (1, 0)
    assert job.task(batch + 1) is after


def test_two_attempts_of_a_subtask_at_once_do_not_share_operators(job):
    kept = job.task(0)
    first, taken = job.begin(1)
    second, others = job.begin(1)
    assert (taken, others is taken) == (kept, False)
    del first, second


def test_operators_of_bounded_input_are_closed_with_their_task(job):
    assert job.task(None) is not job.task(None)
    assert [each.closings for each in job.opened] == [1, 1]


def test_the_end_of_a_job_closes_what_is_open_of_it_once(job):
    first, second = job.task(0, subtask=0), job.task(0, subtask=1)
    life_cycle.close_job(job.name)
    life_cycle.close_job(job.name)
    assert (first.closings, second.closings) == (1, 1)
    assert job.task(1) is not first


def test_operators_that_cannot_be_opened_are_not_kept(job):
    def fail():
        raise ValueError("wrong")

    works, job.open = job.open, fail
    with pytest.raises(ValueError, match="wrong"):
        job.task(0)
    job.open = works
    job.task(1)
    assert len(job.opened) == 1
