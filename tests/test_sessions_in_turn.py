"""Sessions of one JVM, one after another and beside each other, which all use the same names."""

from __future__ import annotations

import getpass
import sys

import pytest

import pyflow
from deployments import PROGRAMS, SPARK, Daemon, run


@pytest.mark.core
def test_classic_sessions_in_turn(tmp_path):
    assert "ALL RIGHT" in run([sys.executable, PROGRAMS / "sessions_in_turn.py"], tmp_path)


def test_connect_sessions_at_once(tmp_path):
    conf = {
        "spark.plugins": "io.pyflow.PyFlowPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.ui.enabled": "false",
    }
    server = Daemon(
        tmp_path,
        "SparkConnectServer",
        SPARK / "bin" / "spark-submit",
        *("--master", "local[2]", "--jars", pyflow.jar_path()),
        *(part for key, value in conf.items() for part in ("--conf", f"{key}={value}")),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    )
    try:
        address = server.wait_for(r"Spark Connect server started at: (\S+:\d+)")[1]
        url = f"sc://{address}/;user_id={getpass.getuser()}"
        assert "ALL RIGHT" in run([sys.executable, PROGRAMS / "sessions_at_once.py", url], tmp_path)
    finally:
        server.stop()
