"""Packages that ``pyflow run -pyreq`` installs for functions."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from submitted import write_wheel

from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.requirements import installed
from pyflow.session.requirements import _digest


@pytest.fixture
def wheels(tmp_path):
    """A directory with a package."""
    directory = tmp_path / "wheels"
    directory.mkdir()
    write_wheel(directory, "one", "1.5", one="VALUE = 1\n")
    return directory


@pytest.fixture
def install(tmp_path, wheels):
    """Installs the packages of a text of requirements, offline."""

    def make(text):
        file = tmp_path / "requirements.txt"
        file.write_text(text)
        return installed(f"{file}#{wheels}", sys.executable, tmp_path / "installed")

    return make


def test_packages_are_installed_once_for_what_they_are(install, wheels, capsys):
    first = install("one\n")
    assert (first / "one.py").read_text() == "VALUE = 1\n"
    assert f"requirements.txt: one==1.5 in {first}" in capsys.readouterr().err
    (first / "one.py").write_text("as it was")

    assert install("one\n") == first
    assert (first / "one.py").read_text() == "as it was"

    write_wheel(wheels, "one", "1.6", one="VALUE = 2\n")
    second = install("one\n")
    assert second != first
    assert (second / "one.py").read_text() == "VALUE = 2\n"
    assert install("one==1.5\n") not in (first, second)


def test_a_file_without_packages_is_none_to_find(install, capsys):
    (lock,) = install("# nothing\n").iterdir()
    assert (lock.name, lock.read_text()) == ("pyflow-requirements.lock", "")


def test_a_package_that_is_not_there_is_named(install, tmp_path):
    with pytest.raises(SubmissionError, match=r"cannot be installed:\n(.*\n)*.*absent"):
        install("one\nabsent\n")

    assert list((tmp_path / "installed").iterdir()) == []


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(SubmissionError, match=r"-pyreq: there is no file 'none\.txt'"):
        installed("none.txt", sys.executable, tmp_path)
    (tmp_path / "requirements.txt").touch()
    with pytest.raises(SubmissionError, match="-pyreq: there is no file 'nowhere'"):
        installed(f"{tmp_path}/requirements.txt#nowhere", sys.executable, tmp_path)


def test_files_that_the_requirements_name_are_part_of_them(install, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.txt").write_text("-c pins.txt\none\n")
    (tmp_path / "pins.txt").write_text("")
    write_wheel(tmp_path / "wheels", "one", "1.6", one="VALUE = 2\n")
    first = install("-r base.txt\n")
    assert (first / "one.py").read_text() == "VALUE = 2\n"

    (tmp_path / "pins.txt").write_text("one==1.5\n")
    second = install("-r base.txt\n")

    assert (second / "one.py").read_text() == "VALUE = 1\n"
    assert install("-r base.txt\n") == second


def test_a_package_that_the_requirements_name_by_its_path_is_part_of_them(install, tmp_path):
    (tmp_path / "own").mkdir()
    wheel = tmp_path / "own" / "two-1-py3-none-any.whl"
    found = []
    for value in range(2):
        write_wheel(tmp_path / "own", "two", "1", two=f"VALUE = {value}\n")
        found.append((install(f"two @ {wheel.as_uri()}\n") / "two.py").read_text())

    assert found == ["VALUE = 0\n", "VALUE = 1\n"]


def test_what_an_installation_leaves_in_a_directory_is_no_change_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "requirements.txt"
    file.write_text(f"./own\n--extra-index-url https://user:{'x' * 300}@host/simple\n")
    module = tmp_path / "own" / "own" / "build" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text("1")
    found = [_digest(file, None, sys.executable)]
    for left in ("own.egg-info/PKG-INFO", "build/lib/own.py", "own/__pycache__/module.pyc"):
        (tmp_path / "own" / left).parent.mkdir(parents=True)
        (tmp_path / "own" / left).touch()
        found.append(_digest(file, None, sys.executable))
    assert len(set(found)) == 1

    module.write_text("22")

    assert _digest(file, None, sys.executable) != found[0]


@pytest.mark.parametrize(
    "line", ["--find-links wheels", "-rbase.txt", "-c base.txt", "-e ./wheels"]
)
def test_each_way_to_name_a_file_counts(tmp_path, line):
    (tmp_path / "wheels").mkdir()
    file = tmp_path / "requirements.txt"
    file.write_text(f"{line}\n")
    before = _digest(file, None, sys.executable)

    (tmp_path / "wheels" / "new").touch()
    (tmp_path / "base.txt").touch()

    assert _digest(file, None, sys.executable) != before


def test_the_same_files_are_the_same_requirements_in_each_process(tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "base.txt").write_text(name)
    file = tmp_path / "there" / "requirements.txt"
    file.write_text("-r base.txt\n")
    code = f"""
import sys
from pathlib import Path
from pyflow.session.requirements import _digest
print(_digest(Path({str(file)!r}), None, sys.executable))
"""

    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path / "here",
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for seed in range(1, 9)
    }

    assert len(found) == 1
