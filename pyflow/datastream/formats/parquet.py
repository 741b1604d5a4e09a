"""Files of Parquet, of rows and of records of Avro."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyflow.common.serialization import RowDataBulkWriterFactory
from pyflow.datastream.connectors.base import SourceRows
from pyflow.datastream.connectors.file_system import BulkFormat, StreamFormat
from pyflow.datastream.connectors.files import InputFiles
from pyflow.datastream.formats.avro_records import avro_row_type
from pyflow.datastream.formats.avro_schemas import GenericRecordAvroTypeInfo
from pyflow.datastream.formats.file_columns import selected
from pyflow.datastream.formats.row_columns import DictDecoder, RowDecoder
from pyflow.datastream.formats.row_types import row_type_info, shape_in_session
from pyflow.datastream.formats.writer_options import writer_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.common.configuration import Configuration
    from pyflow.common.serialization import BulkWriterFactory
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.formats.avro_schemas import AvroSchema
    from pyflow.types.logical_types import RowType

__all__ = [
    "AvroParquetReaders",
    "AvroParquetWriters",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
]


def _columns_of_all(files: InputFiles, options: Mapping[str, str]) -> DataFrame:
    """Return the rows of files, with the columns of all of them, not of one as Spark does.

    Files whose columns of one name differ in their types have those of one file.
    """
    try:
        frame = files.load("parquet", None, {"mergeSchema": "true", **options})
        # Over Spark Connect it is looked into now.
        _ = frame.columns
    except Exception as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error):
            raise
        return files.load("parquet", None, options)
    return frame


class _AvroParquet(StreamFormat):
    """Records of Avro in files of Parquet."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._row_type = avro_row_type(schema)

    def read(self, files: InputFiles) -> SourceRows:
        """Return the columns of the schema's fields."""
        frame = selected(_columns_of_all(files, {}), self._row_type)
        decoder = DictDecoder(shape_in_session(self._row_type, files.context))
        return SourceRows(frame, decoder, self.produced_type())

    def produced_type(self) -> TypeInformation:
        """Return the type of the records."""
        return GenericRecordAvroTypeInfo(self._schema)


class AvroParquetReaders:
    """Makes formats of records of Avro for `FileSource.for_record_stream_format`."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Return the format of records of a schema; they are dicts.

        Raises
        ------
        TableException
            If Spark has no columns for the schema.
        """
        return _AvroParquet(schema)


class AvroParquetWriters:
    """Makes the writers of records of Avro for `FileSink.for_bulk_format`."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Return the writer of records of a schema; they are dicts.

        Raises
        ------
        TableException
            If Spark has no columns for the schema.
        """
        return RowDataBulkWriterFactory("parquet", avro_row_type(schema))


class ParquetColumnarRowInputFormat(BulkFormat):
    """Rows of files of Parquet.

    Columns that the files do not have are null. Types may be nested, which they may not in Flink.

    Parameters
    ----------
    row_type : RowType
        Of the rows.
    hadoop_config : Configuration, optional
        Settings of Hadoop.
    batch_size : int
        How many rows are read at a time; Spark chooses it.
    is_utc_timestamp : bool
        Whether points in time in the files, as Hive and old versions of Flink write them, become
        dates and times of UTC, and not of the session's time zone.
    is_case_sensitive : bool
        Whether the case of names of columns counts.
    """

    def __init__(
        self,
        row_type: RowType,
        hadoop_config: Configuration | None = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ) -> None:
        self._row_type = row_type
        self._options = writer_options(hadoop_config)
        self._is_utc = is_utc_timestamp
        self._is_case_sensitive = is_case_sensitive

    def read(self, files: InputFiles) -> SourceRows:
        """Return the columns of the type's fields."""
        frame = _columns_of_all(files, self._options)
        frame = selected(frame, self._row_type, self._is_utc, self._is_case_sensitive)
        decoder = RowDecoder(shape_in_session(self._row_type, files.context))
        return SourceRows(frame, decoder, self.produced_type())

    def produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return row_type_info(self._row_type)


class ParquetBulkWriters:
    """Makes the writers of files of Parquet for `FileSink.for_bulk_format`."""

    @staticmethod
    def for_row_type(
        row_type: RowType,
        hadoop_config: Configuration | None = None,
        utc_timestamp: bool = False,
    ) -> BulkWriterFactory:
        """Return the writer of rows of a type.

        Parameters
        ----------
        row_type : RowType
            Of the rows.
        hadoop_config : Configuration, optional
            Settings of Hadoop, such as ``parquet.compression``.
        utc_timestamp : bool
            Of which time zone dates and times without one would be. Spark writes what calendar and
            clock show, so that it makes no difference.
        """
        return RowDataBulkWriterFactory("parquet", row_type, writer_options(hadoop_config))
