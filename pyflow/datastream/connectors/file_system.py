"""Sources and sinks of files.

A file sink writes the elements of a program, or of a micro-batch, at once. Its files are seen when
all of them are complete, so that policies of when a file ends have nothing to decide: a file ends
with the micro-batch in which it was begun.
"""

from __future__ import annotations

import codecs
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from pyflow.common.serialization import BulkWriterFactory, Encoder
from pyflow.datastream.connectors.base import (
    Boundedness,
    Sink,
    Source,
    SourceRows,
    StreamTransformer,
)
from pyflow.datastream.connectors.file_contents import Contents, contents_of, text_contents
from pyflow.datastream.connectors.file_policies import (
    BucketAssigner,
    DefaultRollingPolicy,
    FileCompactor,
    FileCompactStrategy,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    RollingPolicy,
)
from pyflow.datastream.connectors.files import InputFiles, PartFiles
from pyflow.datastream.formats.text_lines import LineDecoder, TextDecoder, is_read_whole

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from pyflow.common.time import Duration
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]

# Sources


class FileEnumeratorProvider:
    """How a source finds files: Spark does, as both of Flink's own enumerators do.

    Directories are read with all below them. Files and directories whose names begin with ``.`` or
    ``_`` are left out.
    """

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Return the enumerator of formats whose files can be split."""
        return FileEnumeratorProvider()

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Return the enumerator of formats whose files cannot be split."""
        return FileEnumeratorProvider()


class FileSplitAssignerProvider:
    """Which task reads which part of the files: Spark chooses, by where they are stored."""

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Return the assigner that prefers parts that are near."""
        return FileSplitAssignerProvider()


class _Format(ABC):
    """What the files of a source are."""

    #: The paths of its files, for a format that knows them.
    paths: tuple[str, ...] = ()

    @abstractmethod
    def read(self, files: InputFiles) -> SourceRows:
        """Return the rows of files."""

    @abstractmethod
    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements; None for any objects."""


class StreamFormat(_Format):
    """A format whose files are read record by record.

    Spark decompresses files by the ends of their names: ``.gz``, ``.bz2``, ``.deflate``, ``.zst``.
    """

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """Return the format of lines of text.

        Parameters
        ----------
        charset_name : str
            The encoding. Bytes that are none of a character become U+FFFD.

        Raises
        ------
        LookupError
            If there is no such encoding.
        """
        return _TextLines(charset_name)


class _TextLines(StreamFormat):
    def __init__(self, charset: str) -> None:
        codecs.lookup(charset)
        self._charset = charset

    def read(self, files: InputFiles) -> SourceRows:
        if is_read_whole(self._charset):
            frame = files.load("text", "value STRING", {"wholetext": "true"})
            decoder: Callable[..., Iterable[tuple[Any, int | None]]] = TextDecoder(self._charset)
        else:
            frame = files.load("text", "value STRING")
            decoder = LineDecoder(self._charset)
        frame = frame.select(frame["value"].cast("binary"))
        return SourceRows(frame, decoder, self.produced_type())

    def produced_type(self) -> TypeInformation:
        from pyflow.common.typeinfo import Types

        return Types.STRING()


class BulkFormat(_Format):
    """A format whose files are read many records at a time, such as Parquet."""


class FileSourceBuilder:
    """Makes a `FileSource`; begin with its static methods.

    Parameters
    ----------
    file_format : StreamFormat or BulkFormat
    paths : tuple of str

    Raises
    ------
    ValueError
        If there are no paths.
    """

    def __init__(self, file_format: StreamFormat | BulkFormat, paths: tuple[str, ...]) -> None:
        self._format = file_format
        self._paths = paths or file_format.paths
        if not self._paths:
            raise ValueError("paths must not be empty")
        self._interval: int | None = None

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Have files read that come after the program has started: the source has no end.

        Parameters
        ----------
        discovery_interval : Duration
            After which the paths are looked through again.
        """
        self._interval = discovery_interval.to_millis()
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Have the files read that there are when the program starts, which is the default."""
        self._interval = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Set how files are found; both enumerators find the same."""
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Set which task reads what; Spark chooses it."""
        return self

    def build(self) -> FileSource:
        """Return the source."""
        return FileSource(self._format, self._paths, self._interval)


