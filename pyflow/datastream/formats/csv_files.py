"""Files of CSV: their columns, and how rows are read and written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyflow.common.serialization import RowDataBulkWriterFactory
from pyflow.datastream.connectors.base import SourceRows
from pyflow.datastream.connectors.file_contents import Contents, Lines
from pyflow.datastream.connectors.file_system import StreamFormat
from pyflow.datastream.connectors.files import FileKind, InputFiles
from pyflow.datastream.formats.csv_lines import CsvLines
from pyflow.datastream.formats.csv_values import CsvDecoder, CsvEncoder, CsvFileDecoder
from pyflow.datastream.formats.row_types import row_type_info
from pyflow.types.logical_types import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BooleanType,
    DataType,
    RowField,
    RowType,
    VarCharType,
)
from pyflow.types.shapes import shape_of
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.common.serialization import BulkWriterFactory
    from pyflow.common.typeinfo import TypeInformation

__all__ = ["CsvBulkWriters", "CsvReaderFormat", "CsvSchema", "CsvSchemaBuilder"]

_CORRUPT = "$corrupt"
# What no value is.
_NOTHING = "\u0000\u0000"


@dataclass(frozen=True)
class _Column:
    field: RowField
    kind: str
    separator: str = ""


@dataclass(frozen=True)
class _Layout:
    columns: tuple[_Column, ...] = ()
    lines: CsvLines = field(default_factory=CsvLines)
    array_separator: str = ";"
    line_separator: str = "\n"
    null_value: str | None = None
    has_header: bool = False
    is_header_checked: bool = False
    skips_first: bool = False
    any_property: str | None = None

    def separators(self) -> list[str]:
        return [each.separator or self.array_separator for each in self.columns]


class CsvSchema:
    """The columns of files of CSV, and what separates their values; made by `builder`."""

    def __init__(self, layout: _Layout) -> None:
        self._layout = layout

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Begin a schema."""
        return CsvSchemaBuilder()

    def row_type(self) -> RowType:
        """Return the type of the rows. PyFlow's own."""
        return RowType([each.field for each in self._layout.columns])

    def size(self) -> int:
        """Return how many columns there are."""
        return len(self._layout.columns)

    def __len__(self) -> int:
        return self.size()

    def __str__(self) -> str:
        layout = self._layout
        columns = ",".join(f'"{each.field.name}"/{each.kind}' for each in layout.columns)
        flags = (
            ("header", layout.has_header),
            ("skipFirst", layout.skips_first),
            ("comments", layout.lines.comments),
        )
        shown = ", ".join(f"{name}? {str(value).lower()}" for name, value in flags)
        others = "N/A" if layout.any_property is None else f"as '{layout.any_property}'"
        return f"[CsvSchema: columns=[{columns}], {shown}, any-properties? {others}]"

    def __repr__(self) -> str:
        return str(self)


