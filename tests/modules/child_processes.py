"""What functions run in processes of their own, which import this module."""

from __future__ import annotations

import os

given = None


def give(value):
    """An initializer."""
    global given
    given = value


def given_and(n):
    return given, n


def variable(name):
    return os.environ.get(name)


def crash(code):
    os._exit(code)


def fail(message):
    raise ValueError(message)


def add(number, lock, n):
    for _ in range(n):
        with lock:
            number.value += 1


def wait(path):
    """Leave the id of the process in a folder and wait for ever."""
    import time

    open(os.path.join(path, str(os.getpid())), "w").close()
    time.sleep(600)
