"""Functions of the Table API over frames, in both modes: values, kinds, errors and plans."""

from __future__ import annotations

import datetime
import functools
from decimal import Decimal

import pytest
import recordings
from pyspark import cloudpickle
from pyspark.sql import functions as F
from pyspark.sql.window import Window

import functions_of_tables
from functions_of_tables import aggregated, call, lateral, types_of
from pyflow.common import Row
from pyflow.streaming.runtime.life_cycle import TaskSettings
from pyflow.table import DataTypes, ListView, MapView
from pyflow.table.expressions import col
from pyflow.table.functions.settings import FunctionSettings
from pyflow.table.runtime.scalar import load_scalar, rows_of
from pyflow.table.types import to_spark
from pyflow.table.udf import (
    AggregateFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)
from pyflow.types.function_values import encoder
from pyflow.types.shapes import shape_of
from pyflow.util.exceptions import TableException
from reference import declared_types, function_values
from reference.function_values import (
    ARGUMENTS,
    RESULTS,
    ROWS,
    SERIES,
    VALUES,
    shown,
    shown_series,
    value_of,
)

cloudpickle.register_pickle_by_value(declared_types)
cloudpickle.register_pickle_by_value(declared_types.function_values)
cloudpickle.register_pickle_by_value(function_values)
cloudpickle.register_pickle_by_value(functions_of_tables)

RECORDED = recordings.load("function_values")

SHANGHAI = {"spark.sql.session.timeZone": "Asia/Shanghai"}
# As table environments set it.
TIMES = {"spark.sql.timeType.enabled": "true"}


@pytest.fixture(params=["arrow", "pickled"])
def exchange(request):
    """The setting by which plain functions are Arrow-optimised or not."""
    return {"spark.sql.execution.pythonUDF.arrow.enabled": str(request.param == "arrow").lower()}


def data_type(text):
    return eval(f"DataTypes.{text}", {"DataTypes": DataTypes})


def is_error(answer):
    return answer.startswith("error")


# Arguments of functions that declare types


@pytest.mark.complete("process")
@pytest.mark.parametrize("execution_mode", ["thread", "process"])
def test_arguments_of_declared_types_are_those_of_pyflink(environment, execution_mode):
    recorded = recordings.load("declared_types")
    t_env = environment("batch", **{"python_execution-mode": execution_mode})

    assert declared_types.answers(t_env, "pyflow") == recorded


# Spark 4.2 leaves a Python function of such a result inside the aggregation, where it cannot run.
@pytest.mark.since_spark("4.3")
def test_what_a_collection_has_is_not_narrowed(batch):
    table = batch.sql_query("SELECT COLLECT(x) AS c FROM (VALUES (1), (2)) AS t (x)")

    def look(declared):
        function = udf(repr, input_types=[declared], result_type=DataTypes.STRING())
        with table.select(function(col("c"))).execute().collect() as rows:
            return [row[0] for row in rows]

    assert look(DataTypes.MULTISET(DataTypes.BIGINT())) == ["{1: 1, 2: 1}"]
    with pytest.raises(TableException, match="declared for MULTISET<SMALLINT>"):
        look(DataTypes.MULTISET(DataTypes.SMALLINT()))


# Values


def test_arguments_are_those_of_pyflink(both_modes, exchange):
    look = udf(shown, result_type="STRING")
    types = [data_type(text) for text, _ in ARGUMENTS]
    values = tuple(
        encoder(shape_of(each, "UTC"), "a value")(value_of(expression, Row))
        for each, (_, expression) in zip(types, ARGUMENTS)
    )

    def program(spark):
        schema = ", ".join(f"c{i} {to_spark(each).simpleString()}" for i, each in enumerate(types))
        frame = spark.createDataFrame([values], schema)
        context = FunctionSettings(spark)
        return frame.select(
            *(
                look.column([F.col(f"c{i}")], [each], context, [None])
                for i, each in enumerate(types)
            )
        )

    [row] = both_modes(program, exchange)
    assert list(row) == RECORDED["arguments"]


@pytest.mark.parametrize("number", range(len(RESULTS)))
def test_what_becomes_of_results_in_pyflink(number):
    text, expression = RESULTS[number]
    encode = encoder(shape_of(data_type(text), "UTC"), "the result of f")
    try:
        answer = shown(as_row(encode(value_of(expression, Row)), text))
    except (TypeError, ValueError, OverflowError):
        answer = "error"

    recorded = RECORDED["results"][number]
    assert answer == ("error" if is_error(recorded) else recorded)


