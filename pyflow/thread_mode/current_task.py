"""State that PySpark keeps once per worker process, kept once per task.

Several tasks run at once here, each on its own thread. The task context, the variables of
``os.environ``, the files, broadcast variables, accumulators, and the classes that are pickled by
value are therefore looked up by thread. A thread that a function starts belongs to the same task;
when that task has ended, the thread sees the task that was entered last, as in a worker.
"""

from __future__ import annotations

import contextvars
import functools
import json
import logging
import os
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from pyspark import Accumulator, Broadcast, TaskContext

from pyflow.thread_mode import module_imports, pyspark_worker

__all__ = [
    "CurrentTask",
    "call_out",
    "current",
    "enter",
    "entered",
    "install",
    "is_main_thread",
    "live",
    "of_thread",
    "on_change",
    "on_switch",
    "on_thread_start",
]

#: A number of io.pyflow.execution.task.MetricReports, above those of state.
_METRICS = 64

#: Called in a thread that a function has started, before its own work.
on_thread_start: list[Callable[[], None]] = []

#: Called in a thread whose task has become another one, for a while or until the next one.
on_change: list[Callable[[], None]] = []

#: Called with the thread's task until now, or None, and the one that becomes it.
on_switch: list[Callable[[CurrentTask | None, CurrentTask], None]] = []

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K")
V = TypeVar("V")

#: Of the current thread: `task`.
of_thread = threading.local()

#: Those that have not ended.
live: dict[int, CurrentTask] = {}

#: The task that was entered last by a thread of the executor.
_last_entered: CurrentTask | None = None


class CurrentTask:
    """A task as its functions see it.

    Attributes
    ----------
    label : str
        Names the functions and the task, for the log.
    context : pyspark.TaskContext or None
        What ``TaskContext.get()`` returns.
    variables : dict of bytes to bytes
        The environment, the one of the process to begin with.
    log_fields : dict of str to str
        What each line in the executor's log has of the task.
    log_levels : LogLevels or None
        Of loggers, where the session has configured them.
    log_handlers : list of logging.Handler
        The task's own of the root logger.
    session_log : SessionLog or None
        Where the session sees what the functions print and log, besides the executor's log.
    files_root : str or None
        What ``SparkFiles.getRootDirectory()`` returns.
    broadcasts : dict
        The broadcast variables by id.
    accumulators : dict
        Those that were unpickled for the task, by id.
    classes : WeakValueDictionary
        Classes that are pickled by value, by the id that cloudpickle has given them. Unpickling
        sets their attributes again, so that tasks must not share them.
    class_ids : WeakKeyDictionary
        The ids of these classes.
    context_variables : contextvars.Context
        What the functions run in.
    own : dict
        The task's values of state that Python keeps once per process; see `task_globals`.
    at_start, at_end : list of callable
        What functions have to do before their first row, and after the last, in this order. What
        is to be done at the end is done once, also if the task fails or is cancelled.
    at_failure : list of callable
        What ends if the task fails or is cancelled, as it would with its worker process.
    metric_reports : list of callable
        Each returns what the metrics of a function say, for JSON.
    call_jvm : callable or None
        As :func:`~pyflow.thread_mode.program.load` has it.
    tracing : tuple
        The functions of ``sys.settrace`` and ``sys.setprofile`` while another task is the thread's.
    refused_imports : list of str
        What it needs the shared interpreter for, in the order of the attempts, where it runs in an
        isolated one. The native bridge looks into it.
    thread : int
        The identifier of the thread that was last the task's.
    began : float
        When, by the monotonic clock.
    application : str
        The id of its application.
    missed : list
        Modules that have set something when others imported them; see `imported_settings`.
    ended : bool
    """

    def __init__(
        self, label: str, application: str, new_context: Callable[[], contextvars.Context]
    ) -> None:
        self.label = label
        self.application = application
        self.began = time.monotonic()
        self.missed: list[Any] = []
        live[id(self)] = self
        self.context_variables = new_context()
        self.own: dict[Any, Any] = {}
        self.at_start: list[Callable[[], None]] = []
        self.at_end: list[Callable[[], None]] = []
        self.at_failure: list[Callable[[], None]] = []
        self.metric_reports: list[Callable[[], dict[str, Any]]] = []
        self.call_jvm: Callable[[int, bytes], bytes | None] | None = None
        self.tracing: tuple[Any, Any] = (None, None)
        self.thread = threading.get_ident()
        self.context: TaskContext | None = None
        self.variables = dict(_variables.process)
        self.log_fields: dict[str, str] = {}
        self.log_levels: Any = None  # LogLevels, which look up the current task
        self.log_handlers: list[logging.Handler] = []
        self.session_log: Any = None  # a SessionLog, which writes for the current task
        self.files_root: str | None = None
        self.broadcasts: dict[int, Broadcast[Any]] = {}
        self.accumulators: dict[int, Accumulator[Any]] = {}
        self.classes: MutableMapping[str, Any] = weakref.WeakValueDictionary()
        self.class_ids: MutableMapping[Any, str] = weakref.WeakKeyDictionary()
        self.refused_imports: list[str] = []
        self.ended = False

    def start(self) -> None:
        """Do what functions have to do before their first row."""
        while self.at_start:
            self.at_start.pop(0)()

    def finish(self) -> None:
        """Do what functions have to do after their last row; raise the first error."""
        errors = []
        while self.at_end:
            try:
                self._in_context(self.at_end.pop(0))
            except BaseException as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def succeed(self) -> list[bytes]:
        """End the functions of a task that succeeds and report their metrics.

        Returns
        -------
        list of bytes
            The updates of their accumulators.
        """
        self.finish()
        self._report_metrics()
        self.at_failure = []
        return pyspark_worker.accumulator_updates(self.accumulators)

    def _report_metrics(self) -> None:
        """Tell the JVM what the functions have counted and measured."""
        reports: list[dict[str, Any]] = []
        self._in_context(lambda: reports.extend(report() for report in self.metric_reports))
        if self.call_jvm is not None and any(reports):
            self.call_jvm(_METRICS, json.dumps(reports).encode())

    def _in_context(self, work: Callable[[], None]) -> None:
        """Do something as the task's functions do."""
        began = False

        def begin() -> None:
            nonlocal began
            began = True
            work()

        with entered(self):
            try:
                self.context_variables.run(begin)
            except RuntimeError:
                if began:
                    raise
                work()  # some thread, perhaps this one, is in the context

    def end(self) -> None:
        """Release what is large; threads that the functions have left running use the rest."""
        global _last_entered
        self.at_end += self.at_failure
        self.at_failure = []
        try:
            self.finish()
        except BaseException:
            with entered(self):
                print(f"Functions failed at the end of {self.label}:", file=sys.stderr)
                traceback.print_exc()
        self.ended = True
        live.pop(id(self), None)
        self.missed = []
        self.call_jvm = None
        self.metric_reports = []
        self.broadcasts = {}
        self.accumulators = {}
        self.own = {}
        if _last_entered is self:
            _last_entered = None


