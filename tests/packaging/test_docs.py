"""Documentation that must follow the sources."""

from __future__ import annotations

import re
import sys

import pytest


@pytest.fixture
def pages(root):
    """All pages, README included."""
    return [root / "README.md", *(root / "docs").rglob("*.md")]


def test_settings_reference_is_up_to_date(root, run, tmp_path):
    page = root / "docs" / "configuration.md"
    written = tmp_path / "configuration.md"
    written.write_text(page.read_text())

    result = run(sys.executable, "scripts/write_settings.py", written)

    assert result.returncode == 0, result.stderr
    assert written.read_text() == page.read_text(), "run `make docs`"


def test_links_between_pages_lead_somewhere(pages):
    broken = []
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")

    assert broken == []