def as_row(value, text):
    """A value with rows as PyFlink has them."""
    if not isinstance(value, tuple):
        return value
    row = Row(*value)
    row.set_field_names(data_type(text).field_names())
    return row


def test_results_are_those_of_pyflink(both_modes, exchange):
    kept = [i for i, answer in enumerate(RECORDED["results"]) if not is_error(answer)]

    def program(spark):
        frame = spark.range(1)
        columns = []
        for number in kept:
            text, expression = RESULTS[number]
            value = value_of(expression, Row)
            function = udf(lambda x, value=value: value, result_type=data_type(text))
            columns.append(call(function, frame, "id").alias(f"c{number}"))
        return frame.select(*columns)

    [row] = both_modes(program, exchange)
    answers = [shown(as_row(each, RESULTS[number][0])) for number, each in zip(kept, row)]
    assert answers == [RECORDED["results"][number] for number in kept]


@pytest.mark.parametrize(
    ("value", "result_type", "text"),
    [
        ("a", "BIGINT", "TypeError: the result of f is 'a' (str), which is no BIGINT"),
        (2**31, "INT", "OverflowError: the result of f is 2147483648, which does not fit into INT"),
        pytest.param(*(2**63, "BIGINT", "does not fit into BIGINT"), marks=pytest.mark.complete),
        pytest.param(
            *(1, "STRING", "TypeError: the result of f is 1 (int), which is no str"),
            marks=pytest.mark.complete,
        ),
        pytest.param(
            *(Decimal(1000), "DECIMAL(5, 2)", "does not fit into DECIMAL(5, 2)"),
            marks=pytest.mark.complete,
        ),
        pytest.param(
            *(Decimal("NaN"), "DECIMAL(5, 2)", "is NaN, which does not fit into DECIMAL(5, 2)"),
            marks=pytest.mark.complete,
        ),
        pytest.param(
            *([1, "a"], "ARRAY<INT>", "an element of the result of f is 'a' (str)"),
            marks=pytest.mark.complete,
        ),
        pytest.param(*(Row(c=1), "ROW<a INT>", "['a']"), marks=pytest.mark.complete),
        pytest.param(
            *(Row(1, 2), "ROW<a INT>", "the result of f has 2 fields, but its type has 1: a"),
            marks=pytest.mark.complete,
        ),
    ],
)
def test_results_of_other_types_are_errors(both_modes, exchange, value, result_type, text):
    function = udf(lambda x: value, result_type=result_type, name="f")

    failure = both_modes.fail(
        lambda spark: spark.range(1).select(call(function, spark.range(1), "id")), exchange
    )

    assert text in failure


def test_series_are_those_of_pyflink(arrow_lane):
    pytest.importorskip("pandas")
    kept = [i for i, answer in enumerate(RECORDED["series_arguments"]) if not is_error(answer)]
    types = [data_type(ARGUMENTS[number][0]) for number in kept]
    values = tuple(
        encoder(shape_of(each, "UTC"), "a value")(value_of(ARGUMENTS[number][1], Row))
        for each, number in zip(types, kept)
    )

    def look(series):
        import pandas as pd

        return pd.Series([shown_series(series)] * len(series))

    seen = udf(look, result_type="STRING", func_type="pandas")

    def program(spark):
        schema = ", ".join(f"c{i} {to_spark(each).simpleString()}" for i, each in enumerate(types))
        frame = spark.createDataFrame([values], schema)
        context = FunctionSettings(spark)
        return frame.select(
            *(
                seen.column([F.col(f"c{i}")], [each], context, [None])
                for i, each in enumerate(types)
            )
        )

    [row] = arrow_lane(program, TIMES)
    assert list(row) == [RECORDED["series_arguments"][number] for number in kept]


