"""Dates and times in strings, parsed as Flink does.

Flink parses strings in three ways, of which Spark has none: with Java's ``DateTimeFormatter``,
which takes the 30th of February as the last day of the month; with ``Timestamp.valueOf`` and
``Date.valueOf``, which take it as the first or second of March; and with ``SimpleDateFormat``,
which does so, too, and ignores what follows in the string. Here a regular expression extracts the
numbers from the string, and Spark's functions make a time of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.time_values import local_time

_LETTERS = "yuMdHmsS"
_PART = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")
_SPECIAL = "[]{}#"
_FIRST = {"y": 1970, "M": 1, "d": 1, "H": 0, "m": 0, "s": 0}
_DAY = 86_400_000_000
# Digits of a number, so that sums of days and of microseconds stay in range.
_MOST_DIGITS = {"y": 4, "M": 5, "d": 5, "H": 5, "m": 5, "s": 5, "S": 9}


@dataclass(frozen=True)
class TimeForm:
    """The form of a string with a date or a time.

    Parameters
    ----------
    expression
        A regular expression of Java, of which each group is a number.
    letters
        What the groups are: y, M, d, H, m, s or S, the digits of the second's fraction.
    """

    expression: str
    letters: str

    def numbers(self, text: Column) -> dict[str, Column]:
        """Return the numbers of a string by their letters; null if the string has another form."""
        return {
            letter: F.regexp_extract(text, self.expression, group)
            for group, letter in enumerate(self.letters, 1)
        }


_DATE = r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
_CLOCK = r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})"
# Of CAST and of functions that are given no form.
_DATE_ONLY = TimeForm(f"^{_DATE}$", "yMd")
_DATE_AND_CLOCK = TimeForm(rf"^{_DATE} {_CLOCK}(?:\.([0-9]{{0,9}}))?$", "yMdHmsS")
_DATE_VALUE = TimeForm(rf"^\s*{_DATE}\s*$", "yMd")
_ANY_CLOCK = r"([0-9]{1,5}):([0-9]{1,5}):([0-9]{1,5})"
_TIMESTAMP_VALUE = TimeForm(rf"^\s*{_DATE} {_ANY_CLOCK}(?:\.([0-9]{{1,9}}))?\s*$", "yMdHmsS")


_DAY_VALUE = TimeForm(
    r"^\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?)?$", "yMd"
)


def read_date(text: Column) -> Column:
    """Return the date in a string such as 2020-2-9, 2020-2 or 2020; null if it has another form.

    What follows a blank is left out.
    """
    numbers = _DAY_VALUE.numbers(F.regexp_replace(text, r"^([^ ]+) [\s\S]*$", "$1"))
    year = numbers["y"].try_cast("int")
    month, day = (
        F.when(numbers[letter] == "", 1).otherwise(numbers[letter].try_cast("int"))
        for letter in "Md"
    )
    valid = year.between(0, 9999) & month.between(1, 12)
    first = F.make_date(F.when(valid, year), F.when(valid, month), F.lit(1))
    return F.when(day.between(1, F.dayofmonth(F.last_day(first))), F.date_add(first, day - 1))


def read_timestamp(text: Column) -> Column:
    """Return the ``TIMESTAMP_NTZ`` in a string such as 2020-2-9 or 2020-02-09 1:02:03.4.

    It is null if the string has another form.
    """
    return F.coalesce(_resolved(_DATE_AND_CLOCK, text), _resolved(_DATE_ONLY, text))


def read_in_form(text: Column, pattern: str) -> Column | None:
    """Return the ``TIMESTAMP_NTZ`` in a string, parsed by a pattern of ``DateTimeFormatter``.

    A string of another form is parsed as by `Timestamp.valueOf` or `Date.valueOf` of Java. The
    result is None if the pattern has more than numbers.
    """
    form = _strict_form(pattern)
    if form is None:
        return None
    fallback = (_rolled(each, text, month=True) for each in (_TIMESTAMP_VALUE, _DATE_VALUE))
    return F.coalesce(_resolved(form, text), *fallback)


def read_leniently(text: Column, pattern: str) -> Column | None:
    """Return the ``TIMESTAMP_NTZ`` at the beginning of a string, by a ``SimpleDateFormat`` pattern.

    The result is None if the pattern has more than numbers.
    """
    form = _lenient_form(pattern)
    return None if form is None else _rolled(form, text, month=False)


def _tokens(pattern: str) -> list[tuple[str, str]] | None:
    """Return the letters and literals of a pattern; None if it has parts that are no numbers."""
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(pattern):
        part = _PART.match(pattern, position)
        if part is None:
            return None
        position = part.end()
        if part[2]:
            letter = "y" if part[2] == "u" else part[2]
            seen = any(kind == "letter" and each[0] == letter for kind, each in tokens)
            if letter not in _LETTERS or seen or (letter == "M" and len(part[0]) > 2):
                return None
            tokens.append(("letter", letter * len(part[0])))
        elif part[0] in _SPECIAL:
            return None
        else:
            literal = part[0] if part[1] is None else part[1].replace("''", "'") or "'"
            tokens.append(("literal", literal))
    return tokens


@lru_cache(maxsize=256)
def _strict_form(pattern: str) -> TimeForm | None:
    """Return the form of a pattern of ``DateTimeFormatter``."""
    tokens = _tokens(pattern)
    if not tokens or any(token[1] == "yy" for token in tokens):
        return None
    texts = []
    for index, (kind, token) in enumerate(tokens):
        followed = index + 1 < len(tokens) and tokens[index + 1][0] == "letter"
        if kind == "literal":
            texts.append(_quoted(token))
        elif len(token) > 1 and token[0] != "y":
            if len(token) > (_MOST_DIGITS["S"] if token[0] == "S" else 2):
                return None
            texts.append(f"([0-9]{{{len(token)}}})")
        elif token[0] == "S" or len(token) == 4:
            texts.append(f"([0-9]{{{len(token)}}})")
        elif followed:
            return None
        else:
            texts.append(f"([0-9]{{{len(token)},{_MOST_DIGITS[token[0]]}}})")
    letters = "".join(token[0] for kind, token in tokens if kind == "letter")
    return TimeForm(f"^{''.join(texts)}$", letters)


@lru_cache(maxsize=256)
def _lenient_form(pattern: str) -> TimeForm | None:
    """Return the form of a pattern of ``SimpleDateFormat``, in which S are milliseconds."""
    tokens = _tokens(pattern)
    if not tokens or any(token[1] == "yy" or token[0] == "S" for token in tokens):
        return None
    texts = []
    for index, (kind, token) in enumerate(tokens):
        followed = index + 1 < len(tokens) and tokens[index + 1][0] == "letter"
        if kind == "literal":
            texts.append(_quoted(token))
        else:
            most = _MOST_DIGITS[token[0]]
            digits = f"{{{len(token)}}})" if followed else f"{{1,{most}}})(?![0-9])"
            texts.append(rf"[ \t]*([0-9]{digits}")
    letters = "".join(token[0] for kind, token in tokens if kind == "letter")
    return TimeForm(f"^{''.join(texts)}", letters)


def _quoted(literal: str) -> str:
    return re.sub(r"([^A-Za-z0-9 ])", r"\\\1", literal)


def _whole(numbers: Mapping[str, Column], letter: str) -> Column:
    found = numbers.get(letter)
    return F.lit(_FIRST[letter]) if found is None else found.try_cast("int")


def _fraction(numbers: Mapping[str, Column]) -> Column:
    """Return the microseconds of a fraction."""
    if "S" not in numbers:
        return F.lit(0)
    return F.substring(F.rpad(numbers["S"], 6, "0"), 1, 6).try_cast("int")


def _resolved(form: TimeForm, text: Column) -> Column:
    """Return a time whose day may be behind the end of its month: then it is the last one."""
    numbers = form.numbers(text)
    year, month, day = (_whole(numbers, letter) for letter in "yMd")
    hour, minute, second = (_whole(numbers, letter) for letter in "Hms")
    valid = month.between(1, 12) & day.between(1, 31) & hour.between(0, 24)
    valid = valid & minute.between(0, 59) & second.between(0, 59)
    if "y" in numbers:
        valid = valid & year.between(1, 9999)
    first = F.make_date(year, F.when(valid, month), F.lit(1))
    date = F.least(F.date_add(first, day - 1), F.last_day(first))
    seconds = F.when(valid, hour * 3600 + minute * 60 + second)
    micros = seconds.cast("bigint") * 1_000_000 + _fraction(numbers)
    # 24:00:00 is the midnight of the next day.
    is_end = micros == _DAY
    within = F.when(is_end, 0).when(micros < _DAY, micros)
    return local_time(F.when(is_end, F.date_add(date, 1)).otherwise(date), within)


def _rolled(form: TimeForm, text: Column, month: bool) -> Column:
    """Return a time whose numbers may be too great: a day behind the end is one of the next month.

    Parameters
    ----------
    form, text
        The form, and the string.
    month
        Whether the month and the day must be ones that some year has.
    """
    numbers = form.numbers(text)
    year, months, day = (_whole(numbers, letter) for letter in "yMd")
    if month:
        year = F.when(months.between(1, 12) & day.between(1, 31), year)
    hour, minute, second = (_whole(numbers, letter).cast("bigint") for letter in "Hms")
    date = F.date_add(F.add_months(F.make_date(year, F.lit(1), F.lit(1)), months - 1), day - 1)
    micros = (hour * 3600 + minute * 60 + second) * 1_000_000 + _fraction(numbers)
    days = F.call_function("div", micros, F.lit(_DAY)).cast("int")
    return local_time(F.date_add(date, days), micros % _DAY)
