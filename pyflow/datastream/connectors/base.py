"""What sources and sinks are: how they read and write rows of Spark that elements become."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflow.util.unsupported import unsupported

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.runtime.clock import Clock
    from pyflow.session.context import Context

__all__ = [
    "LATEST",
    "Boundedness",
    "DeliveryGuarantee",
    "Sink",
    "Source",
    "SourceRows",
    "StreamTransformer",
    "SupportsPreprocessing",
]


#: The end of a source that ends with what there is when it is read.
LATEST = "latest"


class Boundedness(Enum):
    """Whether a source ends."""

    BOUNDED = 0
    CONTINUOUS_UNBOUNDED = 1


class SourceRows(NamedTuple):
    """The rows that a source reads, and what they are.

    Attributes
    ----------
    frame : DataFrame
        Of any columns.
    decoder : callable
        Makes elements, each with its timestamp in milliseconds or None, of the columns of a row. It
        is pickled, and runs on executors. An `OperatorError` that it raises is shown as it is.
    type_info : TypeInformation or None
        Of the elements; None for any objects.
    """

    frame: DataFrame
    decoder: Callable[..., Iterable[tuple[Any, int | None]]]
    type_info: TypeInformation | None


class Source(ABC):
    """Where elements come from."""

    #: Whether an unbounded source ends: with what there is when it is read.
    ends: bool = False

    #: After how many milliseconds an unbounded source is looked at again; None for at once.
    discovery_interval: int | None = None
    #: The processing time of a job that reads it; None for that of the machines.
    clock: Clock | None = None
    #: The side outputs to which the decoder sends `SideElement`.
    side_outputs: tuple[str, ...] = ()
    #: Whether the decoder emits watermarks.
    has_watermarks: bool = False
    #: Whether Spark's real-time mode can wait for its records.
    supports_real_time: bool = False
    #: What it reads, by which a program that goes on from a checkpoint knows it.
    reads: str = ""
    #: Which of several places it reads that from, such as the brokers of a topic.
    origin: str = ""
    #: What a source ends at that is unbounded and ends, in words; `LATEST`, or empty, for what
    #: there is when it is read.
    stop: str = ""

    @property
    def kind(self) -> str:
        """What kind of source it is."""
        return type(self).__name__

    def continues(self, reads: str) -> bool:
        """Return whether it goes on where one of its kind stopped that has read something else."""
        return False

    def stops_at(self, context: Context) -> str:
        """Return the position that `stop` means now, which a checkpoint keeps.

        Parameters
        ----------
        context : Context
            The session, and the settings.
        """
        return ""

    def stopping_at(self, position: str) -> Source:
        """Return the same source that ends at a position which `stops_at` has returned.

        Parameters
        ----------
        position : str
            Empty for one that ends when its query does.
        """
        return self

    def digest(self) -> str:
        """Return a digest of the elements, where the program has them."""
        return ""

    @abstractmethod
    def boundedness(self) -> Boundedness:
        """Return whether the source ends."""

    @abstractmethod
    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the rows.

        Parameters
        ----------
        context : Context
            The session, and the settings.
        is_streaming : bool
            Whether they must be a stream of Spark, as the query has unbounded sources, too.
        """

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements; None for any objects."""
        return None


class Sink(ABC):
    """Where elements go."""

    #: What it writes to, by which a program that goes on from a checkpoint knows it.
    writes: str = ""

    @abstractmethod
    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[Any, ...] | None]:
        """Return what makes the columns of a row of an element and its timestamp.

        It is pickled, and runs on executors. It returns None for elements that are left out.

        Parameters
        ----------
        type_info : TypeInformation or None
            Of the elements; None for any objects.
        """

    @abstractmethod
    def schema(self, type_info: TypeInformation | None) -> str | StructType:
        """Return the columns that the encoder makes."""

    @abstractmethod
    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Write rows of a bounded program, or of a micro-batch.

        Parameters
        ----------
        frame : DataFrame
        context : Context
        batch_id : int or None
            The number of the micro-batch; it may come again after a failure.
        """

    def writer(self, frame: DataFrame, context: Context) -> DataStreamWriter | None:
        """Return what of Spark writes a stream; None to have batches written instead.

        Parameters
        ----------
        frame : DataFrame
        context : Context
        """
        return None


class DeliveryGuarantee(Enum):
    """How often a sink writes an element after a failure."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


@unsupported("it changes streams of Flink's JVM; use map() or process() of a DataStream")
class StreamTransformer:
    """Changes the stream that comes to a sink."""

    def apply(self, ds: Any) -> Any:
        """Return the changed stream."""


@unsupported("it changes streams of Flink's JVM; use map() or process() of a DataStream")
class SupportsPreprocessing:
    """A sink whose elements are changed before it."""

    def get_transformer(self) -> Any:
        """Return what changes them."""