@pytest.mark.parametrize("number", range(len(SERIES)))
def test_what_becomes_of_series_in_pyflink(number):
    pytest.importorskip("pandas")
    from pyflow.types.pandas_values import array_of

    text, expression = SERIES[number]
    recorded = RECORDED["series"][number]
    assert outcome_of(array_of, value_of(expression, Row), text, recorded) == recorded


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_what_becomes_of_values_of_groups_in_pyflink(number):
    pytest.importorskip("pandas")
    from pyflow.types.pandas_values import array_of_values

    text, expression = VALUES[number]
    recorded = RECORDED["values"][number]
    assert outcome_of(array_of_values, [value_of(expression, Row)], text, recorded) == recorded


def outcome_of(convert, output, text, recorded):
    """The values of the array, or what was recorded if that is an error as well."""
    try:
        return shown(convert(output, shape_of(data_type(text), "UTC"), "it").to_pylist())
    except (TypeError, ValueError) as error:
        return recorded if is_error(recorded) else str(error)


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_what_becomes_of_rows_of_table_functions_in_pyflink(number):
    *columns, expression = ROWS[number]
    row = DataTypes.ROW(
        [DataTypes.FIELD(f"f{i}", data_type(text)) for i, text in enumerate(columns)]
    )
    encode = encoder(shape_of(DataTypes.ARRAY(row), "UTC"), "the result of f")
    recorded = RECORDED["rows"][number]
    try:
        answer = shown(encode(rows_of(value_of(expression, Row))))
    except (TypeError, ValueError) as error:
        answer = recorded if is_error(recorded) else str(error)

    assert answer == recorded


def test_series_of_types_with_nulls_of_their_own(arrow_lane):
    """PyFlink refuses them."""
    pytest.importorskip("pandas")
    wide = udf(lambda v: v.astype("Int64").mask(v == 1), result_type="INT", func_type="pandas")
    text = udf(lambda v: v.astype("string"), result_type="STRING", func_type="pandas")

    def program(spark):
        frame = spark.range(3)
        return frame.select(call(wide, frame, "id"), call(text, frame, "id"))

    rows = arrow_lane(program)
    assert [tuple(row) for row in rows] == [(0, "0"), (None, "1"), (2, "2")]


def test_timestamps_in_series(arrow_lane):
    """Of any year; what is below their type's millisecond is left out."""
    pytest.importorskip("pandas")

    def finer(t):
        import pandas as pd

        return pd.Series(pd.to_datetime(["1960-02-29 01:02:03.456789"] * len(t)))

    def arrays(t):
        import pandas as pd

        return pd.Series([[pd.Timestamp("2024-07-01 12:00:00.123456")]] * len(t))

    years = udf(lambda t: t.dt.year, result_type="INT", func_type="pandas")
    milliseconds = udf(finer, result_type="TIMESTAMP(3)", func_type="pandas")
    nested = udf(arrays, result_type="ARRAY<TIMESTAMP_LTZ(3)>", func_type="pandas")
    of_group = udaf(
        lambda t: datetime.datetime(2024, 10, 27, 2, 30, fold=1),
        result_type="TIMESTAMP_LTZ(3)",
        func_type="pandas",
    )

    def program(spark):
        frame = spark.sql("SELECT * FROM VALUES (TIMESTAMP_NTZ'0001-01-01 00:00:00') AS t(t)")
        called = [call(each, frame, "t") for each in (years, milliseconds, nested)]
        rows = frame.select(*(each.alias(f"c{i}") for i, each in enumerate(called)))
        grouped = frame.agg(aggregated(of_group, frame, "t").alias("t"))
        return [
            rows.selectExpr("c0", "CAST(c1 AS STRING)", "CAST(c2[0] AS STRING)"),
            grouped.selectExpr("unix_seconds(t)"),
        ]

    (rows, grouped) = arrow_lane(program, {"spark.sql.session.timeZone": "Europe/Berlin"})
    assert tuple(rows[0]) == (1, "1960-02-29 01:02:03.456", "2024-07-01 12:00:00.123")
    assert grouped[0][0] == 1729992600


