"""Functions of each kind get values of every type as those of PyFlink do, and can return them."""

from __future__ import annotations

import datetime

import pytest
import recordings
from pyspark import cloudpickle

import pyflow.table as library
from pyflow.table import DataTypes, Row
from pyflow.table.expressions import UNBOUNDED_ROW, col, lit
from pyflow.table.udf import (
    AggregateFunction,
    TableAggregateFunction,
    TableFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)
from pyflow.table.window import Over, Tumble
from reference import function_values, python_values
from reference.function_values import shown, shown_series
from reference.python_values import ASKED, NESTED, differences, names_of, seen_by_functions

pytest.importorskip("pandas")

for module in (function_values, python_values):
    cloudpickle.register_pickle_by_value(module)

RECORDED = recordings.load("python_values")

SOME = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("alone", "row") else pytest.mark.complete)
        for name in NESTED
    ],
)
MODES = pytest.mark.parametrize(
    "execution_mode", ["thread", pytest.param("process", marks=pytest.mark.complete)]
)


def values_of(name):
    """Types, those of a program's own among them, and what columns of them have."""
    names = names_of(library)
    cases = seen_by_functions(name)
    types = [eval(text, names) for text, _ in cases]
    return types, [eval(value, names) for _, value in ASKED[f"elements {name}"][1]]


def table_of(t_env, types, values, prefix="c"):
    fields = [DataTypes.FIELD(f"{prefix}{place}", each) for place, each in enumerate(types)]
    return t_env.from_elements([tuple(values)], DataTypes.ROW(fields), verify_schema=False)


def the_row(table):
    with table.execute().collect() as rows:
        [row] = rows
    return list(row)


def both(values):
    """What a function gets, as texts, and the same as its result."""
    return Row(*map(shown, values), *values)


class Rows(TableFunction):
    def eval(self, *values):
        yield both(values)


class Last(AggregateFunction):
    def create_accumulator(self):
        return [None]

    def accumulate(self, accumulator, *values):
        accumulator[0] = values

    def retract(self, accumulator, *values):
        pass

    def get_value(self, accumulator):
        return both(accumulator[0])

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.STRING())

    def get_result_type(self):
        raise AssertionError


class LastRows(Last, TableAggregateFunction):
    def emit_value(self, accumulator):
        yield self.get_value(accumulator)


def texts_and(types):
    """The type of a row of what `both` returns."""
    every = [*(DataTypes.STRING() for _ in types), *types]
    return DataTypes.ROW([DataTypes.FIELD(f"r{i}", each) for i, each in enumerate(every)])


def called(kind, table, types):
    """The table of the results of a function of a kind."""
    columns = [col(f"c{place}") for place in range(len(types))]
    result = texts_and(types)
    if kind == "scalar":
        function = udf(lambda *values: both(values), result_type=result)
        return table.select(function(*columns).alias("r")).select(col("r").flatten)
    if kind == "table":
        function = udtf(Rows(), result_types=result)
        names = result.field_names()
        made = table.join_lateral(function(*columns).alias(*names))
        return made.select(*map(col, names))
    grouped = table.group_by(lit(1))
    if kind == "aggregate":
        function = udaf(Last(), result_type=result, accumulator_type=DataTypes.BYTES())
        return grouped.select(function(*columns).alias("r")).select(col("r").flatten)
    function = udtaf(LastRows(), result_type=result, accumulator_type=DataTypes.BYTES())
    names = result.field_names()
    return grouped.flat_aggregate(function(*columns).alias(*names)).select(*map(col, names))


@SOME
@MODES
@pytest.mark.parametrize("kind", ["scalar", "table", "aggregate", "table_aggregate"])
def test_values_cross_functions(environment, execution_mode, kind, name):
    t_env = environment("batch", **{"python_execution-mode": execution_mode})
    types, values = values_of(name)

    found = the_row(called(kind, table_of(t_env, types, values), types))

    seen, returned = found[: len(types)], list(map(shown, found[len(types) :]))
    cases = seen_by_functions(name)
    assert differences(cases, seen, RECORDED[f"arguments {name}"]) == {}
    assert differences(cases, returned, RECORDED[f"elements {name}"]) == {}


def as_in_pyflink(data_type, _, text):
    """What a function sees of a series there: times in maps have no zone."""
    return text.replace("+00:00", "") if data_type.startswith("DataTypes.MAP") else text


def look(series):
    import pandas as pd

    return pd.Series([shown_series(series)] * len(series))


def first(series):
    return tuple(series.iloc[0]) if hasattr(series, "columns") else series.iloc[0]


@SOME
@MODES
@pytest.mark.parametrize("kind", ["scalar", "aggregate"])
def test_series_cross_functions(environment, execution_mode, kind, name):
    t_env = environment("batch", **{"python_execution-mode": execution_mode})
    types, values = values_of(name)
    pandas = {"func_type": "pandas"}
    table = table_of(t_env, types, values)
    columns = [col(f"c{place}") for place in range(len(types))]
    if kind == "scalar":
        seen = udf(look, result_type="STRING", **pandas)
        same = [udf(lambda s: s, result_type=each, **pandas) for each in types]
    else:
        seen = udaf(shown_series, result_type="STRING", **pandas)
        # A pandas aggregate returns no map.
        same = [udaf(first, result_type=t, **pandas) for t in types if name != "map"]
        table = table.group_by(lit(1))
    results = [function(column) for function, column in zip(same, columns)]

    found = the_row(table.select(*map(seen, columns), *results))

    texts, returned = found[: len(types)], list(map(shown, found[len(types) :]))
    cases = seen_by_functions(name)
    texts = [as_in_pyflink(*case, text) for case, text in zip(cases, texts)]
    assert differences(cases, texts, RECORDED[f"series arguments {name}"]) == {}
    # Series have the times of a TIME(0) in seconds, elements in milliseconds.
    values = [
        text.replace(":56.789000", ":56") if "TIME(0)" in data_type else text
        for (data_type, _), text in zip(cases, RECORDED[f"elements {name}"])
    ]
    if returned:
        assert differences(cases, returned, values) == {}


