"""What becomes of messages and rows by schemas, compared with what PyFlink answered."""

from __future__ import annotations

import datetime
import decimal
import json
import pickle
from pathlib import Path

import pytest

from pyflow.common import Row, Types
from pyflow.common.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    RowFieldExtractorSchema,
    SimpleStringSchema,
)
from pyflow.datastream.formats import java_texts as java
from pyflow.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from pyflow.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from reference import row_schemas as cases

ANSWERS = json.loads((Path(__file__).parent / "reference" / "row_schemas.json").read_text())[
    "answers"
]
NAMES = cases.names_of("pyflow")


def is_left_out(text, message):
    """Whether the answer is one of Java before 19, which writes more digits of some numbers."""
    return "FLOAT" in text and b"9007199254740993" in message


def shown(value, type_info=None):
    """A value as Java shows the same."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        single = type_info == Types.FLOAT()
        return java.float_text(value) if single else java.double_text(value)
    if isinstance(value, Row):
        types = type_info.get_field_types()
        return f"+I[{', '.join(shown(*each) for each in zip(value, types))}]"
    if isinstance(value, bytes):
        return str(list(value))
    if isinstance(value, list):
        return f"[{', '.join(shown(each, type_info._element_type) for each in value)}]"
    if isinstance(value, dict):
        parts = (f"{k}={shown(v, type_info._value_type_info)}" for k, v in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, datetime.datetime):
        return java.timestamp_text(value, " ", ".0")
    return str(value)


def read(schema, message):
    try:
        row = schema.deserialize(message)
    except ValueError:
        return "error"
    return None if row is None else shown(row, schema.get_produced_type())


def without_reason(answer):
    return "error" if (answer or "").startswith("error") else answer


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        pytest.param(expression(type_text, calls), messages, id=f"{kind}-{type_text}{calls}")
        for kind, wanted, expression in (
            ("json", cases.JSON, cases.json_reader),
            ("csv", cases.CSV, cases.csv_reader),
        )
        for type_text, calls, messages in wanted
    ],
)
def test_messages_become_the_rows_that_they_are_in_flink(text, messages):
    schema = pickle.loads(pickle.dumps(eval(text, dict(NAMES))))

    messages = [message for message in messages if not is_left_out(text, message)]
    found = {repr(message): read(schema, message) for message in messages}

    answers = ANSWERS["read"][text]
    assert found == {message: without_reason(answers[message]) for message in found}


def written(schema, row):
    try:
        return schema.serialize(row).decode()
    except ValueError:
        return "error"


@pytest.mark.parametrize(("type_text", "values"), cases.WRITTEN)
def test_rows_become_the_bytes_that_they_are_in_flink(type_text, values):
    row_type = cases.TWO.format(type_text)
    reader = eval(cases.json_reader(row_type, ""), dict(NAMES))
    rows = [reader.deserialize(cases.written_message(value)) for value in values]
    texts = [cases.json_writer(row_type)]
    texts += [cases.csv_writer(row_type, calls) for calls in cases.WRITERS]

    for text in texts:
        expected = ANSWERS["written"][text]
        if isinstance(expected, str):
            with pytest.raises(ValueError, match=r"nsupported|simple types"):
                eval(text, dict(NAMES))
            continue
        schema = pickle.loads(pickle.dumps(eval(text, dict(NAMES))))
        found = [written(schema, row) for row in rows]
        assert (text, found) == (text, list(map(without_reason, expected)))


@pytest.mark.parametrize("schema", cases.SCHEMAS)
def test_json_schemas_describe_the_types_that_they_do_in_flink(schema):
    expected = ANSWERS["schemas"][schema]
    builder = JsonRowDeserializationSchema.builder()
    if expected.startswith("error"):
        with pytest.raises(ValueError, match=r"[Tt]ype|schema|reference|encoding|items"):
            builder.json_schema(schema)
    else:
        assert repr(builder.json_schema(schema)._type_info) == expected


PAIR = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])


@pytest.mark.parametrize(
    "row",
    [
        Row(1, "x"),
        Row(b="x", a=1),
        Row(c=1, d="x"),
        (1, "x"),
        [1, "x"],
        {"b": "x", "a": 1, "c": 2},
    ],
)
def test_rows_are_what_stands_for_them(row):
    schema = JsonRowSerializationSchema.builder().with_type_info(PAIR).build()

    assert schema.serialize(row) == b'{"a":1,"b":"x"}'


@pytest.mark.parametrize("row", [Row(1), (1, 2, 3), 5, Row("x", "y"), Row(1.5, "y")])
def test_other_rows_are_refused_with_the_row_and_the_reason(row):
    schema = JsonRowSerializationSchema.builder().with_type_info(PAIR).build()

    with pytest.raises(ValueError, match="Could not serialize row"):
        schema.serialize(row)


def test_rows_have_the_names_of_their_fields():
    schema = JsonRowDeserializationSchema.builder().type_info(PAIR).build()

    row = schema.deserialize(b'{"b":"x"}')

    assert (row.a, row["b"], row.as_dict()) == (None, "x", {"a": None, "b": "x"})
    assert schema.get_produced_type() == PAIR


def test_values_of_rows_are_of_python_s_types():
    types = {
        "a": Types.SQL_DATE(),
        "b": Types.SQL_TIME(),
        "c": Types.SQL_TIMESTAMP(),
        "d": Types.BIG_DEC(),
        "e": Types.PRIMITIVE_ARRAY(Types.BYTE()),
        "f": Types.LIST(PAIR),
    }
    type_info = Types.ROW_NAMED(list(types), list(types.values()))
    schema = JsonRowDeserializationSchema.builder().type_info(type_info).build()

    row = schema.deserialize(
        b'{"a":"2020-01-02","b":"12:34:56Z","c":"2020-01-02T12:34:56.123Z","d":1.50,'
        b'"e":"AQI=","f":[{"a":1}]}'
    )

    assert list(row) == [
        datetime.date(2020, 1, 2),
        datetime.time(12, 34, 56),
        datetime.datetime(2020, 1, 2, 12, 34, 56, 123000),
        decimal.Decimal("1.5"),
        b"\x01\x02",
        [Row(a=1, b=None)],
    ]


def test_an_error_has_the_message_and_the_reason():
    schema = JsonRowDeserializationSchema.builder().type_info(PAIR).build()

    with pytest.raises(ValueError, match=r"Failed to deserialize JSON '{\"a\":\"x\"}': 'x'"):
        schema.deserialize(b'{"a":"x"}')


def test_missing_fields_are_not_both_errors_and_ignored():
    builder = JsonRowDeserializationSchema.builder().type_info(PAIR)

    with pytest.raises(ValueError, match="both"):
        builder.fail_on_missing_field().ignore_parse_errors().build()


@pytest.mark.parametrize(
    "make",
    [
        JsonRowDeserializationSchema.builder().build,
        JsonRowSerializationSchema.builder().build,
        lambda: JsonRowDeserializationSchema.builder().json_schema(None),
        lambda: CsvRowDeserializationSchema.Builder(None),
        lambda: CsvRowSerializationSchema.Builder(None),
    ],
)
def test_a_type_must_be_given(make):
    with pytest.raises(TypeError):
        make()


@pytest.mark.parametrize(
    "make",
    [
        JsonRowDeserializationSchema.builder().type_info(Types.INT()).build,
        JsonRowSerializationSchema.builder().with_type_info(Types.INT()).build,
        lambda: CsvRowDeserializationSchema.Builder(Types.INT()),
        lambda: CsvRowSerializationSchema.Builder(Types.INT()),
        lambda: CsvRowSerializationSchema.Builder(PAIR).set_line_delimiter("x"),
        lambda: CsvRowSerializationSchema.Builder(PAIR).set_field_delimiter(""),
    ],
)
def test_wrong_settings_of_rows_are_refused(make):
    with pytest.raises(ValueError, match=r"type info|RowTypeInfo|delimiter"):
        make()


def test_strings_are_encoded_and_decoded():
    assert SimpleStringSchema().deserialize(b"\xffa") == "\ufffda"
    assert SimpleStringSchema("ISO-8859-1").serialize("\u20ac\u00e9") == b"?\xe9"
    assert SimpleStringSchema().get_produced_type() == Types.STRING()


@pytest.mark.parametrize(
    ("charset", "text", "content", "others"),
    [
        # As String.getBytes() makes them.
        ("UTF-16", "a", b"\xfe\xff\x00a", [b"\x00a", b"\xff\xfea\x00"]),
        ("UTF-16", "", b"", []),
        ("UTF-16LE", "a", b"a\x00", []),
        ("UTF-32", "a", b"\x00\x00\x00a", [b"\xff\xfe\x00\x00a\x00\x00\x00"]),
    ],
)
def test_charsets_are_those_of_java(charset, text, content, others):
    schema = SimpleStringSchema(charset)

    assert schema.serialize(text) == content
    assert {schema.deserialize(each) for each in [content, *others]} == {text}


@pytest.mark.parametrize("schema", [SimpleStringSchema(), ByteArraySchema()])
def test_other_values_are_no_strings_and_no_bytes(schema):
    with pytest.raises(TypeError, match="serializes"):
        schema.serialize({"a": 1})


def test_bytes_are_bytes():
    schema = ByteArraySchema()

    assert schema.serialize(bytearray(b"ab")) == schema.deserialize(memoryview(b"ab")) == b"ab"
    assert schema.deserialize(None) is None


def test_a_field_s_bytes_are_those_of_the_row():
    schema = RowFieldExtractorSchema(1)

    assert schema.serialize(Row("x", b"ab")) == b"ab"
    assert schema.serialize(Row("x", None)) == b""
    with pytest.raises(ValueError, match="must be of type bytes, but was str"):
        schema.serialize(Row(b"ab", "x"))
    with pytest.raises(ValueError, match="no field 1"):
        schema.serialize(Row(b"ab"))
    with pytest.raises(ValueError, match="non-negative"):
        RowFieldExtractorSchema(-1)


def test_programs_have_schemas_of_their_own():
    class Lengths(DeserializationSchema):
        def deserialize(self, message):
            return len(message) or None

    assert Lengths().deserialize(b"ab") == 2
    assert Lengths().get_produced_type() is None
