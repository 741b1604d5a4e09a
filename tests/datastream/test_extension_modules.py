"""Bounded programs whose functions or elements need modules that isolated interpreters refuse."""

from __future__ import annotations

import decimal
import gc
import importlib

import numpy as np
import pytest

from pyflow.datastream import KeySelector, MapFunction
from pyflow.thread_mode import imports


class Root(MapFunction):
    """Imports a module where it is opened."""

    def open(self, runtime_context):
        import pandas

        self.series = pandas.Series

    def map(self, value):
        return float(self.series([value]).pow(0.5).iloc[0])


class Rounded(KeySelector):
    def get_key(self, value):
        return int(np.rint(value))


def of_a_global(env):
    return env.from_collection([1.0, 4.0]).map(lambda value: float(np.sqrt(value)))


def of_open(env):
    return env.from_collection([1.0, 4.0]).map(Root())


def of_elements(env):
    return env.from_collection([np.float64(1), np.float64(2)]).map(lambda value: value)


def of_elements_between_stages(env):
    """The last stage names no module; what it unpickles is of one."""
    stream = env.from_collection([1, 2]).map(lambda value: np.float64(value))
    return stream.key_by(lambda value: 0).map(lambda value: value)


def of_a_key_selector(env):
    return env.from_collection([1.0, 2.0]).key_by(Rounded()).map(lambda value: value)


@pytest.mark.parametrize(
    "program", [of_a_global, of_open, of_elements, of_elements_between_stages, of_a_key_selector]
)
def test_programs_with_extension_modules_run(make_env, program):
    with program(make_env()).execute_and_collect() as elements:
        assert sorted(map(float, elements)) == [1.0, 2.0]


def test_what_programs_need_is_found_before_they_run(tmp_path, monkeypatch):
    needed = imports.needed_by
    assert needed([lambda value: np.sqrt(value)]) is not None
    assert needed([[1, ("a", np.float64(1))]]) is not None
    untracked = (1, np.float64(1))
    gc.collect()
    assert needed([{"a": untracked}]) is not None
    assert needed([[1, ("a", decimal.Decimal(1), {"b": None})], decimal.Decimal.sqrt]) is None
    (tmp_path / "priced_things.py").write_text("import numpy\n\n\nclass Priced:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("priced_things")
    # It is imported where objects of its class are unpickled.
    assert needed([module.Priced()]) is not None


class Asked:
    """Says that any attribute was asked for."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was asked for")


def test_the_search_asks_objects_of_programs_for_nothing():
    assert imports.needed_by([[Asked()], {"a": Asked()}]) is None
