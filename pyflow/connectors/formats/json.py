"""The format ``json``: an object for each row.

Spark parses the JSON. Numbers, dates and the like in it are converted as Flink does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType as SparkArray
from pyspark.sql.types import DataType as SparkType
from pyspark.sql.types import MapType as SparkMap
from pyspark.sql.types import StringType, StructField, StructType

from pyflow.connectors.connector import DescribedTable, Option, boolean, one_of
from pyflow.connectors.formats.format import PARSED, Format, parsed_rows, present
from pyflow.connectors.formats.text_values import TEXTS, TextValues, entry, mapped
from pyflow.table.changes.relation import column
from pyflow.types.logical_types import (
    ArrayType,
    DecimalType,
    MapType,
    MultisetType,
    RowField,
    RowType,
)
from pyflow.types.parts import types_in
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.connectors.formats.format import Fields
    from pyflow.types.logical_types import DataType

TEXT = "$text"
_DIGITS = 38
#: The largest scale of which no value has an exponent as a string.
_PLAIN_SCALE = 6
_CORRUPT = "$corrupt"
_MEMBERS = "map<string,string>"
#: Line feeds and the like may stand in strings, as in Flink.
PARSER = {"allowUnquotedControlChars": "true"}

#: Spark ignores commas in strings that are decimals. It refuses them in this locale, whose grouping
#: separator is another character; there it also refuses "+1" and the exponents "e5" and "E+5".
_LOCALE_WITHOUT_COMMAS = "en-CH"
#: A string that may be a decimal with commas.
_WITH_COMMAS = r'"[-+.\deE]*,[-+.,\deE]*"'

IGNORE_ERRORS = Option("ignore-parse-errors", boolean, "true or false", default=False)
#: What all formats made of JSON have.
COMMON = (
    IGNORE_ERRORS,
    Option(
        "timestamp-format.standard",
        one_of("SQL", "ISO-8601"),
        "SQL or ISO-8601",
        default="SQL",
    ),
    # Spark's maps have no key that is null.
    Option("map-null-key.mode", one_of("FAIL", "DROP", "LITERAL"), "FAIL, DROP or LITERAL"),
    Option("map-null-key.literal"),
    Option("encode.decimal-as-plain-number", boolean, "true or false", default=False),
    Option("encode.ignore-null-fields", boolean, "true or false", default=False),
)


class JsonText:
    """Makes values of JSON and JSON of values, by the options of :data:`COMMON`.

    Parameters
    ----------
    table
        The table, for errors.
    values
        The options.
    """

    def __init__(self, table: DescribedTable, values: Mapping[str, Any]) -> None:
        self.table = table
        self.lenient = bool(values["ignore-parse-errors"])
        self._keeps_nulls = not values["encode.ignore-null-fields"]
        self._is_plain = bool(values["encode.decimal-as-plain-number"])
        iso = values["timestamp-format.standard"] == "ISO-8601"
        self._texts = TextValues(table.identifier, "JSON", self.lenient, iso, fractions=True)

    def parsed(
        self,
        frame: DataFrame,
        value: str,
        shape: StructType,
        kept: Sequence[str],
        nulls: bool = False,
    ) -> DataFrame:
        """Return the rows of a frame whose text is an object.

        The columns are those kept, the object as PARSED and its text as TEXT.
        """
        schema = StructType([*shape.fields, StructField(_CORRUPT, StringType())])
        text = column(value).cast("string")
        options = {**PARSER, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
        found = present(frame, value, nulls).select(*map(column, kept), text.alias(TEXT))

        def usable(parsed: Column) -> Column:
            failed = parsed.getField(_CORRUPT).isNotNull() | parsed.isNull()
            corrupt = failed & (F.length(column(TEXT)) > 0)
            if self.lenient:
                # An object with a part of the wrong kind has its other parts.
                return F.when(
                    corrupt, F.from_json(column(TEXT), _MEMBERS, PARSER).isNotNull()
                ).otherwise(True)
            message = f"Table {self.table.identifier}: not a JSON object with the table's columns: "
            error = F.raise_error(F.concat(F.lit(message), F.substring(column(TEXT), 1, 500)))
            return F.when(corrupt, error.cast("boolean")).otherwise(True)

        parsed = F.from_json(column(TEXT), schema, options)
        if '":"decimal(' in schema.json():
            strict = {**options, "locale": _LOCALE_WITHOUT_COMMAS}
            with_commas = column(TEXT).rlike(_WITH_COMMAS)
            parsed = F.when(with_commas, F.from_json(column(TEXT), schema, strict)).otherwise(
                parsed
            )
        shown = [*map(column, kept), column(TEXT)]
        return parsed_rows(found, shown, parsed, usable)

    def shape(self, data_type: DataType, name: str) -> SparkType:
        """Return the type that Spark parses a value into, with texts inside."""
        if isinstance(data_type, RowType):
            return StructType(
                [
                    StructField(part.name, self.shape(part.data_type, f"{name}.{part.name}"))
                    for part in data_type.fields
                ]
            )
        if isinstance(data_type, ArrayType):
            return SparkArray(self.shape(data_type.element_type, name))
        if isinstance(data_type, (MapType, MultisetType)):
            key, of_value = entry(data_type)
            if not isinstance(key, TEXTS):
                raise TableException(
                    f"Table {self.table.identifier}: column {name!r} has the type {data_type.sql}; "
                    "keys in JSON are strings."
                )
            return SparkMap(StringType(), self.shape(of_value, name))
        if isinstance(data_type, DecimalType):
            # As strings, Spark would write numbers as Java's double.
            return to_spark(DecimalType(_DIGITS, data_type.scale))
        self._texts.check(data_type, name)
        return StringType()

    def value(self, parsed: Column, data_type: DataType, name: str) -> Column:
        """Return the value of what Spark has parsed."""
        return mapped(parsed, data_type, self._value, name)

    def _value(self, parsed: Column, data_type: DataType, name: str) -> Column:
        if isinstance(data_type, DecimalType):
            # A number with too many digits is null, as in Flink.
            return parsed.try_cast(to_spark(data_type))
        return self._texts.read(parsed, data_type, name)

    def missing(self, text: Column, data_type: DataType, path: str) -> Column:
        """Return the path of the first field of rows that a JSON text has not, null for none."""
        found = [F.lit(None).cast("string")]
        if isinstance(data_type, RowType):
            members = F.from_json(text, _MEMBERS, PARSER)
            for part in data_type.fields:
                name = f"{path}.{part.name}" if path else part.name
                there = F.map_contains_key(members, F.lit(part.name))
                found.append(F.when(~there, F.lit(name)))
                member = F.element_at(members, F.lit(part.name))
                found.append(self.missing(member, part.data_type, name))
        if isinstance(data_type, ArrayType):
            element = data_type.element_type
            elements = F.from_json(text, "array<string>", PARSER)
            names = F.transform(elements, lambda each: self.missing(each, element, path))
            found.append(F.get(F.filter(names, lambda name: name.isNotNull()), F.lit(0)))
        return F.coalesce(*found)

    def written(self, value: Column, data_type: DataType) -> Column:
        """Return a value of which :meth:`object` makes Flink's JSON."""
        if self._is_plain:
            self._refuse_exponents(data_type)
        return self._texts.written(value, data_type)

    def _refuse_exponents(self, data_type: DataType) -> None:
        """Refuse decimals that Spark would write with an exponent where they are small."""
        for each in types_in(data_type):
            if isinstance(each, DecimalType) and each.scale > _PLAIN_SCALE:
                raise TableException(
                    f"Table {self.table.identifier}: 'json.encode.decimal-as-plain-number' is not "
                    f"supported for {each.sql}, whose small values Spark writes with an exponent. "
                    f"Cast the column to a scale of {_PLAIN_SCALE} at most, or to STRING."
                )

    def object(self, members: Sequence[Column]) -> Column:
        """Return the JSON text of an object with these members."""
        return F.to_json(
            F.struct(*members), {"ignoreNullFields": str(not self._keeps_nulls).lower()}
        )


