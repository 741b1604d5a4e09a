"""The frames of Python's threads, read without the GIL."""

from __future__ import annotations

import ctypes
import json
import sys
import threading
import time
from contextlib import contextmanager

import pytest

import codec

SIZE = 1 << 20


def threads(library=None, micros=0):
    """What the native side reads from a call that has given the GIL up."""
    after = (library or codec.load()).pyflow_stacks_after
    after.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    after.restype = ctypes.c_bool
    text = ctypes.create_string_buffer(SIZE)
    assert after(micros, text, SIZE)
    return json.loads(text.value)


@contextmanager
def waiting(function):
    """A thread that waits in a function, which gets the event to wait for."""
    begun, end = threading.Event(), threading.Event()

    def wait():
        begun.set()
        end.wait()

    thread = threading.Thread(target=function, args=(wait,))
    thread.start()
    begun.wait()
    time.sleep(0.05)
    try:
        yield thread
    finally:
        end.set()
        thread.join()


def as_python_tells(thread):
    frame, frames = sys._current_frames()[thread.ident], []
    while frame is not None:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        frames.append((name, code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return frames


def plain(wait):
    wait()


def recursive(wait, depth=50):
    return wait() if depth == 0 else recursive(wait, depth - 1)


def in_generator(wait):
    def numbers():
        yield 1
        wait()
        yield 2

    return list(numbers())


def called_by_c(wait):
    return sorted([3], key=lambda each: [wait() for _ in range(1)])


def in_method(wait):
    class Größe:
        def __del__(self):
            wait()

    kept = Größe()
    del kept


class Made:
    def __init__(self, wait):
        if wait is not None:
            wait()


def in_constructor(wait):
    """CPython calls it without C code between, once it has seen it often."""
    for each in [*[None] * 1000, wait]:
        Made(each)


def on_many_lines(wait):
    try:
        raise ValueError(
            "a text that is long enough to "
            "go on in another line"
        )  # fmt: skip
    except ValueError:
        with contextmanager(lambda: iter([1]))():
            return (
                plain
            )(
                wait
            )  # fmt: skip


def behind_long_code():
    """A function with more than 256 lines before the one that waits."""
    lines = ["def long(wait):", *(f"    n{i} = {i}\n" for i in range(300)), "    wait()"]
    names = {}
    exec(compile("\n".join(lines), "<long>", "exec"), names)
    return names["long"]


FUNCTIONS = {
    each.__name__: each
    for each in (
        plain,
        recursive,
        in_generator,
        called_by_c,
        in_method,
        in_constructor,
        on_many_lines,
    )
}
FUNCTIONS["long"] = behind_long_code()


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_frames_are_those_of_python(function):
    with waiting(function) as thread:
        expected = as_python_tells(thread)
        read = [
            [(frame["function"], frame["file"], frame["line"]) for frame in each["frames"]]
            for each in threads()
        ]

    assert expected in read


def test_a_thread_that_holds_the_gil_in_c_is_shown():
    found = []
    reader = threading.Thread(target=lambda: found.extend(threads(micros=300_000)))

    def hold():
        reader.start()
        time.sleep(0.05)
        # A PyDLL keeps the GIL in its functions.
        ctypes.PyDLL(None).usleep(600_000)

    hold()
    reader.join()

    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        pytest.skip("there is no GIL")
    (holder,) = [each for each in found if each["holds_gil"]]
    names = [frame["function"].rpartition(".")[2] for frame in holder["frames"]]
    assert names[:2] == ["hold", "test_a_thread_that_holds_the_gil_in_c_is_shown"]


def test_threads_that_call_and_return_all_the_time_are_shown():
    end = threading.Event()

    def innermost():
        return 1

    def busy():
        while not end.is_set():
            innermost()

    workers = [threading.Thread(target=busy) for _ in range(3)]
    for each in workers:
        each.start()
    try:
        for _ in range(50):
            names = [[frame["function"] for frame in each["frames"]] for each in threads()]
            shown = [each for each in names if any(name.endswith("busy") for name in each)]
            assert len(shown) == len(workers)
            for each in shown:
                assert len(each) <= 5
                assert [name.rpartition(".")[2] for name in each[-4:]] == [
                    "busy",
                    "run",
                    "_bootstrap_inner",
                    "_bootstrap",
                ]
    finally:
        end.set()
        for each in workers:
            each.join()
