"""Functions in the driver's own Python process, for debuggers (``python.debug.loopback``).

Spark's JVM asks for Python workers as ever. What answers is a thread of the program for each, which
runs PySpark's worker code: breakpoints, ``print`` and coverage then work as in the rest of the
program. What PySpark keeps once per worker process, each of these threads has for itself.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import shutil
import socket
import tempfile
import threading
import uuid
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

from pyflow.session.loopback_daemon import ADDRESS

__all__ = ["KEY", "SPARK_KEY", "is_wanted", "settings"]

#: The setting that asks for it, by Flink's name.
KEY = "python.debug.loopback"
#: The same by Spark's, as all settings of Flink's have one.
SPARK_KEY = f"spark.pyflow.conf.{KEY}"

_BUFFER_BYTES = 65536


def is_wanted(present: Mapping[str, str]) -> bool:
    """Return whether the settings of an application ask for it."""
    return present.get(SPARK_KEY, "").lower() == "true"


def settings(master: str) -> dict[str, str]:
    """Return the settings of Spark by which functions run in this process.

    Parameters
    ----------
    master : str
        The application's.

    Raises
    ------
    ValueError
        If executors are elsewhere.
    """
    if not re.fullmatch(r"local(\[.*\])?", master):
        raise ValueError(f"{KEY} needs a local master, and this one is {master}")
    return {
        "spark.pyflow.execution-mode": "process",
        "spark.python.use.daemon": "true",
        "spark.python.daemon.module": "pyflow.session.loopback_daemon",
        f"spark.executorEnv.{ADDRESS}": _address(),
    }


@functools.cache
def _address() -> str:
    """Listen for the process that Spark starts instead of its daemon; return the socket's path."""
    directory = tempfile.mkdtemp(prefix="pyflow-loopback-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    path = os.path.join(directory, "socket")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    _start(_accept_all, listening, _introduce)
    return path


def _start(target: Any, *arguments: Any) -> None:
    threading.Thread(target=target, args=arguments, name="pyflow-loopback", daemon=True).start()


def _accept_all(listening: socket.socket, serve: Any, *arguments: Any) -> None:
    with suppress(OSError):  # it is closed
        while True:
            connection, _ = listening.accept()
            _start(serve, connection, *arguments)


def _introduce(connection: socket.socket) -> None:
    """Listen for the JVM that has started the other end, for as long as that lives."""
    with connection, connection.makefile("rb") as stream:
        request = json.loads(stream.readline())
        with _listening(request) as listening:
            _start(_accept_all, listening, _serve, request)
            address = listening.getsockname()
            reached = address if request["directory"] else address[1]
            connection.sendall(json.dumps(reached).encode() + b"\n")
            stream.read()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)


def _listening(request: dict[str, Any]) -> socket.socket:
    if request["directory"]:
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(os.path.join(request["directory"], f".{uuid.uuid4()}.sock"))
    else:
        listening = socket.socket(socket.AF_INET6 if request["ipv6"] else socket.AF_INET)
        listening.bind(("::1" if request["ipv6"] else "127.0.0.1", 0))
    listening.listen(socket.SOMAXCONN)
    return listening


def _serve(connection: socket.socket, request: dict[str, Any]) -> None:
    """Be a worker, as ``pyspark.daemon`` makes them by forking."""
    from pyspark.serializers import UTF8Deserializer, write_int, write_with_length

    main = _worker_code()
    _of_thread.worker = _Worker()
    with (
        suppress(OSError, EOFError),  # the JVM has closed it
        connection,
        connection.makefile("rb", _BUFFER_BYTES) as reader,
        connection.makefile("wb", _BUFFER_BYTES) as sink,
    ):
        source: Any = reader
        write_int(request["pid"], sink)
        sink.flush()
        if request["secret"] is not None:
            is_known = UTF8Deserializer().loads(source) == request["secret"]
            write_with_length(b"ok" if is_known else b"err", sink)
            sink.flush()
            if not is_known:
                return
        while source.peek(1):
            try:
                main(source, sink)
            except SystemExit:
                break
            finally:
                sink.flush()
            if not request["reuse"]:
                break


