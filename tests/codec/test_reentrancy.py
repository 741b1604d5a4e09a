"""Containers that change while they are read: Python code runs within a conversion."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from codec import INEXACT, Codec, CodecError
from user_defined import BoxedType


class Emptying:
    """Stands for a number; empties the container that it is in when it is serialised."""

    def __init__(self) -> None:
        self.container: Any = None

    def serialize(self) -> int:
        self.container.clear()
        # Reuse what has been given back.
        self.replacements = [[object()] * size for size in range(64)]
        return 7


class EmptyingType(BoxedType):
    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802
        return LongType()

    def serialize(self, obj: Any) -> Any:
        return obj.serialize()


class TextType(EmptyingType):
    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802
        return StringType()

    def serialize(self, obj: Any) -> Any:
        return str(obj.serialize())


@pytest.mark.parametrize("element", [EmptyingType(), TextType()], ids=["fixed", "variable"])
def test_a_list_that_loses_its_elements(
    element: DataType, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    elements = [Emptying() for _ in range(100)]
    value = list(elements)
    for each in elements:
        each.container = value
    codec = make_codec(ArrayType(element), arrow)
    decoded = codec.decode(codec.encode((value,)))[0]
    assert len(decoded) == 100


def test_a_dict_that_loses_its_entries(make_codec: Callable[..., Codec]) -> None:
    values = [Emptying() for _ in range(100)]
    value = dict(enumerate(values))
    for each in values:
        each.container = value
    codec = make_codec(MapType(LongType(), EmptyingType()), arrow=True)
    assert len(codec.decode(codec.encode((value,)))[0]) == 100


def test_a_dict_by_name_that_loses_its_entries(
    arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    fields = [StructField(name, EmptyingType()) for name in "ab"]
    first = Emptying()
    first.container = {"a": first, "b": Emptying()}
    codec = make_codec(StructType(fields), arrow)
    decoded = codec.decode(codec.encode((first.container,)))[0]
    assert [each and each.value for each in decoded] == [7, None]


@pytest.fixture
def collecting_always() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(1)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("collecting_always")
@pytest.mark.parametrize("kind", [list, dict])
def test_finalizers_that_empty_a_container(
    kind: type, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    class Finalizing:
        def __init__(self, container: Any) -> None:
            self.container = container
            self.cycle = self

        def __del__(self) -> None:
            self.container.clear()

    data_type = ArrayType(StringType()) if kind is list else MapType(StringType(), StringType())
    codec = make_codec(ArrayType(data_type), arrow)
    for _ in range(200):
        inner = ["text"] * 50 if kind is list else {"key": "value"}
        Finalizing(inner)
        with contextlib.suppress(CodecError):  # it says that the container has changed its size
            row = codec.encode(([inner] * 3,))
            assert row is not INEXACT
            codec.decode(row)
