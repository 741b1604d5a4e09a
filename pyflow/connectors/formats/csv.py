"""The format ``csv``: a line for each row."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.connectors.connector import DescribedTable, Option, boolean, character
from pyflow.connectors.formats.format import PARSED, Format, parsed_rows, present
from pyflow.connectors.formats.text_values import BYTES, TextValues
from pyflow.table.changes.relation import column, quoted
from pyflow.types.logical_types import ArrayType, RowType
from pyflow.types.spark_types import to_spark

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.connectors.formats.format import Fields
    from pyflow.types.logical_types import DataType

_CORRUPT = "$corrupt"
_AFTER = "$after"
_TEXT = "$text"
#: Stands for null: a string that no value is.
_NOTHING = "\u0000\u0000"
#: A value behind the last one of a line, to see how many it has.
_END = "\u0001end"


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
        self._texts = TextValues(table.identifier, "CSV", self._lenient, short_times=True)

    def check(self, fields: Fields) -> None:
        """Raise for types that CSV does not have."""
        for name, data_type in fields:
            self._value(F.lit(None).cast("string"), data_type, name)

    def _options(self) -> dict[str, str]:
        quote = "\u0000" if self.values["disable-quote-character"] else None
        quote = quote or self.values["quote-character"]
        return {
            "sep": self.values["field-delimiter"],
            "quote": quote,
            "escape": self.values["escape-character"] or quote,
            "ignoreLeadingWhiteSpace": "false",
            "ignoreTrailingWhiteSpace": "false",
            "nullValue": _NOTHING,
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
        last = _AFTER if self._lenient else _CORRUPT
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
                # A quote without an end has taken the mark into its value.
                values = [parsed.getField(name) for name, _ in fields]
                torn = [
                    F.coalesce(F.contains(each, F.lit(_END)) & (each != _END), F.lit(False))
                    for each in values
                ]
                is_torn = functools.reduce(operator.or_, torn)
                return (F.coalesce(parsed.getField(_AFTER), F.lit(_END)) == _END) & ~is_torn
            wrong = parsed.getField(_CORRUPT).isNotNull()
            error = self.wrong(column(_TEXT), f"expected a CSV line of {len(fields)} columns")
            return F.when(wrong, error.cast("boolean")).otherwise(True)

        whole = column(_TEXT)
        if self._lenient:
            whole = F.concat(whole, F.lit(self.values["field-delimiter"] + _END))
        line = F.from_csv(whole, schema, options)
        found = parsed_rows(found, list(map(column, kept)), line, usable)
        parsed = column(PARSED)
        # For Spark a value without quotes that is empty is null.
        there = F.lit(True)
        columns = []
        for name, data_type in fields:
            text = parsed.getField(name)
            if self._lenient:
                there = there & ~F.coalesce(text == _END, F.lit(False))
            text = F.when(there, F.coalesce(text, F.lit("")))
            columns.append(self._value(text, data_type, name).alias(name))
        return found.select(*map(column, kept), *columns)

    def _value(self, text: Column, data_type: DataType, name: str) -> Column:
        delimiter = self.values["array-element-delimiter"]
        text = self._or_null(text)
        if isinstance(data_type, ArrayType):
            element = data_type.element_type
            made = F.transform(
                F.split(text, F.lit(re.escape(delimiter))),
                lambda each: self._texts.read(self._or_null(each), element, name),
            )
            empty = F.array().cast(to_spark(data_type))
            return F.when(text == "", empty).otherwise(made)
        if isinstance(data_type, RowType):
            parts = F.split(text, F.lit(re.escape(delimiter)))
            members = (
                self._texts.read(
                    self._or_null(F.get(parts, F.lit(place))),
                    part.data_type,
                    f"{name}.{part.name}",
                ).alias(part.name)
                for place, part in enumerate(data_type.fields)
            )
            count = len(data_type.fields)
            error = self.wrong(text, f"column {name!r} has {count} fields, and its value fewer")
            fewer = F.lit(None) if self._lenient else error
            made = F.when(F.size(parts) >= count, F.struct(*members)).otherwise(fewer)
            return F.when(text != "", made)
        return self._texts.read(text, data_type, name)

    def _or_null(self, text: Column) -> Column:
        null = self.values["null-literal"]
        return text if null is None else F.when(text != null, text)

    def encoded(self, fields: Fields, source: Callable[[str], Column] = column) -> Column:
        """Return the line of a row."""
        columns = [self._text(source(name), t).alias(name) for name, t in fields]
        null = self.values["null-literal"] or ""
        if self.values["disable-quote-character"]:
            texts = (F.coalesce(each, F.lit(null)) for each in columns)
            return F.concat_ws(self.values["field-delimiter"], *texts)
        return F.to_csv(F.struct(*columns), {**self._options(), "nullValue": null})

    def _text(self, value: Column, data_type: DataType) -> Column:
        delimiter, null = self.values["array-element-delimiter"], self.values["null-literal"] or ""
        if isinstance(data_type, ArrayType):
            element = data_type.element_type
            texts = F.transform(value, lambda each: self._text(each, element))
            return F.array_join(texts, delimiter, null)
        if isinstance(data_type, RowType):
            parts = [
                F.coalesce(self._text(value.getField(part.name), part.data_type), F.lit(null))
                for part in data_type.fields
            ]
            return F.when(value.isNotNull(), F.concat_ws(delimiter, *parts))
        if isinstance(data_type, BYTES):
            return F.base64(value)
        return self._texts.written(value, data_type).cast("string")
