"""The profiler of functions (``spark.sql.pyspark.udf.profiler``), as PySpark's workers have it."""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from typing import Any

from pyflow.thread_mode import current_task, pyspark_worker

__all__ = ["install", "profiled"]


class TaskProfiler:
    """Profiles a call of a function, in place of PySpark's ``WorkerPerfProfiler``.

    All calls of a task have one profile, which goes to the driver at its end: PySpark makes one for
    each call and adds them up.

    Parameters
    ----------
    accumulator, accumulator_v2 : pyspark.Accumulator
        What takes profiles to the driver.
    result_key : int or str
        By which the driver knows the function.
    """

    def __init__(self, accumulator: Any, accumulator_v2: Any, result_key: int | str) -> None:
        task = current_task.current()
        assert task is not None
        key = TaskProfiler, result_key
        profile = task.own.get(key)
        if profile is None:
            profile = task.own[key] = cProfile.Profile()
            task.at_end.append(
                lambda: pyspark_worker.save_profile(
                    profile, accumulator, accumulator_v2, result_key
                )
            )
        self._profile = profile

    def __enter__(self) -> None:
        self._profile.enable()

    def __exit__(self, *_: object) -> None:
        self._profile.disable()


def install() -> None:
    """Have PySpark's worker code profile so."""
    pyspark_worker.replace_profiler(TaskProfiler)


def profiled(chain: list[Callable[..., Any]], eval_type: int, result_id: int) -> list[Any]:
    """Return one function that profiles the calls of a chain.

    Parameters
    ----------
    chain : list of callable
        Innermost first.
    eval_type : int
    result_id : int
        By which the driver knows the chain.
    """
    install()
    function = chain[0]
    for outer in chain[1:]:
        function = _composed(function, outer)
    return [pyspark_worker.profiled(function, eval_type, result_id)]


def _composed(inner: Callable[..., Any], outer: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: outer(inner(*args, **kwargs))
