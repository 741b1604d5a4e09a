"""Values of a program that become tables and come back, as PyFlink and PyFlow are asked for them.

Each is a type as ``DataTypes`` writes it and a Python expression; of every type, by itself and
inside of others. The answers of PyFlink are in ``python_values.json``; ``record_python_values.py``
writes them where PyFlink is installed.
"""

from __future__ import annotations

import datetime
import decimal
from typing import Any, NamedTuple

from reference.function_values import shown, shown_series


class Nesting(NamedTuple):
    """What is around a type and a value: as elements, as in data frames, as functions see it."""

    data_type: str
    element: str
    in_frame: str


LEAVES = [
    ("DataTypes.BOOLEAN()", "True"),
    ("DataTypes.TINYINT()", "-128"),
    ("DataTypes.SMALLINT()", "32767"),
    ("DataTypes.INT()", "-2147483648"),
    ("DataTypes.BIGINT()", "9223372036854775807"),
    ("DataTypes.FLOAT()", "1.23"),
    ("DataTypes.FLOAT()", "3.4028234663852886e38"),
    ("DataTypes.FLOAT()", "1.401298464324817e-45"),
    ("DataTypes.DOUBLE()", "0.1"),
    ("DataTypes.DECIMAL(10, 3)", "decimal.Decimal('1.5')"),
    ("DataTypes.CHAR(2)", "'ab'"),
    ("DataTypes.VARCHAR(9)", "'ä€𝄞'"),
    ("DataTypes.STRING()", "''"),
    ("DataTypes.BINARY(2)", "bytearray(b'ab')"),
    ("DataTypes.VARBINARY(9)", "bytearray(b'\\x00a')"),
    ("DataTypes.BYTES()", "bytearray(b'')"),
    ("DataTypes.DATE()", "datetime.date(1969, 2, 28)"),
    *((f"DataTypes.TIME({p})", "datetime.time(12, 34, 56, 789123)") for p in (0, 3, 6)),
    *(
        (f"DataTypes.TIMESTAMP({p})", f"datetime.datetime(2020, 1, 2, 3, 4, 5, {micros})")
        for p, micros in ((0, 0), (3, 678000), (6, 678901), (9, 678901))
    ),
    *(
        (f"DataTypes.TIMESTAMP_LTZ({p})", f"datetime.datetime(2020, 1, 2, 3, 4, 5, {micros})")
        for p, micros in ((0, 0), (3, 678000), (6, 678901))
    ),
    ("POINT_AS_ROW", "Point(1.0, 2.0)"),
    ("POINT_AS_ARRAY", "Point(1.0, 2.0)"),
    ("POINT_AS_TEXT", "Point(1.0, 2.0)"),
]

_FIELDS = "DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('b', {})"
_ROW = "DataTypes.ROW([" + _FIELDS + "])"

NESTED = {
    "alone": Nesting("{}", "{}", "{}"),
    "array": Nesting("DataTypes.ARRAY({})", "[{}]", "[{}]"),
    "map": Nesting("DataTypes.MAP(DataTypes.STRING(), {})", "{{'k': {}}}", "{{'k': {}}}"),
    "row": Nesting(_ROW, "Row(1, {})", "{{'a': 1, 'b': {}}}"),
    "array of rows": Nesting(f"DataTypes.ARRAY({_ROW})", "[Row(1, {})]", "[{{'a': 1, 'b': {}}}]"),
}


class Point:
    """An object of a class of a program."""

    def __init__(self, x: float, y: float) -> None:
        self.x = x
        self.y = y


def names_of(library: Any) -> dict[str, Any]:
    """What the types and expressions name, of PyFlink's or PyFlow's module ``table``."""
    types, row = library.DataTypes, library.Row

    class PointAsRow(library.UserDefinedType):
        @classmethod
        def sql_type(cls):
            return types.ROW([types.FIELD("a", types.DOUBLE()), types.FIELD("b", types.DOUBLE())])

        @classmethod
        def module(cls):
            return __name__

        def serialize(self, obj):
            return row(obj.x * 10, obj.y * 10)

    class PointAsArray(PointAsRow):
        @classmethod
        def sql_type(cls):
            return types.ARRAY(types.DOUBLE())

        def serialize(self, obj):
            return [obj.x * 10, obj.y * 10]

    class PointAsText(PointAsRow):
        @classmethod
        def sql_type(cls):
            return types.STRING()

        def serialize(self, obj):
            return f"{obj.x}, {obj.y}"

    return {
        "DataTypes": types,
        "POINT_AS_ROW": PointAsRow(),
        "POINT_AS_ARRAY": PointAsArray(),
        "POINT_AS_TEXT": PointAsText(),
        "Point": Point,
        "Row": row,
        "datetime": datetime,
        "decimal": decimal,
    }


