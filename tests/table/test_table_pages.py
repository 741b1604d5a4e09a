"""The Python programs of the pages about tables run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pyflow.table import EnvironmentSettings, TableEnvironment
from sessions import wait_until

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [
    DOCS.parent / "README.md",
    DOCS / "user-guide.md",
    *sorted((DOCS / "table-api").glob("*.md")),
]


def programs_of(page):
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.S | re.M)


def program_of(page, **replaced):
    """The first program of a page, with other paths."""
    text = programs_of(DOCS / "table-api" / page)[0]
    for before, after in replaced.values():
        assert before in text
        text = text.replace(before, str(after))
    return compile(text, page, "exec")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_programs_of_pages_are_python(page):
    for number, program in enumerate(programs_of(page)):
        compile(program, f"{page.name}, program {number}", "exec")


def test_the_query_of_the_page_on_sql(environment, tmp_path, capsys):
    environment("batch")  # which gives the session its settings back
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "1.csv").write_text("1,ada,3\n2,bob,4\n3,ada,5\n")

    exec(program_of("sql.md", orders=("/data/orders", tmp_path / "orders")), {})

    printed = capsys.readouterr().out
    found = sorted(re.findall(r"\| +(\w+) \| +(\d+) \|", printed))
    assert found == [("ada", "8"), ("bob", "4")]


def test_the_tables_of_the_first_page(environment, capsys):
    environment("batch")
    (program,) = (each for each in programs_of(PAGES[0]) if "pyflow.table" in each)

    exec(compile(program, "README.md", "exec"), {})

    printed = re.findall(r"\| +(\d) \| +(\d) \|", capsys.readouterr().out)
    assert sorted(printed) == [("1", "2"), ("2", "4")]


def test_the_job_of_the_page_on_streaming(environment, spark, tmp_path, capfd):
    environment()
    visits = tmp_path / "visits"
    visits.mkdir()
    rows = [("/a", "00:00:01"), ("/b", "00:00:59"), ("/a", "00:01:02"), ("/a", "00:03:00")]
    lines = [json.dumps({"url": url, "at": f"2024-05-01 {at}"}) for url, at in rows]
    (visits / "1.json").write_text("\n".join(lines))
    names = {"TableEnvironment": TableEnvironment, "EnvironmentSettings": EnvironmentSettings}
    program = program_of(
        "streaming.md",
        visits=("/var/log/visits", visits),
        checkpoints=("file:///var/lib/checkpoints", (tmp_path / "checkpoints").as_uri()),
    )
    before = {query.id for query in spark.streams.active}
    printed = []

    def have_come():
        printed.append(capfd.readouterr().out)
        return len(re.findall(r"\+I\[", "".join(printed))) >= 2

    try:
        exec(program, names)
        wait_until(have_come, "two windows", 120)
    finally:
        for query in spark.streams.active:
            if query.id not in before:
                query.stop()

    found = re.findall(r"\+I\[2024-05-01T00:0(\d)(?::00)?, (\d)\]", "".join(printed))
    assert sorted(found) == [("0", "2"), ("1", "1")]


def orders(t_env):
    with t_env.execute_sql("SELECT * FROM orders").collect() as rows:
        return [tuple(row) for row in rows]


def test_the_tables_of_the_page_on_catalogs(environment, spark):
    t_env = environment("batch")
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW incoming AS "
        "SELECT * FROM (VALUES (CAST(1 AS BIGINT), 2, 'monday')) AS t(id, amount, day_of)"
    )
    try:
        exec(program_of("catalogs.md"), {"t_env": t_env})
        wait_until(lambda: orders(t_env) == [(1, 2, "monday")], "the row", 60)
    finally:
        spark.sql("DROP DATABASE IF EXISTS spark_catalog.shop CASCADE")
