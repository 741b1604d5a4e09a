"""Values of a program become tables and come back as those of PyFlink do."""

from __future__ import annotations

from datetime import datetime, time
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
import recordings

import pyflow.table as library
from pyflow.table import DataTypes
from pyflow.table.expressions import col
from reference.python_values import ASKED, FINER, answers, differences

pandas = pytest.importorskip("pandas")

RECORDED = recordings.load("python_values")


@pytest.mark.parametrize("which", ASKED)
def test_values_come_back_as_from_pyflink(batch, which):
    cases = ASKED[which][1]

    found = answers(which, batch, library)

    assert differences(cases, found, RECORDED[which]) == {}
    refused = {text for (text, _), answer in zip(cases, found) if answer.startswith("error")}
    assert all("POINT" in text and which.startswith("series") for text in refused)
    for (text, value), answer in zip(cases, found):
        kept = "TIME(6)" in text or "678901" in value
        assert not kept or answer.startswith("error") or any(digits in answer for digits in FINER)


def test_arrays_and_maps_have_nulls(batch):
    """PyFlink reads no None in arrays."""
    schema = DataTypes.ROW(
        [
            DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.TIME(3))),
            DataTypes.FIELD("m", DataTypes.MAP(DataTypes.STRING(), DataTypes.TIMESTAMP(3))),
        ]
    )
    table = batch.from_elements([([time(1), None], {"k": None})], schema)
    frame = table.to_pandas()

    for each in (table, batch.from_pandas(frame, schema)):
        with each.execute().collect() as rows:
            assert [tuple(row) for row in rows] == [([time(1), None], {"k": None})]


def test_instants_inside_of_others_are_times_of_the_tables_zone(environment):
    """PyFlink has them in maps only."""
    t_env = environment("batch", **{"table_local-time-zone": "Europe/Berlin"})
    zone = ZoneInfo("Europe/Berlin")
    noon = datetime(2024, 7, 1, 12)
    values = pandas.Series([[noon, noon.replace(tzinfo=ZoneInfo("UTC"))]])
    schema = [DataTypes.ARRAY(DataTypes.TIMESTAMP_LTZ(3))]

    table = t_env.from_pandas(pandas.DataFrame({"a": values}), schema)

    seconds = table.select(*(col("a").at(place).cast(DataTypes.STRING()) for place in (1, 2)))
    with seconds.execute().collect() as rows:
        assert [tuple(row) for row in rows] == [
            ("2024-07-01 12:00:00.000", "2024-07-01 14:00:00.000")
        ]
    [found] = table.to_pandas()["a"]
    assert list(found) == [noon.replace(tzinfo=zone), noon.replace(hour=14, tzinfo=zone)]


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
