"""User-defined types over SQL types of every layout, and objects whose conversion fails."""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    UserDefinedType,
)


class Boxed:
    """An object that stands for one SQL value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.value == self.value  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self.value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class BoxedType(UserDefinedType):
    """Stores what is in the box; the subclasses say of which SQL type that is."""

    @classmethod
    def module(cls) -> str:
        return cls.__module__

    def serialize(self, obj: Any) -> Any:
        return obj.value

    def deserialize(self, datum: Any) -> Any:
        return Boxed(datum)


class SerialType(BoxedType):
    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802
        return LongType()


class LabelType(BoxedType):
    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802
        return StringType()


class PointType(BoxedType):
    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802
        return ArrayType(DoubleType(), False)


class MomentType(BoxedType):
    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802
        return TimestampType()


class ReadingType(BoxedType):
    """A struct that is serialised by name."""

    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802
        return StructType([StructField("label", StringType()), StructField("level", DoubleType())])

    def serialize(self, obj: Any) -> Any:
        label, level = obj.value
        return {"label": label, "level": level}

    def deserialize(self, datum: Any) -> Any:
        return Boxed(tuple(datum))


class NestedType(BoxedType):
    """A user-defined type of another one."""

    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802
        return ArrayType(LabelType())


class FailingType(SerialType):
    """Fails to convert either way."""

    def serialize(self, obj: Any) -> Any:
        raise ArithmeticError("serialize failed")

    def deserialize(self, datum: Any) -> Any:
        raise ArithmeticError("deserialize failed")
