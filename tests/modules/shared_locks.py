"""What tasks of the shared interpreter wait for and signal with, made once."""

from __future__ import annotations

import functools
import logging
import queue
import threading
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing.pool import ThreadPool


class Thing:
    pass


class OfCondition:
    def __init__(self):
        self.condition = threading.Condition()

    def use(self):
        with self.condition:
            self.condition.notify_all()

    def wait(self):
        with self.condition:
            self.condition.wait()


class OfPlainCondition(OfCondition):
    def __init__(self):
        self.condition = threading.Condition(threading.Lock())


class OfSemaphore:
    def __init__(self):
        self.semaphore = threading.Semaphore(1)
        self.empty = threading.Semaphore(0)

    def use(self):
        with ExitStack() as stack:
            stack.enter_context(self.semaphore)

    def wait(self):
        self.empty.acquire()


class OfBoundedSemaphore(OfSemaphore):
    def __init__(self):
        self.semaphore = threading.BoundedSemaphore(1)
        self.empty = threading.BoundedSemaphore(1)
        self.empty.acquire()


class OfEvent:
    def __init__(self):
        self.event = threading.Event()
        self.never = threading.Event()

    def use(self):
        self.event.set()
        self.event.wait()
        self.event.clear()

    def wait(self):
        self.never.wait()


class OfBarrier:
    def __init__(self):
        self.barrier = threading.Barrier(1)
        self.never = threading.Barrier(2)

    def use(self):
        self.barrier.wait()

    def wait(self):
        self.never.wait()


class OfQueue:
    kind = queue.Queue

    def __init__(self):
        self.queue = self.kind()
        self.empty = self.kind()

    def use(self):
        self.queue.put(1)
        self.queue.get()

    def wait(self):
        self.empty.get()


class OfPriorityQueue(OfQueue):
    kind = queue.PriorityQueue


class OfSimpleQueue(OfQueue):
    kind = queue.SimpleQueue


class OfFuture:
    def __init__(self):
        self.never = Future()

    def use(self):
        future = Future()
        future.set_result(1)
        future.result()

    def wait(self):
        self.never.result()


class OfExecutor:
    def __init__(self):
        self.executor = ThreadPoolExecutor(2)
        self.never = threading.Event()

    def use(self):
        self.executor.submit(int).result()

    def wait(self):
        thread = threading.Thread(target=self.never.wait, daemon=True)
        thread.start()
        thread.join()


class OfThreadPool:
    def __init__(self):
        self.pool = ThreadPool(2)
        self.never = threading.Event()

    def use(self):
        self.pool.apply(int)

    def wait(self):
        self.never.wait()


class OfLogging:
    def __init__(self):
        self.logger = logging.getLogger("shared_locks")
        self.logger.addHandler(logging.NullHandler())
        self.logger.propagate = False
        self.never = threading.Event()

    def use(self):
        self.logger.warning("a line")
        logging.getLogger(f"shared_locks.{threading.get_ident()}")

    def wait(self):
        self.never.wait()


class OfWeakSet:
    def __init__(self):
        self.set = weakref.WeakSet()
        self.never = threading.Event()

    def use(self):
        thing = Thing()
        self.set.add(thing)
        for each in self.set:
            assert each is not None
        del thing

    def wait(self):
        self.never.wait()


class OfCache:
    def __init__(self):
        self.cached = functools.lru_cache(maxsize=2)(lambda n: n)
        self.never = threading.Event()

    def use(self):
        for n in range(4):
            self.cached(n)

    def wait(self):
        self.never.wait()


KINDS = [
    OfCondition,
    OfPlainCondition,
    OfSemaphore,
    OfBoundedSemaphore,
    OfEvent,
    OfBarrier,
    OfQueue,
    OfPriorityQueue,
    OfSimpleQueue,
    OfFuture,
    OfExecutor,
    OfThreadPool,
    OfLogging,
    OfWeakSet,
    OfCache,
]

_shared = {}


def shared(name):
    """The one of its kind in this process."""
    if name not in _shared:
        _shared.setdefault(name, globals()[name]())
    return _shared[name]
