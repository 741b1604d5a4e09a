"""Records what the expressions of `expression_cases.py` give, table by table.

Cases that failed are tried again only where the old file is removed before.
"""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import Any

import flink
import recordings
from pyflink.table import DataTypes, TableEnvironment
from pyflink.table import expression as expression_module
from pyflink.table import expressions as expressions_module

import expression_cases
from expression_generator import generated

#: Seed and number of the random expressions of the tables ``mixed`` and ``mixed_groups``.
RANDOM = (0, 400)


def namespace(columns: Any) -> dict[str, Any]:
    names = {**vars(expression_module), **vars(expressions_module), "DataTypes": DataTypes}
    names.pop("abs", None)
    names["abs"] = abs
    return {**names, **{name: expressions_module.col(name) for name in columns}}


def given(value: Any) -> Any:
    """Return a value of a table as Flink reads it from JSON."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple):
        return dict(zip(("id", "name"), value))
    if value is None or isinstance(value, (bool, int, float, str, list, dict)):
        return value
    return str(value)


def input_table(t_env: TableEnvironment, name: str, folder: Path) -> Any:
    """Return a table of `expression_cases.py`.

    It is read from a file: `from_elements` cuts timestamps to milliseconds, moves those before
    1970, and takes no collections with nulls.
    """
    columns = expression_cases.TABLES[name]
    count = len(next(iter(columns.values()))[1])
    rows = [
        {each: given(values[position]) for each, (_, values) in columns.items()}
        | {"row_number": position}
        for position in range(count)
    ]
    source = folder / f"{name}.json"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    declared = [f"`{each}` {data_type}" for each, (data_type, _) in columns.items()]
    t_env.execute_sql(
        f"CREATE TABLE `{name}` ({', '.join(declared)}, `row_number` INT NOT NULL) WITH "
        f"('connector' = 'filesystem', 'path' = '{source.as_uri()}', 'format' = 'json')"
    )
    return t_env.from_path(name)


def run(table: Any, name: str, cases: list[dict[str, Any]], found: list[Any]) -> list[list[Any]]:
    """Return, for each expression, its values in the order of the rows.

    Timestamps and collections are taken as texts: `collect` cuts timestamps to milliseconds, moves
    those before 1970, and fails for collections that are null.
    """
    texts = [
        expression.cast(DataTypes.STRING())
        if expression_cases.is_taken_as_text(name, case["type"])
        else expression
        for case, expression in zip(cases, found)
    ]
    named = [expression.alias(f"e{index}") for index, expression in enumerate(texts)]
    if expression_cases.is_grouped(name):
        selected = table.group_by(expressions_module.col("g")).select(*named)
    else:
        selected = table.select(*named, expressions_module.col("row_number"))
    with selected.execute().collect() as results:
        rows = [list(row) for row in results]
    # A job that fails may end its results early.
    if len(rows) != expression_cases.count_of_results(name):
        raise ValueError(f"{len(rows)} rows")
    if not expression_cases.is_grouped(name):
        rows.sort(key=lambda row: row[-1])
    return [[expression_cases.plain(row[index]) for row in rows] for index in range(len(found))]


def first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if "Caused by" in line]
    return (causes[-1] if causes else lines[0] if lines else type(error).__name__)[:200]


def evaluate(table: Any, name: str, cases: list[dict[str, Any]], found: list[Any]) -> None:
    """Fill in the values of cases; where they fail together, each quarter alone."""
    if not cases:
        return
    try:
        values = run(table, name, cases, found)
    except Exception as error:
        if len(cases) == 1:
            cases[0]["fails"] = first_line(error)
            return
        size = -(-len(cases) // 4)
        for start in range(0, len(cases), size):
            part = slice(start, start + size)
            evaluate(table, name, cases[part], found[part])
        return
    for case, each in zip(cases, values):
        case["values"] = each


def record_table(t_env: TableEnvironment, name: str, texts: list[str], folder: Path) -> None:
    table = input_table(t_env, name, folder)
    grouped = expression_cases.is_grouped(name)
    names = namespace(expression_cases.TABLES[name])
    results: list[dict[str, Any]] = []
    valid: list[dict[str, Any]] = []
    found: list[Any] = []
    for text in dict.fromkeys(texts):
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
    if name not in expression_cases.TYPES_ONLY:
        # Cases that failed the last time are not tried again: each would split its part of all.
        old = recordings.known(f"expressions_{name}", [])
        failed = {case["case"]: case["fails"] for case in old if "fails" in case}
        for case in valid:
            if case["case"] in failed:
                case["fails"] = failed[case["case"]]
        rest = [i for i, case in enumerate(valid) if "fails" not in case]
        for start in range(0, len(rest), 60):
            part = rest[start : start + 60]
            evaluate(table, name, [valid[i] for i in part], [found[i] for i in part])
            print(name, start, "of", len(rest), flush=True)
            write(name, results)
    write(name, results)


def write(name: str, cases: list[dict[str, Any]]) -> None:
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    recordings.write_text(f"expressions_{name}", f"[\n{lines}\n]")


def record(only: list[str]) -> None:
    cases = expression_cases.CASES | generated(*RANDOM)
    t_env = flink.environment("batch", expression_cases.ZONE)
    with tempfile.TemporaryDirectory() as folder:
        for name in only or list(cases):
            record_table(t_env, name, cases[name], Path(folder))
