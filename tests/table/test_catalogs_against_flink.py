"""Statements and methods about catalogs answer as PyFlink's do, errors among them."""

from __future__ import annotations

import re

import catalog_programs
import pytest
import recordings

RECORDED = recordings.load("catalog_programs")

# Errors that PyFlow words otherwise: with what is wrong in place of a class, or of nothing at all.
OTHER_WORDS = re.compile(
    r"Failed to execute ALTER TABLE|Encountered|Object '|Could not find any factory"
    r"|Cannot find table|Sink '|Table `nothing` was not found|Column 'b' not found|Source table '"
    r"|Unsupported options found|.* (identifier )?format error|Cannot apply '\*'|Cannot invoke"
    r"|Table \(or view\) default_database.w already exists|Table options do not contain"
    r"|Could not execute SHOW PARTITIONS"
)


@pytest.mark.parametrize("name", catalog_programs.PROGRAMS)
def test_steps_answer_as_in_pyflink(environment, name):
    names = catalog_programs.names_of("pyflow", environment("batch"))
    steps = catalog_programs.PROGRAMS[name]
    assert [each["step"] for each in RECORDED[name]] == steps
    found = [answer(step, names) for step in steps]
    different = [
        (recorded, ours)
        for recorded, ours in zip(RECORDED[name], found)
        if not same(recorded, ours)
    ]
    assert different == []


def answer(step, names):
    try:
        return catalog_programs.outcome(step, names, lambda r: str(r.get_resolved_schema()))
    except Exception as error:
        return {"error": str(error)}


def same(recorded, ours):
    if "error" in recorded or "error" in ours:
        if "error" not in recorded or "error" not in ours:
            return False
        words = recorded["error"]
        return words in ours["error"] or OTHER_WORDS.match(words) is not None
    if "value" in recorded:
        return recorded["value"] == ours["value"]
    columns = columns_of(recorded["schema"]) == columns_of(ours["schema"])
    return columns and texts_of(recorded["rows"]) == texts_of(ours["rows"])


def columns_of(schema):
    """Names and types, without what Spark does not know: lengths of texts, and who has nulls."""
    return re.sub(r"(VAR)?CHAR\(\d+\)", "STRING", re.sub(r" NOT NULL|\s", "", schema))


def texts_of(rows):
    """Rows, without the quotes that Flink puts around names, and without the query of a view.

    Flink shows a view's query with all names in full, PyFlow as it was written.
    """
    return [[plain(value) if isinstance(value, str) else value for value in row] for row in rows]


def plain(text):
    text = text.replace("`", "")
    return re.sub(r"\nAS SELECT.*", "", text, flags=re.DOTALL)
