"""What an interpreter keeps for an application, and gives back when the application has ended."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import sys
import weakref

import pytest

from pyflow.thread_mode import application, imports


@pytest.fixture
def begin(monkeypatch):
    """Begins an application in this process; all of them have ended after the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(application, "_current", None)
    begun = []

    def begin(name):
        begun.append(name)
        return application.current(name)

    yield begin
    for name in begun:
        application.end(name)


def add_module(directory, name):
    directory.mkdir(exist_ok=True)
    (directory / f"{name}.py").write_text("VALUE = 1\n")


def listings():
    """The directories that are known, and when each was changed before it was listed last."""
    return {
        path: finder._path_mtime
        for path, finder in sys.path_importer_cache.items()
        if getattr(finder, "_path_mtime", -1) != -1
    }


def test_directories_that_others_use_are_not_listed_again(begin, tmp_path):
    assert importlib.util.find_spec("in_no_directory") is None
    listed = listings()
    assert len(listed) > 1
    for name in ("first", "second"):
        add_module(tmp_path / name, f"of_{name}_application")
        begin(name).add_files(str(tmp_path / name), [])
        importlib.import_module(f"of_{name}_application")
        assert listings().items() >= listed.items()


def test_modules_are_found_where_nothing_was_before(begin, tmp_path):
    directory = tmp_path / "later"
    sys.path.insert(0, str(directory))
    with pytest.raises(ImportError):
        importlib.import_module("of_later_application")
    sys.path.remove(str(directory))
    add_module(directory, "of_later_application")
    begin("later").add_files(str(directory), [])
    assert importlib.import_module("of_later_application").VALUE == 1


class Cycle:
    def __init__(self):
        self.itself = self


def test_cycles_are_collected_when_the_application_ends(begin):
    begin("first")
    gc.disable()
    try:
        left = weakref.ref(Cycle())
        application.end("first")
        assert left() is None
    finally:
        gc.enable()


def test_what_is_known_of_functions_goes_with_the_application(begin):
    begin("first")
    imports.refuse_early("of first application", [len], may_fail_late=True)
    assert imports._Answers.functions
    begin("second")
    assert not imports._Answers.functions
