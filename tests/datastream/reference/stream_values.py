"""Elements of declared types, as PyFlink and PyFlow are asked what becomes of them.

Types and values are Python expressions over `names_of`. The answers of PyFlink are in
``values.json``; ``record_stream_values.py`` writes them where PyFlink is installed.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
from importlib import import_module
from typing import Any

Pair = collections.namedtuple("Pair", "a b")
Color = enum.Enum("Color", "RED GREEN")


class Text(str):
    """A string of a class of a program."""


class Number(int):
    """An integer of a class of a program."""


class Index:
    """What stands for an integer by ``__index__``."""

    def __index__(self) -> int:
        return 7


class Whole:
    """What only converts to an integer."""

    def __int__(self) -> int:
        return 7


class Real:
    """What only converts to a float."""

    def __float__(self) -> float:
        return 7.5


class Point:
    """An object with attributes, by the names of fields."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __repr__(self) -> str:
        return "Point"


_INTEGERS = [
    *("1", "-1", "0", "True", "1.0", "1.5", "Decimal('2')", "'1'", "None", "2**40", "2**64"),
    *("np.int8(5)", "np.int64(5)", "np.uint8(5)", "np.bool_(True)", "np.float64(5.0)"),
    *("Index()", "Whole()", "Number(5)", "b'a'"),
]
_FLOATS = [
    *("1.1", "1", "True", "-0.0", "1e300", "1e-50", "float('nan')", "float('inf')", "2**70"),
    *("Decimal('1.1')", "Fraction(1, 3)", "'1.5'", "None", "np.float32(1.1)", "np.float64(1.1)"),
    *("np.int64(5)", "Real()", "Index()", "100000.0", "1e7", "12345678.9", "1.0e-3", "1e-4"),
]
_ROWS = [
    *("Row(1, 'a')", "(1, 'a')", "[1, 'a']", "Pair(1, 'a')", "Row(None, None)", "None", "1"),
    *("Row(1)", "Row(1, 'a', 2)", "Row()", "(1,)", "(1, 'a', 2)", "(None, 'a')", "(1, None)"),
    *("Row('a', 1)", "('a', 1)", "Row.of_kind(RowKind.DELETE, 1, 'a')", "'ab'", "{1, 'a'}"),
    *("Row(f0=1, f1='a')", "Row(f1='a', f0=1)", "Row(a=1, b='a')", "Row(b='a', a=1)"),
    *("{'f0': 1, 'f1': 'a'}", "{'a': 1, 'b': 'a'}", "Row(a=1)", "Row('a', 'b')(1, 'a')"),
    *("Point(f0=1, f1='a')", "Point(a=1, b='a')", "Row(a=1, b='a', c=2)"),
    "Row.of_kind(RowKind.UPDATE_AFTER, b='a', a=1)",
]
_LISTS = [
    *("[1, 2]", "(1, 2)", "[]", "[None]", "[1, None, 2]", "[1.5]", "['a']", "'ab'", "b'ab'"),
    *("None", "1", "range(2)", "{1, 2}", "{1: 2}", "array.array('i', [1, 2])", "np.array([1, 2])"),
    *("[2**40]", "[True]"),
]
_TIMES = [
    *("datetime.datetime(2020, 1, 2, 3, 4, 5)", "datetime.datetime(2020, 1, 2, 3, 4, 5, 678901)"),
    *("datetime.datetime(2020, 1, 2, 3, 4, 5, 678000)", "datetime.datetime(1, 1, 1)"),
    *("datetime.datetime(1969, 12, 31, 23, 59, 58, 500000)", "datetime.datetime(1, 1, 1, 1, 1)"),
    *("datetime.datetime(2040, 1, 2)", "datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)"),
    "datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))",
    *("datetime.date(2020, 1, 2)", "None", "1577934245", "'2020-01-02 03:04:05'"),
    "datetime.datetime(1500, 1, 2, 3, 4, 5)",
    "datetime.datetime(2020, 1, 2, 3, 4, 5, 600000)",
]
_DATES = [
    *("datetime.date(2020, 1, 2)", "datetime.date(1969, 12, 31)", "datetime.date(1, 1, 1)"),
    *("datetime.date(9999, 12, 31)", "datetime.date(1500, 3, 1)", "None", "18000", "'2020-01-02'"),
    "datetime.datetime(2020, 1, 2, 3, 4, 5)",
]
_CLOCKS = [
    *("datetime.time(1, 2, 3)", "datetime.time(1, 2, 3, 456789)", "datetime.time(0, 0)"),
    *("datetime.time(23, 59, 59, 999999)", "None", "3723", "'01:02:03'", "datetime.time(1, 2)"),
    "datetime.time(1, 2, 3, tzinfo=datetime.timezone.utc)",
    *("datetime.datetime(2020, 1, 2, 3, 4, 5)", "datetime.time(1, 2, 3, 400000)"),
]
_ANYTHING = [
    *("1", "1.5", "'a'", "b'a'", "None", "True", "(1, 'a')", "[1, None]", "{'a': 1}", "{1}", "()"),
    *(
        "Row(1, 'a')",
        "Row(a=1, b='x')",
        "Decimal('1.50')",
        "datetime.date(2020, 1, 2)",
        "Color.RED",
    ),
    *("datetime.datetime(2020, 1, 2, 3, 4, 5, 678901)", "Pair(1, 'a')", "np.int64(5)", "Number(5)"),
    *("Instant(1, 5)", "2**70", "bytearray(b'ab')", "frozenset({1})", "'日本'", "[Row(1, None)]"),
    *("Point(a=1)", "lambda: 1", "Types.INT()", "float('nan')", "(i for i in [1])", "''"),
    *("np.array([1, 2])", "Row.of_kind(RowKind.DELETE, 1)", "{'a': Row(1)}", "1+2j", "Text('a')"),
]

