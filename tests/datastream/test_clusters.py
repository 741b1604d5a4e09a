"""Programs of data streams on executors of their own."""

from __future__ import annotations

import pytest
from deployed_cases import CASES, assert_expected, found_in

CLUSTER = "local-cluster[2,1,1024]"


def test_programs_run_on_executors(tmp_path):
    found = found_in(CLUSTER, tmp_path, ["thread"], ["timers_and_side_outputs", "life_cycle"])

    assert len(found) == 4
    assert_expected(found)


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
def test_all_programs_run_on_executors(tmp_path, mode):
    found = found_in(CLUSTER, tmp_path, [mode], CASES)

    assert len(found) == sum(len(kinds) for _, kinds in CASES.values())
    assert_expected(found)