class _Worker:
    """What PySpark keeps once per worker process."""

    def __init__(self) -> None:
        self.context: Any = None
        self.barrier_connection: str | int | None = None
        self.barrier_secret: str | None = None
        self.files_root: str | None = None
        self.broadcasts: dict[int, Any] = {}
        self.accumulators: dict[int, Any] = {}
        self.classes: MutableMapping[str, Any] = weakref.WeakValueDictionary()
        self.class_ids: MutableMapping[Any, str] = weakref.WeakKeyDictionary()


_of_thread = threading.local()


def _current() -> _Worker | None:
    """Return the worker of this thread, or of the function that has started it."""
    return getattr(_of_thread, "worker", None)


class _AttributeOfWorker:
    """A class attribute of the current thread's worker; in other threads the program's."""

    def __init__(self, name: str, process: Any = None) -> None:
        self._name = name
        self._process = process

    def __get__(self, instance: Any, owner: Any) -> Any:
        worker = _current()
        return self._process if worker is None else getattr(worker, self._name)


class _MappingOfWorker(MutableMapping[Any, Any]):
    """A mapping of the current thread's worker; in other threads the program's."""

    def __init__(self, name: str, process: MutableMapping[Any, Any]) -> None:
        self._name = name
        self._process = process

    def _of_thread(self) -> MutableMapping[Any, Any]:
        worker = _current()
        found: MutableMapping[Any, Any] = (
            self._process if worker is None else getattr(worker, self._name)
        )
        return found

    def __getitem__(self, key: Any) -> Any:
        return self._of_thread()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._of_thread()[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._of_thread()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._of_thread())

    def __len__(self) -> int:
        return len(self._of_thread())


def _new_context(cls: Any, **keywords: Any) -> Any:
    """As ``TaskContext.__new__``: the context that is already there, or a new one."""
    worker = _current()
    if worker is None:
        return object.__new__(cls)
    if worker.context is None:
        worker.context = object.__new__(cls)
    return worker.context


def _set_context(context: Any) -> None:
    worker = _current()
    if worker is not None:
        worker.context = context


def _context_of(cls: Any) -> Any:
    """As ``_getOrCreate()``, by which workers make contexts before Spark 4.2."""
    worker = _current()
    if worker is None or not isinstance(worker.context, cls):
        context = object.__new__(cls)
        _set_context(context)
        return context
    return worker.context


def _initialize_barrier(_: Any, connection: str | int | None, secret: str | None) -> None:
    worker = _current()
    assert worker is not None
    worker.barrier_connection, worker.barrier_secret = connection, secret


_making = threading.Lock()


def _worker_code() -> Any:
    with _making:
        return _made_worker_code()


@functools.cache
def _made_worker_code() -> Any:
    """Return PySpark's worker code, made to find in its thread what it keeps once per process."""
    from pyspark import BarrierTaskContext, SparkFiles, TaskContext, accumulators

    from pyflow.thread_mode import pyspark_worker

    files: Any = SparkFiles
    on_driver = vars(files)["_is_running_on_worker"], vars(files)["_root_directory"]
    pyspark_worker.keep_by_task(_AttributeOfWorker, _MappingOfWorker, _new_context, _set_context)
    files._is_running_on_worker, files._root_directory = on_driver
    contexts: list[Any] = [TaskContext, BarrierTaskContext]
    for each in contexts:
        each._getOrCreate = classmethod(_context_of)
    barrier: Any = BarrierTaskContext
    barrier._initialize = classmethod(_initialize_barrier)
    barrier._conn_info = _AttributeOfWorker("barrier_connection")
    barrier._secret = _AttributeOfWorker("barrier_secret")
    _pass_on_to_threads()

    from pyspark import worker, worker_util

    for module in (worker, worker_util):
        of_module: Any = module
        of_module._accumulatorRegistry = accumulators._accumulatorRegistry
    return worker.main


def _pass_on_to_threads() -> None:
    """Have the threads that functions start belong to their worker."""
    thread_class: Any = threading.Thread
    start = thread_class.start

    @functools.wraps(start)
    def start_in_worker(thread: Any) -> None:
        worker = _current()
        if worker is not None:
            run = thread.run

            def run_in_worker() -> None:
                _of_thread.worker = worker
                run()

            thread.run = run_in_worker
        start(thread)

    thread_class.start = start_in_worker
