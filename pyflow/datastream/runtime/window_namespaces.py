"""The bytes of windows, by which their state and timers are known."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from io import BytesIO
from typing import Any, NamedTuple

from pyflow.datastream.runtime.pickling import PROTOCOL
from pyflow.datastream.window import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    TimeWindow,
    TimeWindowSerializer,
)

__all__ = ["Namespaces", "namespaces_of", "pack_interval", "unpack_interval"]

_interval = struct.Struct(">qq")
_number = struct.Struct(">q")

#: Takes start and end of a time window, and returns its bytes; and the other way round.
pack_interval = _interval.pack
unpack_interval = _interval.unpack


class Namespaces(NamedTuple):
    """Makes bytes of windows, and windows of bytes.

    Attributes
    ----------
    encode : callable
    decode : callable
    """

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


def namespaces_of(serializer: Any) -> Namespaces:
    """Return what makes the bytes of windows.

    Parameters
    ----------
    serializer : TypeSerializer or None
        That of their assigner; without one they are pickled.
    """
    known = _KNOWN.get(type(serializer))
    if known is not None:
        return known
    if serializer is None:
        return Namespaces(_pickled, pickle.loads)

    def encode(window: Any) -> bytes:
        stream = BytesIO()
        serializer.serialize(window, stream)
        return stream.getvalue()

    return Namespaces(encode, lambda namespace: serializer.deserialize(BytesIO(namespace)))


def _pickled(window: Any) -> bytes:
    """Return the bytes of a window, the same ones after a restart."""
    try:
        return pickle.dumps(window, PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"windows of {type(window).__name__} cannot be pickled: have get_window_serializer() "
            "of their assigner return a TypeSerializer, or define the class in a module"
        ) from error


_KNOWN: dict[type[Any], Namespaces] = {
    TimeWindowSerializer: Namespaces(
        lambda window: pack_interval(window.start, window.end),
        lambda namespace: TimeWindow(*unpack_interval(namespace)),
    ),
    CountWindowSerializer: Namespaces(
        lambda window: _number.pack(window.id),
        lambda namespace: CountWindow(*_number.unpack(namespace)),
    ),
    GlobalWindowSerializer: Namespaces(lambda window: b"\0", lambda namespace: GlobalWindow()),
}
