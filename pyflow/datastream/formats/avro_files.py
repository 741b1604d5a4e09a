"""Files of records of Avro, which Spark's Avro module reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflow.common.serialization import RowDataBulkWriterFactory
from pyflow.datastream.connectors.base import SourceRows
from pyflow.datastream.connectors.file_system import BulkFormat
from pyflow.datastream.connectors.files import InputFiles
from pyflow.datastream.formats.avro_records import avro_row_type
from pyflow.datastream.formats.avro_schemas import AvroSchema, GenericRecordAvroTypeInfo
from pyflow.datastream.formats.file_columns import selected
from pyflow.datastream.formats.row_columns import DictDecoder
from pyflow.datastream.formats.row_types import shape_in_session

if TYPE_CHECKING:
    from pyflow.common.serialization import BulkWriterFactory

__all__ = ["AvroBulkWriters", "AvroInputFormat"]


class AvroInputFormat(BulkFormat):
    """Records of files of Avro, as dicts; for `StreamExecutionEnvironment.create_input`.

    Spark's Avro module has to be among the session's jars.

    Parameters
    ----------
    path : str
        Of a file, or of a directory.
    schema : AvroSchema
        Of the records.

    Raises
    ------
    TableException
        If Spark has no columns for the schema.
    """

    def __init__(self, path: str, schema: AvroSchema) -> None:
        self.paths = (path,)
        self._schema = schema
        self._row_type = avro_row_type(schema)

    def read(self, files: InputFiles) -> SourceRows:
        """Return the columns of the schema's fields."""
        frame = files.load("avro", None, {"avroSchema": str(self._schema)})
        frame = selected(frame, self._row_type)
        decoder = DictDecoder(shape_in_session(self._row_type, files.context))
        return SourceRows(frame, decoder, self.get_produced_type())

    def get_produced_type(self) -> GenericRecordAvroTypeInfo:
        """Return the type of the records."""
        return GenericRecordAvroTypeInfo(self._schema)

    def produced_type(self) -> GenericRecordAvroTypeInfo:
        """Return the type of the records."""
        return self.get_produced_type()


class AvroBulkWriters:
    """Makes the writers of files of Avro for `FileSink.for_bulk_format`."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Return the writer of records of a schema; they are dicts.

        Spark's Avro module has to be among the session's jars.

        Raises
        ------
        TableException
            If Spark has no columns for the schema.
        """
        options = {"avroSchema": str(schema)}
        return RowDataBulkWriterFactory("avro", avro_row_type(schema), options)
