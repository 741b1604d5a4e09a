"""Expressions over tables, whose results PyFlink has given.

Each table has columns of a name, a type in SQL, and values; each case is the text of an expression
in which a column is a variable of its name. `record_expressions.py` evaluates them with PyFlink,
`test_table_expressions.py` with PyFlow. The texts therefore use what both packages have.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

ZONE = "Europe/Berlin"

# --- Tables -----------------------------------------------------------------------------------

TABLES: dict[str, dict[str, tuple[str, list[Any]]]] = {
    "numbers": {
        "t": ("TINYINT", [1, None, -7, 127, -128, 0, 100]),
        "h": ("SMALLINT", [2, None, -30, 32767, -32768, 0, 1000]),
        "i": ("INT", [3, None, -1000, 2147483647, -2147483648, 0, 46341]),
        "b": ("BIGINT", [4, None, -5, 9223372036854775807, -9223372036854775808, 0, 1 << 40]),
        "f": ("FLOAT", [1.5, None, -2.25, 3.4028234663852886e38, -1e30, 0.0, 0.1]),
        "d": ("DOUBLE", [2.5, None, -0.75, 1.7976931348623157e308, -1e100, 0.0, 1e-5]),
        "m": (
            "DECIMAL(10, 2)",
            [
                Decimal("12.34"),
                None,
                Decimal("-0.05"),
                Decimal("99999999.99"),
                Decimal("-99999999.99"),
                Decimal("0.00"),
                Decimal("7.50"),
            ],
        ),
        "w": (
            "DECIMAL(38, 18)",
            [
                Decimal("1.000000000000000001"),
                None,
                Decimal("-2.500000000000000000"),
                Decimal("99999999999999999999.999999999999999999"),
                Decimal("-99999999999999999999.999999999999999999"),
                Decimal("0.000000000000000000"),
                Decimal("3.141592653589793238"),
            ],
        ),
        "z": ("INT NOT NULL", [3, 1, 7, -1, 2, -3, 5]),
    },
    "texts": {
        "s": (
            "STRING",
            [
                "hello world",
                None,
                "",
                "  Grüße  ",
                "a,b,,c",
                "%d_x\\y",
                "ÄÖ-ß tEST 12ab",
                "😀x\n.z",
            ],
        ),
        "p": ("STRING", ["l", "x", "", None, ",", "\\", "ß", "😀"]),
        "n": ("INT", [2, 1, 0, -3, 3, None, -1, 100]),
        "k": ("STRING", ["12", " 7 ", "abc", None, "-3.9", "1e3", "true", "2147483648"]),
        "x": ("BYTES", [b"ab", b"", None, b"\xff\x00", b"abc", b"1", b"\xc3\xa4", b"z"]),
    },
    "flags": {
        "a": ("BOOLEAN", [True, True, True, False, False, False, None, None, None]),
        "b": ("BOOLEAN", [True, False, None] * 3),
        "i": ("INT", [1, 2, None, 4, 5, 6, None, 8, 9]),
    },
    "times": {
        "y": (
            "DATE",
            [
                dt.date(2020, 2, 29),
                dt.date(1969, 12, 31),
                None,
                dt.date(2021, 3, 28),
                dt.date(2016, 1, 3),
                dt.date(2023, 10, 31),
            ],
        ),
        "q": (
            "TIME(0)",
            [
                dt.time(12, 34, 56),
                dt.time(0, 0),
                None,
                dt.time(23, 59, 59),
                dt.time(2, 30),
                dt.time(6, 7, 8),
            ],
        ),
        "ts": (
            "TIMESTAMP(3)",
            [
                dt.datetime(2020, 2, 29, 12, 34, 56, 789000),
                dt.datetime(1969, 12, 31, 23, 59, 59, 999000),
                None,
                dt.datetime(2021, 3, 28, 2, 30, 0),
                dt.datetime(2016, 1, 3, 0, 0, 0),
                dt.datetime(2023, 10, 31, 23, 15, 30, 10000),
            ],
        ),
        "us": (
            "TIMESTAMP(6)",
            [
                dt.datetime(2020, 1, 31, 12, 34, 56, 789123),
                dt.datetime(1969, 12, 1, 0, 0, 0, 1),
                dt.datetime(2000, 1, 1, 1, 1, 1),
                None,
                dt.datetime(2015, 12, 28, 23, 59, 59, 999999),
                dt.datetime(2024, 2, 29, 23, 15, 30),
            ],
        ),
        "n": ("INT", [1, -1, 5, 13, None, 0]),
    },
    "dates_in_texts": {
        "s": (
            "STRING",
            [
                "2020-02-29",
                "2020-02-30",
                "2020-2-9",
                None,
                "",
                "2021-03-28 02:30:00",
                "2021-03-28T12:30:00",
                "2020-01-01 1:2:3",
                "2020-01-01 01:02:03.123456",
                "12:34:56",
                "3:30:00",
                "abc",
                "31.12.2020",
                "2020-12-31 23:59",
                " 2020-02-29 ",
                "2021",
                "2021-5",
                "2020-13-01",
                "2020-01-32",
                "2020-01-01 24:00:00",
                "2020-01-01 01:02:60",
                "2020-06-30 11:22:33.1234567",
                "2019-10-27 02:30:00",
                "1969-12-31 23:59:59.9",
                "20200229",
                "20200230123456",
                "30.2.2020 5:6:7",
                "2020-01-01  01:02:03",
                "12:34:56.789",
                "25:00:00",
                "12:34",
            ],
        ),
    },
    "collections": {
        "a": ("ARRAY<INT>", [[3, 1, 2], [], None, [1, None, 1], [None], [5]]),
        "b": ("ARRAY<INT>", [[1, 4], [1], [1], [None, 1, 2], None, [5, 5]]),
        "s": ("ARRAY<STRING>", [["x", "y"], [""], None, ["b", None, "a"], [], ["z"]]),
        "m": ("MAP<STRING, INT>", [{"a": 1}, {}, None, {"b": None}, {"a": 2, "c": 3}, {"x": 9}]),
        "r": (
            "ROW<`id` INT, `name` STRING>",
            [(1, "one"), (2, None), None, (None, "x"), (5, ""), (6, "six")],
        ),
        "i": ("INT", [1, 2, 0, None, -1, 5]),
    },
    "json": {
        "j": (
            "STRING",
            [
                '{"a": 1, "b": {"c": [10, 20, {"d": "x"}]}, "e": null, "f": "text", "g": true}',
                '[1, 2.50, "three", null, [4]]',
                "1",
                '"str"',
                "",
                None,
                "{bad json",
                '{"a": {"a": 5}, "h": 1e5, "i": 12345678901234567890, "j": 1.0, "k": "ü\\n"}',
                "null",
                '{"a.b": [0.998, 0.996], "a": "true"}',
            ],
        ),
    },
    "groups": {
        "g": ("INT NOT NULL", [1, 1, 1, 1, 1]),
        "t": ("TINYINT", [100, 100, None, 27, -1]),
        "i": ("INT", [2147483647, 1, None, 5, 5]),
        "b": ("BIGINT", [10, 20, None, 25, 25]),
        "f": ("FLOAT", [1.5, 2.5, None, 4.0, 4.0]),
        "d": ("DOUBLE", [1.5, -2.5, None, 4.25, 4.25]),
        "m": (
            "DECIMAL(10, 2)",
            [Decimal("1.10"), Decimal("2.25"), None, Decimal("3.33"), Decimal("3.33")],
        ),
        "s": ("STRING", ["b", "a", None, "c", "c"]),
        "o": ("BOOLEAN", [True, False, None, True, True]),
        "n": ("INT", [None, None, None, None, None]),
        "y": ("DATE", [dt.date(2020, 1, 1), dt.date(2019, 1, 1), None] + [dt.date(2021, 1, 1)] * 2),
    },
}

TABLES["bitmaps"] = {
    "a": (
        "ARRAY<INT>",
        [[3, 1, 2, 3], [], None, [1, None, -4], [-1, -2147483648, 2147483647, 0], [65536, 65535]],
    ),
    "b": ("ARRAY<INT>", [[3, 4], [7], [1], [-4, 1], None, [65536, 131072, 5]]),
    "x": (
        "BYTES",
        [
            bytes.fromhex(text) if text else None
            for text in (
                "3a30000000000000",
                None,
                "3a30000002000000000001001500000018000000" "1c0000000100020005000000",
                "3b3001000100000200ffff00000100010002000100ffff0000",
                "3b300300" "05" "00000300" "01000000" "02000200" "09000000"
                "25000000" "2b000000" "2d000000" "33000000"
                "010003000300" "0700" "010005000200" "ffff",
                "3a3000000100000000000000100000000700" "abcd",
            )
        ],
    ),
    "h": ("ARRAY<SMALLINT>", [[3, -3], [], None, [None], [7], [9]]),
    "l": ("ARRAY<BIGINT>", [[3], [], None, [None], [7], [9]]),
    "i": ("INT", [1, 2, 0, None, -1, 5]),
}  # fmt: skip
TABLES["bitmap_groups"] = {
    "g": ("INT NOT NULL", [1, 1, 1, 1, 2, 2, 2, 3, 4]),
    "i": ("INT", [5, -1, 5, None, 1, 65536, 2147483647, None, -2147483648]),
    "h": ("SMALLINT", [5, -1, 5, None, 1, 2, 3, None, -32768]),
    "l": ("BIGINT", [5, -1, 5, None, 1, 2, 3, None, 9]),
    "a": (
        "ARRAY<INT>",
        [[1, 2, -3], [2, -3, 7], [2, -3], None, [1], [2], [2], None, []],
    ),
}

TABLES["mixed"] = {
    **TABLES["numbers"],
    **{
        name: (kind, values[:7])
        for name, (kind, values) in TABLES["texts"].items()
        if name in "spk"
    },
    **{
        name: (kind, [*values, values[0]])
        for name, (kind, values) in TABLES["times"].items()
        if name in ("y", "ts", "us")
    },
    "o": ("BOOLEAN", [True, False, None, True, False, None, True]),
    "c": ("BOOLEAN", [True, True, False, None, False, None, False]),
    "a": ("ARRAY<INT>", [[3, 1, 2], [], None, [1, None, 1], [None], [5], [7, 7]]),
}
TABLES["mixed_groups"] = {"g": ("INT NOT NULL", [1, 2, 1, 1, 2, 1, 2]), **TABLES["mixed"]}

_NUMBERS_OF_TYPES = {
    "t": "TINYINT", "h": "SMALLINT", "i": "INT NOT NULL", "b": "BIGINT", "f": "FLOAT",
    "d": "DOUBLE", "d1": "DECIMAL(10, 2)", "d2": "DECIMAL(5, 0)", "d3": "DECIMAL(38, 18)",
    "d4": "DECIMAL(20, 10) NOT NULL", "d5": "DECIMAL(38, 0)", "d6": "DECIMAL(1, 1)",
    "d7": "DECIMAL(38, 37)", "d8": "DECIMAL(19, 4)",
}  # fmt: skip
_OTHER_TYPES = {
    "s": "STRING", "c": "CHAR(3)", "v": "VARCHAR(5)", "o": "BOOLEAN NOT NULL", "y": "DATE",
    "q": "TIME(0)", "ts": "TIMESTAMP(3)", "us": "TIMESTAMP(6) NOT NULL", "tz": "TIMESTAMP_LTZ(3)",
}  # fmt: skip
TABLES["types"] = {name: (kind, []) for name, kind in (_NUMBERS_OF_TYPES | _OTHER_TYPES).items()}
TABLES["types_groups"] = {"g": ("INT NOT NULL", []), **TABLES["types"]}

# --- Cases ------------------------------------------------------------------------------------

_TYPES = ["t", "h", "i", "b", "f", "d", "m", "w"]
_TARGETS = [
    "TINYINT()", "SMALLINT()", "INT()", "BIGINT()", "FLOAT()", "DOUBLE()", "DECIMAL(10, 2)",
    "DECIMAL(5, 1)", "DECIMAL(20, 0)", "STRING()", "BOOLEAN()", "CHAR(3)", "VARCHAR(4)",
]  # fmt: skip
_UNITS = ["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"]

NUMBERS = [
    *(f"{left} {sign} {right}" for left in _TYPES for right in _TYPES for sign in "+-*"),
    *(f"{left} {sign} z" for left in _TYPES for sign in "/%"),
    *(f"{left} / 7" for left in _TYPES),
    *(f"z / {right}.if_null(3)" for right in ("f", "d")),
    *(f"z % {right}.if_null(3)" for right in ("f", "d")),
    *(f"{each}.{name}" for each in _TYPES for name in ("abs", "sign", "floor()", "ceil()")),
    *(f"-{each}" for each in _TYPES),
    *(f"{each}.round({n})" for each in _TYPES for n in (0, 1, 2, -1, -3)),
    *(f"{each}.truncate({n})" for each in _TYPES for n in (0, 1, -1)),
    *(f"{left} {sign} {right}" for left in _TYPES for right in ("i", "d", "m", "w")
      for sign in ("==", "<")),
    *(f"{left} {sign} z" for left in "tibdm" for sign in ("!=", ">", ">=", "<=")),
    *(f"{each}.cast(DataTypes.{target})" for each in _TYPES for target in _TARGETS),
    *(f"{each}.{name}" for each in ("i", "d", "m") for name in (
        "exp", "log10", "log2", "ln", "log()", "log(2)", "sqrt", "sin", "cos", "tan", "cot",
        "asin", "acos", "atan", "sinh", "cosh", "tanh", "degrees", "radians")),
    "d ** 2", "2 ** z", "i ** 0.5", "atan2(d, 2)", "pi()", "e()", "log(d, 3)",
    "i.bin", "b.bin", "t.hex", "b.hex", "i.between(0, 5)", "d.between(z, 10)", "m.between(0, d)",
    "i.not_between(0, 5)", "i.in_(3, 0, 7)", "i.in_(3, null_of(DataTypes.INT()))",
    "t.in_(1, 1000)", "d.in_(2.5, 0)", "i.if_null(0)", "i.if_null(b)", "i.if_null(1.5)",
    "t.if_null(1000)", "coalesce(i, b, 1)", "coalesce(t, m)", "coalesce(f, d)", "coalesce(i, f)",
    "coalesce(m, d)", "coalesce(m, f)", "coalesce(m, w)", "coalesce(m, b)",
    "if_then_else(i > 0, t, b)", "(i > 0).then('yes', 'no way')", "(i > 0).then('a', null_of("
    "DataTypes.STRING()))", "if_then_else(i > 0, m, 1)", "(d > 0).then(1, 2.5)",
    "array(t, i, b)", "array(1, 2.5)", "array(i, m)", "map_('a', t, 'b', i)", "row(t, 'x', m)",
    "i + 1", "1 + i", "i - 1", "1 - i", "2 * i", "7 / z", "7 % z", "i / 2", "i * 1.5",
    "m + 1", "m * 2", "m / 3", "w * w", "w / m.if_null(2).cast(DataTypes.DECIMAL(3, 0)).sign.abs",
    "abs(i)", "negative(i)", "i.cast(DataTypes.STRING()) + 'x'", "'x' + m.cast(DataTypes.STRING())",
    "lit(1.23).sign", "lit(646.646).round(2)", "lit(5).cast(DataTypes.BIGINT()) * 3",
    "i.inet_ntoa()", "b.inet_ntoa()", "i.chr", "b.chr", "z.chr",
    "i.cast(DataTypes.BOOLEAN())", "i.is_null", "i.is_not_null",
    "b.try_cast(DataTypes.INT())", "d.try_cast(DataTypes.TINYINT())",
    "to_timestamp_ltz(i, 0).cast(DataTypes.STRING())",
    "to_timestamp_ltz(i, 3).cast(DataTypes.STRING())",
    "to_timestamp_ltz(z).cast(DataTypes.STRING())", "from_unixtime(i)",
    "from_unixtime(z, 'yyyy/MM/dd HH')", "json_string(d)", "json_string(f)", "json_string(m)",
    "json_string(i)", "json_string(w)",
    "json_object(JsonOnNull.NULL, 'i', i, 'd', d, 'x', 'y')",
    "json_object(JsonOnNull.ABSENT, 'i', i)", "json_array(JsonOnNull.NULL, i, m)",
    "json_array(JsonOnNull.ABSENT, i, 'a')", "json_object(JsonOnNull.NULL)",
    "i.cast(DataTypes.BIGINT()).cast(DataTypes.SMALLINT())", "i + z.days", "z.hours", "i.months",
]  # fmt: skip

TEXTS = [
    *(f"s.{name}" for name in (
        "upper_case", "lower_case", "init_cap", "char_length", "reverse", "ascii", "to_base64",
        "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha2(256)", "hex", "trim()",
        "ltrim()", "rtrim()", "btrim()", "trim_leading()", "trim_trailing()", "url_encode()",
        "json_quote()", "is_json()", "is_null", "unhex", "inet_aton()", "url_decode()")),
    *(f"s.{name}" for name in (
        "trim(p)", "ltrim(p)", "rtrim(p)", "btrim('hd ')", "trim_leading('h')",
        "trim_trailing('d')", "trim('hlo')", "position('o')", "instr(p)", "instr('o')",
        "starts_with(p)", "ends_with(p)", "starts_with('')", "like('%o%')", "like('h_llo%')",
        "like('%\\\\\\\\%')", "like('#%d%', '#')", "like('%_x%')", "like(p)", "similar('%(o|b)+%')",
        "similar('[a-z ]+')", "similar('_*')", "similar('[^a]%')", "regexp('[ao]')", "regexp('')",
        "regexp('^a.*c$')", "regexp_replace('[a-z]', '$0\\\\')", "regexp_replace('l+', 'L')",
        "regexp_replace('', 'x')", "regexp_extract('(l+)(o)', 2)", "regexp_extract('l(x)?', 1)",
        "regexp_extract('[a-z]+')", "regexp_extract('(a)', -1)", "regexp_extract_all('([a-z])')",
        "regexp_extract_all('[a-z]+', 0)", "regexp_count('[a-z]')", "regexp_count('')",
        "regexp_instr('o|b')", "regexp_instr('')", "regexp_substr('[A-Za-z]+')",
        "replace('l', 'LL')", "replace('', '-')", "replace(p, 'z')", "translate('lo', '01')",
        "translate('lo', '0')", "translate(p, 'q')", "translate('', 'q')", "split(',')",
        "split('')", "split(p)", "split_index(',', 1)", "split_index(',', n)", "split_index(p, 0)",
        "split_index(' ', -1)", "split_index('', 1)", "repeat(2)", "repeat(n)", "left(2)",
        "left(n)", "right(2)", "right(n)", "substring(2)", "substring(2, 3)", "substring(n)",
        "substring(n, 2)", "substring(1, n)", "substring(-3)", "substring(-3, 2)", "substring(0, 2)",
        "substr(2, n)", "lpad(5, 'xy')", "lpad(n, '*')", "rpad(14, 'xy')", "rpad(n, p)",
        "lpad(3, '')", "overlay('XX', 2)", "overlay('XX', 2, 4)", "overlay('XX', n)",
        "overlay('XX', 2, n)", "overlay('', 1, 2)", "concat(p)", "concat(s)", "str_to_map()",
        "str_to_map(',', '=')", "encode('UTF-8')", "encode('UTF-16BE')", "sha2(n)", "sha2(100)")),
    *(f"p.position({each})" for each in ("s", "'axl'")),
    *(f"p.locate({each})" for each in ("s", "s, 4", "s, n", "s, 0")),
    "s + p", "s + n", "'<' + s + '>'", "concat(s, p, 'x')", "concat_ws('-', s, p)",
    "concat_ws(p, s, 'x')", "concat_ws(null_of(DataTypes.STRING()), s)", "s == p", "s < p",
    "s != 'hello world'", "s.between('a', 'i')", "s.in_('', 'a,b,,c')", "s.if_null('?')",
    "coalesce(p, s, 'z')", "n.elt(s, p)", "n.elt('a', 'b', 'c')", "(n > 0).then(s, 'x')",
    "x.to_base64" if False else "x.cast(DataTypes.STRING())", "x.decode('UTF-8')",
    "x.starts_with(x)", "lit('aGk=').from_base64", "lit('http://u:p@h.com:80/a/b?q=1&r=a%20b#f')"
    ".parse_url('HOST')", "s.parse_url('HOST')", "lit('www.h.com/a').parse_url('PATH')",
    *(f"lit('http://u:p@h.com:80/a/b?q=1&r=a%20b#f').parse_url('{part}')" for part in (
        "PATH", "QUERY", "REF", "PROTOCOL", "AUTHORITY", "FILE", "USERINFO", "NONE")),
    "lit('http://h.com/a').parse_url('QUERY')", "lit('http://h.com/a').parse_url('REF')",
    "lit('http://h.com').parse_url('PATH')",
    "lit('http://h.com?q=1&r=2').parse_url('QUERY', 'r')",
    "lit('http://h.com?q=1&r=2').parse_url('QUERY', 'x')",
    "lit('a=1,b=2,a=3,c').str_to_map()", "lit('a:1;b:2').str_to_map(';', ':')",
    "lit('%s-%d-%5.2f').printf(s, n, 1.5)", "lit('%s').printf(p)",
    "lit('4D7953514C').unhex", "lit('ABC').unhex", "lit('xyz').unhex", "lit('').unhex",
    *(f"lit('{address}').inet_aton()" for address in (
        "127.0.0.1", "127.1", "1.2.3", "255.255.255.255", "256.1.1.1", "1", "300", "a.b", "1..2",
        "1.2.3.4.5", " 1.2.3.4", "01.02.03.04", "1.2.3.4.")),
    *(f"lit({text!r}).json_unquote()" for text in ('"a\\nb"', '"\\u00e4"', "plain", '""', '"')),
    "lit('a+b%20c%C3%A4').url_decode()", "lit('%zz').url_decode()", "lit('a b/ä&=*~').url_encode()",
    "json_string(s)", "json_string(x)", "json_object(JsonOnNull.NULL, 'k\"', s)",
    "json_array(JsonOnNull.NULL, s, p)", "json_string(n > 0)",
    *(f"k.try_cast(DataTypes.{target})" for target in _TARGETS if "STRING" not in target),
    *(f"lit('{text}').cast(DataTypes.{target})" for text, target in (
        ("12", "INT()"), (" 12 ", "INT()"), ("-0", "INT()"), ("+5", "INT()"), ("1.9", "INT()"),
        ("-1.9", "BIGINT()"), ("1.5", "DOUBLE()"), ("NaN", "DOUBLE()"), ("Infinity", "DOUBLE()"),
        ("1e400", "DOUBLE()"), ("12.345", "DECIMAL(5, 2)"), ("123456", "DECIMAL(5, 2)"),
        ("TRUE", "BOOLEAN()"), ("t", "BOOLEAN()"), ("0", "BOOLEAN()"), ("no", "BOOLEAN()"),
        ("abcdef", "CHAR(3)"), ("a", "CHAR(3)"), ("abcdef", "VARCHAR(3)"), ("ab", "BYTES()"),
        ("abc", "BINARY(2)"), ("a", "BINARY(2)"))),
    "s.cast(DataTypes.VARCHAR(4))", "s.cast(DataTypes.CHAR(4))", "s.cast(DataTypes.BYTES())",
    "s.cast(DataTypes.STRING())", "lit('abc')", "lit('')", "lit(1)", "lit(2147483648)",
    "lit(True)", "lit(1.5)", "null_of(DataTypes.INT())", "lit(12).cast(DataTypes.STRING())",
]  # fmt: skip

FLAGS = [
    "a & b", "a | b", "~a", "a.is_true", "a.is_false", "a.is_not_true", "a.is_not_false", "a.is_null",
    "a.is_not_null", "not_(a)", "and_(a, b, True)", "or_(a, b, False)", "and_(a, b)", "a == b",
    "a != b", "a < b", "a & True", "a | False", "True & a", "(i > 4) & a", "~(i > 4)",
    "(i > 4).is_not_false", "if_then_else(a, 1, 2)", "a.then(i, 0)", "a.if_null(b)", "a.in_(b)",
    "a.in_(True, b)", "a.cast(DataTypes.STRING())", "a.cast(DataTypes.INT())",
    "a.cast(DataTypes.DOUBLE())", "a.cast(DataTypes.DECIMAL(5, 2))", "coalesce(a, b)",
    "a.cast(DataTypes.CHAR(2))", "json_string(a)", "i.in_(1, 2, 3)", "(i % 2 == 0) | (i == 5)",
    "i.between(2, 5)", "~i.between(2, 5)", "and_(i > 1, i < 6)",
]  # fmt: skip

TIMES = [
    *(f"{each}.extract(TimeIntervalUnit.{unit})" for each in ("y", "ts", "us", "q") for unit in _UNITS),
    *(f"{each}.{way}(TimeIntervalUnit.{unit})" for each in ("y", "ts", "us", "q")
      for way in ("floor", "ceil") for unit in _UNITS),
    *(f"ts.cast(DataTypes.TIMESTAMP_LTZ(3)).{way}(TimeIntervalUnit.{unit})"
      ".cast(DataTypes.STRING())" for way in ("floor", "ceil") for unit in _UNITS),
    *(f"timestamp_diff(TimePointUnit.{unit}, {pair})" for unit in (
        "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER", "WEEK")
      for pair in ("ts, us", "us, ts", "y, ts", "ts, y", "y, us.cast(DataTypes.DATE())")),
    *(f"{each}.cast(DataTypes.{target})" for each in ("y", "q", "ts", "us") for target in (
        "STRING()", "DATE()", "TIME()", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(0)", "INT()",
        "VARCHAR(10)")),
    "ts.cast(DataTypes.TIMESTAMP_LTZ(3)).cast(DataTypes.STRING())",
    "us.cast(DataTypes.TIMESTAMP_LTZ(6)).cast(DataTypes.TIMESTAMP(6))",
    "y.cast(DataTypes.TIMESTAMP_LTZ(3)).cast(DataTypes.STRING())",
    "ts.cast(DataTypes.TIMESTAMP_LTZ(3)).cast(DataTypes.DATE())",
    "ts.cast(DataTypes.TIMESTAMP_LTZ(3)).cast(DataTypes.TIME())",
    "ts.cast(DataTypes.TIMESTAMP_LTZ(3)) == ts", "ts.cast(DataTypes.TIMESTAMP_LTZ(3)) < us",
    "ts.cast(DataTypes.TIMESTAMP_LTZ(3)) == ts.cast(DataTypes.TIMESTAMP_LTZ(0))",
    "ts == us", "ts < us", "y == y", "y < ts.cast(DataTypes.DATE())", "ts == y", "q == q", "q < q",
    "y.between(y, y)", "ts.if_null(us)", "coalesce(ts, us)", "coalesce(y, ts)",
    *(f"{each} {sign} lit(3).{unit}" for each in ("y", "ts", "us", "q") for sign in "+-"
      for unit in ("years", "quarters", "months", "weeks", "days", "hours", "minutes", "seconds",
                   "millis")),
    "ts + n.days", "ts + n.months", "ts - n.hours", "y + n.days", "y - n.months", "lit(1).day + ts",
    "ts + lit(1).day * 2", "ts + (lit(1).day + lit(2).hours)",
    "(ts.cast(DataTypes.TIMESTAMP_LTZ(3)) + lit(1).day).cast(DataTypes.STRING())",
    "(ts.cast(DataTypes.TIMESTAMP_LTZ(3)) + lit(1).month).cast(DataTypes.STRING())",
    "lit(90).minutes.cast(DataTypes.STRING())", "lit(-100).hours.cast(DataTypes.STRING())",
    "lit(14).months.cast(DataTypes.STRING())", "lit(90).minutes.extract(TimeIntervalUnit.MINUTE)",
    "lit(26).hours.extract(TimeIntervalUnit.DAY)", "lit(26).hours.extract(TimeIntervalUnit.HOUR)",
    "lit(14).months.extract(TimeIntervalUnit.YEAR)", "lit(14).months.extract(TimeIntervalUnit.MONTH)",
    "lit(90).minutes > lit(1).hour", "lit(90).minutes == lit(5400).seconds",
    *(f"date_format({each}, '{pattern}')" for each in ("ts", "us") for pattern in (
        "yyyy-MM-dd HH:mm:ss.SSS", "yyyyMMdd", "dd.MM.yy", "EEE MMM d", "h:mm a", "D", "yyyy-MM-dd''T''HH"
        .replace("''", "\\'"))),
    "date_format(ts.cast(DataTypes.TIMESTAMP_LTZ(3)), 'yyyy-MM-dd HH:mm')",
    "date_format(ts.cast(DataTypes.STRING()), 'yyyy/MM')",
    "temporal_overlaps(ts, lit(1).hour, us, lit(2).days)",
    "temporal_overlaps(ts, lit(5).years.cast(DataTypes.STRING()).is_null.then(us, us), us, lit(1).day)",
    "temporal_overlaps(q, lit(1).hour, lit('3:30:00').to_time, lit(2).hours)",
    "temporal_overlaps(y, lit(1).day, y, lit(-2).days)",
    "convert_tz('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')",
    "convert_tz(ts.cast(DataTypes.TIMESTAMP(0)).cast(DataTypes.STRING()), 'Europe/Berlin', 'UTC')",
    "convert_tz('abc', 'UTC', 'UTC')", "json_string(ts)", "json_string(y)", "json_string(us)",
    "json_string(q)", "json_string(ts.cast(DataTypes.TIMESTAMP_LTZ(3)))",
    "lit('2016-06-15').to_date", "lit('3:30:00').to_time", "lit('2016-06-15 3:30:00.001').to_timestamp",
    "array(y, y)", "ts.is_null", "y.in_(y, lit('2020-02-29').to_date)",
    "unix_timestamp(date_format(ts, 'yyyy-MM-dd HH:mm:ss'))",
    "to_timestamp_ltz(1234567890, 0).cast(DataTypes.STRING())",
    "to_timestamp_ltz(1234567890123, 3).cast(DataTypes.STRING())",
    "to_timestamp_ltz(1234567890123456, 6).cast(DataTypes.STRING())",
    "to_timestamp_ltz('2023-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss', 'Asia/Shanghai')"
    ".cast(DataTypes.STRING())",
    "to_timestamp_ltz('01/01/2023', 'MM/dd/yyyy').cast(DataTypes.STRING())",
]  # fmt: skip

DATES_IN_TEXTS = [
    "to_date(s)", "to_timestamp(s)", "to_timestamp_ltz(s).cast(DataTypes.STRING())",
    # What is no date is one far away in Flink.
    *(f"(to_date(s, '{pattern}') < lit('9999-12-31').to_date).then(to_date(s, '{pattern}'), "
      "null_of(DataTypes.DATE()))" for pattern in (
        "yyyy-MM-dd", "dd.MM.yyyy", "yyyy-MM-dd HH:mm:ss", "yyyyMMdd", "d.M.y")),
    *(f"to_timestamp(s, '{pattern}')" for pattern in (
        "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd", "dd.MM.yyyy", "yyyy-MM-dd HH:mm", "HH:mm:ss",
        "yyyyMMdd", "yyyyMMddHHmmss", "d.M.y H:m:s", "yyyy", "yyyy-M",
        "yyyy-MM-dd HH:mm:ss.SSSSSSS", "yyyy-MM-dd HH:mm:ss.S", "HH:mm:ss.SSS")),
    "to_timestamp(s, 'yyyy-MM-dd\\'T\\'HH:mm:ss')",
    *(f"unix_timestamp(s{pattern})" for pattern in (
        "", ", 'yyyy-MM-dd'", ", 'dd.MM.yyyy'", ", 'yyyyMMdd'", ", 'yyyyMMddHHmmss'",
        ", 'd.M.yyyy H:m:s'", ", 'HH:mm:ss'", ", 'yyyy-MM-dd HH:mm'", ", 'yyyy'")),
    *(f"to_timestamp_ltz(s, '{pattern}').cast(DataTypes.STRING())" for pattern in (
        "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd", "dd.MM.yyyy")),
    "to_timestamp_ltz(s, 'yyyy-MM-dd HH:mm:ss', 'Asia/Tokyo').cast(DataTypes.STRING())",
    *(f"s.try_cast(DataTypes.{target})" for target in (
        "DATE()", "TIME()", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(0)")),
    "s.try_cast(DataTypes.TIMESTAMP_LTZ(3)).cast(DataTypes.STRING())",
    "convert_tz(s, 'UTC', 'Asia/Tokyo')", "convert_tz(s, 'Europe/Berlin', 'No/Where')",
    "date_format(s, 'yyyy-MM')", "date_format(s, 'yyyy-MM-dd HH:mm:ss.SSS')",
]  # fmt: skip

COLLECTIONS = [
    *(f"a.{name}" for name in (
        "cardinality", "at(1)", "at(2)", "at(9)", "at(i.abs + 1)", "array_distinct()",
        "array_reverse()", "array_max()", "array_min()", "array_sort()", "array_sort(True)",
        "array_sort(False)", "array_sort(True, False)", "array_sort(False, True)",
        "array_contains(1)", "array_contains(i)", "array_contains(null_of(DataTypes.INT()))",
        "array_position(1)", "array_position(i)", "array_remove(1)", "array_remove(i)",
        "array_remove(null_of(DataTypes.INT()))", "array_append(7)", "array_append(i)",
        "array_prepend(7)", "array_prepend(i)", "array_append(null_of(DataTypes.INT()))",
        "array_slice(1)", "array_slice(2, 3)", "array_slice(-2)", "array_slice(0, 1)",
        "array_slice(-2, -1)", "array_slice(2, 1)", "array_slice(i)", "array_slice(1, i)",
        "array_slice(-9, 2)", "array_union(b)", "array_concat(b)", "array_except(b)",
        "array_intersect(b)", "is_null", "cast(DataTypes.STRING())",
        "cast(DataTypes.ARRAY(DataTypes.BIGINT()))", "cast(DataTypes.ARRAY(DataTypes.STRING()))")),
    "a[1]", "s.array_join('-')", "s.array_join('-', '?')", "s.array_join('')", "s.array_max()",
    "s.array_contains('x')", "s.array_append('q')", "s.at(1).upper_case", "s.array_sort()",
    "s.cardinality", "s.cast(DataTypes.STRING())", "m.cardinality", "m.at('a')", "m['b']",
    "m.map_keys.array_sort()", "m.map_values.cardinality", "m.map_entries", "m.map_union(m)",
    "m.map_union(map_('a', 7, 'q', 8))", "m.cast(DataTypes.STRING())", "m.is_null",
    "r.id", "r.name", "r.get('id')", "r.get(1)", "r.get('name').upper_case",
    "r.cast(DataTypes.STRING())", "r.is_null", "r.id + 1", "a == b", "a == a", "m == m", "r == r",
    "array(1, 2, null_of(DataTypes.INT()))", "array(a, b)", "map_('x', i, 'y', 2)",
    "map_('x', 1, 'x', 2)", "row(i, 'a')", "row(i, 'a').get('f0')",
    "map_from_arrays(array('a', 'b'), array(i, 2))", "map_from_arrays(s, s)",
    "json_string(a)", "json_string(s)", "json_string(m)", "json_string(r)",
    "json_object(JsonOnNull.NULL, 'a', a, 'r', r)", "json_array(JsonOnNull.NULL, json_array("
    "JsonOnNull.NULL, i), json_object(JsonOnNull.NULL, 'x', s))",
    "array(5).element", "array(i).element", "coalesce(a, b)", "(i > 0).then(a, b)", "a.if_null(b)",
    "array(1, 2).array_append(3000000000)", "array(1, 2).array_union(array(3000000000))",
    "array(1.5, 2).array_contains(2)", "array(1, 2).array_concat(b)", "array(1).array_except(b)",
]  # fmt: skip

_PATHS = [
    "$", "$.a", "$.b.c", "$.b.c[1]", "$.b.c[2].d", "$.b.c[*]", "$.e", "$.f", "$.g", "$.x", "$[0]",
    "$[3]", "$..d", "$.a.a", "$.h", "$.i", "$.j", "$.k", "$[\"a.b\"][0]", "$.b.c[-1]", "$.*",
    "$.b.c[0:2]", "$.b[\"c\"]",
]  # fmt: skip
_MODES = ["", "lax ", "strict "]
JSON = [
    *(f"j.is_json({kind})" for kind in (
        "", "JsonType.VALUE", "JsonType.SCALAR", "JsonType.ARRAY", "JsonType.OBJECT")),
    *(f"j.json_exists('{mode}{path}')" for mode in _MODES for path in _PATHS),
    *(f"j.json_value('{mode}{path}')" for mode in _MODES for path in _PATHS),
    *(f"j.json_query('{mode}{path}')" for mode in _MODES for path in _PATHS),
    *(f"j.json_exists('{mode}$.x', JsonExistsOnError.{each})" for mode in _MODES
      for each in ("TRUE", "FALSE", "UNKNOWN")),
    *(f"j.json_value('{mode}$.a', DataTypes.{each})" for mode in _MODES for each in (
        "STRING()",)),
    "j.json_value('lax $.h', DataTypes.DOUBLE())", "j.json_value('lax $.g', DataTypes.BOOLEAN())",
    "j.json_value('lax $.b.c[0]', DataTypes.INT())",
    *(f"j.json_value('{mode}$.x', DataTypes.STRING(), JsonValueOnEmptyOrError.DEFAULT, 'empty', "
      "JsonValueOnEmptyOrError.DEFAULT, 'error')" for mode in _MODES),
    *(f"j.json_value('{mode}$.b', DataTypes.STRING(), JsonValueOnEmptyOrError.DEFAULT, 'empty', "
      "JsonValueOnEmptyOrError.DEFAULT, 'error')" for mode in _MODES),
    *(f"j.json_query('{mode}{path}', JsonQueryWrapper.{wrapper}, JsonQueryOnEmptyOrError.{empty}, "
      f"JsonQueryOnEmptyOrError.{error})" for mode in _MODES for path in ("$.a", "$.b", "$.x", "$")
      for wrapper in ("WITHOUT_ARRAY", "CONDITIONAL_ARRAY", "UNCONDITIONAL_ARRAY")
      for empty, error in (("EMPTY_ARRAY", "EMPTY_OBJECT"), ("NULL", "EMPTY_ARRAY"))),
    "json_object(JsonOnNull.NULL, 'n', json('{\"x\": [1, 2.50]}'))",
    "json_array(JsonOnNull.NULL, json('[1]'))", "json_string(j)",
]  # fmt: skip

_ALL = ["t", "i", "b", "f", "d", "m"]
GROUPS = [
    *(f"{each}.{name}" for each in [*_ALL, "n"] for name in (
        "sum", "sum0", "min", "max", "count", "avg", "stddev_pop", "stddev_samp", "var_pop",
        "var_samp")),
    *(f"{each}.{name}.distinct" for each in _ALL for name in ("sum", "avg", "count", "min", "max")),
    *(f"{each}.{name}" for each in ("s", "o", "y") for name in ("min", "max", "count")),
    "i.first_value", "s.last_value", "n.first_value", "s.list_agg()", "s.list_agg('-')",
    "s.list_agg().distinct", "s.collect", "i.collect", "s.array_agg", "i.array_agg", "n.array_agg",
    "n.collect", "n.list_agg() if False else s.count.distinct", "d.percentile(0.5)",
    "i.percentile(0.25)", "d.percentile(array(0.0, 0.5, 1.0))", "d.percentile(0.5, b)",
    "n.percentile(0.5)", "i.sum + 1", "i.sum + i.count", "(d.sum / 2).round(1)", "i.max - i.min",
    "json_array_agg(JsonOnNull.NULL, s)", "json_array_agg(JsonOnNull.ABSENT, s)",
    "json_array_agg(JsonOnNull.NULL, d)",
]  # fmt: skip

_BITS = ("bitmap_and", "bitmap_or", "bitmap_xor", "bitmap_andnot")
BITMAPS = [
    *(f"{each}.bitmap_build()" for each in "abhli"), "x.bitmap_from_bytes()",
    *(f"{bitmap}.{name}" for bitmap in ("a.bitmap_build()", "x.bitmap_from_bytes()") for name in (
        "bitmap_to_array()", "bitmap_to_bytes()", "bitmap_to_string()", "bitmap_cardinality()",
        "bitmap_to_bytes().bitmap_from_bytes()", "cast(DataTypes.STRING())",
        "cast(DataTypes.VARCHAR(4))", "cast(DataTypes.CHAR(12))", "cast(DataTypes.BYTES())",
        "cast(DataTypes.VARBINARY(5))", "cast(DataTypes.BINARY(12))", "cast(DataTypes.BINARY(4))",
        "try_cast(DataTypes.STRING())", "cast(DataTypes.INT())",
        "cast(DataTypes.ARRAY(DataTypes.INT()))", "is_null", "if_null(b.bitmap_build())")),
    *(f"a.bitmap_build().{name}(b.bitmap_build())" for name in _BITS),
    *(f"b.bitmap_build().{name}(a.bitmap_build())" for name in _BITS),
    *(f"x.bitmap_from_bytes().{name}(a.bitmap_build()).bitmap_to_bytes()" for name in _BITS),
    *(f"a.bitmap_build().{name}(b)" for name in _BITS),
    *(f"a.bitmap_build() {sign} b.bitmap_build()" for sign in ("==", "!=")),
    "a.bitmap_build() == a.bitmap_build().bitmap_or(a.bitmap_build())",
    "array(a.bitmap_build(), b.bitmap_build())", "row(i, a.bitmap_build())",
    "map_('k', a.bitmap_build())",
    "(i > 0).then(a.bitmap_build(), b.bitmap_build())",
    "coalesce(a.bitmap_build(), b.bitmap_build())", "array(1, 2, i).bitmap_build()",
    "call_sql('CAST(x AS BITMAP)')", "call_sql('CAST(a AS BITMAP)')",
    "call_sql(\"CAST('{1,2}' AS BITMAP)\")", "call_sql('CAST(NULL AS BITMAP)')",
    "x.bitmap_to_bytes()", "i.bitmap_cardinality()",
    "a.bitmap_from_bytes()", "a.bitmap_to_array()",
]  # fmt: skip

_OF_BITMAPS = ("or", "and", "xor")
BITMAP_GROUPS = [
    *(f"{each}.bitmap_build_{name}" for each in "ihla" for name in ("agg()", "cardinality_agg()")),
    *(f"i.bitmap_build_{name}.distinct" for name in ("agg()", "cardinality_agg()")),
    *(f"a.bitmap_build().bitmap_{kind}_{name}{end}" for kind in _OF_BITMAPS
      for name in ("agg()", "cardinality_agg()") for end in ("", ".distinct")),
    *(f"a.bitmap_{kind}_agg()" for kind in _OF_BITMAPS),
    "i.bitmap_build_agg().bitmap_or(a.bitmap_build().bitmap_or_agg())",
    "i.bitmap_build_agg().bitmap_to_bytes()", "a.bitmap_build().count",
    *(f"a.bitmap_build().{name}" for name in (
        "min", "max", "first_value", "last_value", "array_agg", "count.distinct")),
]  # fmt: skip

_DECIMALS = [name for name in _NUMBERS_OF_TYPES if name.startswith("d")]
TYPES = [
    *(f"{left} {sign} {right}" for left in _NUMBERS_OF_TYPES for right in _NUMBERS_OF_TYPES
      for sign in "+-*/%"),
    *(f"{left} {sign} {right}" for left in _OTHER_TYPES for right in _OTHER_TYPES for sign in "+-"),
    *(f"{each} {sign} {literal}" for each in _NUMBERS_OF_TYPES for sign in "+*/"
      for literal in ("2", "2.5", "3000000000")),
    *(f"{form}({left}, {right})" for form in ("coalesce", "o.then") for kinds in (
        _NUMBERS_OF_TYPES, _OTHER_TYPES) for left in kinds for right in kinds),
    *(f"{left} == {right}" for left in ("i", "d1", "s", "y", "ts", "o") for right in (
        *_NUMBERS_OF_TYPES, *_OTHER_TYPES)),
    *(f"array({left}, {right})" for left in ("i", "d1", "c") for right in (
        *_NUMBERS_OF_TYPES, *_OTHER_TYPES)),
    *(f"{each}.{name}({places})" for each in _NUMBERS_OF_TYPES for name in ("round", "truncate")
      for places in ("", 0, 1, 2, 12, -1, -3, -40, "i") if name == "truncate" or places != ""),
    *(f"{each}.{name}" for each in _NUMBERS_OF_TYPES for name in (
        "floor()", "ceil()", "abs", "sign", "exp", "power(2)", "if_null(0)", "if_null(1.5)")),
    *(f"-{each}" for each in _NUMBERS_OF_TYPES),
]  # fmt: skip
TYPES_GROUPS = [
    *(f"{each}.{name}" for each in (*_NUMBERS_OF_TYPES, *_OTHER_TYPES) for name in (
        "sum", "sum0", "avg", "min", "max", "count", "stddev_pop", "var_samp", "first_value",
        "collect", "array_agg", "sum.distinct")),
    *(f"{each}.sum {sign} 1" for each in _DECIMALS for sign in "+*/"),
    *(f"{each}.avg {sign} {each}.max" for each in _DECIMALS for sign in "+-*/"),
]  # fmt: skip

CASES: dict[str, list[str]] = {
    "numbers": NUMBERS,
    "texts": TEXTS,
    "flags": FLAGS,
    "times": TIMES,
    "dates_in_texts": DATES_IN_TEXTS,
    "collections": COLLECTIONS,
    "json": JSON,
    "groups": GROUPS,
    "bitmaps": BITMAPS,
    "bitmap_groups": BITMAP_GROUPS,
    "types": TYPES,
    "types_groups": TYPES_GROUPS,
}


# Tables of which the types of results are recorded, without values.
TYPES_ONLY = ("types", "types_groups")


def is_grouped(name: str) -> bool:
    """Return whether the cases of a table are aggregates, over the groups of its column ``g``."""
    return name.endswith("groups")


def count_of_results(name: str) -> int:
    """Return how many rows the cases of a table give."""
    _, values = next(iter(TABLES[name].values()))
    if not is_grouped(name):
        return len(values)
    return len(set(TABLES[name]["g"][1]))


# Tables whose results were recorded with timestamps and collections as they are.
_AS_THEY_ARE = ("numbers", "texts", "flags", "groups", "json")


def is_taken_as_text(name: str, data_type: str) -> bool:
    """Return whether the results of a type are compared as texts."""
    kinds = ("TIMESTAMP", "ARRAY", "MAP", "MULTISET", "ROW", "BITMAP")
    return name not in _AS_THEY_ARE and data_type.startswith(kinds)


def plain(value: Any) -> Any:
    """Return a value of a result as JSON can keep it; rows of PyFlink are no tuples."""
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": value.hex()}
    if isinstance(value, (dt.date, dt.time)):
        return {"time": str(value)}
    if isinstance(value, dt.timedelta):
        return {"seconds": value.total_seconds()}
    if isinstance(value, dict):
        entries = [[plain(key), plain(inner)] for key, inner in value.items()]
        return {"map": sorted(entries, key=repr)}
    if isinstance(value, (list, tuple)) or type(value).__name__ == "Row":
        return [plain(inner) for inner in value]
    return {"unknown": str(value)}