#: For each type the values.
CASES: dict[str, list[str]] = {
    "None": _ANYTHING,
    "Types.PICKLED_BYTE_ARRAY()": _ANYTHING,
    "Types.STRING()": [
        *("'a'", "''", "'日本'", "'😀'", "'\\ud800'", "'a\\x00b'", "b'a'", "bytearray(b'a')", "1"),
        *("None", "Text('a')", "np.str_('a')", "True", "['a']", "Color.RED"),
    ],
    "Types.BOOLEAN()": [
        *("True", "False", "0", "1", "2", "255", "256", "-1", "''", "'x'", "None", "1.0", "0.5"),
        *("np.bool_(True)", "[]", "Index()"),
    ],
    "Types.BYTE()": [*_INTEGERS, "127", "128", "-128", "-129"],
    "Types.SHORT()": [*_INTEGERS, "2**15 - 1", "2**15", "-2**15", "-2**15 - 1"],
    "Types.INT()": [*_INTEGERS, "2**31 - 1", "2**31", "-2**31", "-2**31 - 1"],
    "Types.LONG()": [*_INTEGERS, "2**63 - 1", "2**63", "-2**63", "-2**63 - 1"],
    "Types.BIG_INT()": [*_INTEGERS, "2**63 - 1", "2**63", "-2**63", "10**30"],
    "Types.FLOAT()": [*_FLOATS, "3.4028235e38", "3.4028236e38", "1.401298464324817e-45"],
    "Types.DOUBLE()": _FLOATS,
    "Types.CHAR()": ["'a'", "'ab'", "''", "'日'", "'😀'", "None", "1", "b'a'", "'\\x00'"],
    "Types.BIG_DEC()": [
        *("Decimal('1.5')", "Decimal('1.500')", "Decimal('-0')", "Decimal('1E+5')", "1", "1.5"),
        *("Decimal('1E-20')", "Decimal(10**50) / 3", "Decimal('NaN')", "Decimal('Infinity')"),
        *("'1.5'", "'x'", "None", "True", "Fraction(1, 2)", "Decimal('1.0000000000000000000001')"),
        *("Decimal('123456789012345678901234567890.12')", "Decimal('1E-7')"),
    ],
    "Types.INSTANT()": [
        *("Instant(1, 500000000)", "Instant(1, 123456789)", "Instant(-2, 500000000)", "None"),
        *("Instant.of_epoch_milli(1577934245678)", "Instant(0, 0)", "1500", "'x'"),
        "datetime.datetime(2020, 1, 2)",
    ],
    "Types.SQL_DATE()": _DATES,
    "Types.SQL_TIME()": _CLOCKS,
    "Types.SQL_TIMESTAMP()": _TIMES,
    "LOCAL_DATE": _DATES,
    "LOCAL_TIME": _CLOCKS,
    "LOCAL_DATE_TIME": _TIMES,
    "Types.PRIMITIVE_ARRAY(Types.BYTE())": [
        *("b'ab'", "bytearray(b'ab')", "[1, 2]", "'ab'", "None", "memoryview(b'ab')", "b''"),
        *("(1, 2)", "[1, None]", "array.array('b', [1, 2])", "b'\\xff\\x00'", "[-1]", "[200]"),
    ],
    "Types.PRIMITIVE_ARRAY(Types.INT())": _LISTS,
    "Types.PRIMITIVE_ARRAY(Types.BOOLEAN())": ["[True, False]", "[1, 0]", "[None]", "(True,)"],
    "Types.PRIMITIVE_ARRAY(Types.SHORT())": ["[1, 2]", "[2**15]", "[None]", "(1,)"],
    "Types.PRIMITIVE_ARRAY(Types.LONG())": ["[1, 2**40]", "[2**63]", "[None]", "(1,)"],
    "Types.PRIMITIVE_ARRAY(Types.FLOAT())": ["[1.1, 2.5]", "[1]", "[None]", "(1.5,)"],
    "Types.PRIMITIVE_ARRAY(Types.DOUBLE())": ["[1.1, 2.5]", "[1]", "[None]", "(1.5,)"],
    "Types.PRIMITIVE_ARRAY(Types.CHAR())": ["['a', 'b']", "'ab'", "[None]", "('a',)"],
    "Types.BASIC_ARRAY(Types.INT())": _LISTS,
    "Types.BASIC_ARRAY(Types.BYTE())": ["[1, 2]", "[1, None]", "b'ab'", "(1,)", "[128]"],
    "Types.BASIC_ARRAY(Types.BOOLEAN())": ["[True, None]", "(True,)"],
    "Types.BASIC_ARRAY(Types.LONG())": ["[1, None, 2**40]", "(1,)"],
    "Types.BASIC_ARRAY(Types.FLOAT())": ["[1.1, None]", "(1.5,)"],
    "Types.BASIC_ARRAY(Types.DOUBLE())": ["[1.1, None]", "(1.5,)"],
    "Types.BASIC_ARRAY(Types.CHAR())": ["['a', None]", "('a',)"],
    "Types.BASIC_ARRAY(Types.STRING())": ["['a', None, '']", "('a',)", "'ab'", "[1]", "None", "[]"],
    "Types.OBJECT_ARRAY(Types.STRING())": ["['a', None]", "('a',)", "[]", "None", "[1]"],
    "Types.OBJECT_ARRAY(Types.INT())": ["[1, None]", "(1,)"],
    "Types.OBJECT_ARRAY(Types.ROW([Types.INT()]))": ["[Row(1), None]", "[(1,)]", "(Row(1),)"],
    "Types.OBJECT_ARRAY(Types.TUPLE([Types.INT()]))": ["[(1,)]", "[(1,), None]", "[[1]]"],
    "Types.OBJECT_ARRAY(Types.BASIC_ARRAY(Types.INT()))": ["[[1, None], None]", "[(1,)]"],
    "Types.OBJECT_ARRAY(Types.SQL_DATE())": ["[datetime.date(2020, 1, 2), None]"],
    "Types.OBJECT_ARRAY(Types.BIG_DEC())": ["[Decimal('1.50'), None]"],
    "Types.OBJECT_ARRAY(Types.PICKLED_BYTE_ARRAY())": ["[{'a': 1}, None]"],
    "Types.LIST(Types.INT())": _LISTS,
    "Types.LIST(Types.STRING())": ["['a', 'b']", "['a', None]", "('a',)", "[]", "None", "'ab'"],
    "Types.LIST(Types.BYTE())": ["[1, 2]", "b'ab'", "[1, None]"],
    "Types.LIST(Types.FLOAT())": ["[1.1]", "[1]"],
    "Types.LIST(Types.DOUBLE())": ["[1.1]", "[1]"],
    "Types.LIST(Types.BOOLEAN())": ["[True, False]", "[None]"],
    "Types.LIST(Types.ROW([Types.INT()]))": ["[Row(1), Row(None)]", "[(1,)]", "[Row(1), None]"],
    "Types.LIST(Types.TUPLE([Types.INT()]))": ["[(1,), (2,)]", "[(1,), None]"],
    "Types.LIST(Types.LIST(Types.INT()))": ["[[1], []]", "[[1], None]"],
    "Types.LIST(Types.SQL_DATE())": ["[datetime.date(2020, 1, 2)]"],
    "Types.LIST(Types.PICKLED_BYTE_ARRAY())": ["[{'a': 1}, None]"],
    "Types.MAP(Types.STRING(), Types.INT())": [
        *("{'a': 1, 'b': None}", "{}", "{None: 1}", "{1: 1}", "{'a': 'x'}", "None", "[('a', 1)]"),
        *("collections.OrderedDict(b=1, a=2)", "{'a': 2**40}", "collections.Counter('aab')"),
        *("'a'", "{'b': 1, 'a': 2, 'c': 3}"),
    ],
    "Types.MAP(Types.INT(), Types.STRING())": ["{1: 'a', 2: None}", "{True: 'a'}", "{1.5: 'a'}"],
    "Types.MAP(Types.STRING(), Types.LIST(Types.INT()))": ["{'a': [1, 2]}", "{'a': [1, None]}"],
    "Types.MAP(Types.STRING(), Types.ROW([Types.INT()]))": ["{'a': Row(1)}", "{'a': (1,)}"],
    "Types.MAP(Types.STRING(), Types.TUPLE([Types.INT()]))": ["{'a': (1,)}"],
    "Types.MAP(Types.STRING(), Types.MAP(Types.STRING(), Types.DOUBLE()))": ["{'a': {'b': 1.5}}"],
    "Types.MAP(Types.STRING(), Types.PICKLED_BYTE_ARRAY())": ["{'a': [1, 'b']}", "{'a': None}"],
    "Types.MAP(Types.TUPLE([Types.INT()]), Types.INT())": ["{(1,): 1}"],
    "Types.MAP(Types.SQL_DATE(), Types.FLOAT())": ["{datetime.date(2020, 1, 2): 1.1}"],
    "Types.ROW([Types.INT(), Types.STRING()])": _ROWS,
    "Types.ROW_NAMED(['a', 'b'], [Types.INT(), Types.STRING()])": _ROWS,
    "Types.TUPLE([Types.INT(), Types.STRING()])": _ROWS,
    "Types.ROW([])": ["Row()", "()"],
    "Types.ROW([Types.PICKLED_BYTE_ARRAY(), Types.INT()])": [
        *("Row({'a': 1}, 1)", "Row(None, None)", "Row(Row(1), 2)", "({'a': 1}, 1)"),
    ],
    "Types.TUPLE([Types.PICKLED_BYTE_ARRAY(), Types.INT()])": [
        *("({'a': 1}, 1)", "(None, 1)", "((1, 2), 2)", "(b'a', 1)"),
    ],
    "Types.ROW([Types.ROW_NAMED(['x'], [Types.INT()]), Types.TUPLE([Types.INT()])])": [
        *("Row(Row(1), (1,))", "Row(Row(x=1), (1,))", "Row(None, (1,))", "Row(Row(None), (1,))"),
        *("Row((1,), (1,))", "Row({'x': 1}, (1,))", "Row(Row(1), [1])", "Row(Row(1), Row(1))"),
        *(
            "Row(Row(1), None)",
            "Row(Row('a'), (1,))",
            "Row(Row(1), (None,))",
            "Row(Row(y=1), (1,))",
        ),
    ],
    "Types.TUPLE([Types.ROW([Types.INT()]), Types.TUPLE([Types.STRING()])])": [
        *("(Row(1), ('a',))", "((1,), ('a',))", "(None, ('a',))", "(Row(1), None)"),
        "(Row(1), (None,))",
    ],
    "Types.TUPLE([Types.INSTANT(), Types.SQL_DATE(), Types.BIG_DEC()])": [
        "(Instant(1, 0), datetime.date(2020, 1, 2), Decimal('1.50'))",
        "(None, datetime.date(2020, 1, 2), Decimal('1.50'))",
        "(Instant(1, 0), None, None)",
    ],
    "WIDE": [
        "Row(*range(12))",
        "Row(*[None] * 12)",
        "Row(*[None, 1] * 6)",
        "Row(*range(11))",
        "Row(*range(13))",
    ],
    "TIMES": [
        "Row(datetime.date(2020, 1, 2), datetime.time(1, 2, 3, 456000), "
        "datetime.datetime(2020, 1, 2, 3, 4, 5, 678000), Instant(1, 5000), Decimal('1.50'))",
        "Row(None, None, None, None, None)",
    ],
    "NUMBERS": [
        "Row(True, 1, 2, 3, 4, 1.1, 2.5, 'c', 10**10)",
        "Row(*[None] * 9)",
        "Row(False, -1, -2, -3, -4, 1e10, 1e-10, 'd', 0)",
    ],
    "CONTAINERS": [
        "Row([1, 2], [1, None], ['a', None], ['x'], {'k': 1}, b'ab', {'p': 1})",
        "Row(None, None, None, None, None, None, None)",
    ],
    "Types.TUPLE([Types.LIST(Types.STRING()), Types.MAP(Types.STRING(), Types.INT())])": [
        "(['a', 'b'], {'k': 1})",
        "([], {})",
    ],
    "EXTERNAL": ["Row(1, 'a')", "(1, 'a')"],
}

