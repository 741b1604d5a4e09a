"""What every format has: options, and methods to decode and encode rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from pyflow.connectors.connector import DescribedTable, Option
from pyflow.table.changes.relation import column
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.types.logical_types import DataType

    Fields = Sequence[tuple[str, DataType]]

#: Of the column that formats put what they have parsed into.
PARSED = "$parsed"


class Format(ABC):
    """Decodes rows from bytes, and encodes rows as bytes.

    Parameters
    ----------
    table
        The table whose rows they are.
    values
        The values of its options, by their names without the format's.
    """

    identifier: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    #: Spark's name of files of the format; the format itself makes rows of lines where it is text.
    files: ClassVar[str] = "text"
    #: Whether the bytes tell of changes of rows.
    has_changes: ClassVar[bool] = False

    def __init__(self, table: DescribedTable, values: Mapping[str, Any]) -> None:
        self.table = table
        self.values = values

    @classmethod
    def named_options(cls, prefix: str = "") -> list[Option]:
        """Return the options as a table names them: ``json.ignore-parse-errors``."""
        return [replace(each, name=f"{prefix}{cls.identifier}.{each.name}") for each in cls.options]

    @abstractmethod
    def decoded(
        self,
        frame: DataFrame,
        value: str,
        fields: Fields,
        kept: Sequence[str],
        nulls: bool = False,
    ) -> DataFrame:
        """Return the rows that are decoded from the bytes or the strings of a column.

        Parameters
        ----------
        frame
            The frame.
        value
            The name of the column.
        fields
            Names and types of the columns to return.
        kept
            Names of columns of the frame to return before them. A format of changes adds KIND.
        nulls
            Whether to return a row of nulls where there are no bytes, which otherwise are no row.
        """

    @abstractmethod
    def encoded(self, fields: Fields, source: Callable[[str], Column] = column) -> Column:
        """Return a row of a frame, encoded as a string or as bytes.

        Parameters
        ----------
        fields
            The names and types that the row has.
        source
            Returns the frame's column of a name. A format of changes reads KIND, too.
        """

    def loaded(
        self, reader: Any, path: str, fields: Fields, inside: Fields, metadata: Sequence[Column]
    ) -> DataFrame:
        """Return the rows of files that Spark reads whole.

        Parameters
        ----------
        reader
            Spark's reader of the format.
        path
            Where the files are.
        fields
            The columns of the table.
        inside
            Those whose values are in the files.
        metadata
            Further columns, of the metadata of files.
        """
        schema = StructType([StructField(name, to_spark(data_type)) for name, data_type in fields])
        found: DataFrame = reader.schema(schema).load(path)
        return found.select(*(column(name) for name, _ in fields), *metadata)

    def file_columns(self, fields: Fields) -> list[Column]:
        """Return the columns that Spark writes into files for those of a frame."""
        return [column(name) for name, _ in fields]

    def file_options(self, fields: Fields) -> dict[str, str]:
        """Return Spark's options of files with these columns."""
        return {}

    def check(self, fields: Fields) -> None:  # noqa: B027
        """Raise for columns that the format does not have; called before anything is read."""

    def wrong(self, text: Column, what: str | Column) -> Column:
        """Return a column that raises when it is computed."""
        reason = F.lit(what) if isinstance(what, str) else what
        table = F.lit(f"Table {self.table.identifier}: ")
        shown = F.substring(text.cast("string"), 1, 500)
        return F.raise_error(F.concat(table, reason, F.lit(": "), shown))

    def refused(self, name: str, data_type: DataType) -> TableException:
        """Return the error of a column whose type the format does not have."""
        return TableException(
            f"Table {self.table.identifier}: column {name!r} has the type {data_type.sql}, which "
            f"the format {self.identifier!r} does not have here."
        )


def present(frame: DataFrame, value: str, nulls: bool) -> DataFrame:
    """Return the rows of a frame where a column has bytes or text, or all where nulls are rows."""
    return frame if nulls else frame.filter(F.length(column(value)) > 0)


def parsed_rows(
    frame: DataFrame,
    kept: Sequence[Column],
    parsed: Column,
    usable: Callable[[Column], Column],
) -> DataFrame:
    """Return the rows of a frame with what they are parsed into, as PARSED, where that is usable.

    A filter on a column that parses would be moved below it, and parse a second time.
    """
    return frame.select(*kept, F.explode(F.filter(F.array(parsed), usable)).alias(PARSED))