def names_of_series(*series):
    return ", ".join(repr(each.name) for each in series)


@pytest.mark.parametrize("kind", ["scalar", "aggregate", "over", "window"])
def test_series_of_columns_have_their_names(environment, kind):
    """Those of other expressions have names of Flink's planner in PyFlink."""
    t_env = environment("batch")
    types = [DataTypes.INT(), DataTypes.STRING(), DataTypes.TIMESTAMP(3)]
    table = table_of(t_env, types, [1, "a", datetime.datetime(2024, 5, 1)])
    arguments = [col("c0"), col("c1"), col("c0") + 1]
    pandas = {"result_type": "STRING", "func_type": "pandas"}
    if kind == "scalar":
        named = udf(lambda *s: s[0].map(lambda _: names_of_series(*s)), **pandas)
        found = table.select(named(*arguments))
    else:
        named = udaf(names_of_series, **pandas)
        if kind == "aggregate":
            found = table.group_by(col("c1")).select(named(*arguments))
        elif kind == "over":
            rows = Over.partition_by(col("c1")).order_by(col("c2")).preceding(UNBOUNDED_ROW)
            found = table.over_window(rows.alias("w")).select(named(*arguments).over(col("w")))
        else:
            hours = Tumble.over(lit(1).hours).on(col("c2")).alias("w")
            found = table.window(hours).group_by(col("w")).select(named(*arguments))
    assert the_row(found) == ["'c0', 'c1', None"]


@pytest.mark.parametrize("kind", ["scalar", "aggregate"])
def test_nanoseconds_where_they_reach(environment, kind):
    t_env = environment("batch")
    found = []
    for year in (2024, 1):
        table = table_of(t_env, [DataTypes.TIMESTAMP(9)], [datetime.datetime(year, 5, 1)])
        if kind == "scalar":
            seen = udf(look, result_type="STRING", func_type="pandas")
        else:
            table = table.group_by(lit(1))
            seen = udaf(shown_series, result_type="STRING", func_type="pandas")
        found += the_row(table.select(seen(col("c0"))))
    assert found == [
        "Series datetime64[ns] [time 2024-05-01 00:00:00]",
        "Series datetime64[us] [time 0001-05-01 00:00:00]",
    ]


@pytest.mark.parametrize("name", ["alone", "array", "row"])
def test_series_for_times_of_seconds(batch, name):
    times = {"alone": "TIME(0)", "array": "ARRAY<TIME(0)>", "row": "ROW<b TIME(0)>"}[name]
    late = datetime.time(12, 34, 56, 789000)
    value = {"alone": late, "array": [late], "row": {"b": late}}[name]
    function = udf(
        lambda s: type(s)([value] * len(s), dtype=object), result_type=times, func_type="pandas"
    )
    table = batch.from_elements([(1,)], ["a"]).select(function(col("a")))

    assert ".789" not in shown(the_row(table))
    assert "12:34:56" in shown(the_row(table))


@pytest.mark.parametrize("kind", ["scalar", "table", "aggregate"])
def test_classes_of_a_program_in_functions_over_unbounded_rows(streaming, kind):
    """Functions have what such objects are kept as, as in PyFlink."""
    names = names_of(library)
    types = [names["POINT_AS_ROW"], names["POINT_AS_ARRAY"], names["POINT_AS_TEXT"]]
    streaming.execute_sql(
        "CREATE TABLE source (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1', "
        "'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '1')"
    )
    kept = Row(10.0, 20.0), [10.0, 20.0], "1.0, 2.0"
    make = [udf(lambda _, value=v: value, result_type=t) for v, t in zip(kept, types)]
    table = streaming.from_path("source").select(
        *(function(col("id")).alias(f"c{place}") for place, function in enumerate(make))
    )

    with called(kind, table, types).execute().collect() as rows:
        found = list(next(rows))

    assert found[:3] == [
        "Row['a', 'b'] (float 10.0, float 20.0)",
        "list [float 10.0, float 20.0]",
        "str '1.0, 2.0'",
    ]
    assert list(map(shown, found[3:])) == list(map(shown, kept))


def test_a_class_of_a_program_as_a_column_and_a_cast(streaming):
    point, text = names_of(library)["POINT_AS_ROW"], names_of(library)["POINT_AS_TEXT"]
    schema = library.Schema.new_builder().column("p", point).column("t", text).build()

    streaming.create_temporary_table(
        "points", library.TableDescriptor.for_connector("datagen").schema(schema).build()
    )

    row = DataTypes.ROW(
        [DataTypes.FIELD("a", DataTypes.DOUBLE()), DataTypes.FIELD("b", DataTypes.DOUBLE())]
    )
    columns = streaming.from_path("points").get_resolved_schema().get_column_data_types()
    assert columns == [row, DataTypes.STRING()]
    cast = streaming.from_elements([(1,)], ["a"]).select(col("a").cast(text))
    assert the_row(cast) == ["1"]


def test_an_object_is_no_result(batch):
    point = names_of(library)["POINT_AS_ROW"]
    function = udf(lambda _: python_values.Point(1.0, 2.0), result_type=point, name="f")
    table = batch.from_elements([(1,)], ["a"]).select(function(col("a")))

    with pytest.raises(Exception, match=r"the result of f is .*Point.*, which is no Row"):
        the_row(table)
