"""Levels of loggers in functions, and what their records have in the executor's log."""

from __future__ import annotations

import json
import logging
import re

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql.functions import udf

from comparison import settings, thread_modes
from deployments import PROGRAMS, run, submit

LEVEL = "spark.pyflow.logging.level"
OVERRIDES = "spark.pyflow.logging.overrides"

# By the text of a record, which tells mode and API: what comes through.
CONFIGURED = {
    ("app", "error"),
    ("app.verbose", "debug"),
    ("app.verbose", "info"),
    ("app.verbose", "error"),
}
BY_DEFAULT = {
    (logger, level)
    for logger in ("app", "app.verbose", "app.silent")
    for level in ("info", "error")
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the program wrote, with Spark's structured logs."""
    where = tmp_path_factory.mktemp("logs")
    structured = "spark.log.structuredLogging.enabled=true"
    return run([*submit(structured), PROGRAMS / "logged_functions.py"], where)


@pytest.fixture(scope="module")
def records(printed):
    """The records of thread mode, as Spark writes them."""
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return [line for line in lines if "logger_name" in line.get("context", {})]


def in_thread(records, text):
    found = set()
    for record in records:
        level = re.fullmatch(rf"\[.*\] thread {text} (\w+)", record["msg"])
        if level is not None:
            assert record["level"] == level[1].upper()
            found.add((record["context"]["logger_name"], level[1]))
    return found


def in_process(printed, text):
    pattern = rf"(?m)^\S+ \S+ (\w+) (\S+): \[task \d+\.0 in stage .*\] process {text} (\w+)$"
    found = re.findall(pattern, printed)
    assert all(level == said.upper() for level, _, said in found)
    return {(logger, level) for _, logger, level in found}


@pytest.mark.complete
@pytest.mark.parametrize("api", ["table", "stream"])
def test_levels_of_flink_hold_in_both_modes(printed, records, api):
    assert in_thread(records, api) == CONFIGURED
    assert in_process(printed, api) == CONFIGURED


def test_info_is_the_default_as_in_pyflink(printed, records):
    assert in_thread(records, "stream by default") == BY_DEFAULT
    assert in_process(printed, "stream by default") == BY_DEFAULT


def test_functions_of_pyspark_keep_the_defaults_of_workers(printed, records):
    loggers = {"app", "app.verbose", "app.silent"}

    assert in_thread(records, "pyspark by default") == {(name, "error") for name in loggers}
    assert len(re.findall("(?m)^process pyspark by default error$", printed)) == 6
    assert "pyspark by default info" not in printed


def test_functions_of_pyspark_have_levels_of_their_session(records):
    assert in_thread(records, "pyspark") == {
        ("app", "error"),
        ("app.verbose", "info"),
        ("app.verbose", "error"),
        ("app.silent", "error"),
    }


def test_records_have_the_fields_of_their_task(records):
    texts = [record for record in records if record["msg"].endswith("thread pyspark info")]
    assert {record["context"]["partition_id"] for record in texts} == {"0", "1"}
    for record in texts:
        context = record["context"]
        task, stage, number = re.search(
            r"task (\d+)\.0 in stage (\d+) \(TID (\d+)\)", record["msg"]
        ).groups()
        assert context == {
            "app_id": context["app_id"],
            "executor_id": "driver",
            "function_name": "<lambda>",
            "logger_name": "app.verbose",
            "mdc.tenant": "ours",
            "partition_id": task,
            "stage_attempt_id": "0",
            "stage_id": stage,
            "task_id": number,
            "task_name": f"task {task}.0 in stage {stage}.0 (TID {number})",
        }


def debugs(_):
    return logging.getLogger("levels.of.session").isEnabledFor(logging.DEBUG)


def sets_its_own(_):
    logger = logging.getLogger("levels.of.function")
    logger.setLevel(logging.ERROR)
    try:
        return logging.getLevelName(logger.getEffectiveLevel())
    finally:
        logger.setLevel(logging.NOTSET)


def test_sessions_that_share_an_interpreter_have_levels_of_their_own(spark):
    for mode in thread_modes():
        seen = []
        for levels in ({LEVEL: "DEBUG"}, {}, {OVERRIDES: "levels.of:DEBUG"}, {LEVEL: "30"}):
            with settings(spark, {**mode, **levels}):
                seen.append(spark.range(1).select(udf(debugs, "boolean")("id")).first()[0])
        assert seen == [True, False, True, False]


def test_what_a_function_sets_comes_first(spark):
    for mode in thread_modes():
        with settings(spark, {**mode, LEVEL: "DEBUG", OVERRIDES: "levels:INFO"}):
            assert spark.range(1).select(udf(sets_its_own, "string")("id")).first()[0] == "ERROR"


@pytest.mark.parametrize(
    ("key", "value"), [(LEVEL, "LOUD"), (LEVEL, "-1"), (OVERRIDES, "a"), (OVERRIDES, "a:LOUD")]
)
def test_what_is_no_level_is_refused(spark, key, value):
    with pytest.raises(IllegalArgumentException, match=re.escape(key)):
        spark.conf.set(key, value)
