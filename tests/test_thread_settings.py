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
    pytest.importorskip(library, reason=reason)

    def program():
        made = spark.range(0, 4, 1, 2).mapInPandas(outer, "id long, outer string")
        made = made.mapInPandas(inner, "id long, outer string, inner string")
        return made.select("outer", "inner").collect()

    with settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}):
        assert in_every_mode(program) == [expected] * 4


def test_what_a_module_sets_applies_to_all_threads(spark, tmp_path):
    pytest.importorskip("sklearn", reason=MISSING)
    name = f"sets_modes_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text("import sklearn\nsklearn.set_config(working_memory=11)\n")

    def imports(it):
        import importlib
        import sys
        import time

        sys.path.append(str(tmp_path))
        importlib.import_module(name)
        sys.path.remove(str(tmp_path))
        yield from looks(it)
        time.sleep(0)

    def looks(it):
        import sklearn

        for batch in it:
            yield pd.DataFrame({"found": [sklearn.get_config()["working_memory"]] * len(batch)})

    def forgets_it(it):
        import sklearn

        # For those that come after this test.
        sklearn.set_config(working_memory=1024)
        yield from looks(it)

    with settings(spark, thread_modes()[-1]):
        for function, partitions in ((imports, 1), (looks, 4)):
            frame = spark.range(0, 4, 1, partitions).mapInPandas(function, "found int")
            assert frame.collect() == [(11,)] * 4
        forgets = spark.range(1).mapInPandas(forgets_it, "found int")
        assert forgets.collect() == [(1024,)]
    assert importlib.util.find_spec(name) is None
