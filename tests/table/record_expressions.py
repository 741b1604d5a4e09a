"""Evaluates `expression_cases.py` with PyFlink and writes what comes out.

Run with a Python that has ``apache-flink``: ``python tests/table/record_expressions.py [table]...``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table import expression as expression_module
from pyflink.table import expressions as expressions_module

import expression_cases

REFERENCE = Path(__file__).parent / "reference"


def environment() -> TableEnvironment:
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("table.local-time-zone", expression_cases.ZONE)
    t_env.get_config().set("parallelism.default", "1")
    return t_env


def namespace(columns: Any) -> dict[str, Any]:
    names = {**vars(expression_module), **vars(expressions_module), "DataTypes": DataTypes}
    names.pop("abs", None)
    names["abs"] = abs
    return {**names, **{name: expressions_module.col(name) for name in columns}}


def schema(columns: dict[str, tuple[str, list[Any]]]) -> Any:
    return DataTypes.ROW(
        [DataTypes.FIELD(name, parse(text)) for name, (text, _) in columns.items()]
    )


def parse(text: str) -> Any:
    not_null = text.endswith(" NOT NULL")
    text = text.removesuffix(" NOT NULL")
    if text.startswith("ROW<"):
        return DataTypes.ROW(
            [DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("name", DataTypes.STRING())]
        )
    if text.startswith("ARRAY<"):
        return DataTypes.ARRAY(parse(text[6:-1]))
    if text.startswith("MAP<"):
        key, value = text[4:-1].split(", ")
        return DataTypes.MAP(parse(key), parse(value))
    found = eval(f"DataTypes.{text}" if "(" in text else f"DataTypes.{text}()")
    return found.not_null() if not_null else found


def given(value: Any) -> Any:
    """Return a value of a table as PyFlink takes it."""
    if isinstance(value, tuple):
        return Row(*value)
    return bytearray(value) if isinstance(value, bytes) else value


def input_table(t_env: TableEnvironment, columns: dict[str, tuple[str, list[Any]]]) -> Any:
    count = len(next(iter(columns.values()))[1])
    rows = [
        tuple(given(values[position]) for _, values in columns.values())
        for position in range(count)
    ]
    numbered = [(*row, position) for position, row in enumerate(rows)]
    row_type = schema(columns)
    row_type.add("row_number", DataTypes.INT().not_null())
    return t_env.from_elements(numbered, row_type)


def run(table: Any, grouped: bool, found: list[Any]) -> list[list[Any]]:
    """Return, for each expression, its values in the order of the rows."""
    named = [expression.alias(f"e{index}") for index, expression in enumerate(found)]
    if grouped:
        selected = table.group_by(expressions_module.col("g")).select(*named)
        with selected.execute().collect() as results:
            rows = [list(row) for row in results]
    else:
        selected = table.select(*named, expressions_module.col("row_number"))
        with selected.execute().collect() as results:
            rows = [list(row) for row in results]
        rows.sort(key=lambda row: row[-1])
    return [[expression_cases.plain(row[index]) for row in rows] for index in range(len(found))]


def first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if "Caused by" in line]
    return (causes[-1] if causes else lines[0] if lines else type(error).__name__)[:200]


def evaluate(table: Any, grouped: bool, cases: list[dict[str, Any]], found: list[Any]) -> None:
    """Fill in the values of cases; where they fail together, each half alone."""
    if not cases:
        return
    try:
        values = run(table, grouped, found)
    except Exception as error:
        if len(cases) == 1:
            cases[0]["fails"] = first_line(error)
            return
        half = len(cases) // 2
        evaluate(table, grouped, cases[:half], found[:half])
        evaluate(table, grouped, cases[half:], found[half:])
        return
    for case, each in zip(cases, values):
        case["values"] = each


def record(name: str) -> None:
    t_env = environment()
    columns = expression_cases.TABLES[name]
    table = input_table(t_env, columns)
    grouped = name == "groups"
    names = namespace(columns)
    results: list[dict[str, Any]] = []
    valid: list[dict[str, Any]] = []
    found: list[Any] = []
    for text in dict.fromkeys(expression_cases.CASES[name]):
        case: dict[str, Any] = {"case": text}
        results.append(case)
        try:
            expression = eval(text, names)
            case["text"] = str(expression)
            source = table.group_by(expressions_module.col("g")) if grouped else table
            selected = source.select(expression)
            resolved = selected._j_table.getResolvedSchema()
            case["type"] = str(resolved.getColumnDataTypes().get(0).toString())
            case["name"] = str(resolved.getColumnNames().get(0))
        except Exception as error:
            case["invalid"] = first_line(error)
            continue
        valid.append(case)
        found.append(expression)
    for start in range(0, len(valid), 60):
        evaluate(table, grouped, valid[start : start + 60], found[start : start + 60])
        print(name, start + 60, "of", len(valid), flush=True)
    REFERENCE.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in results)
    (REFERENCE / f"expressions_{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or list(expression_cases.CASES):
        record(chosen)
