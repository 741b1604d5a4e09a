"""Programs that ``pyflow run`` starts, on this machine and on clusters."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from submitted import (
    FLAGS,
    PROGRAM,
    PROGRAMS,
    assert_found_all,
    user_with_a_program,
    write_wheel,
)

import deployments
from scripts.connector_jars import kafka_jars

CLUSTER = "local-cluster[1,1,1024]"


@pytest.fixture
def user(tmp_path):
    return user_with_a_program(tmp_path)


def assert_ended_well(done, place="thread"):
    assert done.returncode == 7, done.stdout[-6000:]
    assert_found_all(done.stdout, place)


def test_a_program_on_this_machine(user):
    done = user.ran("local[2]", *FLAGS, "-pypath", user.home / "site", *PROGRAM)

    assert_ended_well(done)
    (described,) = json.loads(user.did("list", "-a", "--json"))
    assert (described["state"], described["exit_code"]) == ("FAILED", 7)
    assert described["id"] in done.stdout
    assert "REPORT" in user.did("logs", described["id"], "-n", "1")


def test_a_program_on_a_standalone_cluster(standalone, user):
    assert_ended_well(user.ran(standalone, *FLAGS, "-pypath", user.home / "site", *PROGRAM))


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
@pytest.mark.parametrize("target", ["local[2]", CLUSTER])
def test_a_program_in_both_modes(user, target, mode):
    flags = (*FLAGS, "-pypath", user.home / "site", "-D", f"python.execution-mode={mode}")

    done = user.ran(target, *flags, *PROGRAM)

    assert_ended_well(done, {"process": "worker"}.get(mode, mode))


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
@pytest.mark.parametrize("target", ["local[2]", CLUSTER, "standalone"])
def test_packages_that_are_installed_for_a_program(request, user, target, mode):
    target = request.getfixturevalue(target) if target == "standalone" else target
    (user.home / "wheels").mkdir()
    write_wheel(user.home / "wheels", "installed", "1.5", installed="WORD = 'installed'\n")
    (user.home / "requirements.txt").write_text("installed>=1\n")
    flags = ("-pyreq", "requirements.txt#wheels", "-D", f"python.execution-mode={mode}")

    done = user.ran(target, *FLAGS, *flags, *PROGRAM)

    assert_ended_well(done, {"process": "worker"}.get(mode, mode))
    assert "Requirements of requirements.txt: installed==1.5 in " in done.stdout


@pytest.mark.complete
def test_a_jar_that_is_on_all_machines(standalone, user):
    flags = ["-C" if flag == "-j" else flag for flag in FLAGS]
    flags[flags.index("probe.jar")] = (user.home / "probe.jar").as_uri()

    done = user.ran(standalone, *flags, "-pypath", user.home / "site", *PROGRAM)

    assert_ended_well(done)


@pytest.mark.complete
def test_a_module_of_a_package(standalone, user):
    package = user.home / "lib" / "jobs"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(PROGRAMS / "submitted_job.py", package / "clicks.py")
    flags = (*FLAGS, "-pypath", user.home / "site", "-pym", "jobs.clicks", "--input", "a b")

    assert_ended_well(user.ran(standalone, *flags))


@pytest.mark.complete
def test_the_line_of_a_dry_run_can_be_pasted(user):
    command = user.run_command("local[2]", *FLAGS, "-pypath", user.home / "site", "--dry-run")
    line = deployments.run([*command, *PROGRAM], user.home, **user.variables)

    done = deployments.ended(["sh", "-c", line], user.home)

    assert_ended_well(done)
    assert json.loads(user.did("list", "-a", "--json")) == []


@pytest.mark.complete
def test_an_environment_that_comes_as_an_archive(standalone, user):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", user.home / "env"], check=True)
    (packages,) = (user.home / "env" / "lib").glob("python3.*/site-packages")
    (packages / "installed.py").write_text("WORD = 'installed'\n")
    shutil.make_archive(str(user.home / "env"), "gztar", user.home / "env")
    archives = ("-pyarch", "data.zip#data,env.tar.gz#env", "-pyexec", "env/bin/python")

    assert_ended_well(user.ran(standalone, *FLAGS, *archives, *PROGRAM))


@pytest.mark.complete
@pytest.mark.parametrize("target", ["local[2]", "standalone"])
def test_settings_reach_sessions_and_environments(user, request, target):
    target = request.getfixturevalue(target) if target == "standalone" else target
    python = user.home / "client python"
    python.write_text(f'#!/bin/sh\nCLIENT="$0" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    flink = {
        "python.execution-mode": "process",
        "python.executable": sys.executable,
        "python.pythonpath": str(user.home / "site"),
        "python.fn-execution.bundle.size": "5",
        "python.fn-execution.bundle.time": "5 s",
        "python.fn-execution.arrow.batch.size": "5",
        "python.profile.enabled": "true",
        "python.metric.enabled": "false",
        "python.operator-chaining.enabled": "false",
        "python.fn-execution.memory.managed": "false",
        "python.state.cache-size": "5",
        "python.logging.default.level": "DEBUG",
        "parallelism.default": "3",
    }
    spark = {
        "spark.pyflow.execution-mode": "process",
        "spark.pyspark.python": sys.executable,
        "spark.executorEnv.PYTHONPATH": str(user.home / "site"),
        "spark.pyflow.bundle.size": "5",
        "spark.pyflow.bundle.time": "5000ms",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "5",
        "spark.sql.pyspark.udf.profiler": "perf",
        "spark.sql.shuffle.partitions": "3",
    }
    flags = [word for key, value in flink.items() for word in ("-D", f"{key}={value}")]
    program = (
        "-py",
        PROGRAMS / "submitted_settings.py",
        json.dumps([*spark]),
        json.dumps([*flink]),
    )

    done = user.ran(target, *flags, "-pyclientexec", python, *program)

    assert done.returncode == 0, done.stdout[-6000:]
    report = json.loads(re.search(r"^REPORT (.*)", done.stdout, re.MULTILINE)[1])
    assert report == {"spark": spark, "tables": flink, "streams": flink, "client": str(python)}


@pytest.mark.complete
def test_the_program_s_executable_comes_before_that_of_the_flag(user):
    for name in ("program", "flag"):
        python = user.home / name
        python.write_text(f'#!/bin/sh\nCHOSEN={name} exec {sys.executable} "$@"\n')
        python.chmod(0o755)
    flags = ("-D", "python.execution-mode=process", "-pyexec", user.home / "flag")
    program = ("-py", PROGRAMS / "chosen_executable.py")

    assert "functions run in flag\n" in user.ran("local[2]", *flags, *program).stdout
    own = user.ran("local[2]", *flags, *program, user.home / "program")
    assert "functions run in program\n" in own.stdout


@pytest.mark.complete
def test_jars_that_the_program_names(user):
    """The driver's JVM has been started without them."""
    flink = Path("/none/flink-sql-connector-kafka-4.0.1-2.0.jar")
    # With three slashes, and with one, as Java writes addresses.
    jars = ";".join([flink.as_uri(), *(f"file:{jar}" for jar in kafka_jars())])

    done = user.ran("local[2]", "-py", str(PROGRAMS / "late_jars.py"), jars)

    assert "FOUND ['key', 'value', 'topic'" in done.stdout, done.stdout[-4000:]
    missing = user.ran("local[2]", "-py", str(PROGRAMS / "late_jars.py"), "file:///none.jar")
    assert "'pipeline.jars': there is no file '/none.jar'" in missing.stdout