def test_instants_are_times_of_the_session_s_zone(both_modes, exchange):
    """Through the hour that comes twice, too."""
    zoned = {"spark.sql.session.timeZone": "Europe/Berlin"}
    seen = udf(lambda t: t.isoformat(), result_type="STRING")
    same = udf(lambda t: t, result_type=DataTypes.TIMESTAMP_LTZ(6))
    local = udf(lambda t: t.replace(tzinfo=None), result_type=DataTypes.TIMESTAMP_LTZ(3))

    def program(spark):
        frame = spark.sql(
            "SELECT timestamp_seconds(id) AS t FROM VALUES (0), (1729989296) AS x(id)"
        )
        return frame.select(
            call(seen, frame, "t"),
            (call(same, frame, "t") == F.col("t")).alias("same"),
            (call(local, frame, "t") == F.col("t")).alias("local"),
        )

    rows = both_modes(program, {**zoned, **exchange})
    assert [tuple(row) for row in rows] == [
        ("1970-01-01T01:00:00+01:00", True, True),
        ("2024-10-27T02:34:56+02:00", True, True),
    ]


def test_instants_in_rows_and_arrays(both_modes, exchange):
    seen = udf(lambda r: f"{r.a} {r['b'][0].isoformat()}", result_type="STRING")

    def program(spark):
        frame = spark.sql("SELECT named_struct('a', 1, 'b', array(timestamp_seconds(0))) AS r")
        return frame.select(call(seen, frame, "r"))

    [row] = both_modes(program, {**SHANGHAI, **exchange})
    assert row[0] == "1 1970-01-01T08:00:00+08:00"


# Scalar functions


@pytest.mark.parametrize(
    ("result_type", "arrow", "direct"),
    [("BIGINT", False, True), ("INT", True, True), ("INT", False, False), ("DATE", True, False)],
)
def test_thread_mode_calls_the_user_s_method_itself(result_type, arrow, direct):
    """Where the codec finds the results that have to be converted, others cost nothing more."""
    function = Add(1)
    settings = TaskSettings({}, metrics=False, accumulator=None, arrow=arrow)
    loaded = load_scalar(function, "f", [("BIGINT",)], (result_type,), settings)

    in_thread_mode = getattr(loaded, "pyflow_row_function", None)
    assert (in_thread_mode is not None) == direct
    assert not direct or in_thread_mode.evaluate == function.eval


class Add(ScalarFunction):
    def __init__(self, number):
        self.number = number

    def eval(self, x):
        return x + self.number


def test_everything_that_can_be_a_function(both_modes, exchange):
    class Callable:
        def __call__(self, x):
            return x + 5

    @udf(result_type=DataTypes.BIGINT())
    def decorated(x):
        return x + 4

    functions = [
        udf(Add(1), result_type="BIGINT"),
        udf(lambda x: x + 2, result_type="BIGINT"),
        udf(functools.partial(pow, 3), result_type="BIGINT"),
        decorated,
        udf(Callable(), result_type="BIGINT"),
    ]

    def program(spark):
        frame = spark.range(3)
        return frame.select(*(call(each, frame, "id") for each in functions))

    rows = both_modes(program, exchange)
    assert tuple(rows[2]) == (3, 4, 9, 6, 7)


def test_functions_of_functions(both_modes, exchange):
    """Which PySpark chains: what the inner one returns need not be of its type."""
    half = udf(lambda x: x / 2, result_type="BIGINT")
    pair = udf(lambda x: Row(a=x, b=str(x)), result_type="ROW<a BIGINT, b STRING>")
    text = udf(lambda r: f"{r.a}{r.b}", result_type="STRING")

    def program(spark):
        frame = spark.range(4)
        context = FunctionSettings(spark)
        halved = call(half, frame, "id")
        row = pair.column([halved], [half.result_type], context, [None])
        return frame.select(text.column([row], [pair.result_type], context, [None]))

    rows = both_modes(program, exchange)
    assert [row[0] for row in rows] == ["00", "00", "11", "11"]


def test_no_arguments_and_many(both_modes, exchange):
    none = udf(lambda: 7, result_type="INT")
    many = udf(lambda *values: sum(values), result_type="BIGINT")

    def program(spark):
        frame = spark.range(2)
        return frame.select(call(none, frame), call(many, frame, "id", "id", "id"))

    rows = both_modes(program, exchange)
    assert [tuple(row) for row in rows] == [(7, 0), (7, 3)]


def test_a_whole_row(both_modes, exchange):
    function = udf(lambda row: Row(row.id + 1, row.name.upper()), result_type=ROW_OF_TWO)

    def program(spark):
        frame = spark.sql("SELECT struct(id, 'x' AS name) AS row FROM range(2)")
        return frame.select(call(function, frame, "row").alias("r")).select("r.*")

    rows = both_modes(program, exchange)
    assert [tuple(row) for row in rows] == [(1, "X"), (2, "X")]


