"""Programs on YARN: executors, and drivers, in its containers."""

from __future__ import annotations

import json
import os
import re
import signal
import sys

import pytest
from submitted import FLAGS, PROGRAM, PROGRAMS, assert_found_all, user_with_a_program

from deployments import SPARK
from scripts.yarn_cluster import YarnCluster
from sessions import wait_until

# The daemons are of the Hadoop that PySpark has.
pytestmark = pytest.mark.since_spark("4.3")

LOOPBACK = "127.0.0.1"
# The jars are where they are, not packed and copied for each application.
ONE_CORE = {
    "spark.executor.instances": "1",
    "spark.executor.memory": "512m",
    "spark.yarn.jars": f"local:{SPARK}/jars/*",
}
# The program ends with an exit code that is none of success, and YARN would start it again.
IN_CLUSTER = {
    **ONE_CORE,
    "spark.driver.memory": "512m",
    "spark.yarn.maxAppAttempts": "1",
    "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": LOOPBACK,
}


def flags_of(user, settings):
    settings = {**settings, "spark.yarn.stagingDir": (user.home / "staging").as_uri()}
    return [word for key, value in settings.items() for word in ("-D", f"{key}={value}")]


@pytest.fixture(scope="module")
def yarn(tmp_path_factory):
    """YARN with a node, and the folder of its configuration."""
    with YarnCluster(tmp_path_factory.mktemp("yarn")) as cluster:
        yield str(cluster.conf)


@pytest.fixture
def user(yarn, tmp_path):
    user = user_with_a_program(tmp_path)
    user.variables["HADOOP_CONF_DIR"] = yarn
    yield user
    user.end_all()


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", pytest.param("process", marks=pytest.mark.complete)])
def test_executors_in_containers(user, mode):
    flags = ("-pypath", user.home / "site", "-D", f"python.execution-mode={mode}")

    done = user.ran("yarn", *FLAGS, *flags_of(user, ONE_CORE), *flags, *PROGRAM)

    assert done.returncode == 7, done.stdout[-6000:]
    assert_found_all(done.stdout, {"process": "worker"}.get(mode, mode))


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
def test_a_driver_in_a_container(user, mode):
    flags = ("-pypath", user.home / "site", "-D", f"python.execution-mode={mode}")

    done = user.ran("yarn-application", *FLAGS, *flags_of(user, IN_CLUSTER), *flags, *PROGRAM)

    assert done.returncode == 1, done.stdout[-6000:]
    (described,) = json.loads(user.did("list", "-a", "--json"))
    assert described["state"] == "FAILED"
    assert described["application"].startswith("application_")
    assert "exit" in described["reason"]
    # YARN collects it a little later.
    wait_until(lambda: "REPORT" in user.ended("logs", described["id"]).stdout, "the log", 60, 2)
    printed = user.did("logs", described["id"])
    assert_found_all(printed, {"process": "worker"}.get(mode, mode))


COUNTING = ("-pyexec", sys.executable, "-py", str(PROGRAMS / "counting_stream.py"))


@pytest.mark.complete
def test_a_program_in_the_cluster_outlives_what_has_submitted_it(user):
    identifier = user.started("yarn-application", *flags_of(user, IN_CLUSTER), *COUNTING)
    assert user.status(identifier)["state"] in ("CREATED", "RUNNING")
    user.wait_for_state(identifier, "RUNNING", seconds=150)

    noted = user.registered(identifier)
    for each in ("supervisor", "process"):
        os.kill(noted[each]["pid"], signal.SIGKILL)

    described = user.status(identifier)
    assert described["state"] == "RUNNING"
    assert described["application"].startswith("application_")
    assert "its driver runs in the cluster" in described["reason"]
    assert identifier in user.did("list")
    refused = user.ended("stop", identifier)
    assert refused.returncode == 1
    assert "its driver runs in the cluster" in refused.stdout

    user.did("cancel", identifier)
    assert user.status(identifier)["state"] == "CANCELED"
    assert identifier not in user.did("list")


@pytest.mark.complete
def test_ctrl_c_ends_the_application(user):
    log = user.home / "attached.log"
    flags = (*flags_of(user, IN_CLUSTER), *COUNTING)
    with user.attached("yarn-application", *flags, log=log) as process:
        wait_until(lambda: "JobID" in log.read_text(), "the start")
        identifier = re.search(r"JobID (\w{32})", log.read_text())[1]
        user.wait_for_state(identifier, "RUNNING", seconds=150)
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130

    assert user.status(identifier)["state"] == "CANCELED"


@pytest.mark.complete
def test_where_yarn_does_not_answer_the_last_state_is_known(user):
    identifier = user.started("yarn-application", *flags_of(user, IN_CLUSTER), *COUNTING)
    user.wait_for_state(identifier, "RUNNING", seconds=150)
    noted = user.registered(identifier)
    for each in ("supervisor", "process"):
        os.kill(noted[each]["pid"], signal.SIGKILL)
    file = user.home / "state" / "pyflow" / "jobs" / identifier / "job.json"
    right = noted["cluster"]["HADOOP_CONF_DIR"]
    # Nothing listens at the default address.
    file.write_text(file.read_text().replace(right, str(user.home)))

    described = user.status(identifier)
    assert described["state"] == "RUNNING"
    assert f"its configuration: {user.home}" in described["reason"]
    assert user.ended("cancel", identifier).returncode == 1

    file.write_text(file.read_text().replace(json.dumps(str(user.home)), json.dumps(right)))
    user.did("cancel", identifier)
