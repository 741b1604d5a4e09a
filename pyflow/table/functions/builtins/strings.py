"""Strings and bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.python_builtins import in_python
from pyflow.table.columns.type_rules import STRINGS
from pyflow.table.functions.builtins.definition import (
    BIGINT,
    BOOLEAN,
    BYTES,
    INT,
    STRING,
    Arguments,
    define,
    require_common,
    varying,
)
from pyflow.table.functions.builtins.maps import map_of_last
from pyflow.table.functions.builtins.patterns import similar_pattern
from pyflow.table.runtime.builtins import texts
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType

_TEXTS = DataTypes.ARRAY(DataTypes.STRING())


def _null_text() -> Column:
    return F.lit(None).cast("string")


def _simple(names: str, build: Callable[[Column], Column], summary: str) -> None:
    define(names, "string", varying(0), lambda a: build(a[0]), summary)


for _names in ("upper UPPER", "upperCase"):
    _simple(_names, F.upper, "The string in upper case.")
for _names in ("lower LOWER", "lowerCase"):
    _simple(_names, F.lower, "The string in lower case.")
define("reverse REVERSE", "string", STRING, lambda a: F.reverse(a[0]), "The string, reversed.")
define(
    "charLength CHAR_LENGTH CHARACTER_LENGTH", "string", INT, lambda a: F.char_length(a[0]),
    "The number of characters.",
)  # fmt: skip


def _init_cap(text: Column) -> Column:
    parts = F.regexp_extract_all(text, F.lit("[A-Za-z0-9]+|[^A-Za-z0-9]+"), F.lit(0))
    return F.array_join(
        F.transform(
            parts,
            lambda part: F.when(
                F.rlike(part, F.lit("^[A-Za-z0-9]")),
                F.concat(
                    F.upper(F.substring(part, 1, 1)), F.lower(F.substring(part, 2, 0x7FFFFFFF))
                ),
            ).otherwise(part),
        ),
        "",
    )


_simple(
    "initCap INITCAP", _init_cap,
    "The string with the first letter of each word in upper case and all others in lower case. A "
    "word consists of the characters A-Z, a-z and 0-9.",
)  # fmt: skip
define(
    "concat CONCAT", "string, string...", STRING, lambda a: F.concat(*a.columns),
    "The concatenation of the strings; null if one is null.",
)  # fmt: skip
define(
    "concat_ws CONCAT_WS", "string, string, string...", STRING,
    lambda a: F.call_function("concat_ws", *a.columns),
    "The concatenation of the strings that are not null, separated by the first argument.",
)  # fmt: skip

# --- Substrings -------------------------------------------------------------------------------


def _substring(a: Arguments) -> Column:
    text, start = a[0], a[1]
    length = a[2] if len(a) > 2 else F.lit(0x7FFFFFFF)
    before = F.when(start < -F.char_length(text), "")
    if len(a) > 2:
        before = F.when(length < 0, _null_text()).when(start < -F.char_length(text), "")
    return before.otherwise(F.substring(text, start, length))


for _name in ("substring SUBSTRING", "substr SUBSTR"):
    define(
        _name, "string, int, int?", STRING, _substring,
        "The substring from a position on, of at most a given length. Positions count from 1; "
        "negative ones count from the end.", nulls="always",
    )  # fmt: skip
define(
    "left LEFT", "string, int", STRING,
    lambda a: F.when(a[0].isNotNull() & (a[1] <= 0), "").otherwise(
        F.substring(a[0], F.lit(1), a[1])
    ),
    "The first n characters.",
)  # fmt: skip
define(
    "right RIGHT", "string, int", STRING,
    lambda a: F.when(a[0].isNotNull() & (a[1] <= 0), "")
    .when(a[1] >= F.char_length(a[0]), a[0])
    .otherwise(F.substring(a[0], -a[1], a[1])),
    "The last n characters.",
)  # fmt: skip


def _trimming(function: Callable[..., Column], summary: str, names: str) -> None:
    define(
        names, "string, string?", varying(0), lambda a: function(*a.columns),
        f"The string with the characters of a second string, by default spaces, removed {summary}.",
    )  # fmt: skip


_trimming(F.trim, "at both ends", "BTRIM BTRIM")
_trimming(F.ltrim, "at its beginning", "ltrim LTRIM")
_trimming(F.rtrim, "at its end", "rtrim RTRIM")


def _trimmed(a: Arguments) -> Column:
    leading, trailing = a.constant(0), a.constant(1)
    if leading and trailing:
        return F.trim(a[3], a[2])
    if leading:
        return F.ltrim(a[3], a[2])
    return F.rtrim(a[3], a[2]) if trailing else a[3]


define(
    "trim TRIM", "boolean, boolean, string, string", varying(3), _trimmed,
    "The string with the characters of another string removed: at its beginning if the first "
    "argument is true, and at its end if the second is.",
)  # fmt: skip


def _padded(function: str) -> Callable[[Arguments], Column]:
    def build(a: Arguments) -> Column:
        impossible = (a[1] < 0) | (a[2] == "")
        return F.when(impossible, _null_text()).otherwise(F.call_function(function, *a.columns))

    return build


define(
    "lpad LPAD", "string, int, string", STRING, _padded("lpad"),
    "The string, padded on the left with another string or cut to have a given length.",
    nulls="always",
)  # fmt: skip
define(
    "rpad RPAD", "string, int, string", STRING, _padded("rpad"),
    "The string, padded on the right with another string or cut to have a given length.",
    nulls="always",
)  # fmt: skip
define(
    "repeat REPEAT", "string, int", STRING, lambda a: F.repeat(a[0], a[1]),
    "The string, repeated n times.",
)  # fmt: skip


def _overlay(a: Arguments) -> Column:
    text, new, start = a[0], a[1], a[2]
    length = a[3] if len(a) > 3 else F.char_length(new)
    whole = F.char_length(text)
    rest = F.when(length > whole - start, "").when(length < 0, "")
    rest = rest.otherwise(F.substring(text, start + length, F.lit(0x7FFFFFFF)))
    changed = F.concat(F.substring(text, F.lit(1), start - 1), new, rest)
    outside = (start <= 0) | (start > whole)
    return F.when(outside & new.isNotNull() & length.isNotNull(), text).otherwise(changed)


define(
    "overlay OVERLAY", "string, string, int, int?", STRING, _overlay,
    "The string with the characters from a position on replaced by another string. A fourth "
    "argument is their number, by default the length of that string.",
)  # fmt: skip


def _quoted_replacement(text: Column) -> Column:
    """Return a string with the special characters of a replacement string escaped."""
    return F.regexp_replace(text, F.lit(r"([\\$])"), F.lit(r"\\$1"))


def _replaced(a: Arguments) -> Column:
    text, search, replacement = a.columns
    everywhere = F.regexp_replace(text, F.lit(""), _quoted_replacement(replacement))
    return F.when(search == "", everywhere).otherwise(F.replace(text, search, replacement))


define(
    "replace REPLACE", "string, string, string", STRING, _replaced,
    "The string with each occurrence of a second string replaced by a third.",
)  # fmt: skip
define(
    "TRANSLATE3 TRANSLATE", "string, string, string", STRING,
    lambda a: F.when(a[1].isNull(), a[0]).otherwise(F.call_function("translate", *a.columns)),
    "The string with each character of a second string replaced by the character at the same "
    "position in a third, or removed if there is none. A null as the second changes nothing.",
)  # fmt: skip

# --- Searching --------------------------------------------------------------------------------

define(
    "STARTSWITH STARTSWITH", "string|bytes, string|bytes", BOOLEAN,
    lambda a: F.startswith(a[0], a[1]), "Whether the string starts with another.",
)  # fmt: skip
define(
    "ENDSWITH ENDSWITH", "string|bytes, string|bytes", BOOLEAN,
    lambda a: F.endswith(a[0], a[1]), "Whether the string ends with another.",
)  # fmt: skip


def _locate(a: Arguments) -> Column:
    if len(a) == 2:
        return F.position(a[0], a[1])
    found = F.when(a[2] <= 0, F.position(a[0], a[1])).otherwise(F.position(*a.columns))
    return F.when(a[2].isNotNull(), found)


define(
    "position POSITION", "string, string, int?", INT, _locate,
    "The position, counted from 1, of the first string in the second; 0 if it does not occur. A "
    "third argument is the position where the search starts.",
)  # fmt: skip


def _in_string(a: Arguments) -> Column:
    if len(a) == 2:
        return F.position(a[1], a[0])
    return in_python(texts.place_of, INT)(*a.columns)


define(
    "instr INSTR", "string, string, int?, int?", INT, _in_string,
    "The position, counted from 1, of the second string in the first; 0 if it does not occur. A "
    "third argument is the position where the search starts; a negative one counts from the end "
    "and searches backwards. A fourth argument says which occurrence to find.",
)  # fmt: skip


define(
    "locate LOCATE", "string, string, int?", INT, _locate,
    "The position, counted from 1, of the first string in the second; 0 if it does not occur. A "
    "third argument is the position where the search starts.",
)  # fmt: skip


def _like(a: Arguments) -> Column:
    if len(a) > 2:
        escape = a.constant(2)
        return F.like(a[0], a[1], F.lit(escape))
    # Without ESCAPE, only % and _ are special. Spark needs an escape character: one that no string
    # has.
    return F.like(a[0], a[1], F.lit("\u0000"))


define(
    "LIKE LIKE", "string, string, string?", BOOLEAN, _like,
    "Whether a string matches a pattern, in which % stands for any number of characters and _ for "
    "one. A third argument is the escape character.",
)  # fmt: skip
define(
    "similar SIMILAR", "string, string, string?", BOOLEAN,
    lambda a: F.rlike(a[0], F.lit(similar_pattern(*map(a.constant, range(1, len(a)))))),
    "Whether a whole string matches a regular expression of SQL. A third argument is the escape "
    "character.",
    difference="The pattern must be a literal.",
)  # fmt: skip

# --- Regular expressions ----------------------------------------------------------------------

_INVALID = "An invalid regular expression fails the query instead of giving null or false."
define(
    "regexp REGEXP", "string, string", BOOLEAN,
    lambda a: F.when(a[0].isNotNull() & (a[1] == ""), F.lit(False)).otherwise(F.rlike(a[0], a[1])),
    "Whether a Java regular expression matches a substring.", difference=_INVALID,
)  # fmt: skip
define(
    "REGEXP_COUNT REGEXP_COUNT", "string, string", INT,
    lambda a: F.regexp_count(a[0], a[1]), "The number of matches of a regular expression.",
    difference=_INVALID, nulls="always",
)  # fmt: skip
define(
    "regexpReplace REGEXP_REPLACE", "string, string, string", STRING,
    lambda a: F.regexp_replace(a[0], a[1], _quoted_replacement(a[2])),
    "The string with each match of a regular expression replaced by another string.",
    difference=_INVALID, nulls="always",
)  # fmt: skip
_GROUP = (
    "A group that does not participate in a match gives an empty string instead of null, and a "
    f"group number that does not exist fails the query. {_INVALID}"
)


def _regexp_extract(a: Arguments) -> Column:
    group = a[2] if len(a) > 2 else F.lit(0)
    found = F.call_function("regexp_extract", a[0], a[1], group)
    return F.when((group >= 0) & F.rlike(a[0], a[1]), found)


define(
    "regexpExtract REGEXP_EXTRACT", "string, string, int?", STRING, _regexp_extract,
    "What a group of a regular expression matches; group 0, the default, is the whole match.",
    difference=_GROUP, nulls="always",
)  # fmt: skip


def _regexp_extract_all(a: Arguments) -> Column:
    group = a[2] if len(a) > 2 else F.lit(1)
    return F.when(group >= 0, F.regexp_extract_all(a[0], a[1], group))


define(
    "REGEXP_EXTRACT_ALL REGEXP_EXTRACT_ALL", "string, string, int?", _TEXTS,
    _regexp_extract_all, "The array of what a group of a regular expression, by default the first "
    "group, matches in each match.", difference=_GROUP, nulls="always",
)  # fmt: skip
define(
    "REGEXP_INSTR REGEXP_INSTR", "string, string", INT,
    lambda a: F.regexp_instr(a[0], a[1]),
    "The position, counted from 1, of the first match of a regular expression; 0 if there is none.",
    difference=_INVALID, nulls="always",
)  # fmt: skip
define(
    "REGEXP_SUBSTR REGEXP_SUBSTR", "string, string", STRING,
    lambda a: F.regexp_substr(a[0], a[1]), "The first match of a regular expression.",
    difference=_INVALID, nulls="always",
)  # fmt: skip

# --- Splitting --------------------------------------------------------------------------------


def _split(text: Column, separator: Column) -> Column:
    literal = F.concat(F.lit("\\Q"), separator, F.lit("\\E"))
    return F.split(text, literal, -1)


def _split_all(a: Arguments) -> Column:
    characters = F.regexp_extract_all(a[0], F.lit("(?s)."), F.lit(0))
    empty = F.array().cast("array<string>")
    return (
        F.when((a[0] == "") & a[1].isNotNull(), empty)
        .when(a[1] == "", characters)
        .otherwise(_split(a[0], a[1]))
    )


def _split_index(a: Arguments) -> Column:
    separator = a[1] if isinstance(a.types[1], STRINGS) else F.char(a[1])
    # Flink looks for spaces where there is no separator.
    parts = F.when(separator == "", F.split(a[0], r"\s", -1)).otherwise(_split(a[0], separator))
    found = F.get(parts, a[2])
    return F.when((a[0] != "") & (a[2] >= 0), found)


define(
    "splitIndex SPLIT_INDEX", "string, string|int, int", STRING, _split_index,
    "The n-th part, counted from 0, of the string, split at a separator, or at white space if the "
    "separator is empty.", nulls="always",
)  # fmt: skip
define(
    "SPLIT SPLIT", "string, string", DataTypes.ARRAY(DataTypes.STRING()),
    _split_all,
    "The parts of the string, split at a separator; its characters if the separator is empty.",
)  # fmt: skip


def _str_to_map(a: Arguments) -> Column:
    between = a[1] if len(a) > 1 else F.lit(",")
    inside = a[2] if len(a) > 2 else F.lit("=")
    pairs = F.transform(F.split(a[0], between, -1), lambda pair: F.split(pair, inside, 2))
    keys = F.transform(pairs, lambda pair: F.get(pair, 0))
    values = F.transform(pairs, lambda pair: F.get(pair, 1))
    return map_of_last(keys, values)


define(
    "strToMap STR_TO_MAP", "string, string?, string?",
    DataTypes.MAP(DataTypes.STRING(), DataTypes.STRING()), _str_to_map,
    "The map of the pairs in a string such as k1=v1,k2=v2. The separators are regular expressions.",
    nulls="always",
)  # fmt: skip


def _elt(a: Arguments) -> Column:
    chosen = [(a[0] == position, a.as_type(position, a.result)) for position in range(1, len(a))]
    first, *others = chosen
    return reduce(lambda case, other: case.when(*other), others, F.when(*first))


def _elt_type(a: Arguments) -> DataType:
    return require_common(a, a.types[1:])


define(
    "ELT ELT", "int, string|bytes, string|bytes...", _elt_type, _elt,
    "The n-th of the arguments that follow n; null if there is none.", nulls="always",
)  # fmt: skip

# --- Codes ------------------------------------------------------------------------------------

define(
    "fromBase64 FROM_BASE64", "string", STRING,
    lambda a: F.decode(F.call_function("try_to_binary", a[0], F.lit("base64")), "UTF-8"),
    "The string, decoded from Base64.", nulls="always",
)  # fmt: skip
define(
    "toBase64 TO_BASE64", "string|bytes", STRING, lambda a: F.base64(a[0]),
    "The bytes, or the string in UTF-8, encoded in Base64.",
)  # fmt: skip
define(
    "ascii ASCII", "string", INT, lambda a: F.ascii(a[0]),
    "The numeric value of the first character; 0 for an empty string.",
)  # fmt: skip
define(
    "chr CHR", "bigint", DataTypes.CHAR(1), lambda a: F.char(a[0]),
    "The character with a numeric value, of which only the lowest 8 bits count.",
)  # fmt: skip
_CHARSETS = (
    "The character set must be one that Spark supports: US-ASCII, ISO-8859-1, UTF-8, UTF-16, "
    "UTF-16BE, UTF-16LE, UTF-32. Bytes that are malformed in it fail the query."
)
define(
    "decode DECODE", "bytes, string", STRING, lambda a: F.call_function("decode", a[0], a[1]),
    "The bytes, decoded by a character set.", difference=_CHARSETS, nulls="always",
)  # fmt: skip
define(
    "encode ENCODE", "string, string", BYTES, lambda a: F.call_function("encode", a[0], a[1]),
    "The string, encoded by a character set.", difference=_CHARSETS, nulls="always",
)  # fmt: skip
define(
    "URL_DECODE URL_DECODE", "string", STRING, lambda a: F.try_url_decode(a[0]),
    "The string, URL-decoded; null if it is malformed.", nulls="always",
)  # fmt: skip
define(
    "URL_ENCODE URL_ENCODE", "string", STRING, lambda a: F.url_encode(a[0]),
    "The string, URL-encoded.", nulls="always",
)  # fmt: skip
define(
    "parseUrl PARSE_URL", "string, string, string?", STRING,
    lambda a: in_python(texts.part_of_url, STRING)(*a.columns),
    "A part of a URL: HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE, USERINFO. A third "
    "argument is a key of the query, whose value is returned.", nulls="always",
)  # fmt: skip
define(
    "INET_ATON INET_ATON", "string", BIGINT,
    lambda a: in_python(texts.number_of_address, BIGINT)(a[0]),
    "The number that an IPv4 address stands for; null if the string is not one.", nulls="always",
)  # fmt: skip


def _address(a: Arguments) -> Column:
    parts = [F.shiftright(a[0], bits).bitwiseAND(255).cast("string") for bits in (24, 16, 8, 0)]
    return F.when((a[0] >= 0) & (a[0] < 1 << 32), F.concat_ws(".", *parts))


define(
    "INET_NTOA INET_NTOA", "bigint", STRING, _address,
    "The IPv4 address that a number stands for; null if it is out of range.", nulls="always",
)  # fmt: skip
define(
    "PRINTF PRINTF", "string, any...", STRING, lambda a: F.printf(a[0], *a.columns[1:]),
    "The values, formatted by a format string of Java's Formatter.",
    difference="A format string that is invalid, or does not fit the values, fails the query.",
    nulls="always",
)  # fmt: skip
define("uuid UUID", "", DataTypes.CHAR(36), lambda a: F.uuid(), "A random UUID.", nulls="never")

# --- Hashes -----------------------------------------------------------------------------------

define("md5 MD5", "string", DataTypes.CHAR(32), lambda a: F.md5(a[0]), "The MD5 hash.")
define("sha1 SHA1", "string", DataTypes.CHAR(40), lambda a: F.sha1(a[0]), "The SHA-1 hash.")
for _bits in (224, 256, 384, 512):
    define(
        f"sha{_bits} SHA{_bits}", "string", DataTypes.CHAR(_bits // 4),
        lambda a, bits=_bits: F.sha2(a[0], bits),  # type: ignore[misc]
        f"The SHA-{_bits} hash.",
    )  # fmt: skip


def _sha2(a: Arguments) -> Column:
    return F.when(a[1].isin(224, 256, 384, 512), F.call_function("sha2", a[0], a[1]))


define(
    "sha2 SHA2", "string, int", DataTypes.VARCHAR(128), _sha2,
    "The SHA-2 hash of 224, 256, 384 or 512 bits.", nulls="always",
)  # fmt: skip
define(
    "JSON_QUOTE JSON_QUOTE", "string", STRING,
    lambda a: in_python(texts.quoted, STRING)(a[0]), "The string as a JSON string.",
)  # fmt: skip
define(
    "JSON_UNQUOTE JSON_UNQUOTE", "string", STRING,
    lambda a: in_python(texts.unquoted, STRING)(a[0]), "The string that a JSON string stands for.",
)  # fmt: skip


def _current_database(a: Arguments) -> Column:
    context = a.scope.context
    return F.lit(context.catalogs.database) if context else F.current_database()


define(
    "currentDatabase CURRENT_DATABASE", "", STRING, _current_database,
    "The name of the current database.", nulls="never",
)  # fmt: skip
