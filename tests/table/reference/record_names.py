"""Records the public names of PyFlink's modules: classes with their members, and functions.

They are read from the sources, so that inherited members stand once. No class of Flink is needed.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pyflink
import recordings

PACKAGES = (
    "common",
    "datastream",
    "datastream.connectors",
    "datastream.formats",
    "metrics",
    "table",
)
#: What programs do not use.
INNER = ("constants", "serializers", "utils", "__init__")
INNER_MODULES = ("pyflink.table.functions",)
INNER_CLASSES = {
    "DelegatingAsyncScalarFunction",
    "DelegatingPandasAggregateFunction",
    "DelegatingScalarFunction",
    "DelegationTableFunction",
    "Descriptor",
    "PandasAggregateFunctionWrapper",
    "RowDataBulkWriterFactory",
    "VoidNamespaceSerializer",
}


def is_public(name):
    return not name.startswith("_")


def members_of(body):
    """The functions and variables of a class."""
    assigned = [node.targets for node in body if isinstance(node, ast.Assign)]
    variables = {each.id for targets in assigned for each in targets if isinstance(each, ast.Name)}
    return sorted(filter(is_public, {*functions_of(body), *variables}))


def functions_of(body):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in body if isinstance(node, kinds)}


def classes_of(body, owner=""):
    """The public classes with their members, those inside of a class before it."""
    for node in body:
        if isinstance(node, ast.ClassDef) and is_public(node.name):
            name = f"{owner}{node.name}"
            yield from classes_of(node.body, f"{name}.")
            yield name, members_of(node.body)


def names_of(file):
    body = ast.parse(file.read_text(encoding="utf-8")).body
    classes = {name: own for name, own in classes_of(body) if name not in INNER_CLASSES}
    functions = sorted(filter(is_public, functions_of(body)))
    return {**classes, **({"": functions} if functions else {})}


def record(only):
    home = Path(pyflink.__file__).parent
    found = {}
    for package in PACKAGES:
        for file in sorted((home / package.replace(".", "/")).glob("*.py")):
            module = f"pyflink.{package}.{file.stem}"
            if file.stem not in INNER and module not in INNER_MODULES:
                found[module] = names_of(file)
    lines = [
        f"{json.dumps(module)}:{json.dumps(names, separators=(',', ':'))}"
        for module, names in found.items()
    ]
    recordings.write_text("pyflink_names", "{" + ",\n".join(lines) + "}")
