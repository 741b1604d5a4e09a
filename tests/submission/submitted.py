"""Programs as users submit them, with the commands of ``pyflow`` as they type them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

from deployments import ended, killed_at_the_end, run
from sessions import base_conf, wait_until

PROGRAMS = Path(__file__).parent / "programs"
PYFLOW = (sys.executable, "-m", "pyflow")


def write_wheel(directory, name, version, **modules):
    """Write a wheel with the text of modules, and return its path."""
    path = directory / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        **{f"{module}.py": text for module, text in modules.items()},
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)
        record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
        wheel.writestr(f"{info}/RECORD", record)
    return path


class User:
    """A user with a registry of programs.

    Parameters
    ----------
    home : Path
        Where commands run.
    """

    def __init__(self, home):
        self.home = home
        self.variables = {"XDG_STATE_HOME": str(home / "state")}

    def run_command(self, target, *flags):
        """The words of ``pyflow run`` with settings that make tests quick."""
        conf = {"spark.log.level": "ERROR", **base_conf()}
        settings = [word for key, value in conf.items() for word in ("-D", f"{key}={value}")]
        return [*PYFLOW, "run", "-t", target, *settings, *flags]

    def ended(self, *words, seconds=180):
        """A command of pyflow that has ended, well or not."""
        return ended([*PYFLOW, *words], self.home, seconds, **self.variables)

    def did(self, *words, seconds=180):
        """What a command of pyflow printed that has ended well."""
        return run([*PYFLOW, *words], self.home, seconds, **self.variables)

    def ran(self, target, *flags):
        """A program that has ended."""
        return ended(self.run_command(target, *flags), self.home, **self.variables)

    def started(self, target, *flags):
        """The id of a program that runs in the background."""
        command = self.run_command(target, "-d", *flags)
        printed = run(command, self.home, **self.variables)
        return re.search(r"JobID (\w{32})", printed)[1]

    @contextmanager
    def attached(self, target, *flags, log):
        """A process of ``pyflow run``, whose output goes to a file."""
        command = self.run_command(target, *flags)
        with killed_at_the_end(command, self.home, log, **self.variables) as process:
            yield process

    def status(self, identifier):
        return json.loads(self.did("status", "--json", identifier))

    def registered(self, identifier):
        """What is noted of a program."""
        file = self.home / "state" / "pyflow" / "jobs" / identifier / "job.json"
        return json.loads(file.read_text())

    def wait_for_log(self, identifier, text, seconds=120):
        log = self.home / "state" / "pyflow" / "jobs" / identifier / "log"
        wait_until(lambda: text in log.read_text(), f"{text!r} in the log", seconds)

    def wait_for_state(self, identifier, state, seconds=60):
        wait_until(lambda: self.status(identifier)["state"] == state, state, seconds, every=0.5)

    def end_all(self):
        """End what tests have left."""
        for described in json.loads(self.did("list", "--json")):
            self.ended("cancel", described["id"])
            time.sleep(0.1)


def user_with_a_program(home):
    """A user with a program and all that it needs in a directory."""
    (home / "lib").mkdir()
    (home / "lib" / "helper.py").write_text("WORD = 'helper'\n")
    write_wheel(home, "packed", "1", packed="WORD = 'packed'\n")
    (home / "site").mkdir()
    (home / "site" / "installed.py").write_text("WORD = 'installed'\n")
    (home / "data").mkdir()
    (home / "data" / "word.txt").write_text("archived")
    shutil.make_archive(str(home / "data"), "zip", home / "data")
    shutil.rmtree(home / "data")
    source = home / "Probe.java"
    source.write_text('public class Probe { public static String answer() { return "jar"; } }')
    subprocess.run(["javac", source], check=True)
    subprocess.run(["jar", "cf", "probe.jar", "Probe.class"], cwd=home, check=True)
    return User(home)


#: The flags and the program of such a user.
FLAGS = (
    *("-p", "3", "-pyfs", "lib,packed-1-py3-none-any.whl", "-pyarch", "data.zip#data"),
    *("-j", "probe.jar", "-D", "python.fn-execution.bundle.size=77", "-pyexec", sys.executable),
)
PROGRAM = ("-py", str(PROGRAMS / "submitted_job.py"), "--input", "a b")


def assert_found_all(printed, place="thread"):
    """Assert that the program has found all that it was submitted with."""
    report = json.loads(re.search(r"^REPORT (.*)", printed, re.MULTILINE)[1])
    assert report == {
        "functions": [place, "helper", "packed", "installed", "archived"],
        "arguments": ["--input", "a b"],
        "bundle": "77",
        "partitions": "3",
        "jar": "jar",
    }
