"""The cases of `expression_cases.py` whose results are not PyFlink's, and why.

They are not compared; the page of the built-in functions lists them.
"""

from __future__ import annotations

_AS_FLOAT = "Flink computes FLOAT with DOUBLE as FLOAT where that is on the left"
_EMPTY = "Flink gives an empty text where one that is appended is null"
_PAIRS = "Flink counts characters beyond U+FFFF as two, or divides them"
_LENIENT = (
    "where a text has another form than its pattern, Flink takes a sign for a part of a number and "
    "years of any length"
)
_AVERAGE = (
    "the sum of AVG does not wrap around; in Flink it does beside STDDEV_POP and the like and over "
    "rows, but not elsewhere"
)
_UNIT_OF_TIME = "a TIME is not rounded to days, weeks, ...: Flink gives a time without a meaning"

DIFFERENCES: dict[tuple[str, str], str] = {
    **{("numbers", f"f {sign} d"): _AS_FLOAT for sign in "+-*"},
    ("numbers", "'x' + m.cast(DataTypes.STRING())"): _EMPTY,
    ("texts", "'<' + s + '>'"): _EMPTY,
    **{("groups", f"{number}.avg"): _AVERAGE for number in "ti"},
    ("groups", "i.avg.distinct"): _AVERAGE,
    ("texts", "s.regexp_extract('l(x)?', 1)"): "a group that takes no part is an empty text",
    ("texts", "x.decode('UTF-8')"): "malformed bytes fail the query",
    ("texts", "lit('ABC').unhex"): "Flink loses the first of an odd number of digits",
    ("texts", "s.json_quote()"): "Flink writes characters beyond U+FFFF wrongly",
    ("texts", "s.similar('_*')"): "Flink's _ does not match the end of a line in some patterns",
    **{
        ("texts", case): _PAIRS
        for case in (
            "s.split('')",
            "s.lpad(5, 'xy')",
            "s.lpad(n, '*')",
            "s.rpad(14, 'xy')",
            "s.rpad(n, p)",
            "s.overlay('XX', 2)",
            "s.overlay('XX', 2, 4)",
            "s.overlay('XX', 2, n)",
            "s.overlay('', 1, 2)",
        )
    },
    **{
        ("types", f"{number}.{way}(i)"): "the places of ROUND and TRUNCATE must be a literal"
        for number in ["t", "h", "i", "b", "f", "d", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"]
        for way in ("round", "truncate")
        if way == "round" or number not in "fd"
    },
    **{
        ("types", case): "a TIME is not compared with a DATE or a TIMESTAMP"
        for case in ("ts == q", "y == q")
    },
    **{
        ("dates_in_texts", f"unix_timestamp(s, '{pattern}')"): _LENIENT
        for pattern in ("yyyyMMdd", "yyyyMMddHHmmss", "yyyy")
    },
    (
        "dates_in_texts",
        "(to_date(s, 'yyyyMMdd') < lit('9999-12-31').to_date).then(to_date(s, 'yyyyMMdd'), "
        "null_of(DataTypes.DATE()))",
    ): _LENIENT,
    ("times", "ts.cast(DataTypes.TIME())"): "Flink gives times of day below 0 before 1970",
    **{
        (
            "times",
            f"q {sign} lit(3).millis",
        ): "a TIME(0) has no milliseconds; in Flink it keeps them"
        for sign in "+-"
    },
    **{
        (
            "bitmaps",
            f"x.bitmap_from_bytes().{case}",
        ): "runs that bytes or an operation leave stay in Flink where an array is as short, or two "
        "bytes shorter"
        for case in (
            "bitmap_to_bytes()",
            "cast(DataTypes.BYTES())",
            "bitmap_or(a.bitmap_build()).bitmap_to_bytes()",
            "bitmap_xor(a.bitmap_build()).bitmap_to_bytes()",
            "bitmap_andnot(a.bitmap_build()).bitmap_to_bytes()",
        )
    },
    ("times", "y.ceil(TimeIntervalUnit.DAY)"): "Flink gives the day after a DATE",
    **{
        ("times", f"q.{way}(TimeIntervalUnit.{unit})"): _UNIT_OF_TIME
        for way in ("floor", "ceil")
        for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY")
    },
}


def cases_of(reason: str) -> list[str]:
    """Return the cases that differ for a reason."""
    return [case for (_, case), why in DIFFERENCES.items() if why == reason]
