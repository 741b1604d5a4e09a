"""A source without rows, which has a query run batches at the times that tasks report."""

from __future__ import annotations

import time

import pytest

from sessions import wait_until

NEVER = (1 << 63) - 1


class Ticking:
    """A query that has no other source."""

    def __init__(self, spark, checkpoint):
        source = "io.pyflow.connectors.TickSource"
        frame = spark.readStream.format(source).schema("n INT").load()
        writer = frame.writeStream.format("noop").outputMode("append")
        self.query = writer.option("checkpointLocation", str(checkpoint)).start()
        # Its source is there then.
        self.query.processAllAvailable()
        self._commits = checkpoint / "commits"
        self._ticks = spark._jvm.io.pyflow.connectors.TickSource

    def report(self, batch, seconds):
        """Report a timer so many seconds from now on; None for no timer."""
        at = NEVER if seconds is None else int((time.time() + seconds) * 1000)
        self._ticks.report(str(self.query.id), batch, at)

    def batches(self):
        return sorted(int(each.name) for each in self._commits.glob("[0-9]*"))


@pytest.fixture
def ticking(spark, tmp_path):
    made = []

    def start():
        made.append(Ticking(spark, tmp_path / "checkpoint"))
        return made[-1]

    yield start
    for each in made:
        each.query.stop()


def test_a_batch_runs_when_the_earliest_timer_of_the_batch_before_is_due(ticking):
    query = ticking()
    query.report(0, 3600)
    query.report(0, 3)
    query.report(0, 7200)
    time.sleep(0.5)
    assert query.batches() == []

    wait_until(lambda: query.batches() == [0], "the timer is due")

    time.sleep(0.5)
    assert query.batches() == [0]


def test_reports_of_a_batch_replace_those_of_the_batch_before(ticking):
    query = ticking()
    query.report(4, 3)
    query.report(5, None)
    query.report(4, 3)
    time.sleep(4)
    assert query.batches() == []

    query.report(5, 0)
    wait_until(lambda: query.batches() == [0], "the timer is due")


def test_a_query_that_goes_on_runs_a_batch_at_once(ticking):
    query = ticking()
    query.report(0, 0)
    wait_until(lambda: query.batches() == [0], "the timer is due")
    query.query.stop()

    again = ticking()
    wait_until(lambda: again.batches() == [0, 1], "it has gone on")

    time.sleep(0.5)
    assert again.batches() == [0, 1]
