"""Names of types mean in statements, and in strings of the Table API, what they mean in Flink."""

from __future__ import annotations

import pickle

import pytest
import recordings
import type_names

from pyflow.table.types import parse
from pyflow.util.exceptions import TableException

RECORDED = recordings.load("type_names")

#: In strings Flink has no synonyms of CHAR and of VARYING types, and no RAW without a class.
MORE_IN_STRINGS = {
    *(name for name in type_names.NAMES if "CHARACTER" in name or "VARYING" in name),
    "RAW",
}


def read(name):
    try:
        return parse(name)
    except TableException:
        return "error"


def test_columns_have_the_types_of_pyflink(batch):
    found = {name: type_names.declared(batch, name) for name in type_names.NAMES}
    assert found == RECORDED["columns"]


def test_strings_are_the_types_of_pyflink():
    recorded = {
        name: text if text == "error" else parse(text)
        for name, text in RECORDED["strings"].items()
        if name not in MORE_IN_STRINGS
    }
    assert {name: read(name) for name in recorded} == recorded


def test_values_have_the_types_of_pyflink(batch):
    assert type_names.types(batch) == RECORDED["types"]


def test_values_of_types_without_a_length_are_those_of_pyflink(t_env):
    assert type_names.values(t_env) == RECORDED["values"]


@pytest.mark.parametrize("name", ["BigIntType", "TimestampType", "RowType", "RawType"])
def test_types_have_the_module_that_pickles_in_checkpoints_name(name):
    pickled = f"cpyflow.types.logical_types\n{name}\n.".encode()

    assert pickle.loads(pickled).__name__ == name
