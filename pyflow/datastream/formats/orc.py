"""Files of ORC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflow.common.serialization import RowDataBulkWriterFactory
from pyflow.datastream.formats.writer_options import writer_options
from pyflow.types.logical_types import RowType

if TYPE_CHECKING:
    from pyflow.common.configuration import Configuration
    from pyflow.common.serialization import BulkWriterFactory

__all__ = ["OrcBulkWriters"]


class OrcBulkWriters:
    """Makes the writers of files of ORC for `FileSink.for_bulk_format`."""

    @staticmethod
    def for_row_type(
        row_type: RowType,
        writer_properties: Configuration | None = None,
        hadoop_config: Configuration | None = None,
    ) -> BulkWriterFactory:
        """Return the writer of rows of a type.

        Parameters
        ----------
        row_type : RowType
            Of the rows.
        writer_properties : Configuration, optional
            Properties of ORC's writer, such as ``orc.compress``.
        hadoop_config : Configuration, optional
            Settings of Hadoop.

        Raises
        ------
        TypeError
            If the type is none of rows.
        """
        if not isinstance(row_type, RowType):
            raise TypeError("row_type must be an instance of RowType")
        options = writer_options(hadoop_config, writer_properties)
        return RowDataBulkWriterFactory("orc", row_type, options)
