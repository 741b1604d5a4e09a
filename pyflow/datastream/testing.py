"""A source for tests of programs: elements and watermarks, a batch after the other."""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflow.common.watermark_strategy import Watermark
from pyflow.datastream.connectors.base import Boundedness, Source, SourceRows
from pyflow.datastream.runtime.clock import ManualClock
from pyflow.datastream.runtime.operator import MAX_WATERMARK
from pyflow.datastream.runtime.pickling import dumps_of_program

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = ["TestStream"]

_SECOND = 1_000_000_000


class TestStream(Source):
    """An unbounded source that ends: what it has comes in the order in which it was added.

    Each call of a method that adds something makes a micro-batch. Its name and methods are those of
    Apache Beam's class. The job ends when everything has been processed; started again with the
    same checkpoint, it goes on with what has been added since.

    The processing time is that of the machine, unless `advance_processing_time` has been called
    before the job begins: then it begins at 0, and only such calls advance it, for timers, windows
    and the time to live of state.

    Parameters
    ----------
    type_info : TypeInformation, optional
        Of the elements; any objects without it.

    Examples
    --------
    >>> stream = TestStream().add_elements([("a", 1)], timestamps=[1000])
    >>> stream.advance_watermark_to(5000).advance_watermark_to_infinity()
    """

    # Not a class of tests.
    __test__ = False

    #: The job ends when everything that is there has been processed.
    ends = True

    has_watermarks = True

    def __init__(self, type_info: TypeInformation | None = None) -> None:
        self._type_info = type_info
        self._directory = tempfile.mkdtemp(prefix="pyflow-test-stream-")
        self.reads = self._directory
        self._count = 0
        atexit.register(shutil.rmtree, self._directory, ignore_errors=True)
        # With the processing time at which they come.
        self._added: list[tuple[int, list[tuple[Any, int | None]]]] = []
        self._batches = Path(self._directory) / "batches"
        self._batches.mkdir()
        self._clock = ManualClock(f"{self._directory}/clock")
        self._time = 0

    def continues(self, reads: str) -> bool:
        """Return that its batches may be in another directory."""
        return True

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements."""
        return self._type_info

    def boundedness(self) -> Boundedness:
        """Return that it is unbounded."""
        return Boundedness.CONTINUOUS_UNBOUNDED

    def add_elements(
        self, elements: Iterable[Any], timestamps: Iterable[int] | None = None
    ) -> TestStream:
        """Add elements, and return the source.

        Parameters
        ----------
        elements : iterable
        timestamps : iterable of int, optional
            Of each, in milliseconds since the epoch.
        """
        values = list(elements)
        times = [None] * len(values) if timestamps is None else list(timestamps)
        if len(times) != len(values):
            raise ValueError(f"there are {len(values)} elements, but {len(times)} timestamps")
        self._added.append((self._time, list(zip(values, times))))
        return self

    def advance_watermark_to(self, watermark: int) -> TestStream:
        """Add a watermark, in milliseconds since the epoch, and return the source."""
        self._added.append((self._time, [(Watermark(watermark), None)]))
        return self

    def advance_watermark_to_infinity(self) -> TestStream:
        """Add the end of time, and return the source."""
        return self.advance_watermark_to(MAX_WATERMARK)

    def advance_processing_time(self, advance_by: int) -> TestStream:
        """Advance the processing time by so many milliseconds, and return the source.

        Timers that are due fire once what was added before has been processed.
        """
        if advance_by < 0:
            raise ValueError(f"the processing time cannot go back, by {advance_by} milliseconds")
        self.clock = self._clock
        self._time += advance_by
        self._added.append((self._time, []))
        return self

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the rows of what was added, a file for each batch."""
        session = context.session
        for moment, added in self._added:
            time = [] if self.clock is None else [(_ProcessingTime(self._clock, moment), None)]
            self._write(session, [*time, *added])
        self._added = []
        stream = session.readStream.schema("events BINARY").option("maxFilesPerTrigger", 1)
        frame = stream.parquet(str(self._batches))
        return SourceRows(frame, _events, self._type_info)

    def _write(self, session: Any, added: list[tuple[Any, int | None]]) -> None:
        written = Path(self._directory) / "written"
        row = (bytearray(dumps_of_program(added)),)
        session.createDataFrame([row], "events BINARY").coalesce(1).write.mode("overwrite").parquet(
            str(written)
        )
        (file,) = written.glob("*.parquet")
        target = self._batches / f"{self._count:08d}.parquet"
        # Spark takes files in the order of their times.
        moment = _SECOND * (1_000_000 + self._count)
        os.utime(file, ns=(moment, moment))
        file.rename(target)
        self._count += 1


class _ProcessingTime(NamedTuple):
    clock: ManualClock
    moment: int


def _events(events: bytes) -> Iterable[tuple[Any, int | None]]:
    for value, timestamp in pickle.loads(events):
        if type(value) is _ProcessingTime:
            value.clock.set(value.moment)
        else:
            yield value, timestamp
