"""What libraries keep for a thread: operators that run on one thread have it for themselves."""

from __future__ import annotations

import importlib.util

import pandas as pd
import pytest

from comparison import settings, thread_modes

MISSING = "it is not distributed for this Python"
TOO_LARGE = "it is too large for a requirement"


def with_scikit_learn(it):
    import sklearn

    with sklearn.config_context(working_memory=7):
        for batch in it:
            yield batch.assign(inner=[str(sklearn.get_config()["working_memory"])])


def of_scikit_learn(it):
    import sklearn

    for batch in it:
        yield batch.assign(outer=[str(sklearn.get_config()["working_memory"])])


def with_torch(it):
    import torch

    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        for batch in it:
            yield batch.assign(inner=[described(torch)])


def of_torch(it):
    import torch

    for batch in it:
        yield batch.assign(outer=[described(torch)])


def described(torch):
    one = torch.ones(2, 2)
    return f"{(one @ one).dtype} {torch.is_grad_enabled()} {torch.is_inference_mode_enabled()}"


def with_torchs_defaults(it):
    import torch

    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            for batch in it:
                yield batch.assign(inner=[made_by(torch)])
    finally:
        torch.set_default_dtype(torch.float32)


def of_torchs_defaults(it):
    import torch

    for batch in it:
        yield batch.assign(outer=[made_by(torch)])


def made_by(torch):
    made = torch.ones(1)
    return f"{made.dtype} {made.device}"


def with_a_loop(it):
    import asyncio

    async def batches():
        return [batch.assign(inner=["ran"]) for batch in it]

    yield from asyncio.run(batches())


def of_a_loop(it):
    import asyncio

    async def batch_of(batch):
        return batch.assign(outer=["ran"])

    for batch in it:
        yield asyncio.run(batch_of(batch))


CASES = {
    "sklearn": (of_scikit_learn, with_scikit_learn, ("1024", "7"), MISSING),
    "torch defaults": (
        of_torchs_defaults,
        with_torchs_defaults,
        ("torch.float32 cpu", "torch.float64 meta"),
        TOO_LARGE,
    ),
    "torch": (
        of_torch,
        with_torch,
        ("torch.float32 True False", "torch.bfloat16 False True"),
        TOO_LARGE,
    ),
    "asyncio": (of_a_loop, with_a_loop, ("ran", "ran"), ""),
}


@pytest.mark.core
@pytest.mark.parametrize("library", CASES)
def test_an_operator_does_not_set_what_its_input_runs_with(spark, in_every_mode, library):
    outer, inner, expected, reason = CASES[library]
    pytest.importorskip(library.split()[0], reason=reason)

    def program():
        made = spark.range(0, 4, 1, 2).mapInPandas(outer, "id long, outer string")
        made = made.mapInPandas(inner, "id long, outer string, inner string")
        return made.select("outer", "inner").collect()

    with settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}):
        assert in_every_mode(program) == [expected] * 4


@pytest.mark.parametrize(
    ("library", "sets", "forgets", "expected"),
    [
        ("sklearn", "set_config(working_memory=11)", "set_config(working_memory=1024)", 11),
        ("torch", "set_default_dtype(torch.float64)", "set_default_dtype(torch.float32)", 64),
    ],
)
def test_what_a_module_sets_applies_to_all_threads(
    spark, tmp_path, library, sets, forgets, expected
):
    pytest.importorskip(library, reason=MISSING)
    names = [f"{verb}_modes_{tmp_path.name}".replace("-", "_") for verb in ("sets", "forgets")]
    for name, code in zip(names, (sets, forgets)):
        (tmp_path / f"{name}.py").write_text(f"import {library}\n{library}.{code}\n")

    def found():
        if library == "torch":
            import torch

            return torch.finfo().bits
        import sklearn

        return sklearn.get_config()["working_memory"]

    def imports(name):
        def function(it):
            import importlib
            import sys

            sys.path.append(str(tmp_path))
            importlib.import_module(name)
            sys.path.remove(str(tmp_path))
            yield from looks(it)

        return function

    def looks(it):
        for batch in it:
            yield pd.DataFrame({"found": [found()] * len(batch)})

    with settings(spark, thread_modes()[-1]):
        before = spark.range(1).mapInPandas(looks, "found int").collect()
        for function, partitions in ((imports(names[0]), 1), (looks, 4)):
            frame = spark.range(0, 4, 1, partitions).mapInPandas(function, "found int")
            assert frame.collect() == [(expected,)] * 4
        # For those that come after this test.
        assert spark.range(1).mapInPandas(imports(names[1]), "found int").collect() == before
    assert not any(map(importlib.util.find_spec, names))
