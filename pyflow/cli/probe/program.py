"""The program of ``pyflow doctor -t``: runs a function in every executor and tells what it found.

It writes JSON to the file that its argument names: ``python`` and ``packages`` of the program,
``reason`` (why functions are planned for workers, or null), ``error`` (of the job, or null) and
``executors``, each with ``id``, ``host`` and ``tasks``, what the function found in each task.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions

_EXECUTOR_SECONDS = 60
_QUIET_SECONDS = 3
_TASK_SECONDS = 0.3
_ROUNDS = 5
_GROUP = "pyflow doctor"


def _found(packages: list[str], seconds: float) -> Callable[[int], str]:
    """A function that tells in what it runs, by value: executors have no module of this name."""

    def found(_: int) -> str:
        import importlib.metadata
        import json
        import os
        import sys
        import time

        from pyspark import TaskContext

        time.sleep(seconds)
        try:
            import _interpreters  # type: ignore[import-not-found]

            interpreter = _interpreters.get_current()[0]
        except ImportError:
            interpreter = 0
        versions = {}
        for name in packages:
            try:
                versions[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
        task = TaskContext.get()
        assert task is not None
        return json.dumps(
            {
                "task": task.taskAttemptId(),
                "in_jvm": os.path.basename(os.readlink("/proc/self/exe")) == "java",
                "isolated": interpreter != 0,
                "python": ".".join(map(str, sys.version_info[:3])),
                "prefix": sys.prefix,
                "packages": versions,
            }
        )

    return found


def main(file: str, *packages: str) -> None:
    """Write what the executors of the session's application have."""
    import importlib.metadata

    spark = SparkSession.builder.appName(_GROUP).getOrCreate()
    report: dict[str, Any] = {
        "python": ".".join(map(str, sys.version_info[:3])),
        "packages": {},
        "reason": None,
        "error": None,
        "executors": [],
    }
    for name in packages:
        try:
            report["packages"][name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    executors = _executors(spark)
    if executors:
        asked = _Probe(spark, _found(list(packages), _TASK_SECONDS))
        try:
            asked.run(set(executors))
        except Exception as error:
            report["error"] = str(error)
        report["reason"] = asked.reason()
        report["executors"] = [
            {"id": id, "host": host, "tasks": asked.tasks.get(id, [])}
            for id, host in sorted(executors.items(), key=lambda item: (len(item[0]), item[0]))
        ]
    Path(file).write_text(json.dumps(report), encoding="utf-8")
    spark.stop()


def _executors(spark: SparkSession) -> dict[str, str]:
    """Return hosts by the ids of executors, when no more come; empty where none has come."""
    end = time.monotonic() + _EXECUTOR_SECONDS
    found: dict[str, str] = {}
    changed = time.monotonic()
    while time.monotonic() < (end if not found else changed + _QUIET_SECONDS):
        now = _registered(spark)
        if now.keys() != found.keys():
            found, changed = now, time.monotonic()
        if "driver" in found:
            break
        time.sleep(0.2)
    return found


def _registered(spark: SparkSession) -> dict[str, str]:
    """Return hosts by the ids of executors; the driver is one with a local master alone."""
    jvm: Any = spark.sparkContext._jsc
    summaries = jvm.sc().statusStore().executorList(True)
    found = {}
    for number in range(summaries.size()):
        summary = summaries.apply(number)
        if summary.id() != "driver" or jvm.sc().isLocal():
            found[summary.id()] = summary.hostPort().rsplit(":", 1)[0]
    return found


class _Probe:
    """A job with a task for every slot, until all executors have had one.

    Parameters
    ----------
    spark : SparkSession
    function : callable
        Of a number; returns JSON with ``task``.
    """

    def __init__(self, spark: SparkSession, function: Callable[[int], str]) -> None:
        self._spark = spark
        self._function = functions.udf(function)
        self.tasks: dict[str, list[dict[str, Any]]] = {}

    def run(self, executors: set[str]) -> None:
        """Gather what the function finds, by the executors' ids."""
        context = self._spark.sparkContext
        for number in range(_ROUNDS):
            group = f"{_GROUP} {number}"
            context.setJobGroup(group, "a function in every executor")
            rows = self._plan().collect()
            executor_of = self._executors_of_tasks(group)
            for row in rows:
                found = json.loads(row[0])
                executor = executor_of.get(found["task"])
                if executor is not None:
                    self.tasks.setdefault(executor, []).append(found)
            if executors <= self.tasks.keys():
                return

    def _plan(self) -> DataFrame:
        slots = max(2, self._spark.sparkContext.defaultParallelism)
        return self._spark.range(0, slots, 1, slots).select(self._function("id"))

    def _executors_of_tasks(self, group: str) -> dict[int, str]:
        context: Any = self._spark.sparkContext
        context._jsc.sc().listenerBus().waitUntilEmpty()
        store = context._jsc.sc().statusStore()
        found = {}
        for job in context.statusTracker().getJobIdsForGroup(group):
            for stage in context.statusTracker().getJobInfo(job).stageIds:
                tasks = store.taskList(stage, 0, 1 << 20)
                for number in range(tasks.size()):
                    task = tasks.apply(number)
                    found[task.taskId()] = task.executorId()
        return found

    def reason(self) -> str | None:
        """Why the function is planned for workers now, or None."""
        plan = self._plan()._jdf.queryExecution().executedPlan().toString()
        match = re.search(r"ProcessMode \[.*\], reason: (.*)", plan)
        return match[1] if match else None


if __name__ == "__main__":
    main(*sys.argv[1:])
