"""Settings of the process, the standard library and pandas, kept once per task.

Where a setting cannot be kept per task, the task reads the value that it has set, and the
interpreter keeps one that suits all tasks: the garbage collector stays on, and limits are only
raised.
"""

from __future__ import annotations

import _thread
import errno
import functools
import gc
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from typing import Any

from pyflow.thread_mode import children, current_task, task_globals
from pyflow.thread_mode.containment import do_nothing, refuse, replace_function
from pyflow.thread_mode.module_imports import after_import, note_refusal
from pyflow.thread_mode.task_globals import Parts, TaskMapping, TaskValue

__all__ = ["install"]

_UNLIMITED = 0
_DEFAULT_STACK = 8 << 20
_LEAST_STACK = 32 << 10
_LEAST_DIGITS = 640
_MISSING = getattr(getattr(sys, "monitoring", None), "MISSING", None)


def install() -> None:
    """Replace the functions that set them, here and in modules that are imported later."""
    _keep_collecting()
    _keep_switching()
    _raise_limits()
    _own_timeout()
    _own_temporary_directory()
    _own_hooks()
    _own_signal_mask()
    _interrupt_own_thread()
    children.install(_own_file_mask())
    after_import("csv", _own_csv)
    after_import("tracemalloc", _refuse_tracing_memory)
    after_import("cProfile", _profile_threads)
    after_import("pdb", _debug_threads)
    after_import("asyncio.events", _own_event_loops)
    after_import("multiprocessing.context", _own_start_method)
    after_import("concurrent.futures.process", children.end_with_tasks)
    after_import("pandas._config.config", _own_options)
    after_import("keras.src.backend.config", _own_keras)
    after_import("xarray.core.options", _own_options_of_xarray)


