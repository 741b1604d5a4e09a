"""The docs as a site: `make site`."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

pytestmark = pytest.mark.complete


@pytest.fixture(scope="module")
def site(root):
    command = ["make", "site"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return root / "build" / "site"


def text_of(page):
    return re.sub(r"<[^>]+>", "", page.read_text())


def test_pages_link_to_what_the_repository_links_to(site, root):
    assert 'href="user-guide/"' in (site / "index.html").read_text()
    program = "source/examples/word_count_table.py"
    assert f"../{program}" in (site / "table-api" / "index.html").read_text()
    assert (site / program).read_bytes() == (root / "examples/word_count_table.py").read_bytes()


def test_the_reference_has_docstrings_also_of_what_is_made_of_tables(site):
    strategy = text_of(site / "api" / "pyflow.common.watermark_strategy" / "index.html")
    assert "Return the strategy for sources that may fall silent." in strategy
    expression = text_of(site / "api" / "pyflow.table.expression" / "index.html")
    assert "The string, reversed." in expression


def test_every_page_has_a_title_and_is_found(site, root):
    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    titles = {each["location"]: each["title"] for each in found}
    for page in (root / "docs").rglob("*.md"):
        if page.name == "notes.md":
            continue
        heading = re.match(r"# (.+)", page.read_text())
        assert heading, f"{page} has no title"
        location = str(page.relative_to(root / "docs").with_suffix("")).removesuffix("README")
        assert titles[location.rstrip("/") + "/"]
