"""Operators over generated changes: what they have emitted, applied, is what the rows left give.

They run without Spark's engine, in PySpark's own tester of processors, so that many sequences are
tried; rows of a batch come in any order, as after a spill.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from pyspark.sql import Row

from pyflow.streaming.runtime import state_ttl as lifetimes
from pyflow.streaming.runtime.state_ttl import FOREVER, Lifetime
from pyflow.table.runtime.streams import aggregates
from pyflow.table.runtime.streams.groups import GroupAggregate
from pyflow.table.runtime.streams.joins import Comparison, Join, SetOperation, Side
from pyflow.table.runtime.streams.ranks import FirstRows, SortColumn
from tws import TwsTester

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)
TRIALS = range(60)


class Applied:
    """The rows that are left of changes, which must come in their order and fit to each other."""

    def __init__(self):
        self.rows = Counter()
        self.kinds = Counter()

    def take(self, rows, first=0):
        places = [row[-1] for row in rows]
        assert places == sorted(set(places))
        for row in rows:
            values = repr(tuple(row[first:-2]))
            self.kinds[row[-2]] += 1
            if row[-2] in (INSERT, UPDATE_AFTER):
                self.rows[values] += 1
            else:
                assert self.rows[values] > 0, (row, self.rows)
                self.rows[values] -= 1
        self.rows = +self.rows


def generated(rng, make, live, taking=0.45, count=None):
    """A batch of changes: rows of `make`, or such that are live and are retracted."""
    batch = []
    for _ in range(count or rng.randrange(1, 8)):
        if live and rng.random() < taking:
            batch.append((DELETE, live.pop(rng.randrange(len(live)))))
        else:
            live.append(make())
            batch.append((INSERT, live[-1]))
    return batch


def wrapped(number):
    return (number + 2**31) % 2**32 - 2**31


def spread(values, sample):
    if len(values) <= sample:
        return None
    mean = Fraction(sum(values), len(values))
    return float(sum((value - mean) ** 2 for value in values) / (len(values) - sample))


def divided(total, count):
    return abs(total) // count * (1 if total >= 0 else -1)


EXPECTED = {
    "count": len,
    "sum": lambda values: wrapped(sum(values)) if values else None,
    "sum0": lambda values: wrapped(sum(values)),
    "avg": lambda values: divided(sum(values), len(values)) if values else None,
    "min": lambda values: min(values, default=None),
    "max": lambda values: max(values, default=None),
    "varPop": lambda values: spread(values, 0),
    "stddevSamp": lambda values: None if len(values) < 2 else math.sqrt(spread(values, 1)),
    "first_value": lambda values: values[0] if values else None,
    "last_value": lambda values: values[-1] if values else None,
    "listAgg": lambda values: ",".join(map(str, values)) if values else None,
    "collect": lambda values: dict(sorted(Counter(values).items())),
}


def of_kind(kind, changes):
    number = ("DOUBLE",) if kind in ("varPop", "stddevSamp") else ("INT",)
    return aggregates.make(kind, changes, number, "bigint", *([","] if kind == "listAgg" else []))


@pytest.mark.parametrize("per_record", [True, False])
@pytest.mark.parametrize("changes", [True, False])
@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("kind", EXPECTED)
def test_aggregates_of_changes_are_those_of_the_rows_left(kind, distinct, changes, per_record):
    rng = random.Random(f"{kind} {distinct} {changes} {per_record}")
    values = [None, 1, 2, 3, -7, 2_000_000_000]
    for _ in TRIALS:
        function = of_kind(kind, changes)
        if distinct:
            function = aggregates.Distinct(function, "bigint")
        operator = GroupAggregate([(function, 1)], ["k", "v", "kind", "place"], changes, per_record)
        tester, applied = TwsTester(operator), Applied()
        live: list = []
        numbers = itertools.count()
        for _ in range(4):
            taking = 0.45 if changes else 0.0
            # Of equal rows the first is the one that goes, as the operators have it.
            batch = []
            for _ in range(rng.randrange(1, 8)):
                if live and rng.random() < taking:
                    value = rng.choice(live)
                    live.remove(value)
                    batch.append(Row(k="a", v=value, kind=DELETE, place=next(numbers)))
                else:
                    value = str(rng.choice(values[1:])) if kind == "listAgg" else rng.choice(values)
                    live.append(value)
                    batch.append(Row(k="a", v=value, kind=INSERT, place=next(numbers)))
            rng.shuffle(batch)
            found = tester.test(("a",), batch)
            if kind == "collect":
                found = [(r[0], dict(sorted(r[1].items())), *r[2:]) for r in found]
            applied.take(found, 1)
            there = [value for value in live if value is not None]
            if distinct:
                there = list(dict.fromkeys(there))
            if distinct and kind in ("first_value", "last_value", "listAgg"):
                continue  # which of equal values came first is not told by those left
            expected = [EXPECTED[kind](there)] if live else []
            results = [eval(row)[0] for row in applied.rows]
            if kind in ("varPop", "stddevSamp"):
                near = [
                    each if each is None else pytest.approx(each, rel=1e-12) for each in expected
                ]
                assert results == near
            else:
                assert results == expected


def joined(kind, left, right, holds):
    """The rows of a join, computed from all rows."""
    pairs = [(one, other) for one in left for other in right if holds(one, other)]
    with_partner = [one for one in left if any(holds(one, other) for other in right)]
    if kind == "semi":
        return Counter(repr(one) for one in with_partner)
    if kind == "anti":
        return Counter(repr(one) for one in left if one not in with_partner)
    rows = [(*one, *other) for one, other in pairs]
    if kind in ("left", "full"):
        rows += [(*one, None, None) for one in left if one not in with_partner]
    if kind in ("right", "full"):
        rows += [(None, None, *o) for o in right if not any(holds(one, o) for one in left)]
    return Counter(map(repr, rows))


@pytest.mark.parametrize("changes", [True, False])
@pytest.mark.parametrize("compared", [True, False])
@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti"])
def test_joins_of_changes_are_those_of_the_rows_left(kind, compared, changes):
    rng = random.Random(f"{kind} {compared} {changes}")
    names = ["k", "is_left", "l0", "l1", "r0", "r1", "kind", "place"]
    schema = "struct<f0:bigint,f1:string>"
    for _ in TRIALS:
        operator = Join(
            kind,
            Side(2, 4, 2, schema),
            Side(4, 6, 2, schema),
            [Comparison("<", 0, 0)] if compared else [],
            [*(["l0", "l1"] if kind in ("semi", "anti") else names[2:6]), "kind", "place"],
            1,
            FOREVER,
        )
        tester, applied = TwsTester(operator), Applied()
        live = {True: [], False: []}
        numbers = itertools.count()
        for _ in range(4):
            batch = []
            for _ in range(rng.randrange(1, 7)):
                is_left = rng.random() < 0.5
                ((change, values),) = generated(
                    rng,
                    lambda: (rng.randrange(3), rng.choice("ab")),
                    live[is_left],
                    0.4 if changes else 0.0,
                    1,
                )
                columns = (*values, None, None) if is_left else (None, None, *values)
                batch.append(Row(*names)(1, is_left, *columns, change, next(numbers)))
            rng.shuffle(batch)
            applied.take(tester.test((1,), batch))
            holds = (lambda one, other: one[0] < other[0]) if compared else lambda one, other: True
            assert applied.rows == joined(kind, live[True], live[False], holds)


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("operation", ["intersect", "minus"])
def test_set_operations_of_changes_are_those_of_the_rows_left(operation, every):
    rng = random.Random(f"{operation} {every}")
    for _ in TRIALS:
        operator = SetOperation(operation, every, ["k", "kind", "place"], FOREVER)
        tester, applied = TwsTester(operator), Applied()
        live = {True: [], False: []}
        numbers = itertools.count()
        for _ in range(4):
            batch = []
            for _ in range(rng.randrange(1, 7)):
                is_left = rng.random() < 0.6
                ((change, _),) = generated(rng, lambda: "x", live[is_left], 0.4, 1)
                batch.append(Row(k="x", is_left=is_left, kind=change, place=next(numbers)))
            rng.shuffle(batch)
            applied.take(tester.test(("x",), batch))
            left, right = len(live[True]), len(live[False])
            copies = min(left, right) if operation == "intersect" else max(left - right, 0)
            if not every:
                copies = min(copies, 1) if operation == "intersect" else int(left > 0 == right)
            assert sum(applied.rows.values()) == copies


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("replaces", [True, False])
@pytest.mark.parametrize("changes", [True, False])
@pytest.mark.parametrize("ascending", [True, False])
def test_first_rows_of_changes_are_those_of_the_rows_left(numbered, replaces, changes, ascending):
    rng = random.Random(f"{numbered} {replaces} {changes} {ascending}")
    for _ in TRIALS:
        start, end = rng.choice([(1, 1), (1, 3), (2, 3)])
        names = ["k", "v", *(["rank"] if numbered else []), "kind", "place"]
        operator = FirstRows(
            [SortColumn(1, ascending, ascending)],
            *(start, end, (0, 2), 2, numbered, replaces, names, changes, False, FOREVER),
        )
        tester, applied = TwsTester(operator), Applied()
        live: list = []
        numbers = itertools.count()
        for _ in range(4):
            batch = [
                Row(k="a", v=values, kind=change, place=next(numbers))
                for change, values in generated(
                    rng, lambda: rng.choice([None, 1, 2, 3, 4]), live, 0.4 if changes else 0.0
                )
            ]
            rng.shuffle(batch)
            applied.take(tester.test(("a",), batch))
            nulls = -1 if ascending else -9
            ranked = sorted(live, key=lambda value: nulls if value is None else value)
            ranked = ranked if ascending else ranked[::-1]
            rows = [("a", value) for value in ranked]
            shown = list(enumerate(rows, 1))[start - 1 : end]
            expected = Counter(repr((*row, rank) if numbered else row) for rank, row in shown)
            assert applied.rows == expected


class Clock:
    """In place of the module ``time`` of operators."""

    now = 1000.0

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(lifetimes, "time", made)
    return made


def fed(operator, clock, *batches):
    """What an operator emits for rows, each batch 6 seconds after the one before."""
    tester, emitted = TwsTester(operator), []
    for batch in batches:
        rows = [Row(**{f"c{i}": value for i, value in enumerate(row)}) for row in batch]
        emitted.append([(row[-2], *row[:-2]) for row in tester.test(batch[0][0], rows)])
        clock.now += 6
    return emitted


def test_a_group_that_is_not_used_in_time_is_forgotten_with_its_stores(clock):
    functions = [(aggregates.make("max", True, ("ANY",), "bigint"), 1)]
    names = ["k", "v", "kind", "place"]
    operator = GroupAggregate(
        functions, names, changes=True, per_record=True, repeats=True, lifetime=Lifetime(10)
    )

    found = fed(
        operator,
        clock,
        [("a", 5, INSERT, 1)],
        [("a", 3, INSERT, 2)],  # 6 s later: known, and as its value stays, told again
        [("b", 1, INSERT, 3)],
        [("a", 2, INSERT, 4)],  # 12 s later: new, of the row alone
        [("a", 2, DELETE, 5)],
    )

    assert found == [
        [(INSERT, "a", 5)],
        [(UPDATE_BEFORE, "a", 5), (UPDATE_AFTER, "a", 5)],
        [(INSERT, "b", 1)],
        [(INSERT, "a", 2)],
        [(DELETE, "a", 2)],
    ]


def test_a_row_of_a_join_that_is_not_used_in_time_has_no_partners(clock):
    schema = "struct<f0:bigint>"
    operator = Join(
        *("inner", Side(2, 3, 1, schema), Side(3, 4, 1, schema), []),
        *(["l", "r", "kind", "place"], 1, Lifetime(10)),
    )

    found = fed(
        operator,
        clock,
        [("a", True, 1, None, INSERT, 1)],
        [("a", False, None, 2, INSERT, 2)],
        [("a", False, None, 3, INSERT, 3)],
    )

    assert found == [[], [(INSERT, 1, 2)], []]


def test_first_rows_that_are_not_used_in_time_are_forgotten(clock):
    names = ["k", "v", "kind", "place"]
    operator = FirstRows(
        [SortColumn(1, True, True)], 1, 1, (0, 2), 2, False, True, names, False, False, Lifetime(10)
    )

    found = fed(
        operator,
        clock,
        [("a", 1, INSERT, 1)],
        [("b", 1, INSERT, 2)],
        [("a", 2, INSERT, 3)],
    )

    assert found == [[(INSERT, "a", 1)], [(INSERT, "b", 1)], [(INSERT, "a", 2)]]


def test_a_row_of_a_set_operation_that_is_not_used_in_time_is_forgotten(clock):
    operator = SetOperation("minus", False, ["k", "kind", "place"], Lifetime(10))

    found = fed(
        operator,
        clock,
        [("a", True, INSERT, 1)],
        [("b", True, INSERT, 2)],
        [("a", True, INSERT, 3)],
    )

    assert found == [[(INSERT, "a")], [(INSERT, "b")], [(INSERT, "a")]]