def _replace(module: Any, name: str, function: Callable[..., Any]) -> None:
    @functools.wraps(getattr(module, name))
    def replacement(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    replace_function(module, name, replacement)


def _keep_collecting() -> None:
    enabled = TaskValue(True)
    thresholds: TaskValue[tuple[int, ...]] = TaskValue(gc.get_threshold())

    def set_threshold(first: int, *others: int) -> None:
        thresholds.set((first, *others, *thresholds.get()[1 + len(others) :]))

    _replace(gc, "enable", lambda: enabled.set(True))
    _replace(gc, "disable", lambda: enabled.set(False))
    _replace(gc, "isenabled", enabled.get)
    _replace(gc, "set_threshold", set_threshold)
    _replace(gc, "get_threshold", thresholds.get)
    _replace(gc, "freeze", lambda: None)
    _replace(gc, "unfreeze", lambda: None)


def _keep_switching() -> None:
    interval = TaskValue(sys.getswitchinterval())

    def set_interval(seconds: float, /) -> None:
        if float(seconds) <= 0:
            raise ValueError("switch interval must be strictly positive")
        interval.set(float(seconds))

    _replace(sys, "setswitchinterval", set_interval)
    _replace(sys, "getswitchinterval", interval.get)


class _Limit:
    """A limit of the interpreter that is never lowered, so that no task fails for another's limit.

    Parameters
    ----------
    get, set : callable
        Of the interpreter.
    permits : callable
        Whether the first of two limits permits all that the second does.
    is_valid : callable
    """

    def __init__(
        self,
        get: Callable[[], int],
        set: Callable[[int], Any],
        permits: Callable[[int, int], bool],
        is_valid: Callable[[int], bool],
    ) -> None:
        self._get = get
        self._set = set
        self._permits = permits
        self._is_valid = is_valid
        self._of_task = TaskValue(get())

    def get(self) -> int:
        return self._of_task.get()

    def set(self, limit: int, /) -> None:
        if self._permits(self._get(), limit) and self._is_valid(limit):
            self._of_task.set(limit)
        else:
            self._set(limit)
            self._of_task.set(self._get())

    def exchange(self, *limit: int) -> int:
        """Read the limit and set it, if one is given."""
        before = self.get()
        if limit:
            self.set(*limit)
        return before


def _raise_limits() -> None:
    recursion = _Limit(
        sys.getrecursionlimit, sys.setrecursionlimit, int.__ge__, lambda limit: limit > 0
    )
    _replace(sys, "getrecursionlimit", recursion.get)
    _replace(sys, "setrecursionlimit", lambda limit, /: recursion.set(limit))
    if hasattr(sys, "set_int_max_str_digits"):  # security releases of 3.10 have it
        digits = _Limit(
            sys.get_int_max_str_digits,
            sys.set_int_max_str_digits,
            lambda more, less: more == _UNLIMITED or (less != _UNLIMITED and more >= less),
            lambda limit: limit == _UNLIMITED or limit >= _LEAST_DIGITS,
        )
        _replace(sys, "get_int_max_str_digits", digits.get)
        _replace(sys, "set_int_max_str_digits", lambda maxdigits: digits.set(maxdigits))
    stack_size = threading.stack_size
    stack = _Limit(
        stack_size,
        stack_size,
        lambda more, less: (more or _DEFAULT_STACK) >= (less or _DEFAULT_STACK),
        lambda limit: limit == 0 or limit >= _LEAST_STACK,
    )
    _replace(threading, "stack_size", stack.exchange)


def _own_csv(csv: Any) -> None:
    field_size, reader, writer = csv.field_size_limit, csv.reader, csv.writer
    fields = _Limit(field_size, field_size, int.__ge__, lambda limit: True)
    dialects: TaskValue[dict[str, Any]] = TaskValue(
        {name: csv.get_dialect(name) for name in csv.list_dialects()}, dict, has_parts=True
    )
    Parts(dialects)

    def register(name: str, *dialect: Any, **parameters: Any) -> None:
        if not isinstance(name, str):
            raise TypeError("dialect name must be a string")
        dialects.to_change()[name] = reader((), *map(find, dialect), **parameters).dialect

    def get(name: Any) -> Any:
        if name not in dialects.get():
            raise csv.Error("unknown dialect")
        return dialects.get()[name]

    def unregister(name: Any) -> None:
        get(name)
        del dialects.to_change()[name]

    def find(dialect: Any) -> Any:
        return get(dialect) if isinstance(dialect, str) else dialect

    def read(lines: Any, /, dialect: Any = "excel", **parameters: Any) -> Any:
        return reader(lines, find(dialect), **parameters)

    def write(file: Any, /, dialect: Any = "excel", **parameters: Any) -> Any:
        return writer(file, find(dialect), **parameters)

    _replace(csv, "field_size_limit", fields.exchange)
    _replace(csv, "register_dialect", register)
    _replace(csv, "get_dialect", get)
    _replace(csv, "unregister_dialect", unregister)
    _replace(csv, "list_dialects", lambda: list(dialects.get()))
    _replace(csv, "reader", read)
    _replace(csv, "writer", write)


def _own_timeout() -> None:
    timeout: TaskValue[float | None] = TaskValue(socket.getdefaulttimeout())
    init = socket.socket.__init__

    def set_timeout(seconds: float | None, /) -> None:
        if seconds is not None and float(seconds) < 0:
            raise ValueError("Timeout value out of range")
        timeout.set(None if seconds is None else float(seconds))

    def init_with_timeout(self: socket.socket, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        seconds = timeout.get()
        if seconds is not None and self.gettimeout() is None:
            self.settimeout(seconds)

    _replace(socket, "getdefaulttimeout", timeout.get)
    _replace(socket, "setdefaulttimeout", set_timeout)
    _replace(socket.socket, "__init__", init_with_timeout)


def _own_temporary_directory() -> None:
    module: Any = tempfile
    directory: TaskValue[Any] = TaskValue(None)

    def get() -> Any:
        if directory.get() is None:
            directory.set(module._get_default_tempdir())
        return directory.get()

    _replace(module, "_gettempdir", get)
    task_globals.replace_attributes(tempfile, {"tempdir": directory})


def _own_hooks() -> None:
    """Keep exception hooks, trace functions and ``sys.argv`` per task."""
    module: Any = threading
    handle: TaskValue[Callable[[Any], Any]] = TaskValue(threading.excepthook)
    _replace(threading, "excepthook", lambda arguments, /: handle.get()(arguments))
    task_globals.replace_attributes(threading, {"excepthook": handle})
    task_globals.replace_attributes(
        sys, {"argv": TaskValue(sys.argv), "excepthook": TaskValue(sys.excepthook)}
    )
    for kind, begin in (("trace", sys.settrace), ("profile", sys.setprofile)):
        function: TaskValue[Any] = TaskValue(None)
        _replace(module, f"set{kind}", function.set)
        if hasattr(module, f"set{kind}_all_threads"):  # 3.12

            def set_here(hook: Any, begin: Any = begin, set: Any = function.set) -> None:
                set(hook)
                begin(hook)

            _replace(module, f"set{kind}_all_threads", set_here)
        if hasattr(module, f"get{kind}"):
            _replace(module, f"get{kind}", function.get)

        def start(begin: Any = begin, function: TaskValue[Any] = function) -> None:
            if function.get() is not None:
                begin(function.get())

        current_task.on_thread_start.append(start)


def _own_signal_mask() -> None:
    """Record which signals a task blocks, and block none.

    No signal reaches a function, and a JVM ends if its threads block the signals that it uses.
    """
    mask: TaskValue[frozenset[Any]] = TaskValue(frozenset())
    never = {signal.SIGKILL, signal.SIGSTOP}

    def change(how: int, signals: Iterable[int], /) -> set[Any]:
        before, given = mask.get(), set()
        for each in signals:
            if each not in range(1, signal.NSIG):
                raise ValueError(f"signal number {each} out of range [1; {signal.NSIG - 1}]")
            given |= {known for known in signal.valid_signals() if known == each}
        operations: dict[int, Callable[..., frozenset[Any]]] = {
            signal.SIG_BLOCK: before.union,
            signal.SIG_UNBLOCK: before.difference,
            signal.SIG_SETMASK: frozenset().union,
        }
        if how not in operations:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        mask.set(frozenset(operations[how](given)) - never)
        return set(before)

    _replace(signal, "pthread_sigmask", change)


def _interrupt_own_thread() -> None:
    """Have ``_thread.interrupt_main``, as a timer calls it, interrupt the task's own thread."""

    def interrupt(signum: int = signal.SIGINT, /) -> None:
        task = current_task.current()
        if signum not in range(1, signal.NSIG):
            raise ValueError("signal number out of range")
        if task is not None and not task.ended and signum == signal.SIGINT:
            import ctypes

            raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
            raise_in(ctypes.c_ulong(task.thread), ctypes.py_object(KeyboardInterrupt))

    _replace(_thread, "interrupt_main", interrupt)


def _own_keras(config: Any) -> None:
    """Keep what `keras.config.set_floatx` and the like set."""
    changing = threading.Lock()

    def own(name: str) -> None:
        variable, set_of_process = f"_{name.upper()}", getattr(config, f"set_{name}")
        value: TaskValue[Any] = TaskValue(getattr(config, variable))

        def set(*args: Any, **kwargs: Any) -> None:
            with changing:
                set_of_process(*args, **kwargs)
                value.set(getattr(config, variable))

        _replace(config, name, value.get)
        _replace(config, f"set_{name}", set)

    for name in ("floatx", "epsilon", "image_data_format"):
        own(name)


def _own_file_mask() -> Callable[[], int]:
    """Let a task read the umask of the process, restore it, and set it for its child processes.

    Files that the task makes itself would get the umask of the process.

    Returns
    -------
    callable
        The mask that the task has set, -1 for none.
    """
    mask: TaskValue[int | None] = TaskValue(None)
    watching: list[bool] = []

    def of_process() -> int:
        with open("/proc/self/status") as lines:
            return next(int(line[6:], 8) for line in lines if line.startswith("Umask:"))

    def exchange(new: int, /) -> int:
        own, process = mask.get(), of_process()
        mask.set(None if new & 0o777 == process else new & 0o777)
        if not watching:
            watching.append(True)
            sys.addaudithook(refuse_files)
        return process if own is None else own

    def refuse_files(event: str, arguments: tuple[Any, ...]) -> None:
        makes_file = event == "os.mkdir" or (event == "open" and arguments[2] & os.O_CREAT)
        if makes_file and mask.get() is not None:
            note_refusal()
            raise OSError(
                "os.umask() has set another mask than the whole executor's, which the file would "
                "get; use os.chmod, or run the function in process mode "
                "(spark.pyflow.execution-mode=process)"
            )

    _replace(os, "umask", exchange)
    return lambda: -1 if (own := mask.get()) is None else own


def _own_options_of_xarray(module: Any) -> None:
    options = TaskMapping(module.OPTIONS, dict, has_parts=True)
    Parts(options.of_task)
    module.OPTIONS = options


def _refuse_tracing_memory(tracemalloc: Any) -> None:
    reason = "would trace the memory of the whole executor"
    refuse(tracemalloc, "start", reason, to_modules=do_nothing)


def _debug_threads(pdb: Any) -> None:
    """Debug the calling thread alone, as before CPython 3.14, and not what another task debugs."""
    debugger: Any = pdb.Pdb
    begin = debugger.__init__

    @functools.wraps(begin)
    def begin_alone(self: Any, *args: Any, **kwargs: Any) -> None:
        if sys.version_info >= (3, 14):
            kwargs["backend"] = "settrace"
        begin(self, *args, **kwargs)
        # Since 3.13 set_trace() goes on with the debugger that was made last.
        debugger._last_pdb_instance = None

    debugger.__init__ = begin_alone


def _profile_threads(cprofile: Any) -> None:
    """Profile the calling thread alone, as before CPython 3.12, and not all of the interpreter."""
    if sys.version_info < (3, 12):
        return
    base: Any = cprofile.Profile

    class Profile(base):  # type: ignore[misc]
        __doc__ = base.__doc__

        def enable(self, subcalls: bool = True, builtins: bool = True) -> None:
            begin, end = self._pystart_callback, self._pyreturn_callback
            begin_c, end_c = self._ccall_callback, self._creturn_callback

            def profile(frame: Any, event: str, argument: Any) -> None:
                code = frame.f_code
                if event == "call":
                    begin(code, 0)
                elif event == "return":
                    end(code, 0, argument)
                elif builtins and event == "c_call":
                    begin_c(code, 0, argument, _MISSING)
                elif builtins:
                    end_c(code, 0, argument, _MISSING)

            sys.setprofile(profile)

        def disable(self) -> None:
            sys.setprofile(None)
            super().disable()

    cprofile.Profile = Profile


def _own_event_loops(events: Any) -> None:
    """Let a task have the event loop of its thread, as of a main thread, for itself.

    Before 3.14 one is made there on first use.
    """
    makes_loops = hasattr(events, "BaseDefaultEventLoopPolicy")  # before 3.14
    policy: Any = getattr(
        events, "BaseDefaultEventLoopPolicy" if makes_loops else "_BaseDefaultEventLoopPolicy"
    )
    get_event_loop = policy.get_event_loop

    def get(self: Any) -> Any:
        local = self._local
        if local._loop is None and not local._set_called and current_task.is_main_thread():
            self.set_event_loop(self.new_event_loop())
        return get_event_loop(self)

    base: Any = policy._Local

    class Local(base):  # type: ignore[misc]
        """The loop of a task's main thread belongs to the task, others to their threads."""

        def __getattribute__(self, name: str) -> Any:
            if name in ("_loop", "_set_called") and current_task.is_main_thread():
                return _attributes(self).get(name)
            return super().__getattribute__(name)

        def __setattr__(self, name: str, value: Any) -> None:
            if current_task.is_main_thread():
                _attributes(self)[name] = value
            else:
                super().__setattr__(name, value)

    policy._Local = Local
    if makes_loops:
        _replace(policy, "get_event_loop", get)


def _attributes(owner: Any) -> dict[str, Any]:
    """The current task's attributes of an object."""
    task = current_task.current()
    assert task is not None
    attributes: dict[str, Any] = task.own.setdefault(owner, {})
    return attributes


def _own_start_method(context: Any) -> None:
    """Keep the start method per task, and have processes spawned where the task has set none.

    ``fork`` would copy the JVM. The server of ``forkserver``, the default from 3.14 on, keeps the
    environment of the task that has started it; a process that is spawned gets that of its own.
    """
    context._default_context._default_context = context._concrete_contexts["spawn"]
    method: TaskValue[Any] = TaskValue(context._default_context._actual_context)
    context.DefaultContext._actual_context = property(
        lambda self: method.get(), lambda self, value: method.set(value)
    )


def _own_options(config: Any) -> None:
    """Keep options of pandas per task.

    The groups in which pandas keeps them are replaced when a task first sets one of theirs:
    pandas reads some of them all the time.
    """
    options: TaskValue[dict[str, Any]] = TaskValue({}, dict, has_parts=True)
    Parts(options)
    get_root = config._get_root
    replacing = threading.Lock()

    def get_own_root(key: str) -> tuple[_Option, str]:
        return _Option(key), get_root(key)[1]

    class _Option:
        """What reads and sets the option of a key."""

        def __init__(self, key: str) -> None:
            self._key = key

        def __getitem__(self, name: str) -> Any:
            return get_root(self._key)[0][name]

        def __setitem__(self, name: str, value: Any) -> None:
            root = get_root(self._key)[0]
            if current_task.current() is None:
                root[name] = value
                return
            options.to_change()[self._key] = value
            with replacing:
                if not isinstance(get_root(self._key)[0], _Group):
                    self._replace_group(root)

        def _replace_group(self, root: dict[str, Any]) -> None:
            *outer, group, _ = self._key.split(".")
            parent = config._global_config
            for each in outer:
                parent = parent[each]
            parent[group] = _Group(root, ".".join([*outer, group, ""]))

    class _Group(dict):  # type: ignore[type-arg]
        def __init__(self, options: dict[str, Any], prefix: str) -> None:
            super().__init__(options)
            self._prefix = prefix

        def __getitem__(self, name: str) -> Any:
            own = options.get()
            key = self._prefix + name
            return own[key] if key in own else super().__getitem__(name)

    config._get_root = get_own_root
