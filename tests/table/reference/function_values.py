"""Values that functions get and return, as PyFlink and PyFlow are asked for them.

Each is a type as ``DataTypes`` writes it and a Python expression. The answers of PyFlink are in
``function_values.json``; ``record_functions.py`` writes them where PyFlink is installed.
"""

from __future__ import annotations

import datetime
import decimal
from typing import Any

#: Values of a type; a function tells what it sees of them.
ARGUMENTS = [
    ("BOOLEAN()", "True"),
    ("TINYINT()", "-128"),
    ("SMALLINT()", "32767"),
    ("INT()", "-2147483648"),
    ("BIGINT()", "9223372036854775807"),
    ("FLOAT()", "0.1"),
    ("DOUBLE()", "0.1"),
    ("DECIMAL(10, 3)", "decimal.Decimal('1.5')"),
    ("STRING()", "'ä€𝄞'"),
    ("BYTES()", "b'\\x00a'"),
    ("DATE()", "datetime.date(1582, 10, 4)"),
    ("TIME(3)", "datetime.time(1, 2, 3, 456000)"),
    ("TIMESTAMP(3)", "datetime.datetime(2024, 2, 29, 1, 2, 3, 456000)"),
    ("TIMESTAMP(6)", "datetime.datetime(1999, 12, 31, 23, 59, 59, 999999)"),
    ("ARRAY(DataTypes.INT())", "[1, None, 3]"),
    ("MAP(DataTypes.STRING(), DataTypes.INT())", "{'a': 1, 'b': None}"),
    (
        "ROW([DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('b', DataTypes.STRING())])",
        "Row(1, None)",
    ),
    ("ARRAY(DataTypes.ROW([DataTypes.FIELD('a', DataTypes.INT())]))", "[Row(1), Row(2)]"),
    ("MAP(DataTypes.STRING(), DataTypes.ARRAY(DataTypes.DOUBLE()))", "{'a': [0.5]}"),
    ("BIGINT()", "None"),
    ("ARRAY(DataTypes.INT())", "None"),
]

#: What a function of a result type returns.
RESULTS = [
    ("BOOLEAN()", "True"),
    ("BOOLEAN()", "1"),
    ("BOOLEAN()", "'a'"),
    ("TINYINT()", "127"),
    ("TINYINT()", "1.9"),
    ("SMALLINT()", "-1.9"),
    ("INT()", "True"),
    ("INT()", "2**31"),
    ("INT()", "decimal.Decimal('3.7')"),
    ("BIGINT()", "1.5"),
    ("BIGINT()", "float('nan')"),
    ("BIGINT()", "2**63"),
    ("BIGINT()", "'1'"),
    ("BIGINT()", "None"),
    ("FLOAT()", "1"),
    ("DOUBLE()", "1"),
    ("DOUBLE()", "decimal.Decimal('0.5')"),
    ("DOUBLE()", "'1'"),
    ("DECIMAL(5, 2)", "decimal.Decimal('1.005')"),
    ("DECIMAL(5, 2)", "decimal.Decimal('1.015')"),
    ("DECIMAL(5, 2)", "decimal.Decimal('12345.6')"),
    ("DECIMAL(5, 2)", "1"),
    ("STRING()", "'ä€𝄞'"),
    ("STRING()", "1"),
    ("BYTES()", "b'a'"),
    ("BYTES()", "'a'"),
    ("DATE()", "datetime.date(1, 1, 1)"),
    ("DATE()", "datetime.datetime(2024, 2, 29, 12)"),
    ("TIME(3)", "datetime.time(1, 2, 3, 456789)"),
    ("TIMESTAMP(3)", "datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)"),
    ("TIMESTAMP(6)", "datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)"),
    (
        "TIMESTAMP(6)",
        "datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))",
    ),
    ("ARRAY(DataTypes.BIGINT())", "[1, None, 3]"),
    ("ARRAY(DataTypes.BIGINT())", "[1.5]"),
    ("ARRAY(DataTypes.STRING())", "[1]"),
    ("MAP(DataTypes.STRING(), DataTypes.BIGINT())", "{'a': 1.5}"),
    (
        "ROW([DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('b', DataTypes.STRING())])",
        "Row(1, 'x')",
    ),
    (
        "ROW([DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('b', DataTypes.STRING())])",
        "Row(b='x', a=1)",
    ),
    ("ROW([DataTypes.FIELD('a', DataTypes.INT())])", "Row(c=1)"),
    ("ROW([DataTypes.FIELD('a', DataTypes.INT())])", "1"),
]


def value_of(expression: str, row: Any) -> Any:
    """The value of an expression; `row` is the class of rows."""
    return eval(expression, {"datetime": datetime, "decimal": decimal, "Row": row})


def shown(value: Any) -> str:
    """A text of a value and its type, the same for rows of PyFlink and of PyFlow."""
    kind = type(value).__name__
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return f"{kind} {value!r}"
    if hasattr(value, "get_row_kind"):
        names = getattr(value, "_fields", None)
        fields = ", ".join(map(shown, value))
        return f"Row{'' if names is None else list(names)} ({fields})"
    if isinstance(value, list):
        return f"list [{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        entries = sorted(f"{shown(k)}: {shown(v)}" for k, v in value.items())
        return f"dict {{{', '.join(entries)}}}"
    if isinstance(value, (datetime.date, datetime.time)):
        return f"{kind} {value.isoformat()}"
    return f"{kind} {value}"
