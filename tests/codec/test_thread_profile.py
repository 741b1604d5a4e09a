"""Stacks of Python's threads, counted without the GIL."""

from __future__ import annotations

import ctypes
import json
import sys
import sysconfig
import threading

import pytest

import codec

SIZE = 1 << 20
SAMPLES = 300
# Of the threads here: that which samples, those that it has started, and those of execnet.
OUTERMOST = {"<module>", "_bootstrap", "_perform_spawn", "_run_module_as_main"}


def profile_while(function):
    """The stacks of a thread that calls a function again and again, and how often each was seen."""
    sample = codec.load().pyflow_stacks_counted
    sample.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    sample.restype = ctypes.c_bool
    text = ctypes.create_string_buffer(SIZE)
    begun, end = threading.Event(), threading.Event()

    def call():
        begun.set()
        while not end.is_set():
            function()

    thread = threading.Thread(target=call)
    thread.start()
    begun.wait()
    try:
        assert sample(SAMPLES, 1000, text, SIZE)
    finally:
        end.set()
        thread.join()
    profile = json.loads(text.value)
    names = [each["name"].rpartition(".")[2] for each in profile["functions"]]
    for each in profile["stacks"]:
        each["names"] = [names[number] for number in each["functions"]]
    return profile


def busy():
    return sum(range(1000))


def outer():
    return busy() + other()


def other():
    return sum(range(3000))


def test_a_busy_thread_is_seen_in_the_functions_that_it_runs():
    profile = profile_while(outer)

    ours = [each for each in profile["stacks"] if "call" in each["names"]]
    assert sum(each["samples"] for each in ours) >= 0.9 * SAMPLES
    in_other = sum(each["samples"] for each in ours if each["names"][0] == "other")
    in_busy = sum(each["samples"] for each in ours if each["names"][0] == "busy")
    assert in_other > in_busy > 0
    (known,) = [each for each in profile["functions"] if each["name"] == "busy"]
    assert known == {
        "name": "busy",
        "file": __file__,
        "line": busy.__code__.co_firstlineno,
    }


def test_functions_that_are_made_anew_are_one():
    def made():
        names = {}
        exec("def anew():\n    return sum(range(50_000))", names)
        return names["anew"]()

    profile = profile_while(made)

    assert [each["name"] for each in profile["functions"]].count("anew") == 1
    found = sum(each["samples"] for each in profile["stacks"] if "anew" in each["names"])
    assert found > 0.2 * SAMPLES


def test_stacks_are_whole_or_left_out():
    def yielding():
        return sum(n for n in (busy() for _ in range(5)) for _ in range(20))

    profile = profile_while(yielding)

    read = [each for each in profile["stacks"] if each["state"] == "python"]
    assert {each["names"][-1] for each in read} <= OUTERMOST
    found = sum(each["samples"] for each in read if "yielding" in each["names"])
    assert found > 0.8 * SAMPLES


def test_calls_that_wait_for_the_gil_are_counted():
    profile = profile_while(busy)

    waiting = [each for each in profile["stacks"] if each["state"] == "waits for the GIL"]
    assert [(each["call"], each["samples"]) for each in waiting] == [(1, SAMPLES)]


def test_samples_say_whether_the_gil_was_held():
    profile = profile_while(busy)

    ours = [each for each in profile["stacks"] if each["names"][:1] == ["busy"]]
    assert sum(each["with_gil"] for each in ours) > 0
    sampler = [each for each in profile["stacks"] if "profile_while" in each["names"]]
    assert sum(each["with_gil"] for each in sampler) == 0


def address_of(frame):
    """Where CPython has a frame, which is no object since 3.11."""
    if sys.version_info < (3, 11):
        return id(frame)
    # Behind the count, the type and f_back.
    return ctypes.c_size_t.from_address(id(frame) + 3 * ctypes.sizeof(ctypes.c_size_t)).value


@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="objects begin otherwise"
)
def test_a_generator_that_is_closed_is_no_outermost_frame():
    """It runs without a frame before it while it closes what it delegates to."""
    may_end = codec.load().pyflow_stacks_may_end
    may_end.argtypes = [ctypes.c_size_t]
    may_end.restype = ctypes.c_bool
    answers = []

    def inner():
        try:
            yield 1
        finally:
            answers.append(may_end(address_of(generator.gi_frame)))

    def outer():
        yield from inner()

    generator = outer()
    next(generator)
    answers.append(may_end(address_of(generator.gi_frame)))
    generator.close()
    assert answers == [False, False]
    outermost = sys._getframe()
    while outermost.f_back is not None:
        outermost = outermost.f_back
    # Since 3.12 there is one of C before it.
    assert may_end(address_of(outermost)) == (sys.version_info < (3, 12))
