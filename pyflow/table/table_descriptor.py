"""Descriptions of tables that a connector reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyflow.common.config_options import ConfigOption
from pyflow.common.configuration import text_of
from pyflow.table.schema import Schema
from pyflow.util.exceptions import TableException
from pyflow.util.identifiers import literal, quoted_list

__all__ = ["FormatDescriptor", "TableDescriptor"]

_FORMAT = "format"


def option_key(key: str | ConfigOption[Any]) -> str:
    """Return the name of an option."""
    return key.key if isinstance(key, ConfigOption) else key


def options_text(options: Mapping[str, str]) -> str:
    """Return options as SQL's WITH has them."""
    lines = (f"  {literal(key)} = {literal(value)}" for key, value in options.items())
    return "WITH (\n" + ",\n".join(lines) + "\n)"


@dataclass(frozen=True)
class FormatDescriptor:
    """A format and its options, for a `TableDescriptor`; made by `for_format`."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def for_format(format: str) -> FormatDescriptor.Builder:
        """Begin the description of a format of this name, as ``json``."""
        return FormatDescriptor.Builder(format)

    def get_format(self) -> str:
        """Return the format's name."""
        return self.name

    def get_options(self) -> dict[str, str]:
        """Return the options, without the format's name before theirs."""
        return dict(self.options)

    def __str__(self) -> str:
        options = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.name}[{{{options}}}]"

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.options.items())))

    class Builder:
        """Builds a `FormatDescriptor`."""

        def __init__(self, name: str) -> None:
            self._name = name
            self._options: dict[str, str] = {}

        def option(self, key: str | ConfigOption[Any], value: Any) -> FormatDescriptor.Builder:
            """Set an option, without the format's name before its own, and return the builder."""
            self._options[option_key(key)] = text_of(value)
            return self

        def build(self) -> FormatDescriptor:
            """Return the description."""
            return FormatDescriptor(self._name, dict(self._options))


@dataclass(frozen=True)
class TableDescriptor:
    """A table that a connector reads and writes, as ``CREATE TABLE``; made by `for_connector`."""

    schema: Schema | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None

    @staticmethod
    def for_connector(connector: str) -> TableDescriptor.Builder:
        """Begin the description of a table of this connector, as ``filesystem``."""
        return TableDescriptor.Builder().option("connector", connector)

    def get_schema(self) -> Schema | None:
        """Return the schema; None if it is not set."""
        return self.schema

    def get_options(self) -> dict[str, str]:
        """Return the options of connector and format."""
        return dict(self.options)

    def get_partition_keys(self) -> list[str]:
        """Return the columns by which the table is partitioned."""
        return list(self.partition_keys)

    def get_comment(self) -> str | None:
        """Return the comment of the table; None if it is not set."""
        return self.comment

    def __str__(self) -> str:
        parts = [
            "" if self.schema is None else str(self.schema),
            *([] if self.comment is None else [f"COMMENT {literal(self.comment)}"]),
            *(
                [f"PARTITIONED BY {quoted_list(self.partition_keys)}"]
                if self.partition_keys
                else []
            ),
            options_text(self.options),
        ]
        return "\n".join(parts)

    def __hash__(self) -> int:
        return hash((self.schema, frozenset(self.options.items())))

    class Builder:
        """Builds a `TableDescriptor`. Each method but the last returns the builder."""

        def __init__(self) -> None:
            self._schema: Schema | None = None
            self._options: dict[str, str] = {}
            self._partition_keys: tuple[str, ...] = ()
            self._comment: str | None = None

        def schema(self, schema: Schema) -> TableDescriptor.Builder:
            """Set the schema."""
            self._schema = schema
            return self

        def option(self, key: str | ConfigOption[Any], value: Any) -> TableDescriptor.Builder:
            """Set an option, named in full."""
            self._options[option_key(key)] = text_of(value)
            return self

        def format(
            self,
            format: str | FormatDescriptor,
            format_option: ConfigOption[str] | None = None,
        ) -> TableDescriptor.Builder:
            """Set the format of the data.

            Parameters
            ----------
            format : str or FormatDescriptor
                The format. Its options become ``json.ignore-parse-errors`` and the like.
            format_option : ConfigOption, optional
                Which of several formats, as ``value.format``; ``format`` by default.

            Raises
            ------
            TableException
                If that option is not called ``format``, or ends otherwise.
            """
            key = _FORMAT if format_option is None else format_option.key
            if isinstance(format, str):
                format = FormatDescriptor(format)
            prefix = _format_prefix(key, format.name)
            self._options[key] = format.name
            self._options.update({prefix + name: text for name, text in format.options.items()})
            return self

        def partitioned_by(self, *partition_keys: str) -> TableDescriptor.Builder:
            """Set the columns by which the table is partitioned."""
            self._partition_keys += partition_keys
            return self

        def comment(self, comment: str) -> TableDescriptor.Builder:
            """Set the comment of the table."""
            self._comment = comment
            return self

        def build(self) -> TableDescriptor:
            """Return the description."""
            return TableDescriptor(
                self._schema, dict(self._options), self._partition_keys, self._comment
            )


def _format_prefix(key: str, name: str) -> str:
    if key == _FORMAT:
        return f"{name}."
    if key.endswith(f".{_FORMAT}"):
        return f"{key.removesuffix(_FORMAT)}{name}."
    raise TableException(
        f"the option of a format is 'format' or ends with '.format', which {key!r} does not"
    )
