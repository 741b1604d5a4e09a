"""Rows as records of Avro: the bytes are those of its specification."""

from __future__ import annotations

import datetime
import decimal
import json
import pickle

import pytest

from pyflow.common import Row, Types
from pyflow.datastream.formats.avro import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from pyflow.util.exceptions import TableException

COLOR = {"type": "enum", "name": "Color", "symbols": ["RED", "GREEN"]}
INNER = {
    "type": "record",
    "name": "Inner",
    "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}],
}


def record(*types):
    fields = [{"name": f"f{place}", "type": each} for place, each in enumerate(types)]
    return json.dumps({"type": "record", "name": "Some", "namespace": "of.tests", "fields": fields})


def logical(kind, logical_type, **more):
    return {"type": kind, "logicalType": logical_type, **more}


# Type of a field, its type in rows, a value, and its bytes.
VALUES = [
    ("boolean", Types.BOOLEAN(), True, "01"),
    ("int", Types.INT(), -64, "7f"),
    ("int", Types.INT(), 64, "8001"),
    ("long", Types.LONG(), -(1 << 63), "ffffffffffffffffff01"),
    ("float", Types.FLOAT(), 1.5, "0000c03f"),
    ("double", Types.DOUBLE(), 1.5, "000000000000f83f"),
    ("string", Types.STRING(), "foo", "06666f6f"),
    ("bytes", Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00\xff", "0400ff"),
    (["null", "string"], Types.STRING(), None, "00"),
    (["null", "string"], Types.STRING(), "a", "020261"),
    (["string", "null"], Types.STRING(), None, "02"),
    (["int"], Types.INT(), 1, "0002"),
    (COLOR, Types.STRING(), "GREEN", "02"),
    (
        {"type": "fixed", "name": "Two", "size": 2},
        Types.PRIMITIVE_ARRAY(Types.BYTE()),
        b"ab",
        "6162",
    ),
    ({"type": "array", "items": "long"}, Types.OBJECT_ARRAY(Types.LONG()), [3, 27], "04063600"),
    ({"type": "array", "items": "string"}, Types.BASIC_ARRAY(Types.STRING()), [], "00"),
    (
        {"type": "map", "values": "int"},
        Types.MAP(Types.STRING(), Types.INT()),
        {"a": 1},
        "0202610200",
    ),
    (
        INNER,
        Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.STRING()]),
        Row(a=27, b="foo"),
        "3606666f6f",
    ),
    (logical("int", "date"), Types.SQL_DATE(), datetime.date(1969, 12, 31), "01"),
    (logical("int", "time-millis"), Types.SQL_TIME(), datetime.time(0, 0, 1), "d00f"),
    (logical("long", "time-micros"), Types.SQL_TIME(), datetime.time(0, 0, 0, 1), "02"),
    (
        logical("long", "timestamp-millis"),
        Types.SQL_TIMESTAMP(),
        datetime.datetime(1970, 1, 1, 0, 0, 1),
        "d00f",
    ),
    (
        logical("long", "timestamp-micros"),
        Types.SQL_TIMESTAMP(),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
        "01",
    ),
    (
        logical("bytes", "decimal", precision=5, scale=2),
        Types.BIG_DEC(),
        decimal.Decimal("-1.29"),
        "04ff7f",
    ),
    (
        logical("fixed", "decimal", name="D", size=4, precision=5, scale=2),
        Types.BIG_DEC(),
        decimal.Decimal("1.00"),
        "00000064",
    ),
    (logical("long", "unknown"), Types.LONG(), 1, "02"),
]


