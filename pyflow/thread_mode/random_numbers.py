"""One generator of random numbers per task, for ``random``, ``numpy.random`` and Faker.

A task's generator begins unseeded, as in a worker process that has just been forked. If a module
seeds it while it is imported, it begins as the module has left it, as in each worker that imports
the module; tasks that follow go on where others have ended, as in workers that are reused.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import random
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.imported_settings import ABSENT, Changes, NotedSetting, note
from pyflow.thread_mode.module_imports import after_import, importing
from pyflow.thread_mode.task_globals import TaskValue

__all__ = ["Generators", "forwarding", "install"]


def install() -> None:
    """Let the functions of ``random`` and of libraries work on the task's generator."""
    generators = Generators(random._inst, random.Random)
    _replace(random, generators)
    random.random = _random(generators)
    after_import("numpy.random.mtrand", _replace_numpys)
    after_import(
        "faker.generator",
        lambda module: _replace(module, Generators(module.random, random.Random)),
    )
    after_import("igraph._igraph", _replace_igraphs)


class Generators(TaskValue[Any]):
    """The generator of the process, and those of tasks.

    Parameters
    ----------
    process : object
    new : callable
        Makes an unseeded one.
    copy : callable
        Copies one.
    seeding : set of str
        The generator's methods that seed it.
    """

    def __init__(
        self,
        process: Any,
        new: Callable[[], Any],
        copy: Callable[[Any], Any] = copy.deepcopy,
        seeding: frozenset[str] = frozenset({"seed", "setstate", "set_state"}),
    ) -> None:
        super().__init__(process)
        self._new = new
        self.seeding = seeding
        self._seeds = _Seeds(self, copy)

    def get(self) -> Any:
        """The current thread's."""
        try:
            return current_task.of_thread.task.own[self]
        except (AttributeError, KeyError):
            task = current_task.current()
            return self.process if task is None else task.own.setdefault(self, self._new())

    def method(self, name: str) -> Any:
        """A method, or another attribute, of the current thread's."""
        value = getattr(self.get(), name)
        if name in self.seeding and importing():
            return functools.partial(self._seed, value)
        return value

    def _seed(self, method: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        note(self._seeds, {_SEEDED: (ABSENT, any(each is not None for each in args))})
        return result

    def set(self, value: Any) -> None:
        """Make another generator the current thread's."""
        task = current_task.current()
        if task is None:
            self.process = value
        else:
            task.own[self] = value


_SEEDED = "seeded"


class _Seeds(NotedSetting):
    """How modules have left a generator, as a `_Generator`, or None if they seed it at random."""

    def __init__(self, generators: Generators, copy: Callable[[Any], Any]) -> None:
        self._generators = generators
        self._copy = copy
        super().__init__()

    def at_end(self, noted: Changes) -> Changes:
        """Copy the generator of the module that has seeded it."""
        (_, is_seeded), task = noted[_SEEDED], current_task.current()
        if not is_seeded or task is None:
            return {_SEEDED: (ABSENT, None)}
        generator = self._generators.get()
        left = _Generator(self._copy(generator))
        left.leave_at_end(task, generator)
        return {_SEEDED: (ABSENT, left)}

    def apply(self, changes: Changes) -> None:
        (_, left), task = changes[_SEEDED], current_task.current()
        assert task is not None
        if left is None:
            task.own.pop(self._generators, None)
            return
        generator = left.left_before(task) or self._copy(left.by_module)
        task.own[self._generators] = generator
        left.leave_at_end(task, generator)


class _Generator:
    """A generator as a module has left it, and those of tasks that have ended since."""

    def __init__(self, by_module: Any) -> None:
        self.by_module = by_module
        #: With the time at which their tasks ended.
        self._left: list[tuple[float, Any]] = []

    def left_before(self, task: CurrentTask) -> Any:
        """One of a task that had ended when another one began, or None."""
        for entry in list(self._left):
            if entry[0] < task.began:
                with contextlib.suppress(ValueError):  # another thread has taken it
                    self._left.remove(entry)
                    return entry[1]
        return None

    def leave_at_end(self, task: CurrentTask, generator: Any) -> None:
        """Leave a task's generator to others when it ends."""
        task.at_end.append(lambda: self._left.append((time.monotonic(), generator)))


def _random(generators: Generators) -> Callable[[], float]:
    """``random.random()``, which programs call often."""
    of_thread = current_task.of_thread

    def random() -> float:
        try:
            value: float = of_thread.task.own[generators].random()
        except (AttributeError, KeyError):
            value = generators.get().random()
        return value

    return random


def _replace(module: ModuleType, generators: Generators) -> None:
    """Replace a module's generator and the module's functions, which are methods of it."""
    original, forwards = generators.process, forwarding(generators)
    for name, value in list(vars(module).items()):
        if value is original:
            setattr(module, name, forwards)
        elif getattr(value, "__self__", None) is original:
            setattr(module, name, _forward(value, generators))


def forwarding(generators: Generators) -> Any:
    """An object of the generators' type that forwards to the current thread's generator."""
    base: Any = type(generators.process)

    class Forwarding(base):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            return generators.method(name)

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(generators.get(), name, value)

    Forwarding.__name__ = Forwarding.__qualname__ = base.__name__
    return Forwarding()


def _forward(method: Any, generators: Generators) -> Callable[..., Any]:
    name = method.__name__
    find = generators.method if name in generators.seeding else None

    @functools.wraps(method)
    def forward(*args: Any, **kwargs: Any) -> Any:
        found = getattr(generators.get(), name) if find is None else find(name)
        return found(*args, **kwargs)

    del forward.__wrapped__  # which would keep the process's generator in what is pickled
    return forward


def _replace_numpys(mtrand: Any) -> None:
    generators = Generators(mtrand._rand, type(mtrand._rand))
    _replace(mtrand, generators)
    if hasattr(mtrand, "set_bit_generator"):  # numpy 1.24
        mtrand.get_bit_generator = lambda: generators.get()._bit_generator
        mtrand.set_bit_generator = lambda bit_generator: generators.set(
            mtrand.RandomState(bit_generator)
        )


def _replace_igraphs(igraph: Any) -> None:
    """Have igraph's C code draw from the task's generator, ``random`` unless it sets another one.

    It has one for all threads, and uses it on those that have set one: since the import, on the
    thread that has imported it. On others it uses one of its own.
    """
    of_task: TaskValue[Any] = TaskValue(random)

    class Generator:
        def random(self) -> Any:
            return of_task.get().random()

        def randint(self, least: int, greatest: int) -> Any:
            return of_task.get().randint(least, greatest)

        def gauss(self, mean: float, deviation: float) -> Any:
            return of_task.get().gauss(mean, deviation)

        def getrandbits(self, bits: int) -> Any:
            generator = of_task.get()
            if hasattr(generator, "getrandbits"):
                return generator.getrandbits(bits)
            return generator.randint(0, (1 << bits) - 1)  # as igraph does then

    use = _UseOfGenerator(igraph.set_random_number_generator, Generator())

    @functools.wraps(igraph.set_random_number_generator)
    def set_generator(generator: Any, /) -> None:
        if generator is not None:
            for name in ("random", "randint", "gauss"):
                getattr(generator, name)
            of_task.set(generator)
        use.set(generator is not None)

    igraph.set_random_number_generator = set_generator
    use.set(True)


class _UseOfGenerator(NotedSetting):
    """Whether C code uses a generator on a thread, rather than one of its own."""

    def __init__(self, set: Callable[[Any], object], generator: Any) -> None:
        self._set = set
        self._generator = generator
        super().__init__()

    def set(self, is_used: bool) -> None:
        """Set it for the current thread."""
        self._set(self._generator if is_used else None)
        note(self, {"is used": (ABSENT, is_used)})

    def apply(self, changes: Changes) -> None:
        self._set(self._generator if changes["is used"][1] else None)