class CsvSchemaBuilder:
    """Makes a `CsvSchema`."""

    def __init__(self) -> None:
        self._layout = _Layout()

    def build(self) -> CsvSchema:
        """Return the schema."""
        return CsvSchema(self._layout)

    def _with(self, **changes: object) -> CsvSchemaBuilder:
        self._layout = replace(self._layout, **changes)  # type: ignore[arg-type]
        return self

    def _with_lines(self, **changes: object) -> CsvSchemaBuilder:
        return self._with(lines=replace(self._layout.lines, **changes))  # type: ignore[arg-type]

    def _added(
        self, name: str, data_type: DataType, kind: str, separator: str = ""
    ) -> CsvSchemaBuilder:
        column = _Column(RowField(name, data_type), kind, separator)
        return self._with(columns=(*self._layout.columns, column))

    def add_array_column(
        self, name: str, separator: str = ";", element_type: DataType | None = None
    ) -> CsvSchemaBuilder:
        """Add a column of arrays.

        Parameters
        ----------
        name : str
        separator : str
            Between elements.
        element_type : DataType, optional
            Texts, if none is given.
        """
        element = element_type or VarCharType(MAX_LENGTH)
        return self._added(name, ArrayType(element), "ARRAY", separator)

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of booleans."""
        return self._added(name, BooleanType(), "BOOLEAN")

    def add_number_column(self, name: str, number_type: DataType | None = None) -> CsvSchemaBuilder:
        """Add a column of numbers.

        Parameters
        ----------
        name : str
        number_type : DataType, optional
            ``BIGINT``, if none is given.
        """
        return self._added(name, number_type or BigIntType(), "NUMBER")

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of texts."""
        return self._added(name, VarCharType(MAX_LENGTH), "STRING")

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        """Add all columns of another schema."""
        return self._with(columns=(*self._layout.columns, *schema._layout.columns))

    def clear_columns(self) -> CsvSchemaBuilder:
        """Remove all columns."""
        return self._with(columns=())

    def set_allow_comments(self, allow: bool = True) -> CsvSchemaBuilder:
        """Set whether lines that begin with ``#`` are left out."""
        return self._with_lines(comments=allow)

    def set_any_property_name(self, name: str) -> CsvSchemaBuilder:
        """Have lines read that have more values than columns; the surplus values are left out."""
        return self._with(any_property=name)

    def disable_array_element_separator(self) -> CsvSchemaBuilder:
        """Have no separator for columns of arrays that have none of their own."""
        return self._with(array_separator="")

    def remove_array_element_separator(self, index: int) -> CsvSchemaBuilder:
        """Have a column separate elements as those that have no separator of their own.

        Parameters
        ----------
        index : int
            Of the column, from 0.

        Raises
        ------
        IndexError
            If there is no such column.
        """
        columns = list(self._layout.columns)
        columns[index] = replace(columns[index], separator="")
        return self._with(columns=tuple(columns))

    def set_array_element_separator(self, separator: str) -> CsvSchemaBuilder:
        """Set what separates elements in columns that have no separator of their own."""
        return self._with(array_separator=separator)

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        """Set what separates columns; ``,`` by default.

        Raises
        ------
        ValueError
            If it is not a single character.
        """
        return self._with_lines(delimiter=_single("Column separator", char))

    def disable_escape_char(self) -> CsvSchemaBuilder:
        """Have no character that takes the meaning from the next one, which is the default."""
        return self._with_lines(escape=None)

    def set_escape_char(self, char: str) -> CsvSchemaBuilder:
        """Set the character that takes the meaning from the next one in a value in quotes.

        Raises
        ------
        ValueError
            If it is not a single character.
        """
        return self._with_lines(escape=_single("Escape char", char))

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        """Set the end of lines that are written; a line feed by default."""
        return self._with(line_separator=separator)

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        """Set the text of null; none is by default, and an empty text is written."""
        return self._with(null_value=null_value)

    def disable_quote_char(self) -> CsvSchemaBuilder:
        """Have no quotes around values."""
        return self._with_lines(quote=None)

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        """Set what stands around values that have separators in them.

        Raises
        ------
        ValueError
            If it is not a single character.
        """
        return self._with_lines(quote=_single("Quote char", char))

    def set_skip_first_data_row(self, skip: bool = True) -> CsvSchemaBuilder:
        """Set whether the first line of a file is left out when it is read."""
        return self._with(skips_first=skip)

    def set_strict_headers(self, strict: bool = True) -> CsvSchemaBuilder:
        """Set whether the header must have the names of the columns."""
        return self._with(is_header_checked=strict)

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """Set whether the first line of a file has the names of the columns."""
        return self._with(has_header=use)

    def size(self) -> int:
        """Return how many columns there are."""
        return len(self._layout.columns)

    def __len__(self) -> int:
        return self.size()


def _single(what: str, char: str) -> str:
    if len(char) != 1:
        raise ValueError(f"{what} must be a single char, got {char}")
    return char