def _table(library: Any, cases: Any) -> tuple[list[Any], Any]:
    """The values and the schema of a row with a column for each case."""
    names = names_of(library)
    values = [eval(expression, names) for _, expression in cases]
    types = library.DataTypes
    fields = [types.FIELD(f"f{i}", eval(text, names)) for i, (text, _) in enumerate(cases)]
    return values, types.ROW(fields)


def _elements(environment: Any, library: Any, cases: Any) -> Any:
    values, schema = _table(library, cases)
    # Objects of a class have one type, and here they have several.
    return environment.from_elements([tuple(values)], schema, verify_schema=False)


def _collected(table: Any) -> list[str]:
    with table.execute().collect() as rows:
        return [shown(value) for row in rows for value in row]


def collected(environment: Any, library: Any, cases: Any) -> list[str]:
    """Values of a table of elements as ``collect()`` gives them."""
    return _collected(_elements(environment, library, cases))


def in_frame(environment: Any, library: Any, cases: Any) -> list[str]:
    """The columns of such a table in a data frame."""
    frame = _elements(environment, library, cases).to_pandas()
    return [shown_series(frame[name]) for name in frame.columns]


def of_frame(environment: Any, library: Any, cases: Any) -> list[str]:
    """Values of a table of a data frame as ``collect()`` gives them."""
    import pandas

    values, schema = _table(library, cases)
    frame = pandas.DataFrame({f"f{place}": [value] for place, value in enumerate(values)})
    return _collected(environment.from_pandas(frame, schema))


def _around(nesting: Nesting, value: str) -> list[tuple[str, str]]:
    return [(nesting.data_type.format(text), value.format(leaf)) for text, leaf in LEAVES]


ASKED = {
    f"{way} {name}": (ask, _around(nesting, value))
    for name, nesting in NESTED.items()
    for way, ask, value in (
        ("elements", collected, nesting.element),
        ("frames", in_frame, nesting.element),
        ("series", of_frame, nesting.in_frame),
    )
}


def seen_by_functions(name: str) -> list[tuple[str, str]]:
    """The values of a nesting as functions have them: objects as what they are kept as."""
    kept = [
        (text, f"{text}.serialize({value})" if text.startswith("POINT") else value)
        for text, value in LEAVES
    ]
    nesting = NESTED[name]
    return [(nesting.data_type.format(text), nesting.element.format(value)) for text, value in kept]


def answers(which: str, environment: Any, library: Any) -> list[str]:
    """What comes back for each case, or the class of the error that it raises."""
    ask, cases = ASKED[which]
    return _answers(ask, environment, library, cases)


def _answers(ask: Any, environment: Any, library: Any, cases: Any) -> list[str]:
    try:
        return ask(environment, library, cases)
    except Exception as error:
        if len(cases) == 1:
            return [f"error: {type(error).__name__}"]
    half = len(cases) // 2
    parts = (cases[:half], cases[half:])
    return [each for part in parts for each in _answers(ask, environment, library, part)]


#: Digits that PyFlink loses of TIME(6), TIMESTAMP(6) and TIMESTAMP(9).
FINER = (".789123", ".678901")


def as_recorded(answer: str, recorded: str) -> str:
    """The answer without what the documentation has as differences from PyFlink's."""
    # Of nanoseconds in an object pyarrow makes a number.
    if recorded.startswith("error") or "int 1577934245678" in recorded:
        return recorded
    for digits in FINER:
        if digits not in recorded:
            cut = digits[:4]
            answer = answer.replace(digits, cut + "000" if cut + "000" in recorded else cut)
    return answer


def differences(cases: Any, found: list[str], recorded: list[str]) -> dict[Any, tuple[str, str]]:
    """The answers that the documentation does not have as other than PyFlink's, and PyFlink's."""
    return {
        case: (answer, expected)
        for case, answer, expected in zip(cases, found, recorded, strict=True)
        if as_recorded(answer, expected) != expected
    }
