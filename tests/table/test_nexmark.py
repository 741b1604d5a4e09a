"""Queries of Nexmark give PyFlink's rows: bounded ones in both modes, and unbounded ones."""

from __future__ import annotations

import nexmark
import pytest
import recordings

from comparison import settings
from pyflow.streaming.plan.clocks import clocks_of
from streams import changes

RECORDED = recordings.load("nexmark")


def rows_of(t_env, names):
    return {name: nexmark.summary(nexmark.rows_of(t_env, nexmark.QUERIES[name])) for name in names}


def test_rows_are_those_of_pyflink(batch, tmp_path):
    nexmark.create(batch, tmp_path)
    assert rows_of(batch, RECORDED) == RECORDED


@pytest.mark.complete
@pytest.mark.parametrize("name", RECORDED)
def test_rows_of_streaming_mode_are_those_of_pyflink(streaming, tmp_path, name):
    nexmark.create(streaming, tmp_path)
    assert rows_of(streaming, [name]) == {name: RECORDED[name]}


def test_joins_of_unbounded_tables_have_the_key_of_their_condition(streaming, tmp_path):
    nexmark.create(streaming, tmp_path, ", 'source.monitor-interval' = '1 s'")
    for name in ("q4", "q9"):
        table = streaming.sql_query(nexmark.QUERIES[name])
        assert not clocks_of(table._relation.frame).joins_all_pairs


@pytest.mark.complete
@pytest.mark.parametrize("name", ["q4", "q9"])
def test_rows_of_unbounded_tables_are_those_of_pyflink(spark, streaming, tmp_path, name):
    nexmark.create(streaming, tmp_path, ", 'source.monitor-interval' = '1 s'")
    with settings(spark, {"spark.sql.shuffle.partitions": "1"}):
        table = streaming.sql_query(nexmark.QUERIES[name])
        batches = changes(table, tmp_path / "checkpoint")
    found = nexmark.left_of(
        (kind in ("+I", "+U"), row) for batch in batches for kind, *row in batch
    )
    assert nexmark.summary(found) == RECORDED[name]
