"""Values of a program that become tables and come back, as PyFlink and PyFlow are asked for them.

Each is a type as ``DataTypes`` writes it and a Python expression. The answers of PyFlink are in
``python_values.json``; ``record_python_values.py`` writes them where PyFlink is installed.
"""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from reference.function_values import shown, shown_series

_LEAVES = [
    ("DataTypes.FLOAT()", "1.23"),
    ("DataTypes.FLOAT()", "3.4028234663852886e38"),
    ("DataTypes.FLOAT()", "1.401298464324817e-45"),
    ("DataTypes.DECIMAL(10, 3)", "decimal.Decimal('1.5')"),
    *((f"DataTypes.TIME({p})", "datetime.time(12, 34, 56, 789123)") for p in (0, 3)),
    *(
        (f"DataTypes.TIMESTAMP({p})", f"datetime.datetime(2020, 1, 2, 3, 4, 5, {micros})")
        for p, micros in ((0, 0), (3, 678000), (6, 678901), (9, 678901))
    ),
    ("POINT_AS_ROW", "Point(1.0, 2.0)"),
    ("POINT_AS_ARRAY", "Point(1.0, 2.0)"),
]

_FIELD = "DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('b', {})"

#: Around a type and a value: what a column has.
_NESTED = [
    ("{}", "{}"),
    ("DataTypes.ARRAY({})", "[{}, None]"),
    ("DataTypes.MAP(DataTypes.STRING(), {})", "{{'k': {}}}"),
    ("DataTypes.ROW([" + _FIELD + "])", "Row(1, {})"),
    ("DataTypes.ARRAY(DataTypes.ROW([" + _FIELD + "]))", "[Row(1, {})]"),
]

#: Elements of a table, to be collected.
ELEMENTS = [
    [(outer.format(text), around.format(value)) for text, value in _LEAVES]
    for outer, around in _NESTED
]

#: Columns of a table that becomes a data frame.
FRAMES = [
    (text, value)
    for text, value in _LEAVES
    if text.startswith(("DataTypes.TIMESTAMP", "DataTypes.FLOAT"))
]

#: Columns of a data frame that becomes a table, to be collected.
SERIES = [(text, value) for text, value in _LEAVES if text.startswith("DataTypes.TIME")]


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

    return {
        "DataTypes": types,
        "POINT_AS_ROW": PointAsRow(),
        "POINT_AS_ARRAY": PointAsArray(),
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
    # Objects of a class have one type, and here they have two.
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


ASKED = {
    **{f"elements {place}": (collected, cases) for place, cases in enumerate(ELEMENTS)},
    "frames": (in_frame, FRAMES),
    "series": (of_frame, SERIES),
}


def answers(which: str, environment: Any, library: Any) -> list[str]:
    """What comes back for each case, or the class of the error that it raises."""
    ask, cases = ASKED[which]
    try:
        return ask(environment, library, cases)
    except Exception:
        return [_answer(ask, environment, library, case) for case in cases]


def _answer(ask: Any, environment: Any, library: Any, case: Any) -> str:
    try:
        return ask(environment, library, [case])[0]
    except Exception as error:
        return f"error: {type(error).__name__}"
