"""What the modules of the Python package may import from each other.

A module of PyFlink is a floor of its own; what is ours alone is in packages. Imports inside
functions and for type checkers count like all others.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYFLINK = json.loads((ROOT / "tests/table/reference/pyflink_names.json").read_text())["answers"]
# Beside the modules whose names are compared with PyFlink's, see tests/table/test_parity.py: parts
# of its modules, what Flink's Java API has, and names of versions before.
OTHERS = {
    "pyflow.common.constants",
    "pyflow.datastream.connected_streams",
    "pyflow.datastream.evictors",
    "pyflow.datastream.join_functions",
    "pyflow.datastream.joined_streams",
    "pyflow.datastream.testing",
    "pyflow.datastream.time_characteristic",
    "pyflow.datastream.windowed_stream",
}
FACES = {"pyflow" + name.removeprefix("pyflink") for name in PYFLINK} | OTHERS

# From the ground up: what a line names may be imported by all lines below it.
FLOORS = """
    pyflow.util
    pyflow.common.types   pyflow.common.time   pyflow.common.configuration
    pyflow.types
    pyflow.common.typeinfo
    pyflow.session
    pyflow.streaming.runtime   pyflow.streaming.plan   pyflow.streaming.jobs
    pyflow.table.runtime
    pyflow.table.columns
    pyflow.table.changes
    pyflow.connectors
    pyflow.datastream.state   pyflow.datastream.functions   pyflow.datastream.windowing
    pyflow.datastream.window
    pyflow.datastream.runtime
    pyflow.datastream.connectors
    pyflow.datastream.graph
    pyflow.datastream.data_stream   pyflow.datastream.stream_execution_environment
    pyflow.table.functions
    pyflow.table.udf
    pyflow.table.schema   pyflow.table.expression
    pyflow.table.catalogs
    pyflow.table.context
    pyflow.table.relations
    pyflow.table.table_result
    pyflow.table.table
    pyflow.table.sql
    pyflow.table.statement_set
    pyflow.table.table_environment
"""


@pytest.fixture(scope="module")
def modules():
    """The modules of the package with their syntax trees."""
    found = {}
    for path in (ROOT / "pyflow").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text())
    return found


def imports_of(modules):
    """For each module, those of the package that it names."""
    imports = {module: set() for module in modules}
    for module, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                # A name is a module of the package or something in it.
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                named = [name if name in modules else node.module for name in inside]
            else:
                continue
            # The package itself has the version and what it imports when it is asked.
            imports[module].update(name for name in named if name in modules and name != "pyflow")
        imports[module].discard(module)
    return imports


def floor_of(module):
    """The module of PyFlink, or the package of ours, that a module belongs to."""
    if module.startswith(("pyflow.datastream.connectors", "pyflow.datastream.formats")):
        # Files are read and written by connectors and formats together.
        return "pyflow.datastream.connectors"
    if module in FACES:
        return module
    parts = module.split(".")
    depth = 3 if parts[1:2] in (["table"], ["streaming"], ["datastream"]) else 2
    return ".".join(parts[:depth])


def imports_of_floors(imports):
    floors = {floor_of(module): set() for module in imports}
    for module, named in imports.items():
        floors[floor_of(module)].update(map(floor_of, named))
    return {floor: named - {floor} for floor, named in floors.items()}


def cycles(imports):
    """All cycles, one at a time: the edge that closes one is left out then."""
    imports = {module: set(named) for module, named in imports.items()}
    while True:
        try:
            TopologicalSorter(imports).prepare()
        except CycleError as error:
            yield set(error.args[1])
            named, importing = error.args[1][:2]
            imports[importing].discard(named)
        else:
            return


def test_floors_import_each_other_in_one_direction(modules):
    floors = imports_of_floors(imports_of(modules))

    assert "pyflow.types" in floors["pyflow.table.relations"]
    assert [found for found in cycles(floors) if not found <= FACES] == []


def test_files_import_each_other_in_one_direction(modules):
    assert [found for found in cycles(imports_of(modules)) if not found <= FACES] == []


def test_a_cycle_is_found(modules):
    imports = imports_of(modules)
    imports["pyflow.types.syntax"].add("pyflow.table.sql.queries")

    found = cycles(imports_of_floors(imports))
    assert any({"pyflow.types", "pyflow.table.sql"} <= each for each in found)


def test_floors_are_as_the_architecture_draws_them(modules):
    floors = imports_of_floors(imports_of(modules))
    lines = [line.split() for line in FLOORS.split("\n") if line.strip()]
    height = {floor: number for number, line in enumerate(lines) for floor in line}

    upwards = {
        (floor, named)
        for floor, imported in floors.items()
        for named in imported
        if floor in height and named in height and height[named] > height[floor]
    }

    assert upwards == set()
    assert height.keys() <= floors.keys()
    drawing = "\n".join(" ".join(line) for line in lines)
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert drawing in "\n".join(" ".join(line.split()) for line in page.split("\n"))


def test_the_api_s_packages_show_pyflink_s_modules_and_a_few_packages(modules):
    beside = {
        module
        for module in modules
        if module.startswith(("pyflow.table.", "pyflow.common.", "pyflow.datastream."))
        and module not in FACES
        and module.count(".") == 2
    }

    assert beside == {
        "pyflow.datastream.connectors",
        "pyflow.datastream.formats",
        "pyflow.datastream.graph",
        "pyflow.datastream.runtime",
        "pyflow.datastream.windowing",
        "pyflow.table.catalogs",
        "pyflow.table.changes",
        "pyflow.table.columns",
        "pyflow.table.context",
        "pyflow.table.functions",
        "pyflow.table.relations",
        "pyflow.table.runtime",
        "pyflow.table.sql",
    }


ADDED = """
import sys
import pyflow.table.table_environment
before = set(sys.modules)
from pyflow.table import sql
sql.load()
added = set(sys.modules) - before
assert "pyflow.table.sql.statements" in added
print([name for name in added if name.split(".")[0] in ("pyspark", "py4j")])
"""


def test_modules_of_sql_add_none_of_pyspark():
    """A thread imports them, while another one starts PySpark."""
    printed = subprocess.run(
        [sys.executable, "-c", ADDED], capture_output=True, check=True, text=True
    ).stdout
    assert printed == "[]\n"