ROW_OF_TWO = DataTypes.ROW(
    [DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.STRING())]
)


def test_errors_have_the_user_s_traceback(both_modes):
    function = udf(lambda x: 1 // x, result_type="BIGINT")

    failure = both_modes.fail(
        lambda spark: spark.range(1).select(call(function, spark.range(1), "id"))
    )

    assert "ZeroDivisionError" in failure


def test_nondeterministic_functions_are_called_once(both_modes):
    function = udf(lambda x: x, result_type="BIGINT", deterministic=False)

    def program(spark):
        frame = spark.range(3)
        called = frame.select(call(function, frame, "id").alias("x"))
        return called.select(F.col("x"), (F.col("x") + 1).alias("y"))

    rows = both_modes(program)
    assert [tuple(row) for row in rows] == [(0, 1), (1, 2), (2, 3)]


def test_types_that_python_does_not_have(spark):
    function = udf(lambda x: x, result_type="BIGINT")
    months = DataTypes.INTERVAL(DataTypes.MONTH())

    with pytest.raises(TableException, match="INTERVAL"):
        function.column([F.lit(1)], [months], FunctionSettings(spark), [None])


# Table functions


class Split(TableFunction):
    def eval(self, text):
        for word in text.split():
            yield word, len(word)


def test_table_functions(both_modes, exchange):
    split = udtf(Split(), result_types=["STRING", "INT"])

    def program(spark):
        frame = spark.sql("SELECT * FROM VALUES (1, 'a bc'), (2, ''), (3, 'd') AS t(id, text)")
        return [
            lateral(split, frame, "text", names=["word", "length"], outer=outer)
            for outer in (False, True)
        ]

    inner, outer = both_modes(program, exchange)
    assert [tuple(row) for row in inner] == [
        (1, "a bc", "a", 1),
        (1, "a bc", "bc", 2),
        (3, "d", "d", 1),
    ]
    assert (2, "", None, None) in [tuple(row) for row in outer]


@pytest.mark.parametrize(
    ("returned", "rows"),
    [
        (lambda x: None, []),
        (lambda x: 1, [(1,)]),
        (lambda x: [1, (2,), Row(3)], [(1,), (2,), (3,)]),
        (lambda x: range(2), [(0,), (1,)]),
        (lambda x: (i for i in range(2)), [(0,), (1,)]),
        (lambda x: (5,), [(5,)]),
    ],
)
def test_what_a_table_function_may_return(both_modes, returned, rows):
    function = udtf(returned, result_types="BIGINT")

    def program(spark):
        frame = spark.range(1)
        return lateral(function, frame, "id", names=["x"]).select("x")

    got = both_modes(program)
    assert [tuple(row) for row in got] == rows


# Aggregates


class WeightedMean(AggregateFunction):
    def create_accumulator(self):
        return [0, 0]

    def accumulate(self, accumulator, value, weight):
        if value is not None:
            accumulator[0] += value * weight
            accumulator[1] += weight

    def get_value(self, accumulator):
        return None if accumulator[1] == 0 else accumulator[0] / accumulator[1]


class Words(AggregateFunction):
    """With views, as streams have them in state."""

    def create_accumulator(self):
        return Row(ListView(), MapView())

    def accumulate(self, accumulator, word):
        accumulator[0].add(word)
        accumulator[1][word] = accumulator[1][word] + 1 if word in accumulator[1] else 1

    def get_value(self, accumulator):
        counts = ", ".join(f"{k}{v}" for k, v in sorted(accumulator[1].items()))
        return f"{len(list(accumulator[0]))}: {counts}"


class Count(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator):
        accumulator[0] += 1

    def get_value(self, accumulator):
        return accumulator[0]


ACCUMULATOR = "ARRAY<BIGINT>"

MEAN = udaf(WeightedMean(), result_type="DOUBLE", accumulator_type=ACCUMULATOR)
WORDS = udaf(Words(), result_type="STRING", accumulator_type=ACCUMULATOR)
COUNT = udaf(Count(), result_type="BIGINT", accumulator_type=ACCUMULATOR)


def numbers(spark):
    return spark.sql(
        "SELECT id % 2 AS k, IF(id = 3, NULL, id) AS v, id % 3 AS w, concat('w', id % 2) AS word "
        "FROM range(8)"
    )


def test_aggregates_beside_built_in_ones(both_modes, exchange):
    def program(spark):
        frame = numbers(spark)
        return (
            frame.groupBy("k")
            .agg(
                aggregated(MEAN, frame, "v", "w").alias("mean"),
                F.sum("v").alias("sum"),
                aggregated(WORDS, frame, "word").alias("words"),
                aggregated(COUNT, frame).alias("count"),
                aggregated(WORDS, frame, "word", distinct=True).alias("distinct"),
            )
            .orderBy("k")
        )

    rows = both_modes(program, exchange)
    assert [tuple(row) for row in rows] == [
        (0, 8 / 3, 12, "4: w04", 4, "1: w01"),
        (1, 4.5, 13, "4: w14", 4, "1: w11"),
    ]


def test_aggregates_of_no_rows(both_modes):
    def program(spark):
        frame = numbers(spark).where("k > 5")
        return frame.agg(
            aggregated(COUNT, frame).alias("count"), aggregated(MEAN, frame, "v", "w").alias("mean")
        )

    [row] = both_modes(program)
    assert tuple(row) == (0, None)


def test_aggregates_over_windows(both_modes):
    def program(spark):
        frame = numbers(spark)
        window = Window.partitionBy("k").orderBy("w", "v").rowsBetween(-1, 0)
        return frame.select("k", "w", aggregated(COUNT, frame, window=window).alias("n")).orderBy(
            "k", "w", "n"
        )

    rows = both_modes(program)
    assert [row.n for row in rows] == [1, 2, 2, 2] * 2


class Top(TableAggregateFunction):
    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, value):
        if value is not None:
            accumulator.append(value)

    def emit_value(self, accumulator):
        for rank, value in enumerate(sorted(accumulator, reverse=True)[:2]):
            yield Row(value, rank)


