"""What is known of a function's imports before it runs: its own, and those of all it can reach."""

from __future__ import annotations

import importlib
import itertools
import pickle
import sys
import types
from functools import partial

import pytest
from pyspark import cloudpickle
from pyspark.sql.types import LongType

import lazy_roots
from pyflow.thread_mode import imports

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 13), reason="this Python has no isolated interpreters"
)

_keys = itertools.count()


def reason(*roots, may_fail_late=True):
    """Why functions, as an executor unpickles them, are refused; None if they are not."""
    loaded = cloudpickle.loads(cloudpickle.dumps(roots))
    try:
        imports.refuse_early(str(next(_keys)), loaded, may_fail_late=may_fail_late)
    except ImportError as error:
        return str(error)
    return None


def body(n):
    import numpy as np

    return np.sqrt(n)


def nested(n):
    return [f(n) for f in (lambda x: __import__ and x, lambda x: body(x))]


def submodule(n):
    from pyspark.ml import linalg

    return linalg


class Method:
    def run(self, n):
        return body(n)


class WithInstance:
    def __init__(self):
        self.inner = [{"method": Method()}]


def default(n, f=body):
    return f(n)


def by_module(n):
    return lazy_roots.root(n)


def by_import(n):
    from lazy_roots import root

    return root(n)


def by_class(n):
    return lazy_roots.Roots().of(n)


def generator(n):
    import pandas as pd

    yield pd


def closure():
    roots = WithInstance()
    return lambda n: roots.inner[0]["method"].run(n)


def tries(n):
    try:
        import pyarrow as pa
    except ImportError:
        return None
    return pa


@pytest.mark.parametrize(
    "root",
    [
        body,
        nested,
        submodule,
        Method,
        Method().run,
        default,
        partial(body, 1),
        by_module,
        by_import,
        by_class,
        generator,
        closure(),
        tries,
        staticmethod(body),
        {"chain": (body,)},
    ],
)
def test_refused_before_it_runs(root):
    # Of scipy its callbacks may be found first.
    needed = ("numpy", "pandas", "pyarrow", "scipy", "callbacks of ctypes")
    assert reason(root).partition(".")[0] in needed


def limited(n):
    import only_constants

    return min(n, only_constants.LIMIT)


def test_a_constant_of_a_module_ends_the_search(monkeypatch):
    module = types.ModuleType("only_constants")
    module.LIMIT = 3
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert reason(limited) is None


def dynamic(n):
    return importlib.import_module("num" + "py").sqrt(n)


def evaluates(n):
    return eval("__import__('numpy')")


def unpickles(n, pickled=b"I1\n."):
    return pickle.loads(pickled)


def imports_by_name(n):
    from importlib import import_module

    return import_module("numpy")


def loads(n):
    from pickle import loads as load

    return load(n)


@pytest.mark.parametrize("root", [dynamic, evaluates, unpickles, imports_by_name, loads])
def test_refused_where_nothing_is_tried_again(root):
    assert reason(root) is None
    assert "only show when it runs" in reason(root, may_fail_late=False)


def plain(n):
    return n + 1


def standard(n):
    import asyncio
    import datetime
    import decimal
    import json
    import multiprocessing
    import re
    import sqlite3
    import subprocess
    import urllib.request

    return [asyncio, datetime, decimal, json, multiprocessing, re, sqlite3, subprocess, urllib]


def of_pyspark(n):
    from pyspark import TaskContext
    from pyspark.sql import Row

    return Row(n=TaskContext.get())


def missing(n):
    import there_is_no_such_module

    return there_is_no_such_module


def method_of_that_name(n):
    return n.loads()


@pytest.mark.parametrize("root", [plain, standard, of_pyspark, missing, method_of_that_name])
def test_stays(root):
    assert reason(root, LongType(), may_fail_late=False) is None


def test_modules_are_searched_as_they_would_be_imported(tmp_path, monkeypatch):
    """At the level of a module certainly, in its functions perhaps, for type checkers never."""
    (tmp_path / "at_import.py").write_text("class A:\n    import numpy\n")
    (tmp_path / "through.py").write_text("import at_import\n")
    (tmp_path / "in_function.py").write_text("def f():\n    import numpy\n")
    (tmp_path / "for_types.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\nimport json\n"
    )
    (tmp_path / "after_types.py").write_text(
        "import typing\nif typing.TYPE_CHECKING:\n    import json\nimport numpy\n"
    )
    package = tmp_path / "a_package"
    package.mkdir()
    (package / "__init__.py").write_text("from . import inner\n")
    (package / "other.py").write_text("from .inner import A\n")
    (package / "inner.py").write_text("import at_import\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def importing(module):
        scope = {"__name__": "user"}
        exec(f"def f(n):\n    import {module}\n", scope)
        return scope["f"]

    for module in ("at_import", "through", "after_types", "a_package.other"):
        assert reason(importing(module)).startswith("numpy"), module
    assert reason(importing("in_function")) is None
    assert reason(importing("in_function"), may_fail_late=False).startswith("numpy")
    assert reason(importing("for_types"), may_fail_late=False) is None
    assert not {"at_import", "in_function", "a_package"} & set(sys.modules)


def test_functions_are_searched_once():
    imports.refuse_early("once", [plain], may_fail_late=False)
    imports.refuse_early("once", [body], may_fail_late=False)


def test_answers_are_kept_for_so_many_functions():
    for _ in range(2 * imports._MOST_FUNCTIONS):
        assert reason(len) is None
        assert len(imports._Answers.functions) <= imports._MOST_FUNCTIONS
