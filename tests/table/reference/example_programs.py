"""The example programs in PyFlink's package, and how their outputs are compared.

They are not copied: they are read where PyFlink is installed.
"""

from __future__ import annotations

import re

# File, function and arguments.
EXAMPLES = {
    "process_json_data": ("process_json_data.py", "process_json_data", []),
    "process_json_data_with_udf": (
        "process_json_data_with_udf.py",
        "process_json_data_with_udf",
        [],
    ),
    "word_count": ("word_count.py", "word_count", [None, None]),
    "basic_operations": ("basic_operations.py", "basic_operations", []),
    "column_operations": ("basic_operations.py", "column_operations", []),
    "row_operations": ("basic_operations.py", "row_operations", []),
    "multi_sink": ("multi_sink.py", "multi_sink", []),
    "tumble_window": ("windowing/tumble_window.py", "tumble_window_demo", []),
    "sliding_window": ("windowing/sliding_window.py", "sliding_window_demo", []),
    "session_window": ("windowing/session_window.py", "session_window_demo", []),
    "over_window": ("windowing/over_window.py", "tumble_window_demo", []),
    "pandas_udaf": ("pandas/pandas_udaf.py", "pandas_udaf", []),
}

_ROW = re.compile(r"^(?:\d+> )?([+-][IUD]\[.*\])$")
_FLOAT = re.compile(r"(?<![\w.])-?\d+\.\d+(?![\w.])")


def tables_in(output):
    """The tables of an output: rows that were printed by themselves, and tables in their form."""
    alone, tables, table = [], [], None
    for line in output.splitlines():
        row = _ROW.match(line)
        if row:
            alone.append(row[1])
        elif re.fullmatch(r"(\+-+)+\+", line):
            if table is None:
                table = []
        elif line.startswith("|") and table is not None:
            table.append(line)
        elif re.fullmatch(r"\d+ rows? in set", line) and table is not None:
            tables.append(table)
            table = None
    return alone, tables


def settled(rows):
    """The rows that are left when their changes have been applied, sorted.

    Of a FLOAT six digits count: the seventh of a sum depends on the order of the additions.
    """
    left = []
    for row in rows:
        row = _FLOAT.sub(lambda found: f"{float(found[0]):.6g}", row)
        kind, values = (row[2:4], row[4:]) if row.startswith("|") else (row[:2], row[2:])
        if kind in ("-U", "-D"):
            left.remove(values)
        else:
            left.append(values)
    return sorted(left)
