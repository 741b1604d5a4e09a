"""Elements of declared types become what PyFlink's process mode makes of them."""

from __future__ import annotations

import pickle
import re
from decimal import Decimal

import pytest
import recordings
from stream_values import OF_COLLECTIONS, names_of, shown

from pyflow.common import Row, Types
from pyflow.common.typeinfo import RowTypeInfo
from pyflow.datastream.runtime.values import (
    ElementTypeError,
    coercion,
    collected,
    of_collection,
    printed,
)

RECORDED = recordings.load("datastream/values")
NAMES = names_of("pyflow")

#: What fits here and not in PyFlink, beside None: sequences for others, and characters and large
#: integers, whose coders there are broken.
MORE = {
    "None": ["b'a'", "(i for i in [1])"],
    "Types.PICKLED_BYTE_ARRAY()": ["b'a'", "(i for i in [1])"],
    "Types.BIG_INT()": ["2**64", "2**63", "10**30", "-1", "2**40", "2**63 - 1", "-2**63"],
    "Types.PRIMITIVE_ARRAY(Types.BYTE())": ["[1, 2]", "(1, 2)", "[-1]", "memoryview(b'ab')"],
    "Types.PRIMITIVE_ARRAY(Types.CHAR())": ["['a', 'b']", "('a',)"],
    "Types.BASIC_ARRAY(Types.CHAR())": ["['a', None]", "('a',)"],
    "Types.OBJECT_ARRAY(Types.ROW([Types.INT()]))": ["[(1,)]", "(Row(1),)"],
    "Types.OBJECT_ARRAY(Types.TUPLE([Types.INT()]))": ["[[1]]"],
    "Types.OBJECT_ARRAY(Types.BASIC_ARRAY(Types.INT()))": ["[(1,)]"],
    "Types.LIST(Types.BYTE())": ["[1, 2]"],
    "Types.LIST(Types.ROW([Types.INT()]))": ["[(1,)]"],
    "Types.MAP(Types.STRING(), Types.ROW([Types.INT()]))": ["{'a': (1,)}"],
    "Types.TUPLE([Types.INT(), Types.STRING()])": [
        *("Row(1, 'a')", "[1, 'a']", "Pair(1, 'a')", "Row.of_kind(RowKind.DELETE, 1, 'a')"),
        *("Row(f0=1, f1='a')", "Row(a=1, b='a')", "Row('a', 'b')(1, 'a')"),
    ],
    "Types.ROW([])": ["()"],
    "Types.ROW([Types.PICKLED_BYTE_ARRAY(), Types.INT()])": ["({'a': 1}, 1)"],
    "Types.ROW([Types.ROW_NAMED(['x'], [Types.INT()]), Types.TUPLE([Types.INT()])])": [
        *("Row((1,), (1,))", "Row(Row(1), [1])", "Row(Row(1), Row(1))"),
    ],
    "Types.TUPLE([Types.ROW([Types.INT()]), Types.TUPLE([Types.STRING()])])": ["((1,), ('a',))"],
    "EXTERNAL": ["(1, 'a')"],
}
for _type in (
    "Types.ROW([Types.INT(), Types.STRING()])",
    "Types.ROW_NAMED(['a', 'b'], [Types.INT(), Types.STRING()])",
):
    MORE[_type] = ["(1, 'a')", "[1, 'a']", "Pair(1, 'a')", "(None, 'a')", "(1, None)"]

#: Tuples fit where lists do.
TUPLES = re.compile(r"\((True,|'a',|1,|1\.5,|1, 2)\)")

#: What fits in PyFlink, which cuts what is too long and lets numbers become infinite.
LESS = {
    "Types.FLOAT()": ["1e300", "3.4028236e38"],
    "Types.CHAR()": ["'ab'", "''", "'😀'"],
    "Types.ROW([Types.INT(), Types.STRING()])": ["Row(1, 'a', 2)"],
    "Types.ROW_NAMED(['a', 'b'], [Types.INT(), Types.STRING()])": ["Row(1, 'a', 2)"],
    "Types.TUPLE([Types.INT(), Types.STRING()])": ["(1, 'a', 2)"],
    "WIDE": ["Row(*range(13))"],
}

#: Elements of collections that PyFlink makes others of: numbers that are none become None.
LOST = ("Row('a', 1)", "('a', 1)")

#: Types whose values come out of PyFlink as others: their coder is broken.
BROKEN = ("Types.BIG_INT()", "Types.CHAR()", "NUMBERS")

#: Dates and times that PyFlink shifts or cuts on their way through Java.
SHIFTED = re.compile(r"datetime\.date(time)?\((1|1500|1969|2040|9999), |datetime\.time\(.*\d{6}\)$")

#: What PyFlink prints of objects whose classes in Java have no text, and collects of what it has
#: encoded itself.
NO_TEXT = re.compile(r"\[+(L[\w.]+;|[BCDFIJSZ])@|bytearray bytearray|\(\[-128, 5, |<function")


def names(type_text, value_text):
    return eval(type_text, NAMES), eval(value_text, NAMES)


