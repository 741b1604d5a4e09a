"""Operators of SQL take the pairs of types that PyFlink's take, and give the same."""

from __future__ import annotations

from itertools import product

import pytest
import recordings
import sql_operands

RECORDED = recordings.load("sql_operands")
# What a short run compares.
SHORT = ["+", "CASE"]
EQUALITY = ("=", "IS DISTINCT FROM", "NULLIF", "CASE WHEN EQUAL")
NUMBERS = ("t", "h", "i", "l", "f", "d", "n", "m")
TEXTS = ("s", "p", "k", "u", "w", "v")


def _triples(name, *wanted):
    """The cases of a form whose operands satisfy all of some conditions."""
    triples = product(sql_operands.COLUMNS_OF_THREE, repeat=3)
    form = sql_operands.FORMS_OF_THREE[name]
    return [form.format(*each) for each in triples if all(test(each) for test in wanted)]


def _is_narrowed(operands):
    """Whether a DOUBLE comes after a FLOAT, before which no other type makes them DOUBLE."""
    numbers = [each for each in operands if each in "fdn"]
    return numbers[:1] == ["f"] and "d" in numbers and "n" not in operands


def _pairs(names, ones, others):
    """The cases of forms whose operands are one of each, in either order."""
    return [
        sql_operands.FORMS[name].format(*pair)
        for name in names
        for one in ones
        for other in others
        for pair in ((one, other), (other, one))
    ]


#: Cases that PyFlow answers otherwise, by reason, which docs/table-api/sql.md lists.
DIFFERENCES = {
    "Flink computes FLOAT with DOUBLE as FLOAT where that is on the left": [
        sql_operands.FORMS[name].format("f", "d")
        for name in ("+", "-", "*", "/", *EQUALITY, "CASE", "IF", "ARRAY", "IN")
    ]
    + _triples("CASE OF THREE", _is_narrowed)
    + _triples("ARRAY OF THREE", _is_narrowed),
    "a DATE is compared with a TIMESTAMP": [
        *_pairs((*EQUALITY, "<", "IN"), "y", ("ts", "z")),
        *_triples("BETWEEN", lambda each: "y" in each, lambda each: {"ts", "z"} & {*each}),
    ],
    "TIMESTAMPDIFF takes a TIMESTAMP_LTZ and another type": _pairs(
        ("TIMESTAMPDIFF",), "z", ("y", "ts")
    ),
    "a BOOLEAN is never equal to a text; an error says so": _pairs(EQUALITY, "b", TEXTS),
    "in Flink the elements of IN get the type of the value": [
        *(f"{value} IN (m, NULL)" for value in "il"),
        *(f"{value} IN ({element}, NULL)" for value, element in ("fn", "fm", "nf")),
    ],
    "texts in lists of several elements are refused": _pairs(
        ("IN",), TEXTS, (*NUMBERS, "b", "y", "q", "ts", "z")
    ),
    "arrays have no common type in IF": ["IF(b, a, a)"],
    "GREATEST of these fails": [
        f"GREATEST({one}, {other})"
        for one, other in ("ni", "nl", "nf", "nd", "nm", "mf", "md", "xx", "aa")
    ],
}


def _alike(one, other):
    """Whether texts of values are the same, but for the last digit of a DOUBLE."""
    return one == other or float(one) == pytest.approx(float(other), rel=1e-14)


@pytest.mark.parametrize(
    "form",
    [pytest.param(name, marks=[] if name in SHORT else pytest.mark.complete) for name in RECORDED],
)
def test_pairs_of_types(batch, tmp_path, form):
    sql_operands.make_table(batch, tmp_path)
    different = {case for others in DIFFERENCES.values() for case in others}
    recorded = {case: found for case, found in RECORDED[form].items() if case not in different}
    types = {
        case: sql_operands.type_of(batch, case, lambda table: str(table.get_resolved_schema()))
        for case in recorded
    }

    wanted = {case: found for case, found in recorded.items() if found and found[1]}
    assert {case: types[case] and sql_operands.plain(types[case]) for case in wanted} == {
        case: sql_operands.plain(data_type) for case, (data_type, _) in wanted.items()
    }
    found = sql_operands.evaluate(batch, list(wanted))
    close = _alike if form == "POWER" else str.__eq__
    assert [
        (case, values, found[case])
        for case, (_, values) in wanted.items()
        if found[case] is None or not all(map(close, map(str, values), map(str, found[case])))
    ] == []
    # What Flink refuses when it is planned may be found when it runs, and the other way round.
    others = [case for case in recorded if case not in wanted and types[case] is not None]
    assert [case for case in others if sql_operands.evaluate(batch, [case])[case] is not None] == []


def test_forms_are_those_recorded():
    assert {name: list(cases) for name, cases in RECORDED.items()} == sql_operands.cases()
