"""How much of PyFlink's interface is there: docs/table-api/parity.md tells, and is kept true."""

from __future__ import annotations

import importlib
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import recordings

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "table-api" / "parity.md"
NAMES = recordings.load("pyflink_names")

# What the Table API has beside tables.
BESIDE = ("catalog", "module", "model_descriptor", "compiled_plan", "plan_reference")

HEAD = """# Parity with PyFlink 2.3

Classes, functions and public members of PyFlink's modules, by what `pyflow` has under the same
name. What is unsupported raises its reason when it is called. `pytest tests/table/test_parity.py
--write-docs` writes this page.

"""


def area_of(module):
    parts = module.split(".")[1:]
    if parts[0] == "table" and parts[-1] in BESIDE:
        return "table: catalogs, modules, models, plans"
    if parts[0] == "datastream" and len(parts) > 2:
        return f"datastream.{parts[1]}"
    return parts[0]


def members():
    """Each name: its area, its path, and the object of ours; None where there is none."""
    for module, classes in NAMES.items():
        try:
            ours = importlib.import_module("pyflow" + module.removeprefix("pyflink"))
        except ImportError:
            ours = None
        for owner, names in classes.items():
            paths = [name if not owner else f"{owner}.{name}" for name in names]
            for path in ([owner] if owner else []) + paths:
                found = ours
                for part in path.split("."):
                    found = getattr(found, part, None)
                yield area_of(module), f"{module}.{path}", found


def page():
    counts = defaultdict(Counter)
    reasons = defaultdict(list)
    for area, path, found in members():
        reason = getattr(found, "__unsupported__", None)
        kind = "absent" if found is None else "unsupported" if reason else "there"
        counts[area][kind] += 1
        if reason and path.count(".") <= 4:
            reasons[reason].append(path.removeprefix("pyflink.").split(".", 1)[1])
    lines = [
        "| area | there | unsupported | absent | there, % |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for area, count in sorted(counts.items()):
        share = 100 * count["there"] // sum(count.values())
        lines.append(
            f"| {area} | {count['there']} | {count['unsupported']} | {count['absent']} | {share} |"
        )
    lines += ["", "## Unsupported", "", "| reason | names |", "| --- | --- |"]
    for reason, paths in sorted(reasons.items()):
        names = ", ".join(f"`{path}`" for path in sorted(paths))
        lines.append(f"| {reason} | {names} |")
    return HEAD + "\n".join(lines) + "\n"


def test_the_page_tells_what_is_there(pytestconfig: pytest.Config):
    text = page()
    if pytestconfig.getoption("--write-docs"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("area", "least"),
    [
        ("table", 90),
        ("table: catalogs, modules, models, plans", 85),
        ("common", 85),
        ("datastream", 90),
        ("datastream.formats", 80),
        # Half of PyFlink's are of five foreign systems.
        ("datastream.connectors", 45),
        ("metrics", 100),
    ],
)
def test_enough_is_there(area, least):
    found = [ours for where, _, ours in members() if where == area]
    there = [ours for ours in found if ours is not None and not hasattr(ours, "__unsupported__")]
    assert 100 * len(there) / len(found) >= least
