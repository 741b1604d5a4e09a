"""Values of a program become tables and come back as those of PyFlink do."""

from __future__ import annotations

import pytest
import recordings

import pyflow.table as library
from reference.python_values import ASKED, answers

RECORDED = recordings.load("python_values")


def differs(case: tuple[str, str], recorded: str) -> bool:
    """Whether the documentation has it that PyFlow's answer is not PyFlink's."""
    _, value = case
    # PyFlink reads no None in arrays, and loses microseconds of timestamps.
    return recorded.startswith("error") or "678901" in value


@pytest.mark.parametrize("which", ASKED)
def test_values_come_back_as_from_pyflink(batch, which):
    cases = ASKED[which][1]
    expected = dict(zip(cases, RECORDED[which], strict=True))

    found = dict(zip(cases, answers(which, batch, library), strict=True))

    assert {c: a for c, a in found.items() if not differs(c, expected[c])} == {
        c: a for c, a in expected.items() if not differs(c, a)
    }
    kept = [a for (_, value), a in found.items() if "678901" in value]
    assert all(".678901" in answer for answer in kept)
    assert not any(answer.startswith("error") for answer in found.values())
