"""What PyFlink answered was recorded with the version that is pinned."""

from __future__ import annotations

import datetime
from fnmatch import fnmatch

import pytest
import record
import recordings

#: What this package does, by which a change of it is noticed.
OURS = {"statement_calls"}
NAMES = sorted({file.stem for file in recordings.HERE.glob("*.json")} - OURS)
NAMES += sorted(f"datastream/{file.stem}" for file in recordings.DATASTREAM.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_of_the_pinned_version(name):
    stamp = recordings.stamp_of(name)
    assert stamp["pyflink"] == recordings.pinned(), f"record {name} again: make record"
    assert datetime.date.fromisoformat(stamp["date"]) <= datetime.date.today()


def test_each_recording_has_a_recorder():
    patterns = [pattern for _, written in record.PARTS.values() for pattern in written]
    assert [name for name in NAMES if not any(fnmatch(name, each) for each in patterns)] == []
    assert [each for each in patterns if not any(fnmatch(name, each) for name in NAMES)] == []


def test_each_recorder_is_a_part():
    directories = (recordings.HERE, recordings.DATASTREAM)
    modules = {file.stem for each in directories for file in each.glob("record_*.py")}
    assert {module for module, _ in record.PARTS.values()} == modules