class Json(Format):
    """JSON objects."""

    identifier = "json"
    options = (
        Option("fail-on-missing-field", boolean, "true or false", default=False),
        Option("decode.json-parser.enabled", boolean, "true or false", default=True),
        *COMMON,
    )

    def __init__(self, table: DescribedTable, values: Mapping[str, Any]) -> None:
        super().__init__(table, values)
        if values["fail-on-missing-field"] and values["ignore-parse-errors"]:
            raise TableException(
                f"Table {table.identifier}: the options 'json.fail-on-missing-field' and "
                "'json.ignore-parse-errors' shouldn't both be true."
            )
        self._json = JsonText(table, values)

    def check(self, fields: Fields) -> None:
        """Raise for types that JSON does not have."""
        for name, data_type in fields:
            self._json.shape(data_type, name)

    def decoded(
        self,
        frame: DataFrame,
        value: str,
        fields: Fields,
        kept: Sequence[str],
        nulls: bool = False,
    ) -> DataFrame:
        """Return a row for each object."""
        shape = StructType([StructField(n, self._json.shape(t, n)) for n, t in fields])
        found = self._json.parsed(frame, value, shape, kept, nulls)
        if self.values["fail-on-missing-field"]:
            row_type = RowType([RowField(name, data_type) for name, data_type in fields])
            missing = self._json.missing(column(TEXT), row_type, "")
            error = self.wrong(column(TEXT), F.concat(F.lit("there is no field "), missing))
            found = found.filter(F.when(missing.isNotNull(), error.cast("boolean")).otherwise(True))
        parsed = column(PARSED)
        columns = [self._json.value(parsed.getField(n), t, n).alias(n) for n, t in fields]
        return found.select(*map(column, kept), *columns)

    def encoded(self, fields: Fields, source: Callable[[str], Column] = column) -> Column:
        """Return the JSON text of a row."""
        members = [self._json.written(source(n), t).alias(n) for n, t in fields]
        return self._json.object(members)
