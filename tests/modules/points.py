"""User-defined types in a module that drivers and executors can import."""

from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructType,
    UserDefinedType,
)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


class PointUDT(UserDefinedType):
    """A point stored as an array of two doubles."""

    @classmethod
    def sqlType(cls):  # noqa: N802
        return ArrayType(DoubleType(), False)

    @classmethod
    def module(cls):
        return "points"

    def serialize(self, obj):
        return [obj.x, obj.y]

    def deserialize(self, datum):
        return Point(datum[0], datum[1])


class TaggedUDT(UserDefinedType):
    """A value with a tag, stored as a struct with a map in it."""

    @classmethod
    def sqlType(cls):  # noqa: N802
        return StructType().add("tag", StringType()).add("m", MapType(StringType(), LongType()))

    @classmethod
    def module(cls):
        return "points"

    def serialize(self, obj):
        return (obj.x, {"y": obj.y})

    def deserialize(self, datum):
        return Point(datum[0], datum[1]["y"])
