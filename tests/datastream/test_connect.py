"""Programs of data streams over Spark Connect."""

from __future__ import annotations

import pytest
from deployed_cases import SHORT, assert_expected, found_in


def assert_bounded_run(folder, modes, names):
    """Those of bounded streams give what they give elsewhere, and the others are refused."""
    found = found_in("connect:local[2]", folder, modes, names)
    unbounded = {name: found.pop(name) for name in list(found) if " unbounded " in name}

    assert found
    assert_expected(found)
    assert unbounded
    for where, made in unbounded.items():
        error = made["error"]
        assert "unbounded data streams do not run over Spark Connect" in error, where
        assert "by spark-submit" in error, where


def test_programs_run_over_connect(tmp_path):
    assert_bounded_run(tmp_path, ["thread"], ["timers_and_side_outputs", "printed", "life_cycle"])


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
def test_all_programs_run_over_connect(tmp_path, mode):
    assert_bounded_run(tmp_path, [mode], SHORT)
