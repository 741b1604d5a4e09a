"""Types of numbers, strings, bytes and other values that are no times."""

from __future__ import annotations

from typing import Any, ClassVar

from pyflow.types.logical_types.base import AtomicType, check_range

MAX_LENGTH = 0x7FFFFFFF
MAX_DECIMAL_PRECISION = 38


class NullType(AtomicType):
    """The type of None alone."""

    def __init__(self) -> None:
        super().__init__(True)


class NumericType(AtomicType):
    """A type of numbers."""


class IntegralType(NumericType):
    """A type of whole numbers."""

    BITS: ClassVar[int]


class FractionalType(NumericType):
    """A type of numbers with a fraction."""


class BooleanType(AtomicType):
    """True and False."""


class TinyIntType(IntegralType):
    """Whole numbers of 8 bits."""

    BITS = 8


class SmallIntType(IntegralType):
    """Whole numbers of 16 bits."""

    BITS = 16


class IntType(IntegralType):
    """Whole numbers of 32 bits."""

    BITS = 32


class BigIntType(IntegralType):
    """Whole numbers of 64 bits."""

    BITS = 64


class FloatType(FractionalType):
    """Floating-point numbers of 32 bits."""


class DoubleType(FractionalType):
    """Floating-point numbers of 64 bits."""


class DecimalType(FractionalType):
    """Decimal numbers.

    Parameters
    ----------
    precision : int
        Digits in all, 1 to 38.
    scale : int
        Digits behind the point, 0 to `precision`.
    nullable : bool
        Whether None is a value of the type.
    """

    def __init__(self, precision: int = 10, scale: int = 0, nullable: bool = True) -> None:
        super().__init__(nullable)
        check_range("the precision of DECIMAL", precision, 1, MAX_DECIMAL_PRECISION)
        check_range("the scale of DECIMAL", scale, 0, precision)
        self.precision = precision
        self.scale = scale

    has_precision_info = True

    def _parameters(self) -> tuple[Any, ...]:
        return self.precision, self.scale

    def _syntax(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


class _LengthType(AtomicType):
    # How the type is written that has the greatest length.
    UNBOUNDED: ClassVar[str | None] = None

    def __init__(self, length: int = 1, nullable: bool = True) -> None:
        super().__init__(nullable)
        check_range(f"the length of {self.type_name()}", length, 1, MAX_LENGTH)
        self.length = length

    def _parameters(self) -> tuple[Any, ...]:
        return (self.length,)

    def _syntax(self) -> str:
        if self.UNBOUNDED and self.length == MAX_LENGTH:
            return self.UNBOUNDED
        return f"{self.type_name()}({self.length})"


class CharType(_LengthType):
    """Strings of exactly n code points: ``CHAR(n)``."""


class VarCharType(_LengthType):
    """Strings of at most n code points: ``VARCHAR(n)``, the longest one ``STRING``."""

    UNBOUNDED = "STRING"


class BinaryType(_LengthType):
    """Exactly n bytes: ``BINARY(n)``."""


class VarBinaryType(_LengthType):
    """At most n bytes: ``VARBINARY(n)``, the longest one ``BYTES``."""

    UNBOUNDED = "BYTES"


class BitmapType(AtomicType):
    """Sets of unsigned whole numbers of 32 bits, each given as the INT of the same bits."""
