"""Values of a program become tables and come back as those of PyFlink do."""

from __future__ import annotations

from decimal import Decimal

import pytest
import recordings

import pyflow.table as library
from pyflow.table import DataTypes
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


PRICE = DataTypes.ROW([DataTypes.FIELD("price", DataTypes.DECIMAL(5, 2))])


@pytest.mark.parametrize("verified", [True, False])
def test_decimals_are_rounded_as_flink_does(batch, verified):
    table = batch.from_elements([(Decimal("1.675"),), (Decimal("-2"),)], PRICE, verified)

    with table.execute().collect() as rows:
        assert [row[0] for row in rows] == [Decimal("1.68"), Decimal("-2.00")]


@pytest.mark.parametrize("value", ["1000", "999.995", "NaN", "Infinity"])
@pytest.mark.parametrize(
    ("verified", "message"), [(True, "^field price is .* does not fit"), (False, "does not fit")]
)
def test_decimals_that_do_not_fit_are_refused(batch, verified, message, value):
    with pytest.raises(ValueError, match=rf"{message} into DECIMAL\(5, 2\)"):
        batch.from_elements([(Decimal(value),)], PRICE, verified)