def current() -> CurrentTask | None:
    """The current thread's task."""
    task: CurrentTask | None = getattr(of_thread, "task", None)
    if task is not None and task.ended and getattr(of_thread, "is_started_by_function", False):
        return _last_entered or task
    return task


def enter(task: CurrentTask) -> None:
    """Make `task` the current thread's until the next call; called by the executor's threads."""
    global _last_entered
    before = getattr(of_thread, "task", None)
    of_thread.task = _last_entered = task
    task.thread = threading.get_ident()
    if before is task:
        return
    _note_change()
    for switch in on_switch:
        switch(before, task)
    if before is not None:
        before.tracing = sys.gettrace(), sys.getprofile()
        if before.tracing != task.tracing:
            sys.settrace(task.tracing[0])
            _set_profiler(task.tracing[1])


def _set_profiler(profiler: Any) -> None:
    """Have the thread profiled; before CPython 3.12 a profile of cProfile is not called."""
    if hasattr(profiler, "enable"):
        profiler.enable()
    else:
        sys.setprofile(profiler)


def is_main_thread() -> bool:
    """Whether this is the thread that a worker process would run the task on."""
    return current() is not None and not getattr(of_thread, "is_started_by_function", False)


@contextmanager
def entered(task: CurrentTask) -> Iterator[None]:
    """Make `task` the current thread's within a context."""
    before = getattr(of_thread, "task", None)
    of_thread.task = task
    _note_change()
    try:
        yield
    finally:
        of_thread.task = before
        _note_change()


def _note_change() -> None:
    for note in on_change:
        note()


def call_out(task: CurrentTask, work: Callable[[T], R], argument: T) -> R:
    """Call `work`, which may enter other tasks on this thread, and enter `task` again."""
    try:
        return work(argument)
    finally:
        enter(task)


def install() -> None:
    """Make PySpark, ``os.environ`` and new threads look up the current thread's task."""
    pyspark_worker.keep_by_task(_AttributeOfTask, _MappingOfTask, _new_context, _set_context)

    environments: list[Any] = [os.environ, os.environb]
    for environment in environments:
        environment._data = _variables

    thread_class: Any = threading.Thread
    start = thread_class.start

    @functools.wraps(start)
    def start_in_task(thread: threading.Thread) -> None:
        task = current()
        if task is not None:
            run = thread.run
            may_be_waited_for = module_imports.importing()

            def run_in_task() -> None:
                if may_be_waited_for:
                    module_imports.import_freely()
                of_thread.task = task
                of_thread.is_started_by_function = True
                for begin in on_thread_start:
                    begin()
                try:
                    run()
                finally:
                    del thread.run

            thread.run = run_in_task  # type: ignore[method-assign]
        start(thread)

    thread_class.start = start_in_task


class _AttributeOfTask:
    """Class attribute that reads as an attribute of the current thread's task.

    Parameters
    ----------
    name : str
        The attribute's.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        task = current()
        return None if task is None else getattr(task, self._name)


def _new_context(cls: Any, **kwargs: Any) -> Any:
    """As ``TaskContext.__new__``: the context that is already there, or a new one."""
    task = current()
    if task is None:
        return object.__new__(cls)
    if task.context is None:
        task.context = object.__new__(cls)
    return task.context


def _set_context(context: TaskContext | None) -> None:
    task = current()
    if task is not None:
        task.context = context


class _MappingOfTask(MutableMapping[K, V], Generic[K, V]):
    """A mapping of the process that reads as one of the current thread's task.

    Parameters
    ----------
    attribute : str
        Name of the task's mapping.
    process : MutableMapping
        The one for threads without a task.
    """

    def __init__(self, attribute: str, process: MutableMapping[K, V]) -> None:
        self._attribute = attribute
        self.process = process

    def _of_thread(self) -> MutableMapping[K, V]:
        task = current()
        if task is None:
            return self.process
        mapping: MutableMapping[K, V] = getattr(task, self._attribute)
        return mapping

    def __getitem__(self, key: K) -> V:
        return self._of_thread()[key]

    def __setitem__(self, key: K, value: V) -> None:
        self._of_thread()[key] = value

    def __delitem__(self, key: K) -> None:
        del self._of_thread()[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._of_thread())

    def __len__(self) -> int:
        return len(self._of_thread())


_environ: Any = os.environ
_variables: _MappingOfTask[bytes, bytes] = _MappingOfTask("variables", _environ._data)