@pytest.mark.parametrize(("kind", "type_info", "value", "encoded"), VALUES)
def test_values_are_encoded_as_avro_says(kind, type_info, value, encoded):
    schema = record(kind)
    read = pickle.loads(pickle.dumps(AvroRowDeserializationSchema(avro_schema_string=schema)))
    write = pickle.loads(pickle.dumps(AvroRowSerializationSchema(avro_schema_string=schema)))

    assert write.serialize(Row(value)).hex() == encoded
    assert read.deserialize(bytes.fromhex(encoded)) == Row(f0=value)
    assert read.get_produced_type() == Types.ROW_NAMED(["f0"], [type_info])
    assert repr(read.get_produced_type()) == repr(Types.ROW_NAMED(["f0"], [type_info]))


def test_blocks_may_tell_their_size():
    schema = AvroRowDeserializationSchema(
        avro_schema_string=record({"type": "array", "items": "int"})
    )

    assert schema.deserialize(bytes.fromhex("0302020402" + "06" + "00"))[0] == [1, 2, 3]


def test_types_are_known_by_their_names():
    text = record(COLOR, "Color", ["null", "of.tests.Color"])

    row = AvroRowDeserializationSchema(avro_schema_string=text).deserialize(b"\x00\x02\x02\x00")

    assert list(row) == ["RED", "GREEN", "RED"]


@pytest.mark.parametrize(
    ("kind", "encoded"),
    [
        ("string", "06666f"),
        ("double", "0000"),
        ("long", "ff"),
        (["null", "int"], "04"),
        (COLOR, "04"),
        ({"type": "array", "items": "int"}, "ffffffff0f"),
        ("string", "04ffff"),
        ("boolean", ""),
    ],
)
def test_other_bytes_are_no_record(kind, encoded):
    schema = AvroRowDeserializationSchema(avro_schema_string=record(kind))

    with pytest.raises(ValueError, match="Failed to deserialize Avro record b'"):
        schema.deserialize(bytes.fromhex(encoded))


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("int", 1 << 31, "32 bits"),
        ("long", "1", "integer"),
        ("int", None, "NoneType"),
        ("string", 1, "expected a string"),
        (COLOR, "BLUE", "'BLUE' is none of"),
        ({"type": "fixed", "name": "Two", "size": 2}, b"a", "expected 2 bytes"),
        (logical("bytes", "decimal", precision=5, scale=2), decimal.Decimal("1.234"), "2 digits"),
    ],
)
def test_other_values_are_refused_with_their_field(kind, value, reason):
    schema = AvroRowSerializationSchema(avro_schema_string=record("int", kind))

    with pytest.raises(ValueError, match=f"field 'f1': .*{reason}"):
        schema.serialize(Row(1, value))


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ('"string"', "made of records"),
        (record(["int", "string"]), "union of int, string"),
        (record("null"), "always null"),
        (record(["null", "of.tests.Some"]), "inside of itself"),
    ],
)
def test_schemas_that_rows_do_not_have_are_refused(schema, reason):
    with pytest.raises(TableException, match=reason):
        AvroRowDeserializationSchema(avro_schema_string=schema)
    with pytest.raises(TableException, match=reason):
        AvroRowSerializationSchema(avro_schema_string=schema)


def test_a_schema_must_be_given_and_is_no_java_class():
    with pytest.raises(TypeError, match="should be specified"):
        AvroRowDeserializationSchema()
    with pytest.raises(TableException, match=r"'some\.User' is a Java class"):
        AvroRowSerializationSchema("some.User")


def test_schemas_are_texts_and_files(tmp_path):
    text = '{"type":"record","name":"Some","fields":[{"name":"a","type":"int"}]}'
    (tmp_path / "some.avsc").write_text(text)

    schema = AvroSchema.parse_string(text)

    assert str(schema) == text
    assert AvroSchema.parse_file(str(tmp_path / "some.avsc")) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert GenericRecordAvroTypeInfo(schema) == GenericRecordAvroTypeInfo(schema)


@pytest.mark.parametrize("text", ["x", '"other"', "{}", '{"type":"record","name":"a"}', "5"])
def test_other_texts_are_no_schemas(text):
    with pytest.raises(ValueError, match=r"no schema|not the name|no fields"):
        AvroSchema.parse_string(text)