def test_table_aggregates(both_modes, exchange):
    top = udtaf(Top(), result_type="ROW<v BIGINT, r INT>", accumulator_type=ACCUMULATOR)

    def program(spark):
        frame = numbers(spark)
        rows = top.emit([F.col("v")], types_of(frame, ["v"]), FunctionSettings(spark))
        grouped = frame.groupBy("k").agg(rows.alias("rows"))
        return grouped.select("k", F.inline("rows").alias("v", "r")).orderBy("k", "r")

    rows = both_modes(program, exchange)
    assert [tuple(row) for row in rows] == [(0, 6, 0), (0, 4, 1), (1, 7, 0), (1, 5, 1)]


# Functions over series


def test_scalar_functions_over_series(arrow_lane):
    add = udf(lambda a, b: a + b, result_type="BIGINT", func_type="pandas")
    row = udf(lambda r: r["a"] * 2 + r["b"], result_type="BIGINT", func_type="pandas")
    hours = udf(lambda t: t.dt.hour, result_type="INT", func_type="pandas")

    def program(spark):
        frame = spark.sql(
            "SELECT id, struct(id AS a, 1L AS b) AS r, timestamp_seconds(id) AS t FROM range(3)"
        )
        return frame.select(
            call(add, frame, "id", "id"), call(row, frame, "r"), call(hours, frame, "t")
        )

    rows = arrow_lane(program, {**SHANGHAI, **TIMES})
    assert [tuple(each) for each in rows] == [(0, 1, 8), (2, 3, 8), (4, 5, 8)]


