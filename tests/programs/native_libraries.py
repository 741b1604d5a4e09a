"""Libraries whose C code calls Python from its own threads, beside isolated interpreters.

    python native_libraries.py DIRECTORY LIBRARY...

The directory has the modules that are made of own_threads.h. Prints a line `FOUND` and what each
library gave in each mode, as JSON.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pandas as pd
from pyspark.sql.functions import pandas_udf, udf

import comparison
import sessions

AT_ONCE = 2


def here():
    """The interpreter that Python code runs in."""
    if sys.version_info >= (3, 13):
        import _interpreters

        return int(_interpreters.get_current()[0])
    import _xxsubinterpreters

    return int(_xxsubinterpreters.get_current())


def module_of(directory, name):
    import importlib

    if directory not in sys.path:
        sys.path.insert(0, directory)
    return importlib.import_module(name)


class Callback:
    """What C code calls; knows in which interpreters it was, and on how many threads."""

    def __init__(self):
        self._places = []

    def __call__(self, n):
        self._places.append((here(), threading.get_ident()))
        return n + len([str(each) for each in range(200)])

    @property
    def seen(self):
        interpreters, threads = (set(each) for each in zip(*self._places))
        return [len(self._places), sorted(interpreters), threading.get_ident() not in threads]


def with_numba(directory, n):
    import ctypes
    from concurrent.futures import ThreadPoolExecutor

    import numba

    callback = Callback()

    @numba.njit(nogil=True)
    def without_gil(first):
        total = 0
        for each in range(50):
            with numba.objmode(value="int64"):
                value = callback(first + each)
            total += value
        return total

    @numba.cfunc("int64(voidptr, int64)")
    def called(_, first):
        return first * 2

    with ThreadPoolExecutor(4) as pool:
        totals = list(pool.map(without_gil, range(n, n + 4)))
    on_threads = ctypes.CDLL(f"{directory}/own_threads.so").on_threads
    on_threads.restype, on_threads.argtypes = ctypes.c_int64, [ctypes.c_void_p] * 2
    return [totals, on_threads(called.address, None), callback.seen]


def with_cffi(directory, n):
    own = module_of(directory, "own_threads_of_cffi")
    callback = Callback()

    @own.ffi.def_extern()
    def called_back(handle, n):
        return own.ffi.from_handle(handle)(n)

    made = own.ffi.callback("int64_t(void *, int64_t)", called_back)
    handle = own.ffi.new_handle(callback)
    totals = [own.lib.on_threads(called, handle) for called in (own.lib.called_back, made)]
    return [*totals, callback.seen]


def with_pybind11(directory, n):
    own = module_of(directory, "own_threads_of_pybind11")
    callback = Callback()
    totals = [own.on_threads(callback, holds_gil) for holds_gil in (True, False)]
    return [*totals, callback.seen]


def with_cython(directory, n):
    own = module_of(directory, "own_threads_of_cython")
    callback = Callback()
    return [own.with_gil(callback), own.with_and_without(callback), callback.seen]


def with_torch(directory, n):
    import torch

    callback = Callback()

    class Nested(torch.autograd.Function):
        """Has its gradient by another; torch takes threads of its own for deep ones."""

        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            callback(ctx.depth)
            if ctx.depth:
                with torch.enable_grad():
                    inner = torch.ones(1, requires_grad=True)
                    Nested.apply(inner, ctx.depth - 1).sum().backward()
            return gradient * 2, None

    x = torch.ones(3, requires_grad=True)
    Nested.apply(x, 100).sum().backward()

    generator = torch.Generator().manual_seed(n)
    inputs = torch.randn(64, 3, generator=generator)
    outputs = inputs @ torch.tensor([1.0, -2.0, 0.5])
    weights = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=0.1)
    rows = torch.utils.data.TensorDataset(inputs, outputs)
    for _ in range(5):
        for batch, wanted in torch.utils.data.DataLoader(rows, batch_size=16):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(batch @ weights, wanted).backward()
            optimizer.step()

    jacobian = torch.autograd.functional.jacobian(lambda v: v**2, torch.ones(2))
    (second,) = torch.autograd.grad((x**3).sum(), x)
    calls, interpreters, _ = callback.seen
    return [
        *(each.tolist() for each in (x.grad, weights.detach(), jacobian, second)),
        [calls, interpreters, len({thread for _, thread in callback._places}) > 1],
    ]


def with_jax(directory, n):
    import jax
    import jax.numpy as jnp
    import numpy as np

    callback = Callback()

    def on_host(x):
        callback(0)
        return np.sin(x)

    @jax.jit
    def through_python(x):
        return jax.pure_callback(on_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x) ** 2

    values = jnp.arange(4.0) + n
    gradient = jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2))
    found = [through_python(values + each).tolist() for each in range(20)]
    calls, interpreters, _ = callback.seen
    return [found, jax.jit(gradient)(values).tolist(), [calls, interpreters]]


LIBRARIES = {
    "numba": with_numba,
    "cffi": with_cffi,
    "pybind11": with_pybind11,
    "Cython": with_cython,
    "torch": with_torch,
    "jax": with_jax,
}


def frames(spark, directory, library, conf):
    """A plain function and a pandas one with a library, each planned for two tasks."""

    def of_row(n):
        return repr(LIBRARIES[library](directory, n))

    def of_series(series: pd.Series) -> pd.Series:
        return series.map(of_row)

    made = []
    with comparison.settings(spark, {sessions.FALLBACK: "false", **conf}):
        for function in (udf(of_row, "string"), pandas_udf(of_series, "string")):
            frame = spark.range(AT_ONCE, numPartitions=AT_ONCE).select(function("id"))
            frame._jdf.queryExecution().executedPlan()
            made.append(frame)
    return made


def results(made):
    return [sorted(row[0] for row in frame.collect()) for frame in made]


def at_work(spark, stop):
    """A query whose tasks are in isolated interpreters, if there are any, until a file is made."""

    def work(n):
        import os
        import time

        while not os.path.exists(stop):
            sum(range(10_000))
            time.sleep(0.001)
        return here()

    with comparison.settings(spark, {sessions.MODE: "thread"}):
        frame = spark.range(AT_ONCE, numPartitions=AT_ONCE).select(udf(work, "int")("id"))
        frame._jdf.queryExecution().executedPlan()
    return frame


def in_background(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()

    def result():
        thread.join()
        return found[0]

    return result


def main(directory, *libraries):
    spark = sessions.start("local[6]")
    planned = functools.partial(frames, spark, directory)
    found = {
        library: {"process": results(planned(library, comparison.process_mode()))}
        for library in libraries
    }
    stop = Path(directory, "stop")
    isolated = in_background(at_work(spark, str(stop)).collect)
    for library in libraries:
        for mode in comparison.thread_modes():
            name = mode[sessions.INTERPRETER]
            found[library][name] = results(planned(library, mode))
    waiting = {
        library: in_background(
            functools.partial(results, planned(library, {sessions.MODE: "thread"}))
        )
        for library in libraries
    }
    for library, result in waiting.items():
        found[library]["all at once"] = result()
    stop.touch()
    places = [row[0] for row in isolated()]
    print("FOUND", json.dumps({"isolated": places, **found}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
