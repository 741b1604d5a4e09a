"""Types become types of Spark and of Arrow, and come back."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as spark_types

from pyflow.table.types import (
    ArrayType,
    DataTypes,
    DayTimeIntervalType,
    MapType,
    MultisetType,
    RawType,
    RowField,
    RowType,
    UserDefinedType,
    YearMonthIntervalType,
    create_arrow_schema,
    from_arrow_type,
    from_spark,
    parse,
    to_arrow_type,
    to_spark,
)
from pyflow.util.exceptions import TableException

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

_RESOLUTIONS = [
    DataTypes.INTERVAL(DataTypes.YEAR()),
    DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH()),
    DataTypes.INTERVAL(DataTypes.MONTH()),
    *(DayTimeIntervalType(resolution) for resolution in DayTimeIntervalType.DayTimeResolution),
]

#: Types that Spark has without loss.
_ATOMIC = st.one_of(
    st.sampled_from(
        [
            DataTypes.BOOLEAN(),
            DataTypes.TINYINT(),
            DataTypes.SMALLINT(),
            DataTypes.INT(),
            DataTypes.BIGINT(),
            DataTypes.FLOAT(),
            DataTypes.DOUBLE(),
            DataTypes.STRING(),
            DataTypes.BYTES(),
            DataTypes.DATE(),
            DataTypes.TIMESTAMP(6),
            DataTypes.TIMESTAMP_LTZ(6),
            *_RESOLUTIONS,
        ]
    ),
    st.integers(0, 6).map(DataTypes.TIME),
    st.integers(1, 38).flatmap(
        lambda precision: st.integers(0, precision).map(
            lambda scale: DataTypes.DECIMAL(precision, scale)
        )
    ),
)
#: Types of which Spark loses lengths and precisions.
_INEXACT = st.one_of(
    st.integers(1, 0x7FFFFFFF).flatmap(
        lambda n: st.sampled_from(
            [
                DataTypes.CHAR(n),
                DataTypes.VARCHAR(n),
                DataTypes.BINARY(n),
                DataTypes.VARBINARY(n),
            ]
        )
    ),
    st.integers(0, 9).flatmap(
        lambda n: st.sampled_from(
            [DataTypes.TIMESTAMP(n), DataTypes.TIMESTAMP_LTZ(n), DataTypes.TIME(n)]
        )
    ),
    st.just(RawType()),
)


#: A busy machine must not fail a test, and few types are needed to find what is wrong with one.
checked = settings(deadline=None, max_examples=30)


def _nested(children):
    names = st.text(min_size=1, max_size=5)
    fields = st.lists(st.builds(RowField, names, children), max_size=4, unique_by=lambda f: f.name)
    return st.one_of(
        children.map(ArrayType),
        st.builds(MapType, children.map(lambda key: key.not_null()), children),
        fields.map(RowType),
    )


def _perhaps_not_null(strategy):
    return st.tuples(strategy, st.booleans()).map(lambda t: t[0] if t[1] else t[0].not_null())


# Deferred, or hypothesis writes all of them out.
EXACT = st.deferred(
    lambda: st.recursive(
        _perhaps_not_null(_ATOMIC),
        lambda children: _perhaps_not_null(_nested(children)),
        max_leaves=8,
    )
)
ANY = st.deferred(
    lambda: st.recursive(
        _perhaps_not_null(_ATOMIC | _INEXACT),
        lambda children: _perhaps_not_null(_nested(children) | children.map(MultisetType)),
        max_leaves=8,
    )
)


@checked
@given(ANY)
def test_a_type_is_read_from_its_text(data_type):
    assert parse(data_type.sql) == data_type


@checked
@given(ANY)
def test_types_are_values(data_type):
    twin = pickle.loads(pickle.dumps(data_type))

    assert twin == data_type
    assert hash(twin) == hash(data_type)
    assert data_type.not_null().nullable() == data_type.nullable()
    assert (data_type.not_null() == data_type) != data_type._nullable


@checked
@given(EXACT)
def test_types_come_back_from_spark(data_type):
    spark_type = to_spark(data_type)

    assert from_spark(spark_type, data_type._nullable) == data_type
    # Spark reads what it is given.
    assert (
        spark_types.StructType.fromJson(spark_types.StructType().add("x", spark_type).jsonValue())
        .fields[0]
        .dataType
        == spark_type
    )


@checked
@given(ANY)
def test_what_spark_has_not_becomes_the_default(data_type):
    once = from_spark(to_spark(data_type))

    assert from_spark(to_spark(once)) == once
    assert to_spark(once) == to_spark(data_type)


@checked
@given(EXACT.filter(lambda data_type: "INTERVAL" not in data_type.sql))
def test_types_become_those_of_arrow(data_type):
    arrow_type = to_arrow_type(data_type)

    assert to_arrow_type(from_arrow_type(arrow_type, data_type._nullable)) == arrow_type


def test_arrow_schemas_say_what_is_null():
    schema = create_arrow_schema(["a", "b"], [DataTypes.INT(False), DataTypes.TIMESTAMP(3)])

    assert str(schema) == "a: int32 not null\nb: timestamp[ms]"


def test_what_arrow_has_not_is_an_error():
    with pytest.raises(ValueError, match="INTERVAL MONTH"):
        to_arrow_type(DataTypes.INTERVAL(DataTypes.MONTH()))
    import pyarrow

    with pytest.raises(TypeError, match="uint8"):
        from_arrow_type(pyarrow.uint8())


def test_frames_have_the_types_of_tables(spark):
    row_type = RowType(
        [
            RowField(f"c{position}", data_type)
            for position, data_type in enumerate(
                [
                    DataTypes.INT(False),
                    DataTypes.STRING(),
                    DataTypes.DECIMAL(20, 3),
                    DataTypes.TIME(3),
                    DataTypes.TIMESTAMP(),
                    DataTypes.TIMESTAMP_LTZ(),
                    DataTypes.ARRAY(DataTypes.INT(False)),
                    DataTypes.MAP(DataTypes.STRING(False), DataTypes.DOUBLE()),
                    DataTypes.ROW([DataTypes.FIELD("x `y", DataTypes.BYTES())]),
                    *_RESOLUTIONS,
                ]
            )
        ]
    )

    frame = spark.createDataFrame([], to_spark(row_type))

    assert from_spark(frame.schema) == row_type


def test_multisets_are_counted_in_maps():
    assert to_spark(DataTypes.MULTISET(DataTypes.STRING(False))).simpleString() == "map<string,int>"


def test_types_that_spark_has_not_are_an_error():
    with pytest.raises(TypeError, match="TIMESTAMP\\(6\\) WITH TIME ZONE"):
        to_spark(parse("TIMESTAMP WITH TIME ZONE"))
    with pytest.raises(TypeError, match="LIST_VIEW<INT>"):
        to_spark(DataTypes.LIST_VIEW(DataTypes.INT()))
    with pytest.raises(TypeError, match="variant"):
        from_spark(spark_types.VariantType())


def test_char_of_spark_keeps_its_length():
    assert from_spark(spark_types.CharType(3)) == DataTypes.CHAR(3)
    assert from_spark(spark_types.VarcharType(3), False) == DataTypes.VARCHAR(3, False)


def test_errors_of_types_have_the_column():
    with pytest.raises(TableException, match="'ROW<a INTT>' has 'INTT' at column 7"):
        parse("ROW<a INTT>")
    with pytest.raises(TypeError, match="5"):
        parse(5)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


class PointType(UserDefinedType):
    @classmethod
    def sql_type(cls):
        return DataTypes.ARRAY(DataTypes.DOUBLE(False))

    @classmethod
    def module(cls):
        return __name__

    def serialize(self, obj):
        return [obj.x, obj.y]

    def deserialize(self, datum):
        return Point(*datum)


Point.__UDT__ = PointType()


def test_user_defined_types_are_kept_as_they_say():
    from pyflow.table.types import infer_rows, verifier

    row_type = infer_rows([(Point(1.0, 2.0),)])

    assert row_type[0].data_type == PointType()
    assert to_spark(row_type).simpleString() == "struct<_1:array<double>>"
    verifier(row_type)((Point(1.0, 2.0),))
    with pytest.raises(ValueError, match="field _1"):
        verifier(row_type)((5,))
    back = PointType().from_sql_type(PointType().to_sql_type(Point(1.0, 2.0)))
    assert (back.x, back.y) == (1.0, 2.0)
    assert PointType.type_name() == "pointtype"
    assert PointType.java_udt() == ""


def test_raw_values_are_pickles():
    assert RawType().from_sql_type(pickle.dumps({1})) == {1}
    assert to_spark(RawType()) == spark_types.BinaryType()


@pytest.mark.parametrize(
    "make",
    [
        lambda: DataTypes.CHAR(0),
        lambda: DataTypes.DECIMAL(39, 0),
        lambda: DataTypes.DECIMAL(3, 4),
        lambda: DataTypes.TIMESTAMP(10),
        lambda: DataTypes.INTERVAL(DataTypes.SECOND(), DataTypes.DAY()),
        lambda: DataTypes.INTERVAL(DataTypes.YEAR(5)),
        lambda: YearMonthIntervalType(YearMonthIntervalType.YearMonthResolution.MONTH, 3),
        lambda: DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.HOUR, 3),
    ],
)
def test_types_that_cannot_be_are_an_error(make):
    with pytest.raises(ValueError, match=r"interval|precision|scale|length"):
        make()


def test_parts_of_types_must_be_types():
    for make in (
        lambda: DataTypes.ARRAY("INT"),
        lambda: DataTypes.MAP(DataTypes.INT(), int),
        lambda: DataTypes.ROW([("a", DataTypes.INT())]),
        lambda: DataTypes.FIELD(5, DataTypes.INT()),
        lambda: DataTypes.FIELD("a", int),
    ):
        with pytest.raises(TypeError):
            make()


def test_types_bridged_to_a_java_class_differ():
    bridged = DataTypes.INT().bridged_to("java.lang.Integer")

    assert bridged != DataTypes.INT()
    assert to_spark(bridged) == to_spark(DataTypes.INT())
