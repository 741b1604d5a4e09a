"""The format ``csv``: a line for each row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.connectors.connector import DescribedTable, Option, boolean, character
from pyflow.connectors.formats.format import PARSED, Format, parsed_rows, present
from pyflow.connectors.formats.text_values import BYTES, TextValues
from pyflow.table.changes.relation import column, quoted
from pyflow.types.logical_types import ArrayType, RowType

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.connectors.formats.format import Fields
    from pyflow.types.logical_types import DataType

_CORRUPT = "$corrupt"
_SURPLUS = "$surplus"
_TEXT = "$text"
#: Stands for null if the table has no literal for it: a string that no value is.
_NOTHING = "\u0000\u0000"


class Csv(Format):
    """Lines of values with a delimiter between them."""

    identifier = "csv"
    options = (
        Option("field-delimiter", character, "one character", default=","),
        Option("disable-quote-character", boolean, "true or false", default=False),
        Option("quote-character", character, "one character", default='"'),
        Option("allow-comments", boolean, "true or false", default=False),
        Option("ignore-parse-errors", boolean, "true or false", default=False),
        Option("array-element-delimiter", default=";"),
        Option("escape-character", character, "one character"),
        Option("null-literal"),
    )

    def __init__(self, table: DescribedTable, values: Mapping[str, Any]) -> None:
        super().__init__(table, values)
        self._lenient = bool(values["ignore-parse-errors"])
        self._texts = TextValues(table.identifier, "CSV", self._lenient)

    def check(self, fields: Fields) -> None:
        """Raise for types that CSV does not have."""
        for name, data_type in fields:
            self._value(F.lit(None).cast("string"), data_type, name)

    def _options(self) -> dict[str, str]:
        quote = "\u0000" if self.values["disable-quote-character"] else None
        quote = quote or self.values["quote-character"]
        null = self.values["null-literal"]
        return {
            "sep": self.values["field-delimiter"],
            "quote": quote,
            "escape": self.values["escape-character"] or quote,
            "ignoreLeadingWhiteSpace": "false",
            "ignoreTrailingWhiteSpace": "false",
            "nullValue": _NOTHING if null is None else null,
            "emptyValue": "",
        }

    def decoded(
        self,
        frame: DataFrame,
        value: str,
        fields: Fields,
        kept: Sequence[str],
        nulls: bool = False,
    ) -> DataFrame:
        """Return a row for each line."""
        # If errors are ignored, a line that is too short has nulls, and one too long is skipped.
        last = _SURPLUS if self._lenient else _CORRUPT
        names = [*(quoted(name) for name, _ in fields), quoted(last)]
        schema = ", ".join(f"{name} string" for name in names)
        options = {
            **self._options(),
            "mode": "PERMISSIVE",
            "columnNameOfCorruptRecord": _CORRUPT,
        }
        text = column(value).cast("string")
        found = present(frame, value, nulls).select(*map(column, kept), text.alias(_TEXT))
        if self.values["allow-comments"]:
            found = found.filter(~F.startswith(column(_TEXT), F.lit("#")))

        def usable(parsed: Column) -> Column:
            if self._lenient:
                return parsed.getField(_SURPLUS).isNull()
            wrong = parsed.getField(_CORRUPT).isNotNull()
            error = self.wrong(column(_TEXT), f"expected a CSV line of {len(fields)} columns")
            return F.when(wrong, error.cast("boolean")).otherwise(True)

        line = F.from_csv(column(_TEXT), schema, options)
        found = parsed_rows(found, list(map(column, kept)), line, usable)
        parsed = column(PARSED)
        columns = [self._value(parsed.getField(n), t, n).alias(n) for n, t in fields]
        return found.select(*map(column, kept), *columns)

    def _value(self, text: Column, data_type: DataType, name: str) -> Column:
        delimiter = self.values["array-element-delimiter"]
        if isinstance(data_type, ArrayType):
            element = data_type.element_type
            parts = _split(text, delimiter)
            made = F.transform(parts, lambda each: self._texts.read(each, element, name))
            return F.when(text != "", made)
        if isinstance(data_type, RowType):
            parts = _split(text, delimiter)
            members = (
                self._texts.read(
                    F.get(parts, F.lit(place)), part.data_type, f"{name}.{part.name}"
                ).alias(part.name)
                for place, part in enumerate(data_type.fields)
            )
            return F.when(text != "", F.struct(*members))
        return self._texts.read(text, data_type, name)

    def encoded(self, fields: Fields, source: Callable[[str], Column] = column) -> Column:
        """Return the line of a row."""
        columns = [self._text(source(name), t).alias(name) for name, t in fields]
        null = self.values["null-literal"]
        options = {**self._options(), "nullValue": "" if null is None else null}
        return F.to_csv(F.struct(*columns), options)

    def _text(self, value: Column, data_type: DataType) -> Column:
        delimiter = self.values["array-element-delimiter"]
        if isinstance(data_type, ArrayType):
            element = data_type.element_type
            return F.array_join(F.transform(value, lambda e: self._text(e, element)), delimiter, "")
        if isinstance(data_type, RowType):
            parts = [
                F.coalesce(self._text(value.getField(part.name), part.data_type), F.lit(""))
                for part in data_type.fields
            ]
            return F.when(value.isNotNull(), F.concat_ws(delimiter, *parts))
        if isinstance(data_type, BYTES):
            return F.base64(value)
        return self._texts.written(value, data_type).cast("string")


def _split(text: Column, delimiter: str) -> Column:
    return F.split(text, F.lit(re.escape(delimiter)))