def answers_of(type_text, value_text, convert_of=coercion):
    """The answers of ours; of an element that does not fit the error."""
    type_info, value = names(type_text, value_text)
    convert, collect = convert_of(type_info), collected(type_info)
    try:
        element = value if convert is None else convert(value)
    except ElementTypeError as error:
        return {"error": str(error)}
    # Rows are printed by a function of the chain, as they were returned.
    is_printed_before = isinstance(type_info, RowTypeInfo) and isinstance(value, Row)
    return {
        "next": shown(element),
        "printed": printed(type_info)(value if is_printed_before else element),
        "collected": shown(element if collect is None or element is None else collect(element)),
    }


def is_reference(type_text, value_text, kind, text):
    """Whether ours has to be the same as an answer of PyFlink's."""
    if text.startswith("error: ") or NO_TEXT.search(text) or type_text in BROKEN:
        return False
    if type_text.startswith("Types.SQL_") and SHIFTED.match(value_text):
        return False
    # The digits of a decimal may be written in another way.
    is_decimal = kind == "collected" and type_text == "Types.BIG_DEC()"
    return not (is_decimal and re.search("1E|/ 3", value_text))


def order_of_entries(text):
    """A text with the entries of a map in one order: in Java they have that of a hash."""
    return re.sub(r"\{(.*)\}", lambda found: str(sorted(found[1].split(", "))), text)


def fails(answers):
    return "error" in answers or all(each.startswith("error: ") for each in answers.values())


@pytest.mark.parametrize("type_text", RECORDED)
def test_elements_fit_that_fit_in_pyflink(type_text):
    fitting, more, less = set(), set(), set()
    for value_text, answers in RECORDED[type_text].items():
        ours = "error" not in answers_of(type_text, value_text)
        theirs = not fails(answers["process"])
        is_more = value_text == "None" or value_text in MORE.get(type_text, ())
        if re.search("ARRAY|LIST", type_text) and TUPLES.fullmatch(value_text):
            is_more = True
        if ours and not theirs and not is_more:
            more.add(value_text)
        if theirs and not ours and value_text not in LESS.get(type_text, ()):
            less.add(value_text)
        fitting |= {value_text} if ours else set()

    assert (more, less) == (set(), set())
    assert not fitting & set(LESS.get(type_text, ()))
    assert set(MORE.get(type_text, ())) <= fitting


@pytest.mark.parametrize("type_text", RECORDED)
def test_elements_become_what_they_do_in_pyflink(type_text):
    expected, found = {}, {}
    for value_text, recorded in RECORDED[type_text].items():
        ours = answers_of(type_text, value_text)
        if "error" in ours:
            continue
        for kind, text in recorded["process"].items():
            if kind != "error" and is_reference(type_text, value_text, kind, text):
                expected[value_text, kind] = order_of_entries(text)
                found[value_text, kind] = order_of_entries(ours[kind])

    assert found == expected


@pytest.mark.parametrize(
    ("type_info", "element", "expected"),
    [
        (Types.INT(), "a", "expected INT, got 'a' of type str"),
        (Types.BYTE(), 128, "expected BYTE, from -128 to 127, got 128 of type int"),
        (
            Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.ROW_NAMED(["x"], [Types.INT()])]),
            Row(1, Row("y")),
            "expected INT in field 'b.x', got 'y' of type str",
        ),
        (
            Types.TUPLE([Types.INT(), Types.LIST(Types.TUPLE([Types.STRING()]))]),
            (1, [("a",), (None,)]),
            "expected STRING in field 'f1[1].f0', got None of type NoneType",
        ),
        (
            Types.MAP(Types.STRING(), Types.BASIC_ARRAY(Types.FLOAT())),
            {"a": [1.5, "b"]},
            "expected FLOAT in field '['a'][1]', got 'b' of type str",
        ),
        (
            Types.ROW_NAMED(["a"], [Types.INT()]),
            Row(b=1),
            "expected ROW of a, got Row(b=1) of type Row",
        ),
        (
            Types.TUPLE([Types.INT(), Types.INT()]),
            (1,),
            "expected TUPLE of 2, not 1 values, got (1,) of type tuple",
        ),
    ],
)
def test_an_error_says_what_does_not_fit(type_info, element, expected):
    with pytest.raises(ElementTypeError) as raised:
        coercion(type_info)(element)

    assert str(raised.value) == expected
    assert str(pickle.loads(pickle.dumps(raised.value))) == expected


def test_rows_share_no_values():
    type_info = Types.ROW_NAMED(["a"], [Types.INT()])
    row = Row(1)
    made = coercion(type_info)(row)

    made[0] = 2

    assert row[0] == 1


def test_large_integers_and_decimals_stay():
    assert coercion(Types.BIG_INT())(10**40) == 10**40
    assert coercion(Types.BIG_DEC())(Decimal("1.500")).as_tuple().exponent == -3


@pytest.mark.parametrize("type_text", OF_COLLECTIONS)
def test_elements_of_collections_become_what_they_do_in_pyflink(type_text):
    expected, found = {}, {}
    for value_text, answers in RECORDED[type_text].items():
        if value_text == "None":
            continue
        is_error = fails(answers["collection"]) or value_text in LOST
        expected[value_text] = None if is_error else answers["collection"]["next"]
        found[value_text] = answers_of(type_text, value_text, of_collection).get("next")

    assert found == expected
