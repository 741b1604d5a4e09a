"""``pyflow doctor -t``: what it finds in the executors of a target."""

from __future__ import annotations

import json
import platform
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from submitted import PYFLOW, User

from deployments import killed_at_the_end
from pyflow.cli import probe
from pyflow.cli.submission.command import Program
from pyflow.cli.submission.targets import Target
from sessions import wait_until

PYTHON = platform.python_version()


@pytest.fixture
def probed(tmp_path):
    """What the command says of a target and its executors, by check."""
    user = User(tmp_path)
    user.variables["PYSPARK_PYTHON"] = sys.executable

    def findings(target, *flags, seconds=240):
        done = user.ended("doctor", "--json", "-t", target, *flags, seconds=seconds)
        # After what is said of the progress.
        listed = json.loads(done.stdout[done.stdout.index("[\n") :])
        found = {each["check"]: each for each in listed}
        assert done.returncode == any(each["status"] == "FAULT" for each in found.values())
        return {k: v for k, v in found.items() if k.startswith(("target", "executor"))}

    return findings


@pytest.mark.complete
def test_every_executor_of_a_cluster_is_looked_into(probed):
    found = probed("local-cluster[2,1,1024]")

    assert list(found) == ["target", "executor 0", "executor 1"]
    assert {each["status"] for each in found.values()} == {"OK"}
    assert found["target"]["found"] == "local-cluster[2,1,1024], 2 executors"
    assert f"Python {PYTHON} ({sys.prefix}) in the JVM" in found["executor 1"]["found"]


@pytest.mark.complete
def test_functions_in_workers_are_a_fault_with_the_reason(probed):
    found = probed("local[2]", "-D", "spark.pyflow.thread-mode.allowed=false")

    executor = found["executor driver"]
    assert executor["status"] == "FAULT"
    assert f"Python {PYTHON} ({sys.prefix}) in workers" in executor["found"]
    assert "spark.pyflow.thread-mode.allowed" in executor["advice"]


@pytest.mark.complete
def test_other_versions_of_packages_are_a_warning(probed, tmp_path):
    info = tmp_path / "site" / "numpy-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.1\n")

    found = probed("local-cluster[1,1,1024]", "-pypath", str(info.parent))

    assert found["executor 0"]["status"] == "WARNING"
    assert found["executor 0"]["advice"].startswith("numpy 0.1 there, ")


@pytest.mark.complete
def test_what_a_probe_has_started_that_takes_too_long_ends_with_it(monkeypatch, tmp_path):
    monkeypatch.setattr(probe, "_SECONDS", 2)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    (found,) = probe.examine(Program(target=Target("local[1]")))

    assert "has not run it in 2 s" in found.found
    wait_until(lambda: not any(str(tmp_path) in each for each in processes_of_all()), "their end")


@pytest.mark.complete
def test_a_cluster_without_room_for_an_executor_is_named(probed, standalone):
    found = probed(standalone, "-D", "spark.executor.memory=4t")

    assert list(found) == ["target"]
    assert found["target"]["found"] == f"{standalone} has started no executor"
    assert "free cores and memory" in found["target"]["advice"]


@pytest.mark.complete
def test_a_master_that_is_not_there_is_a_fault(probed):
    found = probed("spark://127.0.0.1:1")

    assert list(found) == ["target"]
    assert found["target"]["status"] == "FAULT"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("-t", "yarn-session"), "use yarn, each program is an application of its own"),
        (("-D", "python.files=a.py"), "give it with -t"),
    ],
)
def test_flags_without_a_target_are_refused(tmp_path, flags, message):
    done = User(tmp_path).ended("doctor", *flags)

    assert done.returncode == 2
    assert message in done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_probe_that_is_ended_leaves_nothing_behind(tmp_path, number):
    log, temporary = tmp_path / "log", tmp_path / "temporary"
    temporary.mkdir()

    def processes():
        return [each for each in processes_of_all() if str(temporary) in each]

    command = [*PYFLOW, "doctor", "-t", "local[2]"]
    # The tests may run where hangups are ignored.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with killed_at_the_end(command, tmp_path, log, TMPDIR=str(temporary)) as process:
            wait_until(lambda: any("SparkSubmit" in each for each in processes()), "spark-submit")
            process.send_signal(number)
            assert process.wait(60) == -number
    finally:
        signal.signal(number, before)

    wait_until(lambda: not processes(), "the end of spark-submit")
    assert list(temporary.glob("pyflow-doctor-*")) == []


def processes_of_all():
    """The commands of the processes of this machine."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield file.read_text(errors="replace")
