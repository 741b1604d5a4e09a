"""Joins, co-groups and evictors, which PyFlink does not have, as programs run them."""

from __future__ import annotations

import deployed_cases
import pytest
from pyspark import cloudpickle

cloudpickle.register_pickle_by_value(deployed_cases)

NAMES = ("joined_windows", "grouped_windows", "joined_intervals", "evicted_elements")


@pytest.mark.complete(
    "process-grouped_windows",
    "process-joined_windows",
    "process-evicted",
    "thread-joined_intervals-unbounded",
    "thread-joined_windows-unbounded",
)
@pytest.mark.parametrize("kind", deployed_cases.KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_two_streams_and_evicted_elements_give_what_is_expected(spark, mode, kind, name):
    found = deployed_cases.outcome(name, kind, mode)

    deployed_cases.assert_expected({f"{mode} {kind} {name}": found})