class CsvReaderFormat(StreamFormat):
    """Rows of files of CSV.

    Parameters
    ----------
    schema : CsvSchema

    Raises
    ------
    TableException
        If the schema has a header and leaves out the first row, too.
    """

    def __init__(self, schema: CsvSchema) -> None:
        layout = schema._layout
        if layout.has_header and layout.skips_first:
            raise TableException(
                "Spark leaves out one line of a file: set_use_header() and "
                "set_skip_first_data_row() cannot be combined"
            )
        self._schema = schema

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Return the format of files with the columns of a schema."""
        return CsvReaderFormat(schema)

    def read(self, files: InputFiles) -> SourceRows:
        """Return columns or whole files, which executors make values of."""
        layout, row_type = self._schema._layout, self._schema.row_type()
        decoder = CsvDecoder(
            row_type.field_names(),
            [shape_of(each, "UTC") for each in row_type.field_types()],
            layout.separators(),
            layout.null_value,
            layout.any_property is not None,
            layout.lines,
        )
        if layout.lines.escape is None:
            return SourceRows(self._columns(files, layout), decoder, self.produced_type())
        # For Spark an escape character is one before quotes alone.
        frame = files.load("text", "value STRING", {"wholetext": "true"})
        frame = frame.select(frame["value"].cast("binary"))
        skipped = int(layout.has_header or layout.skips_first)
        is_checked = layout.has_header and layout.is_header_checked
        whole = CsvFileDecoder(decoder, skipped, is_checked)
        return SourceRows(frame, whole, self.produced_type())

    def _columns(self, files: InputFiles, layout: _Layout) -> DataFrame:
        """Return the texts of columns, and the line where it has more or fewer of them."""
        from pyspark.sql import types as spark

        names = [*self._schema.row_type().field_names(), _CORRUPT]
        schema = spark.StructType([spark.StructField(name, spark.StringType()) for name in names])
        return files.load("csv", schema, self._options(layout))

    def _options(self, layout: _Layout) -> dict[str, str]:
        quote = layout.lines.quote or "\u0000"
        options = {
            "sep": layout.lines.delimiter,
            "quote": quote,
            "escape": quote,
            "unescapedQuoteHandling": "RAISE_ERROR",
            "header": str(layout.has_header or layout.skips_first).lower(),
            "enforceSchema": str(not (layout.has_header and layout.is_header_checked)).lower(),
            "ignoreLeadingWhiteSpace": "false",
            "ignoreTrailingWhiteSpace": "false",
            "nullValue": _NOTHING,
            "emptyValue": "",
            "multiLine": "true",
            "mode": "PERMISSIVE",
            "columnNameOfCorruptRecord": _CORRUPT,
        }
        return {**options, "comment": "#"} if layout.lines.comments else options

    def produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return row_type_info(self._schema.row_type())


@dataclass(frozen=True)
class _CsvWriterFactory(RowDataBulkWriterFactory):
    """Writes rows as lines of CSV."""

    layout: _Layout = field(default_factory=_Layout)

    def contents(self) -> Contents:
        """Return what rows become in files."""
        layout, names = self.layout, self.row_type.field_names()
        encoder = CsvEncoder(
            names,
            [shape_of(each, "UTC") for each in self.row_type.field_types()],
            layout.separators(),
            layout.null_value or "",
            layout.lines,
        )
        header = layout.lines.line([layout.lines.value(name) for name in names])
        options = {"lineSep": layout.line_separator}
        kind = FileKind("text", options, header if layout.has_header else None)
        return Lines(lambda type_info: encoder, kind)


class CsvBulkWriters:
    """Makes the writers of files of CSV for `FileSink.for_bulk_format`."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        """Return the writer of rows with the columns of a schema.

        Raises
        ------
        ValueError
            If a column of arrays has no separator.
        """
        layout = schema._layout
        for each, separator in zip(layout.columns, layout.separators()):
            if each.kind == "ARRAY" and not separator:
                raise ValueError(f"column {each.field.name!r} of arrays has no element separator")
        return _CsvWriterFactory("text", schema.row_type(), layout=layout)
