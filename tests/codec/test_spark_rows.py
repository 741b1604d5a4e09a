"""Rows are Spark's own, byte by byte, and Python values what Spark hands to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql.types import BinaryType, StringType

from cases import TIME_ZONE, Case, Recording, all_cases
from codec import INEXACT, Codec
from exact_form import exact

CASES = [pytest.param(case, id=case.name) for case in all_cases()]


@pytest.fixture(scope="module", autouse=True)
def time_zone_of_the_recording(use_time_zone: Callable[[str], None]) -> None:
    use_time_zone(TIME_ZONE)


@pytest.mark.parametrize("case", CASES)
def test_results_become_the_rows_that_spark_builds(
    case: Case, arrow: bool, recording: Recording, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(case.data_type, arrow)
    records = recording.records[case.name]
    results = [each.arrow_argument if arrow else each.pickled_result for each in records]
    rows = [each.arrow_row if arrow else each.pickled_row for each in records]
    expected = [
        INEXACT if not arrow and leaves_order_to_the_jvm(result) else row
        for result, row in zip(results, rows)
    ]
    assert [codec.encode((result,)) for result in results] == expected


@pytest.mark.parametrize("case", CASES)
def test_arguments_are_what_spark_hands_to_functions(
    case: Case, arrow: bool, recording: Recording, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(case.data_type, arrow)
    records = recording.records[case.name]
    arguments = [codec.decode(each.pickled_row)[0] for each in records]
    expected = [each.arrow_argument if arrow else each.pickled_argument for each in records]
    assert exact(arguments) == exact(expected)


def leaves_order_to_the_jvm(value: Any) -> bool:
    """Whether a pickled result holds a map whose entries the JVM would put into its own order."""
    if isinstance(value, dict):
        return len(value) > 1 or any(map(leaves_order_to_the_jvm, [*value, *value.values()]))
    return isinstance(value, (list, tuple)) and any(map(leaves_order_to_the_jvm, value))


def test_a_string_that_is_not_utf8_reaches_a_pickled_function_as_the_jvm_reads_it(
    recording: Recording, make_codec: Callable[..., Codec]
) -> None:
    as_binary = make_codec(BinaryType(), arrow=False)
    as_string = make_codec(StringType(), arrow=False)
    for data, expected in recording.strings:
        assert as_string.decode(as_binary.encode((data,))) == (expected,), data
