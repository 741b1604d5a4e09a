"""Schemas of rows and messages, as PyFlink and PyFlow are asked what becomes of them.

Types and calls of builders are Python expressions over `names_of`. The answers of PyFlink are in
``row_schemas.json``; ``record_row_schemas.py`` writes them where PyFlink is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

NUMBERS = ["1", "1.5", '" 1 "', "300", "99999999999999999999", "1.0E10", '"+5"', '"1e3"', "-0.0"]
NUMBERS += ['"NaN"', '"1f"', "1e400", "3.4028236e38", '"0x10"', '"1_0"', "9007199254740993", "0.1"]
NUMBERS += ["16777217", "1.00", '"1.50"', '""']
OTHERS = ['"x"', "true", '" TRUE "', "null", '{"b":1}', "[1,2]"]
TIMES = ['"2020-01-02"', '"2020-02-30"', '"2020-1-2"', '"12:34:56Z"', '"12:34:56.123Z"']
TIMES += ['"12:34:56"', '"12:34:56+01:00"', '"2020-01-02T12:34:56Z"', '"2020-01-02 12:34:56"']
TIMES += ['"2020-01-02T12:34:56.123456Z"', "1", '"x"', "null"]
ARRAYS = ["[1,2]", "[]", "[null,1]", '"x"', "1", '{"x":1}', '["1"]', "null", '"AQI="', '"!!"']
ARRAYS += ['{"x":1,"y":"q"}', '[{"x":1}]', '[1,"q"]', '{"1":"2","b":null}']

PAIR = "Types.ROW_NAMED(['x', 'y'], [Types.INT(), Types.STRING()])"
ONE = "Types.ROW_NAMED(['a'], [{}])"
TWO = "Types.ROW_NAMED(['a', 'b'], [{}, Types.STRING()])"
TEXTS = TWO.format("Types.STRING()")


def _members(values: list[str]) -> list[bytes]:
    return [f'{{"a":{value}}}'.encode() for value in values]


WHOLE = [b"", b"  ", b"null", b"[]", b"1", b'"x"', b"{}", b'{"a":1} xyz', b'{"a":1}{"a":2}']
WHOLE += [b'{"a":1,"a":2}', b'{"b":1}', b"{a:1}", b"{'a':1}", b'{"a":NaN}', b'{"a":01}']
WHOLE += [b'{"a":1,}', b'\xef\xbb\xbf{"a":1}', '{"a":1}'.encode("utf-16"), b'{"a":"\xff"}']
WHOLE += [b'{"A":1}', b'//c\n{"a":1}', b'{"a":Infinity}', b'{"a":"\n"}', b'\n{"a":1}', b"xx"]

# JSON: type, calls of the builder, messages.
JSON: list[tuple[str, str, list[bytes]]] = [
    *(
        (ONE.format(f"Types.{name}()"), "", _members(NUMBERS + OTHERS))
        for name in (
            "BYTE",
            "SHORT",
            "INT",
            "LONG",
            "FLOAT",
            "DOUBLE",
            "BIG_INT",
            "BIG_DEC",
            "BOOLEAN",
            "STRING",
        )
    ),
    *(
        (ONE.format(f"Types.{name}()"), "", _members(TIMES))
        for name in (
            "SQL_DATE",
            "SQL_TIME",
            "SQL_TIMESTAMP",
        )
    ),
    *(
        (ONE.format(each), "", _members(ARRAYS))
        for each in (
            PAIR,
            "Types.BASIC_ARRAY(Types.INT())",
            "Types.BASIC_ARRAY(Types.STRING())",
            "Types.PRIMITIVE_ARRAY(Types.INT())",
            f"Types.OBJECT_ARRAY({PAIR})",
            "Types.PRIMITIVE_ARRAY(Types.BYTE())",
            "Types.MAP(Types.STRING(), Types.INT())",
            "Types.MAP(Types.INT(), Types.INT())",
        )
    ),
    # Flink reads what is inside of lists without regard to their type.
    (ONE.format("Types.LIST(Types.INT())"), "", _members(["[1,2]", "[]", "[null,1]", "1"])),
    (ONE.format("Types.INT()"), "", WHOLE),
    (ONE.format("Types.STRING()"), "", WHOLE),
    (TEXTS, ".fail_on_missing_field()", [b"", b"null", b'{"a":1}', b'{"a":1,"b":null}']),
    (
        TWO.format("Types.INT()"),
        ".ignore_parse_errors()",
        [*WHOLE, b'{"a":1,"b":null}', b'{"a":"x","b":"y"}'],
    ),
    ("Types.ROW([Types.INT(), Types.STRING()])", "", [b'{"f0":1,"f1":"x"}', b"{}"]),
]

VALUES = ["", "x", "1", " 1 ", "1.5", "true", " TRUE", "null", "AQI=", '"1"', '""', '" 1"', "+5"]
VALUES += ["300", "99999999999999999999", "1e3", "NaN"]
MOMENTS = ["", "x", "2020-01-02", "2020-1-2", " 2020-01-02", "2020-02-30", "12:34:56", "12:34"]
MOMENTS += ["12:34:56.5", "2020-01-02 12:34:56", "2020-01-02T12:34:56", "2020-01-02 1:2:3"]
MOMENTS += ["2020-01-02 12:34:56.123456"]
PARTS = ["1;2", "", "1", "1;", "x", '"1;2"', "AQI=", " 1 ; 2 ", "1;q;r", ";"]
LINES = [b"a,b", b"a", b"a,b,c", b"", b"\n", b" a , b ", b'"a,b",c', b'"a""b",c', b'a"b,c']
LINES += [b'"a"b,c', b'"a,b', b"a,b\n", b"a,b\r\n", b"a,b\nc,d", b'"a\nb",c', b"#a,b", b",", b"a,"]
LINES += [b"null,b", b"a\\,b,c", b"'a,b',c", b"\xff,b", b"\xef\xbb\xbfa,b", b' "a" ,b', b'"a" ,b']
LINES += [b"\na,b", b'"",""']


def _first(values: list[str]) -> list[bytes]:
    return [f"{value},z".encode() for value in values]


# CSV: type, calls of the builder, messages.
CSV: list[tuple[str, str, list[bytes]]] = [
    *(
        (TWO.format(f"Types.{name}()"), "", _first(VALUES))
        for name in (
            "BYTE",
            "INT",
            "LONG",
            "FLOAT",
            "DOUBLE",
            "BIG_INT",
            "BIG_DEC",
            "BOOLEAN",
            "STRING",
        )
    ),
    *(
        (TWO.format(f"Types.{name}()"), "", _first(MOMENTS))
        for name in (
            "SQL_DATE",
            "SQL_TIME",
            "SQL_TIMESTAMP",
        )
    ),
    *(
        (TWO.format(each), "", _first(PARTS))
        for each in (
            PAIR,
            "Types.BASIC_ARRAY(Types.INT())",
            "Types.BASIC_ARRAY(Types.STRING())",
            "Types.OBJECT_ARRAY(Types.STRING())",
            "Types.PRIMITIVE_ARRAY(Types.BYTE())",
        )
    ),
    (TEXTS, "", LINES),
    (TEXTS, ".set_ignore_parse_errors(True)", LINES),
    (TEXTS, ".set_allow_comments(True)", [b"#a,b", b"a,b", b" #a,b"]),
    (TEXTS, ".set_null_literal('null')", [b"null,b", b'"null",b', b" null,b", b",b"]),
    (TWO.format("Types.INT()"), ".set_null_literal('')", [b"null,1", b",1", b'"",1']),
    (
        TEXTS,
        ".set_escape_character('\\\\')",
        [b"a\\,b,c", b'"a\\"b",c', b"a\\\\b,c", b"a\\nb,c", b'"a\\,b",c', b"a\\", b'"a\\'],
    ),
    (TEXTS, '.set_quote_character("\'")', [b"'a,b',c", b'"a,b",c', b"'a''b',c"]),
    (TEXTS, ".set_field_delimiter('|')", [b"a|b", b"a,b|c"]),
    (
        TWO.format("Types.BASIC_ARRAY(Types.STRING())"),
        ".set_array_element_delimiter('::')",
        [b"a::b,c", b"a:b,c"],
    ),
    (
        TWO.format("Types.INT()"),
        ".set_ignore_parse_errors(True)",
        [b"x,b", b"1,b", b"1", b",b", b"1,2,3"],
    ),
    (ONE.format("Types.STRING()"), "", [b"a", b"", b"a,b", b'""']),
    ("Types.ROW([Types.INT(), Types.STRING()])", "", [b"1,b"]),
]

TEXT_VALUES = ['"x"']
TEXT_VALUES += ['"\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\\u00e9\\u2028\\ud83d\\ude00<>&\'"']
TEXT_VALUES += ["null", '""', '" x "', '"a,b"', '"a;b"', '"#x"', '"a\\nb"', '"a\\"b"', '"a b"']
TEXT_VALUES += ['"a|b"', '"a\'b"', '"a\\\\b"', '"-"', '"+"', '"aXb"']
TEXT_VALUES += ['"a\\\\"', '"\\\\u00e9\\u0001"']
TEXT_VALUES += [f'"{"a" * 24}"', f'"{"a" * 25}"']

# Both: types of the first field, and its values in JSON.
WRITTEN: list[tuple[str, list[str]]] = [
    ("Types.STRING()", TEXT_VALUES),
    ("Types.INT()", ["1", "-5", "null"]),
    ("Types.FLOAT()", ["0.1", "1e10", '"NaN"', '"-Infinity"', "1e-5", "100", "16777217", "0"]),
    (
        "Types.DOUBLE()",
        ["0.1", "1e10", '"Infinity"', "123456789.125", "2e-3", "1e22", "1e-7", "-0.0"],
    ),
    ("Types.BOOLEAN()", ["true", "false"]),
    ("Types.BIG_DEC()", ["1.50", "100", '"100.00"', "1e3", '"0.0000001"', '"0.00"']),
    ("Types.BIG_INT()", ["99999999999999999999"]),
    ("Types.SQL_DATE()", ['"2020-01-02"']),
    ("Types.SQL_TIME()", ['"12:34:56Z"']),
    (
        "Types.SQL_TIMESTAMP()",
        ['"2020-01-02T12:34:00Z"', '"2020-01-02T12:34:56.123456Z"', '"2020-01-02T12:34:56.100Z"'],
    ),
    (PAIR, ['{"x":1,"y":"q"}', '{"x":null}', '{"x":1,"y":"q,r"}', "null"]),
    ("Types.LIST(Types.INT())", ["[1,null]", "[]"]),
    ("Types.BASIC_ARRAY(Types.INT())", ["[1,null]", "[]"]),
    ("Types.BASIC_ARRAY(Types.STRING())", ['["a,b","c;d","e\\"f",null]', '["a b"]', '[""]']),
    ("Types.PRIMITIVE_ARRAY(Types.INT())", ["[1,2]"]),
    (f"Types.OBJECT_ARRAY({PAIR})", ['[{"x":1,"y":"q"},null]']),
    ("Types.PRIMITIVE_ARRAY(Types.BYTE())", ['"AQI="', '"+/8="']),
    ("Types.MAP(Types.STRING(), Types.INT())", ['{"x":1,"y":null}', "{}"]),
    ("Types.MAP(Types.INT(), Types.STRING())", ['{"1":"a"}']),
]

# Calls of the builder of CSV's serialization schema.
WRITERS = ["", ".set_field_delimiter('|')", ".set_field_delimiter(';')"]
WRITERS += [".set_field_delimiter('\\t')"]
WRITERS += [".set_line_delimiter('\\r\\n')", ".set_line_delimiter('')"]
WRITERS += [".set_array_element_delimiter(':')", ".set_null_literal('n/a')"]
WRITERS += [".set_null_literal('n,a')", ".disable_quote_character()", '.set_quote_character("\'")']
WRITERS += [".set_escape_character('\\\\')", ".set_escape_character('X')"]
WRITERS += [".disable_quote_character().set_escape_character('\\\\')"]

SCHEMAS = [
    '{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"number"},"c":{"type":'
    '"string"},"d":{"type":"string","format":"date-time"},"e":{"type":"string","format":"date"},'
    '"f":{"type":"string","format":"time"},"g":{"type":"string","contentEncoding":"base64"},'
    '"h":{"type":"array","items":{"type":"integer"}},"i":{"type":"array","items":[{"type":'
    '"integer"},{"type":"string"}]},"j":{"type":"boolean"},"l":{"type":["string","null"]},'
    '"m":{"$ref":"#/definitions/q"},"n":{"oneOf":[{"type":"null"},{"type":"integer"}]},'
    '"o":{"type":"object","properties":{"z":{"type":"string"}}}},'
    '"definitions":{"q":{"type":"boolean"}}}',
    '{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}',
    '{"type":"object","properties":{"a":{"type":"string","format":"other"}}}',
    '{"properties":{"a":{"type":"string"}}}',
    '{"type":"object","properties":{"a":{"enum":["x"]}}}',
    '{"type":"object","properties":{"a":{"oneOf":[{"type":"integer"},{"type":"string"}]}}}',
    '{"type":"object","properties":{"a":{"allOf":[{"type":"integer"}]}}}',
    '{"type":"object","properties":{"a":{"$ref":"x.json"}}}',
    '{"type":"object","properties":{"a":{"type":"string","contentEncoding":"hex"}}}',
    '{"type":"object","properties":{"a":{"type":"array"}}}',
    '{"type":"foo"}',
    "x",
]


def names_of(package: str) -> dict[str, Any]:
    """Return the names of expressions, of PyFlink or PyFlow."""
    found: dict[str, Any] = {}
    for module, names in (
        ("common", ["Types"]),
        ("datastream.formats.json", ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]),
        ("datastream.formats.csv", ["CsvRowDeserializationSchema", "CsvRowSerializationSchema"]),
    ):
        loaded = import_module(f"{package}.{module}")
        found.update((name, getattr(loaded, name)) for name in names)
    return found


def json_reader(type_text: str, calls: str) -> str:
    """Return the expression of a schema that reads JSON."""
    return f"JsonRowDeserializationSchema.builder().type_info({type_text}){calls}.build()"


def json_writer(type_text: str) -> str:
    """Return the expression of a schema that writes JSON."""
    return f"JsonRowSerializationSchema.builder().with_type_info({type_text}).build()"


def csv_reader(type_text: str, calls: str) -> str:
    """Return the expression of a schema that reads CSV."""
    return f"CsvRowDeserializationSchema.Builder({type_text}){calls}.build()"


def csv_writer(type_text: str, calls: str) -> str:
    """Return the expression of a schema that writes CSV."""
    return f"CsvRowSerializationSchema.Builder({type_text}){calls}.build()"


def written_message(value: str) -> bytes:
    """Return the JSON of the row that is written."""
    return f'{{"a":{value},"b":"z"}}'.encode()
