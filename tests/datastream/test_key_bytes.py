"""Keys have the same bytes if, and only if, they are equal."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import fractions
import math
import os
import subprocess
import sys
import uuid
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from pyflow.common import Instant, Row, RowKind
from pyflow.datastream.runtime.key_bytes import key_bytes

ROOT = Path(__file__).resolve().parents[2]
UTC = datetime.timezone.utc
Pair = collections.namedtuple("Pair", "a b")


class Level(enum.IntEnum):
    LOW = 1


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Access(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass(frozen=True)
class Account:
    owner: str
    tags: frozenset[str]


class Caseless(str):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Caseless) and self.lower() == other.lower()

    __hash__ = str.__hash__


def row(*names, kind=RowKind.INSERT, **values):
    made = Row(**{name: values[name] for name in names})
    made.set_row_kind(kind)
    return made


class_of_rows = Row("a", "b")

EQUAL = {
    "integers": [
        1,
        1.0,
        True,
        Decimal(1),
        Decimal("1.00"),
        fractions.Fraction(1),
        1 + 0j,
        Level.LOW,
    ],
    "zero": [0, 0.0, -0.0, False, Decimal("-0"), Decimal("0E+9999999")],
    "large": [2**70, float(2**70), Decimal(2**70)],
    "huge": [int(1e300), 1e300],
    "fractions": [0.5, Decimal("0.5"), Decimal("0.500"), fractions.Fraction(1, 2)],
    "thirds": [fractions.Fraction(1, 3), fractions.Fraction(2, 6)],
    "decimals": [Decimal("0.1"), Decimal("0.10"), fractions.Fraction(1, 10)],
    "smallest": [5e-324, Decimal(5e-324), fractions.Fraction(5e-324)],  # noqa: RUF032
    "far": [Decimal("1E+99999999"), Decimal("10E+99999998")],
    "infinity": [math.inf, Decimal("Infinity")],
    "nan": [math.nan, float("nan"), -math.nan, Decimal("NaN")],
    "strings": ["".join(["key", "-", str(1)]), "key-1"],
    "bytes": [b"ab", bytearray(b"ab")],
    "tuples": [(1, "a"), (1.0, "a"), Pair(1, "a")],
    "dicts": [{"a": 1, "b": 2}, {"b": 2.0, "a": True}, collections.OrderedDict(b=2, a=1)],
    "sets": [{1, "a"}, frozenset({"a", 1.0})],
    "instants": [
        datetime.datetime(2020, 1, 1, 12, tzinfo=UTC),
        datetime.datetime(2020, 1, 1, 14, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    ],
    "folds": [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, fold=1)],
    "times": [
        datetime.time(12, tzinfo=UTC),
        datetime.time(14, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    ],
    "rows": [row("a", "b", a=1, b="x"), row("b", "a", a=1.0, b="x"), class_of_rows(1, "x")],
    "members": [Color.RED, Color(1)],
    "flags": [Access.READ | Access.WRITE, Access(3)],
    "uuids": [uuid.UUID(int=5), uuid.UUID("00000000-0000-0000-0000-000000000005")],
    "ranges": [range(0, 3, 2), range(0, 4, 2)],
    "objects": [
        Account("Alice", frozenset({"a", "b"})),
        Account("".join(["Al", "ice"]), frozenset({"b", "a"})),
    ],
}

OTHER = [
    *(
        None,
        "None",
        "",
        b"",
        (),
        [],
        {},
        set(),
        0,
        1,
        "1",
        b"1",
        1.5,
        "1.5",
        (1,),
        [1],
        {1},
        {1: 1},
    ),
    *(
        (None,),
        ((),),
        ("a", "b"),
        ("ab", ""),
        ("", "ab"),
        (("a",), "b"),
        ("a", ("b",)),
        [("a", "b")],
    ),
    *(2**63, 2**64, -(2**63), -(2**63) - 1, -1, 255, 256, -128, 128, 1e300, 1e-300, math.inf),
    *(-math.inf, math.nan, 0.1, Decimal("0.1"), Decimal("1E+9999"), Decimal("-1E+9999"), 1j, 2j),
    *(datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), datetime.time(0), 18262),
    *(
        datetime.datetime(2020, 1, 1, tzinfo=UTC),
        datetime.timedelta(0),
        datetime.time(0, tzinfo=UTC),
    ),
    *(Row(1), Row(a=1), Row(f0=1), Row(b=1), Row.of_kind(RowKind.DELETE, 1), Row(), Instant(1, 0)),
    *(Instant(0, 1), Color.RED, Color.GREEN, "RED", uuid.UUID(int=5), 5, range(3), range(1)),
    *(Account("Alice", frozenset()), Account("Bob", frozenset()), Caseless("a"), Access.READ),
    *({"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": None}, {"a": {"b": 1}}, {"a"}, "\ud800", "\udc80"),
    *(
        Account,
        Color,
        int,
        len,
        print,
        collections.deque([1]),
        collections.deque(),
        fractions.Fraction(1, 3),
    ),
]


@pytest.mark.parametrize("name", EQUAL)
def test_equal_keys_have_the_same_bytes(name):
    assert len({key_bytes(key) for key in EQUAL[name]}) == 1
    assert len({key_bytes([{"k": (key,)}]) for key in EQUAL[name]}) == 1


def test_other_keys_have_other_bytes():
    found = {}
    for key in OTHER:
        assert found.setdefault(key_bytes(key), key) is key


def test_the_bytes_of_a_key_never_begin_those_of_another():
    encoded = sorted(map(key_bytes, OTHER))
    assert [(a, b) for a, b in pairwise(encoded) if b.startswith(a)] == []


_decimals = st.decimals(allow_nan=False, min_value=-(10**20), max_value=10**20)
_numbers = st.one_of(
    st.integers(),
    st.integers(-3, 3),
    st.booleans(),
    st.floats(allow_nan=False),
    st.sampled_from([0.5, -0.0, 1.0, 2.0, Decimal("0.5"), fractions.Fraction(1, 2), 0.1]),
    _decimals,
    st.fractions(max_denominator=100),
)
_zones = st.sampled_from([None, UTC, datetime.timezone(datetime.timedelta(hours=-5, minutes=-30))])
_leaves = st.one_of(
    st.none(),
    _numbers,
    st.text(max_size=3),
    st.binary(max_size=3),
    st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
    st.datetimes(
        datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 0, 0, 1), timezones=_zones
    ),
    st.timedeltas(max_value=datetime.timedelta(1)),
    st.sampled_from(Color),
)
_nested = st.recursive(
    _leaves, lambda inner: st.tuples(inner) | st.tuples(inner, inner) | st.frozensets(inner)
)
# Of the strategies hypothesis makes texts, which are long.
_hashable = st.deferred(lambda: _nested)


def _containers(inner):
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(_hashable, inner, max_size=3),
        st.lists(inner, max_size=2).map(lambda values: Row(*values)),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=2).map(lambda d: Row(**d)),
    )


keys = st.recursive(_hashable, _containers, max_leaves=8)


def again(value, data):
    """Another object that is equal."""
    if isinstance(value, bool) or value is None or isinstance(value, enum.Enum):
        return value
    if isinstance(value, int):
        forms = [value, Decimal(value), fractions.Fraction(value)]
        return data.draw(st.sampled_from([*forms, float(value)] if abs(value) < 2**53 else forms))
    if isinstance(value, float) and math.isfinite(value):
        return data.draw(st.sampled_from([value, Decimal(value), fractions.Fraction(value)]))
    if isinstance(value, str):
        return "".join(list(value))
    if isinstance(value, bytes):
        return bytearray(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.timezone(datetime.timedelta(hours=3)))
    if isinstance(value, dict):
        entries = data.draw(st.permutations(list(value.items())))
        return {key: again(inner, data) for key, inner in entries}
    if isinstance(value, Row) and hasattr(value, "_fields") and len(value):
        entries = data.draw(st.permutations(list(zip(value._fields, value))))
        return Row(**{name: again(inner, data) for name, inner in entries})
    if isinstance(value, (list, tuple)):
        return type(value)(again(inner, data) for inner in value)
    return value


@hypothesis.settings(deadline=None)
@hypothesis.given(keys, keys)
def test_keys_are_equal_if_and_only_if_their_bytes_are(one, other):
    assert (key_bytes(one) == key_bytes(other)) == (one == other)


@hypothesis.settings(deadline=None)
@hypothesis.given(_numbers, _numbers)
def test_numbers_are_equal_if_and_only_if_their_bytes_are(one, other):
    assert (key_bytes(one) == key_bytes(other)) == (one == other)


@pytest.mark.complete
@hypothesis.settings(deadline=None)
@hypothesis.given(keys, st.data())
def test_an_equal_key_in_another_form_has_the_same_bytes(key, data):
    other = again(key, data)
    assert other == key
    assert key_bytes(other) == key_bytes(key)


STORED = """
import datetime, decimal, hashlib, uuid
from pyflow.common import Row
from pyflow.datastream.runtime.key_bytes import key_bytes