#: Types for whose elements collections may have something else.
OF_COLLECTIONS = [
    "Types.ROW([Types.INT(), Types.STRING()])",
    "Types.ROW_NAMED(['a', 'b'], [Types.INT(), Types.STRING()])",
    "Types.TUPLE([Types.INT(), Types.STRING()])",
]


def names_of(package: str) -> dict[str, Any]:
    """Return what types and values name, of PyFlink or PyFlow."""
    import numpy

    common = import_module(f"{package}.common")
    typeinfo = import_module(f"{package}.common.typeinfo")
    types = common.Types
    local = typeinfo.LocalTimeTypeInfo
    names = {
        **{name: getattr(common, name) for name in ("Row", "RowKind", "Types")},
        **{kind.name: local(kind) for kind in local.TimeType},
        "Instant": import_module(f"{package}.common.time").Instant,
        "WIDE": types.ROW([types.INT()] * 12),
        "TIMES": types.ROW(
            [
                *(types.SQL_DATE(), types.SQL_TIME(), types.SQL_TIMESTAMP(), types.INSTANT()),
                types.BIG_DEC(),
            ]
        ),
        "NUMBERS": types.ROW(
            [
                *(types.BOOLEAN(), types.BYTE(), types.SHORT(), types.INT(), types.LONG()),
                *(types.FLOAT(), types.DOUBLE(), types.CHAR(), types.BIG_INT()),
            ]
        ),
        "CONTAINERS": types.ROW(
            [
                types.PRIMITIVE_ARRAY(types.INT()),
                types.BASIC_ARRAY(types.INT()),
                types.OBJECT_ARRAY(types.STRING()),
                types.LIST(types.STRING()),
                types.MAP(types.STRING(), types.INT()),
                types.PRIMITIVE_ARRAY(types.BYTE()),
                types.PICKLED_BYTE_ARRAY(),
            ]
        ),
        "EXTERNAL": typeinfo.ExternalTypeInfo(types.ROW([types.INT(), types.STRING()])),
    }
    mine = (Pair, Color, Text, Number, Index, Whole, Real, Point)
    return {
        **names,
        **{each.__name__: each for each in mine},
        **{"Decimal": decimal.Decimal, "Fraction": fractions.Fraction, "datetime": datetime},
        **{"array": array, "collections": collections, "np": numpy},
    }


def shown(value: Any) -> str:
    """Return what tells a value apart from every other one."""
    if value is None:
        return "None"
    kind = type(value).__name__
    if kind == "Row":
        names = value.__dict__.get("_fields")
        values = ", ".join(map(shown, value._values))
        prefix = "" if value.get_row_kind().value == 0 else f"{value.get_row_kind()} "
        return f"{prefix}Row{'' if names is None else list(names)}({values})"
    if isinstance(value, dict):
        return f"{kind} {{{', '.join(f'{shown(k)}: {shown(v)}' for k, v in value.items())}}}"
    if isinstance(value, (tuple, list, set, frozenset)):
        return f"{kind} ({', '.join(map(shown, value))})"
    if isinstance(value, (datetime.date, datetime.time)):
        return f"{kind} {value.isoformat()}"
    if kind == "Instant":
        return f"Instant {value.seconds} {value.nanos}"
    if isinstance(value, (bool, int, float, str, bytes, bytearray)):
        return f"{kind} {value!r}"
    if isinstance(value, decimal.Decimal):
        return f"Decimal {value}"
    return kind
