"""Sinks in the program's own process: what it prints, and what it collects."""

from __future__ import annotations

import functools
import pickle
import queue
import sys
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflow.common.typeinfo import ExternalTypeInfo, RowTypeInfo
from pyflow.common.types import Row
from pyflow.datastream.connectors.base import Sink
from pyflow.datastream.runtime.pickling import dumps
from pyflow.datastream.runtime.values import coercion, collected, printed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = ["CollectSink", "DriverSink", "PrintSink", "ValuesSink"]

# Elements that wait until the program takes them.
_WAITING = 10_000
_POLL_SECONDS = 0.2
_END: Any = object()


class DriverSink(Sink):
    """A sink whose elements come to the driver, one by one."""

    def schema(self, type_info: TypeInformation | None) -> str:
        """Return the columns of rows."""
        return "value BINARY"

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Write rows."""
        raise AssertionError("elements are taken one by one")

    @abstractmethod
    def take(self, value: bytes, subtask: int) -> None:
        """Take an element, as it was encoded in a subtask."""

    def flush(self) -> None:
        """Do what is done after the elements of a batch."""


class PrintSink(DriverSink):
    """Writes elements to the program's standard output.

    In Flink each task prints on its own machine; here the driver prints, so that the elements are
    seen where the program runs. In real-time mode tasks print, into the logs of executors.

    Parameters
    ----------
    identifier : str or None
        What lines begin with.
    parallelism : callable
        Returns how many subtasks print. If there are several, lines say by which one.
    """

    def __init__(self, identifier: str | None, parallelism: Callable[[], int]) -> None:
        self._identifier = identifier or ""
        self._parallelism = parallelism

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[bytes]]:
        """Return what makes the columns of an element."""
        return _Printed(type_info)

    def take(self, value: bytes, subtask: int) -> None:
        """Take an element."""
        print(self.line(value, subtask), file=sys.stdout)

    @functools.cached_property
    def line(self) -> Callable[[bytes, int], str]:
        """What makes a line of an encoded element and the number of its subtask."""
        return _Line(self._identifier, self._parallelism())

    def flush(self) -> None:
        """Write what has been printed."""
        sys.stdout.flush()


@dataclass(frozen=True)
class _Line:
    identifier: str
    parallelism: int

    def __call__(self, value: bytes, subtask: int) -> str:
        prefix = self.identifier
        if self.parallelism > 1:
            number = subtask % self.parallelism + 1
            prefix = f"{prefix}:{number}" if prefix else str(number)
        line = value.decode("utf-8", "surrogatepass")
        return f"{prefix}> {line}" if prefix else line


@dataclass
class _Printed:
    type_info: TypeInformation | None

    def __call__(self, value: Any, timestamp: int | None) -> tuple[bytes]:
        return (self._text(value).encode("utf-8", "surrogatepass"),)

    @functools.cached_property
    def _text(self) -> Callable[[Any], str]:
        text, coerce = printed(self.type_info), coercion(self.type_info)
        if coerce is None or not isinstance(self.type_info, (RowTypeInfo, ExternalTypeInfo)):
            return text
        # Rows may come as a function has returned them.
        return lambda value: text(value if isinstance(value, Row) else coerce(value))

    def __reduce__(self) -> tuple[Any, ...]:
        return _Printed, (self.type_info,)


class _Pickled:
    def __call__(self, value: Any, timestamp: int | None) -> tuple[bytes]:
        return (dumps(value),)


class ValuesSink(Sink):
    """Pickled elements with their timestamps, which stay in Spark."""

    def schema(self, type_info: TypeInformation | None) -> str:
        """Return the columns of rows."""
        return "value BINARY"

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[bytes]]:
        """Return what makes the columns of an element."""
        return lambda value, timestamp: (dumps((value, timestamp)),)

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Write rows."""
        raise AssertionError("elements are kept, not written")


class DiscardingSink(Sink):
    """Leaves all elements out: what is behind operators that no sink is behind."""

    def schema(self, type_info: TypeInformation | None) -> str:
        """Return the columns of rows."""
        return "value BINARY"

    def encoder(self, type_info: TypeInformation | None) -> Callable[[Any, int | None], None]:
        """Return what leaves elements out."""
        return _nothing

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Compute the rows."""
        frame.write.format("noop").mode("overwrite").save()


def _nothing(value: Any, timestamp: int | None) -> None:
    return None


class CollectSink(DriverSink):
    """Gives elements to an iterator of the program; few of them wait.

    Parameters
    ----------
    type_info : TypeInformation or None
        Of the elements.
    """

    def __init__(self, type_info: TypeInformation | None) -> None:
        self._elements: queue.Queue[Any] = queue.Queue(_WAITING)
        self._closed = threading.Event()
        self._convert = collected(type_info)
        self._error: BaseException | None = None

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[bytes]]:
        """Return what makes the columns of an element."""
        return _Pickled()

    def take(self, value: bytes, subtask: int) -> None:
        """Take an element."""
        element = pickle.loads(value)
        self._put(element if self._convert is None else self._convert(element))

    def _put(self, element: Any) -> None:
        while not self._closed.is_set():
            try:
                self._elements.put(element, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return

    def end(self, error: BaseException | None) -> None:
        """Say that no more elements come, because of an error or not."""
        self._error = error
        self._put(_END)

    def is_at_end(self) -> bool:
        """Return whether all elements have been taken, or no more are."""
        return self._closed.is_set()

    def close(self) -> None:
        """Take no more elements."""
        self._closed.set()

    def elements(self) -> Iterator[Any]:
        """Yield the elements until the end, or raise the error of the job."""
        while not self._closed.is_set():
            element = self._elements.get()
            if element is _END:
                self._closed.set()
                if self._error is not None:
                    raise self._error
                return
            yield element
