"""Functions that declare the types of their arguments, called with arguments of other types.

Each type is declared by a function, and each is the type of a column that a function gets. The
answers of PyFlink are in ``declared_types.json``; ``record_declared_types.py`` writes them where
PyFlink is installed.
"""

from __future__ import annotations

from typing import Any

import function_values

#: A type as ``DataTypes`` writes it, and a value of it in SQL.
TYPES = [
    ("BOOLEAN()", "TRUE"),
    ("TINYINT()", "CAST(7 AS TINYINT)"),
    ("SMALLINT()", "CAST(300 AS SMALLINT)"),
    ("INT()", "70000"),
    ("BIGINT()", "CAST(5000000000 AS BIGINT)"),
    ("FLOAT()", "CAST(0.1 AS FLOAT)"),
    ("DOUBLE()", "CAST(0.1 AS DOUBLE)"),
    ("DECIMAL(10, 3)", "CAST(1.5 AS DECIMAL(10, 3))"),
    ("DECIMAL(5, 1)", "CAST(2.5 AS DECIMAL(5, 1))"),
    ("STRING()", "CAST('text' AS STRING)"),
    ("VARCHAR(3)", "CAST('abc' AS VARCHAR(3))"),
    ("CHAR(5)", "CAST('fixed' AS CHAR(5))"),
    ("CHAR(2)", "CAST('ab' AS CHAR(2))"),
    ("BYTES()", "CAST(x'0102' AS BYTES)"),
    ("BINARY(2)", "CAST(x'0304' AS BINARY(2))"),
    ("BINARY(4)", "CAST(x'05060708' AS BINARY(4))"),
    ("DATE()", "DATE '2024-02-29'"),
    ("TIME()", "TIME '01:02:03'"),
    ("TIMESTAMP(3)", "TIMESTAMP '2024-02-29 01:02:03.456'"),
    ("TIMESTAMP(6)", "TIMESTAMP '2024-02-29 01:02:03.456789'"),
    (
        "TIMESTAMP_LTZ(3)",
        "CAST(TIMESTAMP '2024-02-29 01:02:03.456' AS TIMESTAMP_LTZ(3))",
    ),
    ("ARRAY(DataTypes.INT())", "ARRAY[1, 2]"),
    ("ARRAY(DataTypes.BIGINT())", "ARRAY[CAST(1 AS BIGINT)]"),
    ("ARRAY(DataTypes.DOUBLE())", "ARRAY[CAST(0.1 AS DOUBLE)]"),
    ("ARRAY(DataTypes.DECIMAL(5, 1))", "ARRAY[CAST(2.5 AS DECIMAL(5, 1))]"),
    ("ARRAY(DataTypes.STRING())", "ARRAY['text']"),
    ("ARRAY(DataTypes.VARCHAR(2))", "ARRAY[CAST('ab' AS VARCHAR(2))]"),
    ("MAP(DataTypes.STRING(), DataTypes.INT())", "MAP['a', 1]"),
    ("MAP(DataTypes.STRING(), DataTypes.BIGINT())", "MAP['a', CAST(1 AS BIGINT)]"),
    ("ROW([DataTypes.FIELD('a', DataTypes.INT())])", "CAST(ROW(1) AS ROW<a INT>)"),
    ("ROW([DataTypes.FIELD('b', DataTypes.BIGINT())])", "CAST(ROW(2) AS ROW<b BIGINT>)"),
    ("ROW([DataTypes.FIELD('c', DataTypes.DOUBLE())])", "CAST(ROW(0.5) AS ROW<c DOUBLE>)"),
    (
        "ROW([DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('b', DataTypes.INT())])",
        "CAST(ROW(3, 4) AS ROW<a INT, b INT>)",
    ),
]

#: What functions declare, and how many arguments they are called with. (PyFlink refuses any call
#: of a function with an empty list of types.)
COUNTS = [
    ([], 1),
    (["INT()"], 0),
    (["INT()"], 1),
    (["INT()"], 2),
    (["INT()", "INT()"], 1),
    (["INT()", "INT()"], 2),
    (None, 0),
    (None, 1),
    (None, 2),
]


def answers(t_env: Any, package: str) -> dict[str, Any]:
    """What a package answers: what the functions see, or ``error`` where they are refused.

    Parameters
    ----------
    t_env : TableEnvironment
        In batch mode.
    package : str
        ``pyflink`` or ``pyflow``.
    """
    import importlib

    table_module = importlib.import_module(f"{package}.table")
    udf = importlib.import_module(f"{package}.table.udf").udf
    col = importlib.import_module(f"{package}.table.expressions").col
    names = {"DataTypes": table_module.DataTypes}
    # A column, and no literal, for which PyFlink has rules of its own.
    columns = ", ".join(
        f"CASE WHEN x = 1 THEN {value} END AS c{place}" for place, (_, value) in enumerate(TYPES)
    )
    t_env.create_temporary_view("ones", t_env.from_elements([(1,)], ["x"]))
    table = t_env.sql_query(f"SELECT {columns} FROM ones")

    def look(*values):
        return function_values.shown(values)

    def collected(calls):
        """The results of calls over the columns, in one job."""
        accepted = {}
        for key, (function, arguments) in calls.items():
            try:
                table.select(function(*arguments))
                accepted[key] = function(*arguments)
            except Exception:
                pass
        found = dict.fromkeys(calls, "error")
        if accepted:
            found.update(zip(accepted, computed(list(accepted.values()))))
        return list(found.values())

    def computed(expressions):
        """What they are, together or, where one of them fails, in halves."""
        try:
            with table.select(*expressions).execute().collect() as rows:
                [row] = rows
            return list(row)
        except Exception:
            if len(expressions) == 1:
                return ["error"]
        middle = len(expressions) // 2
        return computed(expressions[:middle]) + computed(expressions[middle:])

    types = []
    for text, _ in TYPES:
        declared = eval(f"DataTypes.{text}", names)
        function = udf(look, input_types=[declared], result_type=names["DataTypes"].STRING())
        calls = {place: (function, [col(f"c{place}")]) for place in range(len(TYPES))}
        types.append(collected(calls))
    counts = []
    for texts, given in COUNTS:
        declared = texts and [eval(f"DataTypes.{text}", names) for text in texts]
        function = udf(look, input_types=declared, result_type=names["DataTypes"].STRING())
        counts += collected({0: (function, [col("c3")] * given)})
    return {"types": types, "counts": counts}
