"""Declaring functions: what `udf` and the others take and refuse."""

from __future__ import annotations

import functools

import pytest

from pyflow.table import DataTypes
from pyflow.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)

pytestmark = pytest.mark.core


class PlusOne(ScalarFunction):
    def eval(self, x):
        return x + 1


class Lookup(AsyncScalarFunction):
    async def eval(self, key):
        return key


class Count(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, *args):
        accumulator[0] += 1

    def get_value(self, accumulator):
        return accumulator[0]

    def get_result_type(self):
        return "BIGINT"

    def get_accumulator_type(self):
        return "ARRAY<BIGINT>"


class Random(PlusOne):
    def is_deterministic(self):
        return False


class Callable:
    def __call__(self, x):
        return x


@pytest.mark.parametrize(
    ("declared", "kind", "name"),
    [
        (lambda: udf(PlusOne(), result_type="BIGINT"), "scalar", "PlusOne"),
        (lambda: udf(lambda x: x, result_type=DataTypes.BIGINT()), "scalar", "<lambda>"),
        (lambda: udf(Callable(), result_type="BIGINT"), "scalar", "Callable"),
        (lambda: udf(functools.partial(max, 1), result_type="BIGINT"), "scalar", "partial"),
        (lambda: udf(PlusOne(), result_type="BIGINT", name="add"), "scalar", "add"),
        (lambda: udf(result_type="BIGINT")(PlusOne()), "scalar", "PlusOne"),
        (lambda: udf(Lookup(), result_type="STRING"), "async", "Lookup"),
        (lambda: udtf(lambda x: [x], result_types="BIGINT"), "table", "<lambda>"),
        (lambda: udaf(Count()), "aggregate", "Count"),
        (
            lambda: udaf(lambda v: v.sum(), result_type="BIGINT", func_type="pandas"),
            "aggregate",
            "<lambda>",
        ),
        (
            lambda: udtaf(Count(), result_type="ROW<a BIGINT>", accumulator_type="BIGINT"),
            "table_aggregate",
            "Count",
        ),
    ],
)
def test_kinds_and_names(declared, kind, name):
    function = declared()

    assert (function.kind, function.name) == (kind, name)


def test_coroutine_functions_are_asynchronous():
    @udf(result_type="STRING")
    async def look_up(key):
        return key

    assert look_up.kind == "async"


@pytest.mark.parametrize(
    ("declared", "error", "text"),
    [
        (lambda: udf(PlusOne, result_type="BIGINT"), TypeError, "Invalid function"),
        (lambda: udf(1, result_type="BIGINT"), TypeError, "Invalid function"),
        (lambda: udf(PlusOne()), TypeError, "returnType should be DataType or str but is None"),
        (lambda: udf(PlusOne(), [1], "BIGINT"), TypeError, "input_type should be"),
        (lambda: udf(PlusOne(), result_type=int), TypeError, "Invalid returnType"),
        (lambda: udf(PlusOne(), result_type="INT", func_type="fast"), ValueError, "func_type"),
        (
            lambda: udf(Random(), result_type="INT", deterministic=True),
            ValueError,
            "Inconsistent deterministic: True and False",
        ),
        (lambda: udf(Lookup(), result_type="INT", func_type="pandas"), ValueError, "async"),
        (lambda: udtf(lambda x: x), TypeError, "Invalid result_type"),
        (lambda: udtf(lambda x: x, result_types=[1]), TypeError, "Invalid result_type"),
        (lambda: udaf(lambda v: v, result_type="INT"), TypeError, "get_accumulator_type"),
        (
            lambda: udaf(Count(), result_type=DataTypes.BIGINT()),
            TypeError,
            "should be DataType or str at the same time",
        ),
        (
            lambda: udaf(
                lambda v: v,
                result_type=DataTypes.MAP(DataTypes.INT(), DataTypes.INT()),
                func_type="pandas",
            ),
            TypeError,
            "Pandas UDAF",
        ),
        (lambda: udtaf(Count(), func_type="pandas"), ValueError, "must be 'general'"),
    ],
)
def test_what_is_refused(declared, error, text):
    with pytest.raises(error, match=text):
        declared()


def test_types_are_read_from_texts():
    scalar = udf(lambda x: x, input_types=["BIGINT", "STRING"], result_type="ARRAY<INT>")
    rows = udtf(lambda x: x, result_types="ROW<a BIGINT, b STRING>")
    columns = udtf(lambda x: x, result_types=["BIGINT", "STRING"])

    assert scalar.result_type == DataTypes.ARRAY(DataTypes.INT())
    assert scalar.input_types == [DataTypes.BIGINT(), DataTypes.STRING()]
    assert rows.result_types == [DataTypes.BIGINT(), DataTypes.STRING()]
    assert rows.result_type.field_names() == ["a", "b"]
    assert columns.result_types == rows.result_types
    assert columns.result_type.field_names() == ["f0", "f1"]


def test_determinism():
    assert udf(PlusOne(), result_type="INT").deterministic
    assert not udf(Random(), result_type="INT").deterministic
    assert not udf(lambda x: x, result_type="INT", deterministic=False).deterministic


def test_methods_that_an_aggregate_does_not_have():
    for method in ("retract", "merge"):
        with pytest.raises(RuntimeError, match=method):
            getattr(Count(), method)([0], 1)


def test_an_abstract_function_cannot_be_made():
    for abstract in (ScalarFunction, TableAggregateFunction):
        with pytest.raises(TypeError, match="abstract"):
            abstract()


def test_a_context_without_metrics():
    context = FunctionContext(None, {"a": "1"})

    assert context.get_job_parameter("a", "0") == "1"
    assert context.get_job_parameter("b", "0") == "0"
    with pytest.raises(RuntimeError, match=r"python\.metric\.enabled"):
        context.get_metric_group()
