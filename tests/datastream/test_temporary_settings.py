"""Settings that programs of data streams give a session for a while."""

from __future__ import annotations

import threading
import time

import pytest

from pyflow.datastream.graph import temporary_settings as module
from pyflow.datastream.graph.temporary_settings import temporary_settings


class Conf:
    def __init__(self, values):
        self.values = values

    def get(self, key, default):
        return self.values.get(key, default)

    def set(self, key, value):
        self.values[key] = value

    def unset(self, key):
        del self.values[key]


class Session:
    """A session that has a setting."""

    def __init__(self):
        self.session_id = str(id(self))
        self.conf = Conf({"a": "0"})


@pytest.fixture
def session():
    return Session()


def test_settings_are_as_before_when_the_last_program_has_left_them(session):
    with temporary_settings(session, {"a": "1", "b": "2"}):
        with temporary_settings(session, {"a": "1"}):
            assert session.conf.values == {"a": "1", "b": "2"}
        assert session.conf.values == {"a": "1", "b": "2"}
    assert session.conf.values == {"a": "0"}


def test_settings_are_as_before_where_a_program_fails(session):
    with pytest.raises(ValueError, match="wrong"), temporary_settings(session, {"b": "2"}):
        raise ValueError("wrong")
    assert session.conf.values == {"a": "0"}


def test_a_program_waits_for_those_that_need_another_value_and_says_so(
    session, monkeypatch, caplog
):
    monkeypatch.setattr(module, "_SILENT_SECONDS", 0.01)
    seen = []

    def run(value):
        with temporary_settings(session, {"a": value}):
            seen.append((value, session.conf.values["a"]))
            time.sleep(0.1)

    threads = [threading.Thread(target=run, args=(value,)) for value in "1212"]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10)
    assert sorted(seen) == [("1", "1"), ("1", "1"), ("2", "2"), ("2", "2")]
    assert session.conf.values == {"a": "0"}
    assert "which run with {'a': '1'}, and it with {'a': '2'}" in caplog.text


def test_sessions_do_not_wait_for_each_other(session):
    other = Session()
    with temporary_settings(session, {"a": "1"}), temporary_settings(other, {"a": "2"}):
        assert (session.conf.values, other.conf.values) == ({"a": "1"}, {"a": "2"})
