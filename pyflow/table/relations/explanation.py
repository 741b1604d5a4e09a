"""How results are computed, for people."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from pyflow.streaming.plan.clocks import OPERATOR, joins_all_pairs
from pyflow.table.changes.changelog import in_order
from pyflow.table.explain_detail import ExplainDetail

if TYPE_CHECKING:
    from pyflow.table.changes.relation import Relation

#: Said of a query with a join that keeps all rows in one task.
WITHOUT_EQUALITY = (
    "A join without an equality of a value of each table (its columns are all_pairs0, ...): one "
    "task keeps all rows of both, and compares each with all of the other. Add an equality to ON "
    "or WHERE."
)


def explain(queries: Sequence[tuple[str, Relation]], details: Sequence[int]) -> str:
    """Return Spark's plans of queries.

    Parameters
    ----------
    queries
        The table that each is written into, empty for none, and its relation.
    details
        What else to tell: sizes, and the kinds of changes.
    """
    parts = []
    for sink, relation in queries:
        title = "== Spark's Plan ==" if not sink else f"== Spark's Plan of the Rows for {sink} =="
        mode = "cost" if ExplainDetail.ESTIMATED_COST in details else "extended"
        text = _plan(relation, mode)
        if OPERATOR in text and joins_all_pairs(relation.frame):
            text = f"{WITHOUT_EQUALITY}\n{text}"
        if ExplainDetail.CHANGELOG_MODE in details:
            kinds = "I,UB,UA,D" if relation.updating else "I"
            text = f"changelogMode=[{kinds}]\n{text}"
        parts.append(f"{title}\n{text}")
    return "\n".join(parts)


def _plan(relation: Relation, mode: str) -> str:
    frame = relation.frame if relation.unbounded else in_order(relation)
    text = io.StringIO()
    with redirect_stdout(text):
        frame.explain(mode=mode)
    return text.getvalue()