keys = [
    1, 2**80, -0.5, "grün", b"a", None, ("a", 1, (None,)), [1, "x"], {"b": 1, "a": {"c", "d", "e"}},
    datetime.datetime(2020, 1, 2, 3, 4, 5, 6), datetime.date(2020, 1, 2), datetime.time(1, 2),
    datetime.timedelta(1), decimal.Decimal("0.1"), Row(a=1, b="x"), Row(1, None), uuid.UUID(int=1),
    frozenset({"p", "q", "r"}), float("nan"), complex(1, 2), decimal.Decimal("1E5000"),
]
print(hashlib.sha256(key_bytes(keys)).hexdigest())
"""
BYTES = "daf8f5403c09efc918edd50ce4bbb9552797753bbe54f6b2cf7014fc7ea32e39"


def test_bytes_are_those_of_every_process():
    """Of a checkpoint that was written at another time, by another Python."""
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", STORED]
        result = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        assert result.stdout.strip() == BYTES


def test_numbers_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy")
    assert key_bytes(numpy.int64(5)) == key_bytes(5)
    assert key_bytes(numpy.float32(0.5)) == key_bytes(numpy.float64(0.5)) == key_bytes(0.5)
    assert key_bytes(numpy.bool_(True)) == key_bytes(True)
    assert key_bytes(numpy.str_("a")) == key_bytes("a")
    assert key_bytes(numpy.datetime64(5, "ns")) != key_bytes(5)


@pytest.mark.parametrize("key", [lambda: 1, (i for i in [1])])
def test_what_cannot_be_pickled_is_no_key(key):
    with pytest.raises(TypeError):
        key_bytes(key)


def test_what_contains_itself_is_no_key():
    key = []
    key.append(key)
    with pytest.raises(TypeError, match="contains itself"):
        key_bytes(key)
