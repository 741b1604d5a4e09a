"""Operators that depend on the order of changes, where Spark spills and so loses it."""

from __future__ import annotations

import pytest

from streams import Source, changes

_FORCED = "spark.shuffle.spill.numElementsForceSpillThreshold"
ROWS = 120


@pytest.fixture
def spilling(spark):
    """The session, whose sorts spill after each few rows."""
    conf = spark.sparkContext._jsc.sc().conf()
    conf.set(_FORCED, "7")
    yield spark
    conf.remove(_FORCED)


def spilled(spark):
    """How many bytes stages have spilled so far."""
    context = spark.sparkContext
    quantiles = context._gateway.new_array(context._jvm.double, 0)
    nothing = context._jvm.java.util.ArrayList()
    store = context._jsc.sc().statusStore()
    stages = store.stageList(nothing, False, False, quantiles, nothing)
    return sum(stages.apply(place).memoryBytesSpilled() for place in range(stages.size()))


def grown():
    """The changes of a key's value, which is the number of each row in turn."""
    updates = [(kind, "a", v - (kind == "-U")) for v in range(1, ROWS) for kind in ("-U", "+U")]
    return [("+I", "a", 0), *updates]


def summed():
    """The changes of the sum of all groups' counts: each count is retracted and comes again."""
    counts: dict[int, int] = {}
    found: list[tuple[str, int]] = []
    total = None
    for number in range(ROWS):
        group = number // 40
        for by in (-counts.get(group, 0), counts.get(group, 0) + 1):
            after = (total or 0) + by
            if by < 0 and after == 0:
                found.append(("-D", total))
                total = None
            elif by:
                found += [("+I", after)] if total is None else [("-U", total), ("+U", after)]
                total = after
        counts[group] = counts.get(group, 0) + 1
    return found


_RANKED = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {}) AS n FROM numbers"
QUERIES = {
    "deduplication": (f"SELECT k, v FROM ({_RANKED.format('at DESC')}) WHERE n = 1", grown()),
    "Top-N": (f"SELECT v FROM ({_RANKED.format('same')}) WHERE n <= 2", [("+I", 0), ("+I", 1)]),
    "last value": ("SELECT k, LAST_VALUE(v) FROM numbers GROUP BY k", grown()),
    "pairs of -U and +U": (
        "SELECT SUM(n) FROM (SELECT v / 40, COUNT(*) AS n FROM numbers GROUP BY v / 40)",
        summed(),
    ),
}


@pytest.mark.parametrize("query", QUERIES)
def test_changes_of_a_key_are_in_their_order_after_a_spill(streaming, spilling, tmp_path, query):
    text, expected = QUERIES[query]
    source = Source(spilling, tmp_path, "k STRING; v BIGINT; same INT")
    source.add([("a", number, 1) for number in range(ROWS)])
    streaming.create_temporary_view("rows", source.table(streaming))
    streaming.execute_sql("CREATE TEMPORARY VIEW numbers AS SELECT *, PROCTIME() AS at FROM `rows`")
    before = spilled(spilling)

    found = changes(streaming.sql_query(text), tmp_path / "checkpoint")

    assert spilled(spilling) > before
    assert found == [expected]
