"""Settings of the service that a request overrides, by Flink's names or Spark's."""

from __future__ import annotations

import io
import itertools
import uuid

import pytest

from pyflow.cli.service.database import Database
from pyflow.cli.service.jobs import Jobs, Request
from pyflow.cli.service.limits import Limits
from pyflow.cli.service.store import Store
from pyflow.cli.submission.registry import Registry


@pytest.fixture
def composed(tmp_path, monkeypatch):
    """The settings of spark-submit for a request to a service that has settings, too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    database = Database(tmp_path / "service.db")
    store = Store(tmp_path, database, Limits())
    store.clean()

    def settings_of(of_service, defaults, **asked):
        jobs = Jobs(tmp_path, database, store, Limits(), of_service, defaults)
        artifact = store.add("app.py", io.BytesIO(b"pass"))
        launch, _ = jobs.launch(uuid.uuid4().hex, Request(artifact.id, **asked))
        words = launch.composed(Registry.of_user()).words
        pairs = dict(itertools.pairwise(words))
        conf = [words[at + 1] for at, word in enumerate(words) if word == "--conf"]
        flags = {flag: pairs.get(flag) for flag in ("--master", "--deploy-mode")}
        return {**flags, **dict(each.split("=", 1) for each in conf)}

    yield settings_of
    database.close()


def test_a_request_overrides_the_target_of_the_service(composed):
    by_target = composed("local[2]", {"spark.master": "local[3]"}, target="local[4]")
    by_setting = composed("local[2]", {}, settings={"spark.master": "local[5]"})

    assert (by_target["--master"], by_setting["--master"]) == ("local[4]", "local[5]")


def test_a_request_with_a_target_overrides_the_deploy_mode_of_the_service(composed):
    of_service = {"spark.master": "yarn", "spark.submit.deployMode": "cluster"}

    assert composed(None, of_service)["--deploy-mode"] == "cluster"
    assert composed(None, of_service, target="local[4]")["--deploy-mode"] in (None, "client")


@pytest.mark.parametrize(
    ("of_service", "of_request"),
    [
        ("python.execution-mode", "python.execution-mode"),
        ("python.execution-mode", "spark.pyflow.execution-mode"),
        ("spark.pyflow.execution-mode", "python.execution-mode"),
    ],
)
def test_a_request_overrides_a_setting_whichever_name_it_has(composed, of_service, of_request):
    found = composed("local[2]", {of_service: "process"}, settings={of_request: "auto"})

    assert found["spark.pyflow.execution-mode"] == "auto"
    assert "process" not in found.values()
