"""Operators of windows: what comes when a window has ended, and that nothing is left of it then.

They run in PySpark's own tester of processors; rows of a batch come in any order.
"""

from __future__ import annotations

import random

import pytest
from pyspark.sql import Row

from pyflow.table.runtime.streams.joins import Comparison, Side
from pyflow.table.runtime.streams.ranks import SortColumn
from pyflow.table.runtime.streams.windows import SessionRows, WindowJoin, WindowRanks
from tws import TwsTester

MS = 1000
END = 10
NAMES = ["v", "n"]
TRIALS = range(30)


def ended(processor, batches, key="a", moments=lambda row: row.t // MS):
    """What an operator has emitted when the watermark has passed all windows."""
    tester = TwsTester(processor, timeMode="EventTime", eventTimeExtractor=moments)
    emitted = []
    for watermark, batch in batches:
        if batch:
            emitted += tester.test(key, batch)
        if watermark > tester._currentWatermarkMs:
            emitted += tester.setWatermark(watermark)
    emitted += tester.setWatermark(10_000)
    states = {**tester.handle.value_states, **tester.handle.map_states, **tester.handle.list_states}
    assert not [name for name, each in states.items() if any(each.state.values())]
    return [tuple(row) for row in emitted]


def divided(rng, rows):
    """Rows in batches, with the watermark behind each, which does not end the window."""
    count = rng.randrange(1, 4)
    batches = [(place + 1, []) for place in range(count)]
    for row in rows:
        batches[rng.randrange(count)][1].append(row)
    for _, batch in batches:
        rng.shuffle(batch)
    return batches


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("ascending", [True, False])
def test_the_first_rows_of_a_window_come_at_its_end(numbered, ascending):
    for trial in TRIALS:
        rng = random.Random(trial)
        start, end = sorted((rng.randrange(1, 5), rng.randrange(1, 5)))
        values = [rng.choice([None, *range(6)]) for _ in range(rng.randrange(1, 12))]
        rows = [Row(k="a", v=v, t=END * MS, kind=0, place=i) for i, v in enumerate(values)]
        processor = WindowRanks(
            [SortColumn(1, ascending, ascending)], start, end, (1, 2), numbered, 2, False, NAMES
        )

        found = ended(processor, divided(rng, rows))

        ordered = sorted(values, key=lambda v: -1 if v is None else v, reverse=not ascending)
        places = list(enumerate(ordered, 1))[start - 1 : end]
        assert found == [(v, n) if numbered else (v,) for n, v in places]


@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti"])
def test_joins_of_a_window_come_at_its_end(kind, compared):
    conditions = [Comparison("<", 0, 0)] if compared else []
    names = ["l"] if kind in ("semi", "anti") else ["l", "r"]
    for trial in TRIALS:
        rng = random.Random(trial)
        sides = [[rng.choice([None, 1, 2, 3]) for _ in range(rng.randrange(4))] for _ in "lr"]
        rows = [
            Row(k="a", left=left, l=v if left else None, r=None if left else v, t=END * MS, kind=0,
                place=rng.randrange(1 << 40))
            for left, values in ((True, sides[0]), (False, sides[1]))
            for v in values
        ]  # fmt: skip
        processor = WindowJoin(
            kind, Side(2, 3, 1, ""), Side(3, 4, 1, ""), conditions, 1, 4, False, names
        )

        found = ended(processor, divided(rng, rows))

        assert sorted(found, key=repr) == sorted(joined(*sides, kind, compared), key=repr)


def joined(left, right, kind, compared):
    def fit(one, other):
        return not compared or (one is not None and other is not None and one < other)

    if kind in ("semi", "anti"):
        wanted = kind == "semi"
        return [(one,) for one in left if any(fit(one, each) for each in right) == wanted]
    pairs = [(one, other) for one in left for other in right if fit(one, other)]
    if kind in ("left", "full"):
        pairs += [(one, None) for one in left if not any(fit(one, each) for each in right)]
    if kind in ("right", "full"):
        pairs += [(None, each) for each in right if not any(fit(one, each) for one in left)]
    return pairs


def test_rows_of_a_key_with_a_null_have_no_partners():
    rows = [
        Row(k=None, left=True, l=1, r=None, t=END * MS, kind=0, place=1),
        Row(k=None, left=False, l=None, r=1, t=END * MS, kind=0, place=2),
    ]
    join = WindowJoin("full", Side(2, 3, 1, ""), Side(3, 4, 1, ""), [], 1, 4, False, ["l", "r"])

    assert ended(join, [(1, rows)], key=None) == [(1, None), (None, 1)]


def test_rows_of_a_session_come_when_no_other_can_belong_to_it():
    gap = 5
    for trial in TRIALS:
        rng = random.Random(trial)
        made, timely, watermark = [], [], 0
        for place in range(4):
            times = [max(1, watermark + rng.randrange(-1, 30)) for _ in range(rng.randrange(5))]
            batch = [Row(k="a", v=i + 9 * place, t=t * MS, kind=0, place=i) for i, t in
                     enumerate(times)]  # fmt: skip
            # One that no session of its own can take any more is late.
            timely += [row for row in batch if row.t // MS + gap - 1 > watermark]
            watermark += rng.randrange(1, 12)
            made.append((watermark, batch))
        operator = SessionRows(gap * MS, (1, 2), 2, ["v", "start", "end"])

        found = ended(operator, made, moments=lambda row: row.t // MS + gap - 1)

        assert sorted(found) == sorted(sessions_of(timely, made, gap))


def sessions_of(rows, batches, gap):
    """Rows with their sessions, of which a row in time begins a new one where the old has ended."""
    open_sessions, closed = [], []
    for after, batch in batches:
        for row in sorted((r for r in batch if r in rows), key=lambda r: r.t):
            start, end, members = row.t, row.t + gap * MS, [row]
            for other in list(open_sessions):
                if start <= other[1] and end >= other[0]:
                    open_sessions.remove(other)
                    start, end = min(start, other[0]), max(end, other[1])
                    members = [*other[2], *members]
            open_sessions.append((start, end, members))
        for other in list(open_sessions):
            if other[1] - MS <= after * MS:
                open_sessions.remove(other)
                closed.append(other)
    return [(row.v, start, end) for start, end, rows_ in (*closed, *open_sessions) for row in rows_]
