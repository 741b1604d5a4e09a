"""Set operations, VALUES and INSERT convert values of all pairs of types as PyFlink's do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sql_conversions
import sql_operands

FILE = Path(sql_conversions.__file__).with_suffix(".json")
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "UNION ALL" else pytest.mark.complete)
        for name in sql_conversions.QUERIES
    ],
)
def test_columns_of_queries(batch, tmp_path, name):
    sql_operands.make_table(batch, tmp_path)

    found = sql_conversions.of_queries(batch, name, lambda table: str(table.get_resolved_schema()))

    assert _plain(found) == _plain(RECORDED[name])


def _plain(outcomes):
    plain = {
        pair: (sql_operands.plain(schema), texts) for pair, (schema, texts) in outcomes.items()
    }
    # Flink makes a FLOAT of the DOUBLE; see docs/table-api/sql.md.
    del plain["f d"]
    return plain


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param(sql_conversions.SHORTENED, id="shortened"),
        pytest.param(sql_conversions.PAIRS, id="all", marks=pytest.mark.complete),
    ],
)
def test_columns_of_insertions(batch, tmp_path, pairs):
    sql_operands.make_table(batch, tmp_path)

    found = sql_conversions.of_insertions(batch, pairs)

    names = {" ".join(pair) for pair in pairs}
    assert found == {pair: rows for pair, rows in RECORDED["INSERT"].items() if pair in names}
