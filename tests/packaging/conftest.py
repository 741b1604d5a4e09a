"""Machines as users may have them: what is missing or too old on them is faked, no more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
COMPILERS = {"c++", "g++", "clang++"}


@pytest.fixture(scope="session")
def root() -> Path:
    """The source tree."""
    return ROOT


@pytest.fixture
def path_without(tmp_path: Path) -> Callable[..., str]:
    """Makes a PATH on which everything is found but the given commands."""

    def make(*missing: str) -> str:
        directory = tmp_path / "bin"
        directory.mkdir()
        for original in reversed(os.environ["PATH"].split(os.pathsep)):
            # A pyenv shim looks at its own directory for the command it stands for.
            if not os.path.isdir(original) or original.endswith("/shims"):
                continue
            for command in os.scandir(original):
                link = directory / command.name
                link.unlink(missing_ok=True)
                if command.name not in missing:
                    link.symlink_to(command.path)
        return str(directory)

    return make


@pytest.fixture
def command(tmp_path: Path) -> Callable[[str, str], None]:
    """Adds a command to the PATH that `path_without` has made."""

    def add(name: str, body: str) -> None:
        _script(tmp_path / "bin" / name, body)

    return add


@pytest.fixture
def jdk(tmp_path: Path) -> Callable[[str], str]:
    """Makes a JAVA_HOME whose commands tell the given version, as far as that goes."""

    def make(version: str) -> str:
        commands = tmp_path / f"jdk-{version}" / "bin"
        commands.mkdir(parents=True)
        _script(commands / "javac", f'echo "javac {version}"')
        _script(commands / "java", f"echo 'openjdk version \"{version}\" 2024-01-16' >&2")
        return str(commands.parent)

    return make


@pytest.fixture
def python_with(tmp_path: Path) -> Callable[[str], str]:
    """Makes a Python that believes what the given statement makes of it.

    It runs scripts as this Python does, after the statement.
    """

    def make(statement: str) -> str:
        program = f"import runpy, sys, sysconfig; {statement}; sys.argv = sys.argv[2:]; "
        program += "runpy.run_path(sys.argv[0], run_name='__main__')"
        executable = tmp_path / "python"
        _script(executable, f'exec {sys.executable} -c "{program}" "$@"')
        return str(executable)

    return make


@pytest.fixture(scope="session")
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command, in the source tree if not told otherwise, with changes to the environment."""

    def start(
        *command: str | Path, cwd: Path = ROOT, **environment: str | None
    ) -> subprocess.CompletedProcess[str]:
        changed = {**os.environ, "PYTHONPATH": "", **environment}
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={key: value for key, value in changed.items() if value is not None},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900,
        )

    return start


def _script(path: Path, body: str) -> None:
    path.write_text(f"#!{shutil.which('sh')}\n{body}\n")
    path.chmod(0o755)
