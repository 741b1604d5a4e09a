"""Generated types, rows and functions: what process mode does with them, thread mode does.

Hypothesis makes programs and shrinks those on which the modes differ; what it prints is enough to
write the program down. A query with many rows and functions takes hardly longer than one with few,
so that each program has several of both.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.functions import col, lit
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    CharType,
    DataType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
    UserDefinedType,
    VarcharType,
    VariantType,
)

import strategies
from comparison import BothModes, exact
from user_defined import Boxed, PointType

pytestmark = pytest.mark.compared

programs_of_profile = hypothesis_settings.get_profile("programs")

#: Columns of a table cannot be of the types that only the schema of a stored table has.
TYPES = strategies.nested(
    strategies.scalar_types.filter(lambda each: not isinstance(each, (CharType, VarcharType))),
    [NullType(), VariantType(), PointType()],
)

CONF = st.fixed_dictionaries(
    {"spark.sql.timeType.enabled": st.just("true")},
    optional={
        "spark.sql.session.timeZone": st.sampled_from(["America/New_York", "Australia/Lord_Howe"]),
        "spark.sql.ansi.enabled": st.just("false"),
        "spark.sql.execution.arrow.useLargeVarTypes": st.just("true"),
        "spark.sql.execution.arrow.maxRecordsPerBatch": st.sampled_from(["1", "3"]),
        "spark.sql.execution.pandas.convertToArrowArraySafely": st.just("true"),
        "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled": st.just("true"),
        "spark.pyflow.bundle.size": st.sampled_from(["1", "3"]),
    },
)


def entries(key_type: DataType) -> int:
    """The JVM has pickled keys of these types in another order in every run."""
    return 1 if isinstance(key_type, (BinaryType, StructType)) else 4


def values(data_type: DataType) -> st.SearchStrategy[Any]:
    return strategies.values(data_type, map_size=entries)


@pytest.fixture
def modes(spark, sessions_of_run) -> Callable[[], BothModes]:
    """Compares the modes in the session that lives: a program may end the JVM of the next one."""
    return lambda: BothModes(sessions_of_run.living())


# --- functions that return values of the declared type --------------------------------------------


def describe(*values, **named):
    return repr(exact((values, named)))


def same(value):
    return value


def rebuilt(value):
    """Containers made anew, structs as tuples."""
    if isinstance(value, tuple):
        return tuple(rebuilt(each) for each in value)
    if isinstance(value, list):
        return [rebuilt(each) for each in value]
    if isinstance(value, dict):
        return {rebuilt(key): rebuilt(each) for key, each in value.items()}
    if isinstance(value, Boxed):
        return Boxed(rebuilt(value.value))
    return value


def by_name(value):
    """Structs as dicts, except where they are keys."""
    if isinstance(value, Row):
        return {name: by_name(each) for name, each in zip(value.__fields__, value)}
    if isinstance(value, list):
        return [by_name(each) for each in value]
    if isinstance(value, dict):
        return {key: by_name(each) for key, each in value.items()}
    return value


def emptied(value):
    """Changes its argument, which other functions get, too."""
    if isinstance(value, (list, dict)):
        value.clear()
    return value


def inside(path, value):
    """What is below `path`: positions in arrays and structs, None for a map's first value."""
    for step in path:
        if not value:
            return None
        value = next(iter(value.values())) if step is None else value[step]
    return value


def paths(data_type: DataType) -> list[tuple[tuple[int | None, ...], DataType]]:
    """The ways into a type, with what is there."""
    steps: list[tuple[int | None, DataType]] = []
    if isinstance(data_type, ArrayType):
        steps = [(0, data_type.elementType), (-1, data_type.elementType)]
    elif isinstance(data_type, MapType):
        steps = [(None, data_type.valueType)]
    elif isinstance(data_type, StructType):
        steps = list(enumerate(field.dataType for field in data_type.fields))
    return [((), data_type)] + [
        ((step, *rest), found) for step, inner in steps for rest, found in paths(inner)
    ]


@dataclass(frozen=True)
class Call:
    """A function, the type it returns, and the columns it gets by position and by name."""

    function: Callable[..., Any]
    returns: DataType
    columns: list[str]
    named: dict[str, str]


@dataclass(frozen=True)
class Program:
    schema: StructType
    rows: list[tuple[Any, ...]]
    calls: list[Call]
    conf: dict[str, str]


@st.composite
def calls(draw: st.DrawFn, schema: StructType) -> Call:
    names = st.sampled_from(schema.names)
    if draw(st.booleans()):
        named = draw(st.dictionaries(st.sampled_from(["x", "y", "z"]), names))
        return Call(describe, StringType(), draw(st.lists(names, max_size=4)), named)
    field = schema[draw(names)]
    path, found = draw(st.sampled_from(paths(field.dataType)))
    if path:
        return Call(functools.partial(inside, path), found, [field.name], {})
    function = draw(st.sampled_from([same, rebuilt, by_name, emptied]))
    if draw(st.booleans()):
        return Call(function, found, [], {"value": field.name})
    return Call(function, found, [field.name], {})


@st.composite
def programs(draw: st.DrawFn) -> Program:
    types = draw(st.lists(TYPES, min_size=1, max_size=5))
    schema = StructType([StructField(f"c{number}", each) for number, each in enumerate(types)])
    rows = draw(st.lists(st.tuples(*map(values, types)), min_size=1, max_size=8))
    return Program(schema, rows, draw(st.lists(calls(schema), min_size=1, max_size=8)), draw(CONF))