def test_series_of_instants_are_exact_where_an_hour_comes_twice(arrow_lane):
    """02:30 of 2024-10-27 in Berlin is two instants, and 02:30 of 2024-03-31 none."""
    instants = [1729989000, 1729992600, 1711848600]
    seconds = udf(
        lambda t: t.map(lambda each: each and int(each.timestamp())),
        result_type="BIGINT",
        func_type="pandas",
    )
    hours = udf(lambda t: t.dt.hour, result_type="INT", func_type="pandas")
    of_field = udf(
        lambda r: r["at"].map(lambda each: int(each.timestamp())) * r["n"],
        result_type="BIGINT",
        func_type="pandas",
    )

    def times_of(inner):
        first, missing = inner["times"]
        [(key, value)] = inner["by_time"]
        assert missing is None
        return sum(int(each.timestamp()) for each in (first, key, value))

    inside = udf(
        lambda r: r["inside"].map(times_of), result_type="BIGINT", func_type="pandas", name="inside"
    )

    def program(spark):
        rows = ", ".join(f"(timestamp_seconds({each}))" for each in instants)
        frame = spark.sql(
            "SELECT t, struct(1 AS n, t AS at) AS r, "
            "struct(struct(array(t, null) AS times, map(t, t) AS by_time) AS inside) AS deep "
            f"FROM VALUES {rows} AS instants(t)"
        )
        called = [call(each, frame, "t") for each in (seconds, hours)]
        return frame.select(
            *called, call(of_field, frame, "r"), call(inside, frame, "deep").alias("inside")
        )

    rows = arrow_lane(program, {"spark.sql.session.timeZone": "Europe/Berlin", **TIMES})
    threefold = [3 * each for each in instants]
    assert [tuple(each) for each in rows] == [*zip(instants, (2, 2, 3), instants, threefold)]


@pytest.mark.parametrize(
    ("function", "text", "result_type"),
    [
        (lambda v: 1, "must be a pandas.Series or a pandas.DataFrame, but is a int", "BIGINT"),
        (lambda v: v[:1], "has 1 values, but its input has 3", "BIGINT"),
        (lambda v: v, "has values (int64) that cannot become struct<a: int64>", "ROW<a BIGINT>"),
        (lambda v: v.to_frame(), "is no row and must be a pandas.Series", "BIGINT"),
        (lambda v: v + 0.5, "has values (float64) that cannot become int64", "BIGINT"),
        (lambda v: v.to_frame(), "has 1 columns, but its type has 2: a, b", "ROW<a INT, b INT>"),
    ],
)
def test_series_of_another_kind_or_length(arrow_lane, function, text, result_type):
    wrong = udf(function, result_type=result_type, func_type="pandas", name="f")

    failure = arrow_lane.fail(
        lambda spark: spark.range(3, numPartitions=1).select(call(wrong, spark.range(3), "id"))
    )

    assert text in failure


def test_columns_of_a_data_frame_are_the_fields_in_their_order(arrow_lane):
    """Whatever names they have, as in PyFlink."""
    frames = udf(
        lambda v: (v * 2).to_frame("x").assign(a=v),
        result_type="ROW<a BIGINT, b BIGINT>",
        func_type="pandas",
    )

    rows = arrow_lane(
        lambda spark: spark.range(2).select(call(frames, spark.range(2), "id").alias("r"))
    )

    assert [tuple(row.r) for row in rows] == [(0, 0), (2, 1)]


def test_aggregates_over_series(arrow_lane):
    class MaxPlus(AggregateFunction):
        def create_accumulator(self):
            return []

        def accumulate(self, accumulator, v, w):
            accumulator.append(v.max() + w.min())

        def get_value(self, accumulator):
            return accumulator[0]

    mean = udaf(lambda v: v.mean(), result_type="DOUBLE", func_type="pandas")
    plus = udaf(MaxPlus(), result_type="DOUBLE", func_type="pandas")
    both = udaf(
        lambda v: (v.min(), v.max()), result_type="ROW<a BIGINT, b BIGINT>", func_type="pandas"
    )

    def program(spark):
        frame = numbers(spark)
        return (
            frame.groupBy("k")
            .agg(
                aggregated(mean, frame, "v").alias("mean"),
                F.count("v").alias("count"),
                aggregated(plus, frame, "v", "w").alias("plus"),
                aggregated(both, frame, "w").alias("both"),
            )
            .orderBy("k")
        )

    rows = arrow_lane(program)
    assert [tuple(row) for row in rows] == [(0, 3.0, 4, 6.0, (0, 2)), (1, 13 / 3, 3, 7.0, (0, 2))]


def test_dates_in_series_are_objects(arrow_lane):
    first = udaf(lambda v: v.min(), result_type="DATE", func_type="pandas")

    def program(spark):
        frame = spark.sql("SELECT date_add(DATE'2024-02-28', CAST(id AS INT)) AS d FROM range(3)")
        return frame.agg(aggregated(first, frame, "d").alias("first"))

    [row] = arrow_lane(program)
    assert row[0] == datetime.date(2024, 2, 28)
