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
    ("TIME(3)", "datetime.datetime(2024, 1, 1, 5, 6, 7, 890123)"),
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

_TEXTS_AND_NUMBERS = (
    "ROW([DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('b', DataTypes.STRING())])"
)

#: What a function over series returns, a Series or DataFrame of two values.
SERIES = [
    ("INT()", "pd.Series([1.0, None])"),
    ("INT()", "pd.Series([1.5, 1])"),
    ("INT()", "pd.Series([True, False])"),
    ("INT()", "pd.Series([2**40, 1])"),
    ("INT()", "pd.Series(['1', '2'])"),
    ("INT()", "pd.Series([1, 2], index=[7, 7])"),
    ("TINYINT()", "pd.Series([300, 1])"),
    ("BIGINT()", "pd.Series([decimal.Decimal('1'), None])"),
    ("BOOLEAN()", "pd.Series([0, 2])"),
    ("FLOAT()", "pd.Series([1e39, 0.1])"),
    ("DOUBLE()", "pd.Series([float('nan'), float('inf')])"),
    ("DOUBLE()", "pd.Series([2**53 + 1, 1])"),
    ("DOUBLE()", "pd.Series([decimal.Decimal('0.5'), None])"),
    ("DECIMAL(5, 2)", "pd.Series([decimal.Decimal('1.5'), None])"),
    ("DECIMAL(5, 2)", "pd.Series([decimal.Decimal('1.005'), None])"),
    ("DECIMAL(5, 2)", "pd.Series([1, 2])"),
    ("STRING()", "pd.Series(['ä𝄞', float('nan')], dtype=object)"),
    ("STRING()", "pd.Series([1, 2])"),
    ("STRING()", "pd.Series(['a', 'a'], dtype='category')"),
    ("STRING()", "pd.Series([b'a', b'b'])"),
    ("BYTES()", "pd.Series([bytearray(b'a'), 'b'], dtype=object)"),
    ("DATE()", "pd.Series([datetime.date(1, 1, 1), None])"),
    ("DATE()", "pd.Series(pd.to_datetime(['2024-02-29 12:00', None]))"),
    ("TIME(3)", "pd.Series([datetime.time(1, 2, 3, 456789), None])"),
    (
        "TIMESTAMP(3)",
        "pd.Series([datetime.datetime(1960, 2, 29, 1, 2, 3, 456789), None], dtype=object)",
    ),
    ("TIMESTAMP(6)", "pd.Series(pd.to_datetime(['2024-02-29 01:02:03.456789', None]))"),
    ("TIMESTAMP(6)", "pd.Series([datetime.datetime(1, 1, 1), None], dtype=object)"),
    ("TIMESTAMP(6)", "pd.Series(pd.to_datetime(['2024-02-29', None]).tz_localize('Asia/Tokyo'))"),
    ("ARRAY(DataTypes.INT())", "pd.Series([[1, None], np.array([1, 2])])"),
    ("ARRAY(DataTypes.INT())", "pd.Series([[1.5], ()])"),
    ("ARRAY(DataTypes.STRING())", "pd.Series([[1], None])"),
    (
        "ARRAY(DataTypes.TIMESTAMP(3))",
        "pd.Series([[datetime.datetime(2024, 2, 29, 1, 2, 3, 456789), None], None])",
    ),
    ("MAP(DataTypes.STRING(), DataTypes.INT())", "pd.Series([{'a': 1}, [('b', 2)]])"),
    (_TEXTS_AND_NUMBERS, "pd.DataFrame({'b': [1, 2], 'a': ['x', None]})"),
    (_TEXTS_AND_NUMBERS, "pd.DataFrame({'b': ['x', None], 'a': [1, 2]})"),
    (_TEXTS_AND_NUMBERS, "pd.DataFrame({'a': [1, 2]})"),
    (_TEXTS_AND_NUMBERS, "pd.Series([{'b': 'x', 'a': 1}, (2, 'y')])"),
]

