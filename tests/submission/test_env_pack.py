"""``pyflow env pack``: a Python that travels with a program."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from submitted import PROGRAMS, PYFLOW, User, write_wheel

import deployments
from sessions import wait_until

DEBIAN = "/usr/bin/python3"


@pytest.fixture
def user(tmp_path):
    """A user with a package to install."""
    made = User(tmp_path)
    (tmp_path / "wheels").mkdir()
    write_wheel(tmp_path / "wheels", "packed", "1.5", packed="VALUE = 42\n")
    (tmp_path / "requirements.txt").write_text("packed\n")
    yield made
    made.end_all()


PACK = ("env", "pack", "requirements.txt", "--find-links", "wheels")


def test_an_archive_has_python_packages_and_pyflow(user):
    printed = user.did(*PACK, "-o", "other.tar.gz")

    assert re.search(r"^other\.tar\.gz \(\d+ MiB\)$", printed, re.MULTILINE)
    with tarfile.open(user.home / "other.tar.gz") as archive:
        names = archive.getnames()
    version = "python{}.{}".format(*sys.version_info)
    site = f"./lib/{version}/site-packages"
    assert {"./bin/python", f"./bin/{version}", f"./lib/{version}/json/__init__.py"} <= set(names)
    assert {f"{site}/packed.py", f"{site}/pyflow/__init__.py"} <= set(names)
    assert any(re.match(r"\./lib/libpython3.*\.so", name) for name in names)
    assert not any("__pycache__" in name for name in names)


@pytest.mark.complete
@pytest.mark.skipif(not Path(DEBIAN).exists(), reason="there is no Python of Debian's")
def test_a_python_of_the_system_starts_where_it_is_unpacked(user):
    user.did("env", "pack", "--python", DEBIAN)

    with tarfile.open(user.home / "env.tar.gz") as archive:
        archive.extractall(user.home / "elsewhere", filter="tar")
    python = user.home / "elsewhere" / "bin" / "python3"
    done = subprocess.run(
        [python, "-Ic", "import pyflow, sys; print(sys.prefix, *pyflow.__path__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    prefix, package = done.stdout.split()
    assert prefix == str(user.home / "elsewhere")
    assert package.startswith(f"{prefix}/lib/python3.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.txt",), "there is no file or directory 'none.txt'"),
        (("--python", "/none/python"), "/none/python does not run"),
        (("absent.txt", "--find-links", "wheels"), "cannot be installed"),
    ],
)
def test_what_cannot_be_packed_leaves_nothing(user, words, said):
    (user.home / "absent.txt").write_text("absent\n")

    done = user.ended("env", "pack", *words)

    assert done.returncode == 1
    assert said in done.stdout
    assert not list(user.home.glob("*env*"))


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
def test_functions_of_a_cluster_run_in_it(user, standalone, mode):
    user.did(*PACK)
    flags = ("-pyarch", "env.tar.gz#env", "-pyexec", "env/bin/python")
    program = ("-py", str(PROGRAMS / "packed_environment.py"))

    done = user.ran(standalone, *flags, "-D", f"python.execution-mode={mode}", *program)

    assert done.returncode == 0, done.stdout[-4000:]
    found = json.loads(re.search(r"^FOUND (.*)$", done.stdout, re.MULTILINE)[1])
    assert found["value"] == 42
    assert found["in_jvm"] == (mode == "thread")
    for path in (found["prefix"], found["modules"], *found["libraries"]):
        assert re.search(r"/app-\S+/\d+/env($|/)", path)


def test_a_command_that_is_terminated_leaves_nothing(user):
    environment = {**deployments.environment(), **user.variables}
    with subprocess.Popen([*PYFLOW, *PACK], cwd=user.home, env=environment) as process:
        wait_until(lambda: any(user.home.glob("pyflow-env-*")), "the directory", every=0.05)
        process.terminate()
    assert process.returncode == -signal.SIGTERM
    assert not list(user.home.glob("*env*"))