class FileSource(Source):
    """Reads files, those that there are, or those that come, too.

    Parameters
    ----------
    file_format : StreamFormat or BulkFormat
    paths : tuple of str
        Of files, and of directories that are read with all below them.
    discovery_interval : int or None
        In milliseconds; None for files that there are when the program starts.
    """

    def __init__(
        self,
        file_format: StreamFormat | BulkFormat,
        paths: tuple[str, ...],
        discovery_interval: int | None = None,
    ) -> None:
        self._format = file_format
        self._paths = paths
        self.reads = ", ".join(paths)
        #: After how many milliseconds the paths are looked through again.
        self.discovery_interval = discovery_interval

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        """Begin a source of files that are read record by record.

        Parameters
        ----------
        stream_format : StreamFormat
        *paths : str
            Paths, or addresses such as ``file:///data`` and ``s3a://bucket/data``.
        """
        return FileSourceBuilder(stream_format, paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Begin a source of files that are read many records at a time.

        Parameters
        ----------
        bulk_format : BulkFormat
        *paths : str
            Paths, or addresses such as ``file:///data`` and ``s3a://bucket/data``.
        """
        return FileSourceBuilder(bulk_format, paths)

    @property
    def kind(self) -> str:
        """What kind of source it is; that of several paths is one of these alone."""
        return f"FileSource of {self.reads}" if len(self._paths) > 1 else "FileSource"

    def boundedness(self) -> Boundedness:
        """Return whether only the files are read that there are when the program starts."""
        if self.discovery_interval is None:
            return Boundedness.BOUNDED
        return Boundedness.CONTINUOUS_UNBOUNDED

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the rows of the files."""
        is_monitored = self.discovery_interval is not None
        return self._format.read(InputFiles(self._paths, is_monitored, is_streaming, context))

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements; None for any objects."""
        return self._format.produced_type()


# Sinks

B = TypeVar("B", bound="_Builder")


class _Builder:
    """What the builders of file sinks have in common."""

    def __init__(self, files: PartFiles, contents: Contents) -> None:
        self._files = files
        self._contents = contents

    def with_bucket_check_interval(self: B, interval: int) -> B:
        """Set how often it is looked whether files end; they end with micro-batches.

        Parameters
        ----------
        interval : int
            In milliseconds.
        """
        return self

    def with_bucket_assigner(self: B, bucket_assigner: BucketAssigner) -> B:
        """Set in which directories files are; by default a new one for each hour."""
        self._files = self._files.in_bucket(bucket_assigner.pattern, bucket_assigner.zone)
        return self

    def with_output_file_config(self: B, output_file_config: OutputFileConfig) -> B:
        """Set what names of files begin and end with."""
        prefix = output_file_config.get_part_prefix()
        self._files = self._files.named(prefix, output_file_config.get_part_suffix())
        return self

    def with_rolling_policy(self: B, rolling_policy: Any) -> B:
        """Set when files end; they end with micro-batches."""
        return self


class _FilesSink(Sink):
    """Writes what elements become into new files of a directory."""

    def __init__(self, files: PartFiles, contents: Contents) -> None:
        self._files = files
        self._contents = contents
        self.writes = files.directory

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[Any, ...] | None]:
        return self._contents.encoder(type_info)

    def schema(self, type_info: TypeInformation | None) -> str | StructType:
        return self._contents.schema()

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        self._files.write(frame, self._contents.kind, batch_id)


class FileSink(_FilesSink):
    """Writes files into a directory; begin with `for_row_format` or `for_bulk_format`.

    A program that is bounded writes its files at its end, others with each micro-batch. Files are
    seen when they are complete, and a micro-batch that is written again after a failure replaces
    its files: each element is in them once.
    """

    def get_transformer(self) -> StreamTransformer | None:
        """Return None: elements are encoded where they are."""
        return None

    class BaseBuilder(_Builder):
        """What the builders have in common."""

        def enable_compact(
            self, strategy: FileCompactStrategy, compactor: FileCompactor
        ) -> FileSink.BaseBuilder:
            """Have what is written at once in one file."""
            self._files = self._files.compacted(True)
            return self

        def disable_compact(self) -> FileSink.BaseBuilder:
            """Have a file for each subtask."""
            self._files = self._files.compacted(False)
            return self

        def build(self) -> FileSink:
            """Return the sink."""
            return FileSink(self._files, self._contents)

    class RowFormatBuilder(BaseBuilder):
        """Makes a sink of elements that are written one by one."""

    class BulkFormatBuilder(BaseBuilder):
        """Makes a sink of elements that are written many at a time."""

        def with_rolling_policy(self, rolling_policy: Any) -> FileSink.BulkFormatBuilder:
            """Set when files end; they end with micro-batches.

            Raises
            ------
            ValueError
                If it is not the policy of checkpoints.
            """
            if not isinstance(rolling_policy, OnCheckpointRollingPolicy):
                raise ValueError("rolling_policy must be OnCheckpointRollingPolicy for bulk format")
            return self

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Begin a sink that writes elements one by one.

        Parameters
        ----------
        base_path : str
            The directory, a path or an address.
        encoder : Encoder
        """
        return FileSink.RowFormatBuilder(PartFiles(base_path), text_contents(encoder))

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> FileSink.BulkFormatBuilder:
        """Begin a sink that writes elements many at a time.

        Parameters
        ----------
        base_path : str
            The directory, a path or an address.
        writer_factory : BulkWriterFactory
            Of ``pyflow.datastream.formats``.
        """
        return FileSink.BulkFormatBuilder(PartFiles(base_path), contents_of(writer_factory))


class StreamingFileSink(_FilesSink):
    """The file sink of programs for older versions; `FileSink` does the same.

    Parameters
    ----------
    files : PartFiles
    contents : Contents
    """

    def __init__(self, files: PartFiles, contents: Contents) -> None:
        warnings.warn("Deprecated in 1.15. Use FileSink instead.", DeprecationWarning, stacklevel=3)
        super().__init__(files, contents)

    class BaseBuilder(_Builder):
        """What the builders have in common."""

        def build(self) -> StreamingFileSink:
            """Return the sink."""
            return StreamingFileSink(self._files, self._contents)

    class DefaultRowFormatBuilder(BaseBuilder):
        """Makes a sink of elements that are written one by one."""

    class DefaultBulkFormatBuilder(BaseBuilder):
        """Makes a sink of elements that are written many at a time."""

    @staticmethod
    def for_row_format(
        base_path: str, encoder: Encoder
    ) -> StreamingFileSink.DefaultRowFormatBuilder:
        """Begin a sink that writes elements one by one.

        Parameters
        ----------
        base_path : str
            The directory, a path or an address.
        encoder : Encoder
        """
        return StreamingFileSink.DefaultRowFormatBuilder(
            PartFiles(base_path), text_contents(encoder)
        )

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        """Begin a sink that writes elements many at a time.

        Parameters
        ----------
        base_path : str
            The directory, a path or an address.
        writer_factory : BulkWriterFactory
            Of ``pyflow.datastream.formats``.
        """
        return StreamingFileSink.DefaultBulkFormatBuilder(
            PartFiles(base_path), contents_of(writer_factory)
        )