@programs_of_profile
@given(made=programs())
def test_values_through_functions(modes, make_udf, made):
    def program(spark):
        frame = spark.createDataFrame(made.rows, made.schema, verifySchema=False).coalesce(1)
        return frame.select(
            [
                make_udf(call.function, call.returns)(
                    *call.columns, **{name: col(column) for name, column in call.named.items()}
                )
                for call in made.calls
            ]
        )

    modes()(program, made.conf)


# --- functions that return other values -----------------------------------------------------------

_ZONES = st.sampled_from(
    [None, datetime.timezone.utc, datetime.timezone(datetime.timedelta(0, 60))]
)

HASHABLE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-300, 300),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["", "1", "-1.5", "true", "2024-02-29", "2024-03-10 02:30:00", "x\U0001f600"]),
    st.binary(max_size=3),
    # A signaling NaN has no hash.
    st.decimals().filter(lambda number: not number.is_snan()),
    st.decimals(-1000, 1000, places=3),
    st.dates(),
    st.builds(datetime.datetime.replace, st.datetimes(), tzinfo=_ZONES),
    st.builds(datetime.time.replace, st.times(), tzinfo=_ZONES),
    st.timedeltas(),
    st.tuples(st.integers(0, 3), st.just("b")),
)
ANYTHING = st.one_of(
    HASHABLE,
    st.builds(bytearray, st.binary(max_size=3)),
    st.lists(HASHABLE, max_size=3),
    st.dictionaries(HASHABLE, HASHABLE, max_size=1),
    st.sets(st.integers(0, 9), max_size=3),
    st.builds(Row, a=HASHABLE, b=HASHABLE),
    st.builds(Boxed, HASHABLE),
    st.sampled_from([Boxed, len, range(3), 1j, Decimal, Decimal("sNaN")]),
)


def other_values(data_type: DataType) -> st.SearchStrategy[Any]:
    """Values with something of another type, of another number or in another form in them."""

    def either(inner: DataType) -> st.SearchStrategy[Any]:
        return st.one_of(values(inner), other_values(inner))

    forms = [ANYTHING]
    if isinstance(data_type, ArrayType):
        elements = st.lists(either(data_type.elementType), max_size=3)
        forms += [elements, elements.map(tuple)]
    elif isinstance(data_type, MapType):
        keys = st.one_of(HASHABLE, strategies.values(data_type.keyType, False, entries))
        forms.append(st.dictionaries(keys, either(data_type.valueType), max_size=1))
    elif isinstance(data_type, StructType):
        fields = {field.name: either(field.dataType) for field in data_type.fields}
        by_position = st.tuples(*fields.values())
        forms += [
            by_position,
            by_position.map(list),
            by_position.map(lambda items: items[1:]),
            st.fixed_dictionaries({}, optional=fields),
            st.fixed_dictionaries(dict(reversed(fields.items()))).map(lambda each: Row(**each)),
        ]
    elif isinstance(data_type, UserDefinedType):
        forms.append(other_values(data_type.sqlType()).map(Boxed))
    return st.one_of(forms)


@st.composite
def results(draw: st.DrawFn) -> tuple[DataType, list[Any]]:
    data_type = draw(TYPES)
    return data_type, draw(st.lists(other_values(data_type), min_size=1, max_size=12))


@pytest.mark.complete("pickled")
@programs_of_profile
@given(made=results(), conf=CONF)
def test_values_of_another_type(modes, make_udf, made, conf):
    """Each value has a partition of its own, so that it succeeds or fails on its own."""
    declared, returned = made

    def program(spark):
        f = make_udf(lambda n: returned[n], declared)
        return spark.range(len(returned), numPartitions=len(returned)).select(f("id"))

    modes().cells(program, conf)


# --- functions that fail for some rows ------------------------------------------------------------


def failing(rows, error, message, n):
    if n in rows:
        raise error(message)
    return n


@dataclass(frozen=True)
class FailingProgram:
    """Functions of a number, one of which fails for some rows."""

    rows: int
    partitions: int
    fails_for: set[int]
    error: type[BaseException]
    message: str
    before: int
    after: int
    wrapped: bool


failing_programs = st.builds(
    FailingProgram,
    rows=st.integers(1, 30),
    partitions=st.integers(1, 4),
    fails_for=st.sets(st.integers(0, 29), max_size=3),
    error=st.sampled_from(
        [ValueError, KeyError, StopIteration, SystemExit, OSError, BaseException]
    ),
    message=st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    before=st.integers(0, 2),
    after=st.integers(0, 2),
    wrapped=st.booleans(),
)


@programs_of_profile
@given(made=failing_programs, conf=CONF)
def test_functions_that_fail_for_some_rows(modes, make_udf, made, conf):
    def program(spark):
        text = make_udf(describe)
        function = functools.partial(failing, made.fails_for, made.error, made.message)
        call = make_udf(function, "long")("id")
        columns = [text("id", lit(number)) for number in range(made.before)]
        columns.append(text(call) if made.wrapped else call)
        columns += [text(lit(number), x=col("id")) for number in range(made.after)]
        return spark.range(made.rows, numPartitions=made.partitions).select(columns)

    modes().cells(program, conf)