#: What an aggregate function over series returns for a group.
VALUES = [
    ("BOOLEAN()", "2"),
    ("INT()", "True"),
    ("INT()", "1.0"),
    ("INT()", "1.5"),
    ("INT()", "float('nan')"),
    ("INT()", "np.int64(3)"),
    ("INT()", "'1'"),
    ("DOUBLE()", "np.float32(0.5)"),
    ("DECIMAL(5, 2)", "decimal.Decimal('1.5')"),
    ("DECIMAL(5, 2)", "decimal.Decimal('1.005')"),
    ("STRING()", "1"),
    ("DATE()", "datetime.datetime(2024, 2, 29, 12)"),
    ("DATE()", "1"),
    ("TIME(3)", "datetime.time(1, 2, 3, 456789)"),
    ("TIME(3)", "1"),
    ("TIMESTAMP(3)", "datetime.datetime(1, 1, 1, 0, 0, 0, 456789)"),
    ("TIMESTAMP(6)", "datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)"),
    ("ARRAY(DataTypes.BIGINT())", "[1.5, None]"),
    (
        "ARRAY(DataTypes.TIMESTAMP(3))",
        "[datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)]",
    ),
    (_TEXTS_AND_NUMBERS, "Row(b=1, a='x')"),
    (_TEXTS_AND_NUMBERS, "Row(b='x', a=1)"),
    (_TEXTS_AND_NUMBERS, "(1, 'x')"),
    (_TEXTS_AND_NUMBERS, "(1,)"),
    (_TEXTS_AND_NUMBERS, "{'b': 'x', 'a': 1}"),
    (_TEXTS_AND_NUMBERS, "None"),
]

#: Rows that a table function returns, for columns of two types.
ROWS = [
    ("INT()", "STRING()", "(1, 'x')"),
    ("INT()", "STRING()", "Row(b=1, a='x')"),
    ("INT()", "STRING()", "Row(a='x', b=1)"),
    ("INT()", "STRING()", "[Row(1, None), (2, 'y')]"),
    ("INT()", "STRING()", "[[1, 'x']]"),
    ("INT()", "STRING()", "iter([(1, 'x')])"),
    ("INT()", "STRING()", "{1: 'x'}"),
    ("INT()", "STRING()", "None"),
]


def value_of(expression: str, row: Any) -> Any:
    """The value of an expression; `row` is the class of rows."""
    names: dict[str, Any] = {"datetime": datetime, "decimal": decimal, "Row": row}
    if "pd." in expression or "np." in expression:
        import numpy as np
        import pandas as pd

        names |= {"np": np, "pd": pd}
    return eval(expression, names)


def shown(value: Any) -> str:
    """A text of a value and its type, the same for rows of PyFlink and of PyFlow."""
    kind = type(value).__name__
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return f"{kind} {value!r}"
    if hasattr(value, "get_row_kind"):
        names = getattr(value, "_fields", None)
        fields = ", ".join(map(shown, value))
        return f"Row{'' if names is None else list(names)} ({fields})"
    if isinstance(value, (list, tuple)):
        return f"{kind} [{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        entries = sorted(f"{shown(k)}: {shown(v)}" for k, v in value.items())
        return f"dict {{{', '.join(entries)}}}"
    if isinstance(value, (datetime.date, datetime.time)):
        return f"{kind} {value.isoformat()}"
    return f"{kind} {value}"


def shown_series(series: Any) -> str:
    """A text of a series or a data frame, and of the types in it."""
    if hasattr(series, "columns"):
        columns = ", ".join(f"{name}: {shown_series(series[name])}" for name in series.columns)
        return f"DataFrame {{{columns}}}"
    # Texts are objects up to pandas 2.
    kind = "object" if series.dtype.kind == "O" else str(series.dtype)
    return f"{type(series).__name__} {kind} [{', '.join(map(_shown_in_series, series))}]"


def _shown_in_series(value: Any) -> str:
    if type(value).__name__ == "ndarray":
        return shown_series(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_shown_in_series, value))}]"
    if isinstance(value, datetime.datetime) or type(value).__name__ == "datetime64":
        return f"time {value}"
    return shown(value.item() if hasattr(value, "item") else value)
