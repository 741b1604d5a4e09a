"""Runs what a task submits to a thread pool as that task.

The threads of a pool that a module keeps were started by the first task that used it. In a worker
process they see the context of the current task.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from typing import Any

from pyflow.thread_mode import current_task

__all__ = ["install"]


def install() -> None:
    """Make the pools of the standard library run work as the task that has submitted it."""
    executor: Any = ThreadPoolExecutor
    executor.submit = _submitting(executor.submit)
    future: Any = Future
    future.add_done_callback = _submitting(future.add_done_callback)
    # Process pools have these methods, too, but pickle what they are given.
    pool: Any = ThreadPool
    for name in ("apply_async", "_map_async"):
        setattr(pool, name, _submitting_all(getattr(pool, name)))
    for name in ("imap", "imap_unordered"):
        setattr(pool, name, _feeding(getattr(pool, name)))


def _in_task(function: Any) -> Any:
    """A function that runs as the task that is the current thread's now."""
    task = current_task.current()
    if task is None or not callable(function):
        return function

    def run(*args: Any, **kwargs: Any) -> Any:
        with current_task.entered(task):
            return function(*args, **kwargs)

    return run


def _submitting(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is given a function, and then the function's arguments."""

    @functools.wraps(method)
    def submit(self: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        return method(self, _in_task(function), *args, **kwargs)

    return submit


def _submitting_all(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is given a function, its arguments in a collection, and callbacks."""

    @functools.wraps(method)
    def submit(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(
            self, *map(_in_task, args), **{name: _in_task(each) for name, each in kwargs.items()}
        )

    return submit


def _feeding(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is given a function, and an iterable that a thread of the pool reads."""

    @functools.wraps(method)
    def feed(self: Any, func: Any, iterable: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        task = current_task.current()
        items = iterable if task is None else _items(iterable, task)
        return method(self, _in_task(func), items, *args, **kwargs)

    return feed


def _items(iterable: Iterable[Any], task: current_task.CurrentTask) -> Iterator[Any]:
    with current_task.entered(task):
        iterator = iter(iterable)
    end = object()
    while True:
        with current_task.entered(task):
            item = next(iterator, end)
        if item is end:
            return
        yield item
