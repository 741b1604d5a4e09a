"""Random expressions over the columns of the tables ``mixed`` and ``mixed_groups``.

The texts are made from a seed. What PyFlink gives for them is recorded, so a test does not depend
on the generator giving the same texts again.
"""

from __future__ import annotations

import random
from collections.abc import Callable

_UNITS = ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_INTERVALS = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")


class Generator:
    """Makes expressions as texts.

    A method makes an expression of the type that its name says, whose operands are made with a
    depth that is less by one, down to columns and literals.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def expressions(self, count: int, depth: int) -> list[str]:
        """Return so many different expressions."""
        return self._different(count, lambda: self._any()(depth))

    def aggregates(self, count: int, depth: int) -> list[str]:
        """Return so many different expressions of aggregates."""
        return self._different(count, lambda: self._aggregate(depth))

    def _different(self, count: int, make: Callable[[], str]) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            found[make()] = None
        return list(found)

    def _any(self) -> Callable[[int], str]:
        kinds = (
            self.whole, self.whole, self.decimal, self.decimal, self.double, self.text, self.text,
            self.flag, self.flag, self.date, self.timestamp, self.array,
        )  # fmt: skip
        return self.random.choice(kinds)

    def _pick(self, depth: int, leaves: str, *forms: Callable[[], str]) -> str:
        if depth <= 0 or self.random.random() < 0.1:
            return self.random.choice(leaves.split("|"))
        return self.random.choice(forms)()

    def _of(self, *options: object) -> str:
        return str(self.random.choice(options))

    def whole(self, depth: int) -> str:
        inner = depth - 1
        return self._pick(
            depth,
            "t|h|i|b|z|i|b|lit(3)|lit(-7)|lit(5000000000)|null_of(DataTypes.INT())",
            lambda: f"({self.whole(inner)} {self._of('+', '-', '*')} {self.whole(inner)})",
            lambda: f"({self.whole(inner)} {self._of('/', '%')} {self._of('z', 7, -3)})",
            lambda: f"{self.whole(inner)}.{self._of('abs', 'sign', 'round(-1)', 'floor()')}",
            lambda: f"{self.whole(inner)}.{self._of('truncate(-2)', 'ceil()', 'round(1)')}",
            lambda: f"(-{self.whole(inner)})",
            lambda: f"{self.text(inner)}.{self._of('char_length', 'ascii', 'position(p)')}",
            lambda: f"{self.timestamp(inner)}.extract(TimeIntervalUnit.{self._of(*_UNITS)})",
            lambda: f"{self.date(inner)}.extract(TimeIntervalUnit.{self._of(*_UNITS[:4])})",
            lambda: f"{self.number(inner)}.cast(DataTypes.{self._of('INT', 'BIGINT')}())",
            lambda: f"{self.text(inner)}.try_cast(DataTypes.{self._of('INT', 'TINYINT')}())",
            lambda: f"{self.flag(inner)}.then({self.whole(inner)}, {self.whole(inner)})",
            lambda: f"coalesce({self.whole(inner)}, {self.whole(inner)})",
            lambda: f"{self.whole(inner)}.if_null({self.whole(inner)})",
            lambda: f"{self.array(inner)}.{self._of('cardinality', 'array_max()', 'at(2)')}",
            lambda: f"timestamp_diff(TimePointUnit.{self._of(*_UNITS)}, {self.timestamp(inner)}, "
            f"{self.timestamp(inner)})",
        )  # fmt: skip

    def decimal(self, depth: int) -> str:
        inner = depth - 1
        digits = self._of("10, 2", "20, 0", "38, 18", "5, 1")
        return self._pick(
            depth,
            "m|m|w|lit('1.25').cast(DataTypes.DECIMAL(5, 2))",
            lambda: f"({self.decimal(inner)} {self._of('+', '-', '*')} {self.decimal(inner)})",
            lambda: f"({self.decimal(inner)} {self._of('+', '-', '*')} {self.whole(inner)})",
            lambda: f"({self.decimal(inner)} {self._of('/', '%')} {self._of('z', 7, -3)})",
            lambda: f"{self.decimal(inner)}.round({self._of(0, 1, -1, 3)})",
            lambda: f"{self.decimal(inner)}.truncate({self._of(0, 1, -1)})",
            lambda: f"{self.decimal(inner)}.{self._of('abs', 'sign', 'floor()', 'ceil()')}",
            lambda: f"(-{self.decimal(inner)})",
            lambda: f"{self.number(inner)}.cast(DataTypes.DECIMAL({digits}))",
            lambda: f"{self.text(inner)}.try_cast(DataTypes.DECIMAL({digits}))",
            lambda: f"{self.flag(inner)}.then({self.decimal(inner)}, {self.decimal(inner)})",
            lambda: f"coalesce({self.decimal(inner)}, {self.whole(inner)})",
        )

    def double(self, depth: int) -> str:
        inner = depth - 1
        return self._pick(
            depth,
            "d|d|lit(0.5)|lit(-2.25)",
            lambda: f"({self.double(inner)} {self._of('+', '-', '*')} {self.number(inner)})",
            lambda: f"({self.double(inner)} / {self._of('z', '2.5', 'd')})",
            lambda: f"{self.double(inner)}.{self._of('abs', 'sign', 'floor()', 'ceil()')}",
            lambda: f"{self.double(inner)}.{self._of('round(1)', 'truncate(1)', 'sqrt', 'exp')}",
            lambda: f"(-{self.double(inner)})",
            lambda: f"{self.number(inner)}.cast(DataTypes.DOUBLE())",
            lambda: f"{self.text(inner)}.try_cast(DataTypes.DOUBLE())",
            lambda: f"{self.flag(inner)}.then({self.double(inner)}, {self.number(inner)})",
        )

    def number(self, depth: int) -> str:
        return self.random.choice((self.whole, self.decimal, self.double))(depth)

    def text(self, depth: int) -> str:
        inner = depth - 1
        return self._pick(
            depth,
            "s|s|p|k|lit('Ab,c')|null_of(DataTypes.STRING())",
            lambda: f"{self.text(inner)}.{self._of('upper_case', 'lower_case', 'init_cap')}",
            lambda: f"{self.text(inner)}.{self._of('reverse', 'trim()', 'ltrim()', 'rtrim()')}",
            lambda: f"{self.text(inner)}.{self._of('md5', 'hex', 'to_base64', 'url_encode()')}",
            lambda: f"{self.text(inner)}.substring({self._of(1, 2, -3, 'i')})",
            lambda: f"{self.text(inner)}.substring({self._of(1, 2, -3)}, {self._of(0, 2, 'h')})",
            lambda: f"{self.text(inner)}.{self._of('left', 'right', 'repeat')}({self._of(2, 't')})",
            lambda: f"{self.text(inner)}.{self._of('lpad', 'rpad')}({self._of(0, 5, 12)}, '*-')",
            lambda: f"{self.text(inner)}.replace('{self._of('a', 'l', ',')}', {self.text(inner)})",
            lambda: f"{self.text(inner)}.regexp_replace('[a-c]+', '_')",
            lambda: f"{self.text(inner)}.regexp_extract('([a-z]+)', 1)",
            lambda: f"{self.text(inner)}.split_index(',', {self._of(0, 1, 'z')})",
            lambda: f"{self.text(inner)}.overlay('XX', {self._of(1, 3)}, {self._of(0, 1)})",
            lambda: f"concat({self.text(inner)}, {self.text(inner)})",
            lambda: f"concat_ws('-', {self.text(inner)}, {self.text(inner)})",
            lambda: f"({self.text(inner)} + {self.whole(inner)})",
            lambda: f"{self._any()(inner)}.cast(DataTypes.STRING())",
            lambda: f"{self.text(inner)}.cast(DataTypes.{self._of('CHAR(4)', 'VARCHAR(3)')})",
            lambda: f"{self.flag(inner)}.then({self.text(inner)}, {self.text(inner)})",
            lambda: f"coalesce({self.text(inner)}, {self.text(inner)})",
            lambda: f"date_format({self.timestamp(inner)}, 'yyyy-MM-dd HH:mm:ss')",
            lambda: f"json_object(JsonOnNull.NULL, 'a', {self._any()(inner)}, 'b', s)",
        )  # fmt: skip

    def flag(self, depth: int) -> str:
        inner = depth - 1
        order = self._of("==", "!=", "<", "<=", ">", ">=")
        same = self.random.choice((self.whole, self.decimal, self.text, self.timestamp, self.date))
        return self._pick(
            depth,
            "o|o|c|lit(True)",
            lambda: f"({self.number(inner)} {order} {self.number(inner)})",
            lambda: f"({same(inner)} {order} {same(inner)})",
            lambda: f"({self.flag(inner)} {self._of('&', '|')} {self.flag(inner)})",
            lambda: f"(~{self.flag(inner)})",
            lambda: f"{self.flag(inner)}.{self._of('is_true', 'is_not_true', 'is_false')}",
            lambda: f"{self._any()(inner)}.{self._of('is_null', 'is_not_null')}",
            lambda: f"{same(inner)}.between({same(inner)}, {same(inner)})",
            lambda: f"{self.whole(inner)}.in_(1, {self.whole(inner)}, 5)",
            lambda: f"{self.text(inner)}.in_('a', {self.text(inner)})",
            lambda: f"{self.text(inner)}.like('{self._of('%a%', '_%', 'h%o%', '')}')",
            lambda: f"{self.text(inner)}.{self._of('starts_with(p)', 'ends_with(p)')}",
            lambda: f"{self.text(inner)}.similar('{self._of('%(a|l)+%', '[a-z]*', '_%')}')",
            lambda: f"{self.flag(inner)}.then({self.flag(inner)}, {self.flag(inner)})",
            lambda: f"{self.array(inner)}.array_contains({self.whole(inner)})",
        )

    def date(self, depth: int) -> str:
        inner = depth - 1
        return self._pick(
            depth,
            "y|y|lit('2020-02-29').to_date",
            lambda: f"({self.date(inner)} {self._of('+', '-')} {self._interval()})",
            lambda: f"{self.timestamp(inner)}.cast(DataTypes.DATE())",
            lambda: (
                f"{self.date(inner)}.{self._of('floor', 'ceil')}"
                f"(TimeIntervalUnit.{self._of('YEAR', 'QUARTER', 'MONTH')})"
            ),
            lambda: f"{self.flag(inner)}.then({self.date(inner)}, {self.date(inner)})",
            lambda: f"to_date({self.text(inner)})",
            lambda: f"coalesce({self.date(inner)}, {self.date(inner)})",
        )

    def timestamp(self, depth: int) -> str:
        inner = depth - 1
        return self._pick(
            depth,
            "ts|ts|us|lit('2016-06-15 3:30:00.001').to_timestamp",
            lambda: f"({self.timestamp(inner)} {self._of('+', '-')} {self._interval()})",
            lambda: (
                f"{self.timestamp(inner)}.{self._of('floor', 'ceil')}"
                f"(TimeIntervalUnit.{self._of(*_UNITS)})"
            ),
            lambda: f"{self.date(inner)}.cast(DataTypes.TIMESTAMP(3))",
            lambda: f"{self.timestamp(inner)}.cast(DataTypes.TIMESTAMP({self._of(0, 3, 6)}))",
            lambda: f"{self.flag(inner)}.then({self.timestamp(inner)}, {self.timestamp(inner)})",
            lambda: f"to_timestamp({self.text(inner)})",
        )

    def _interval(self) -> str:
        return f"lit({self._of(1, 3, -2, 40)}).{self._of(*_INTERVALS)}"

    def array(self, depth: int) -> str:
        inner = depth - 1
        return self._pick(
            depth,
            "a|a|array(i, z)",
            lambda: f"array({self.whole(inner)}, {self.whole(inner)})",
            lambda: f"{self.array(inner)}.array_append({self.whole(inner)})",
            lambda: f"{self.array(inner)}.array_concat({self.array(inner)})",
            lambda: f"{self.array(inner)}.{self._of('array_distinct()', 'array_reverse()')}",
            lambda: f"{self.array(inner)}.{self._of('array_sort()', 'array_slice(2)')}",
            lambda: f"{self.array(inner)}.array_remove({self.whole(inner)})",
        )

    def _aggregate(self, depth: int) -> str:
        number = self.random.choice((self.whole, self.decimal, self.double))
        one = self._of("sum", "min", "max", "avg", "count", "sum0", "stddev_pop", "var_samp")
        some = self._of("min", "max", "count")
        distinct = self._of("", "", ".distinct")
        forms: tuple[Callable[[], str], ...] = (
            lambda: f"{number(depth)}.{one}",
            lambda: f"{number(depth)}.{self._of('sum', 'count', 'max')}{distinct}",
            lambda: f"{self.text(depth)}.{some}",
            lambda: f"{self.date(depth)}.{some}",
            lambda: f"({self.whole(depth)}.sum + {self.whole(depth)}.count)",
            lambda: f"({self.decimal(depth)}.max - {self.decimal(depth)}.avg)",
            lambda: f"{self.flag(depth)}.then({self.whole(depth)}, 0).sum",
            lambda: f"coalesce({self.decimal(depth)}.sum, 0)",
        )
        return self.random.choice(forms)()


def generated(seed: int = 0, count: int = 400) -> dict[str, list[str]]:
    """Return the expressions of a seed, by the tables that they are about."""
    generator = Generator(seed)
    return {
        "mixed": generator.expressions(count, 3),
        "mixed_groups": generator.aggregates(count // 4, 2),
    }
