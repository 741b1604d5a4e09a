# cython: language_level=3
"""Called back on threads of C by Cython, which gives up the GIL and takes it."""

from libc.stdint cimport int64_t


cdef extern from "own_threads.h":
    int64_t on_own_threads(int64_t (*call)(void *, int64_t) noexcept nogil, void *) nogil


cdef int64_t call_python(void *function, int64_t n) noexcept with gil:
    return (<object> function)(n)


cdef int64_t call_in_part(void *function, int64_t n) noexcept nogil:
    cdef int64_t value = n
    with gil:
        value += (<object> function)(n)
        with nogil:
            value += 1
    return value


def with_gil(function):
    """The sum of what a function returns, called with a GIL that the thread takes."""
    cdef void *given = <void *> function
    cdef int64_t total
    with nogil:
        total = on_own_threads(call_python, given)
    return total


def with_and_without(function):
    """The same on threads that take the GIL for a part of their work."""
    cdef void *given = <void *> function
    cdef int64_t total
    with nogil:
        total = on_own_threads(call_in_part, given)
    return total
