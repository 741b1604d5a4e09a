"""Descriptions of models of machine learning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyflow.common.config_options import ConfigOption
from pyflow.common.configuration import text_of
from pyflow.table.schema import Schema
from pyflow.table.table_descriptor import option_key, options_text
from pyflow.util.identifiers import literal

__all__ = ["ModelDescriptor"]


@dataclass(frozen=True)
class ModelDescriptor:
    """A model that a provider serves, as ``CREATE MODEL``; made by `for_provider`.

    A description: nothing here runs models.
    """

    input_schema: Schema | None = None
    output_schema: Schema | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    @staticmethod
    def for_provider(provider: str) -> ModelDescriptor.Builder:
        """Begin the description of a model of this provider."""
        return ModelDescriptor.Builder().option("provider", provider)

    def get_options(self) -> dict[str, str]:
        """Return the provider's options."""
        return dict(self.options)

    def get_input_schema(self) -> Schema | None:
        """Return the input schema of the model; None if it is not set."""
        return self.input_schema

    def get_output_schema(self) -> Schema | None:
        """Return the output schema of the model; None if it is not set."""
        return self.output_schema

    def get_comment(self) -> str | None:
        """Return the comment of the model; None if it is not set."""
        return self.comment

    def __str__(self) -> str:
        parts = [
            "" if self.input_schema is None else str(self.input_schema),
            "" if self.output_schema is None else str(self.output_schema),
            *([] if self.comment is None else [f"COMMENT {literal(self.comment)}"]),
            options_text(self.options),
        ]
        return "\n".join(parts)

    def __hash__(self) -> int:
        return hash((self.input_schema, self.output_schema, frozenset(self.options.items())))

    class Builder:
        """Builds a `ModelDescriptor`. Each method but the last returns the builder."""

        def __init__(self) -> None:
            self._input: Schema | None = None
            self._output: Schema | None = None
            self._options: dict[str, str] = {}
            self._comment: str | None = None

        def input_schema(self, input_schema: Schema) -> ModelDescriptor.Builder:
            """Set the input schema of the model."""
            self._input = input_schema
            return self

        def output_schema(self, output_schema: Schema) -> ModelDescriptor.Builder:
            """Set the output schema of the model."""
            self._output = output_schema
            return self

        def option(self, key: str | ConfigOption[Any], value: Any) -> ModelDescriptor.Builder:
            """Set an option, named in full."""
            self._options[option_key(key)] = text_of(value)
            return self

        def comment(self, comment: str) -> ModelDescriptor.Builder:
            """Set the comment of the model."""
            self._comment = comment
            return self

        def build(self) -> ModelDescriptor:
            """Return the description."""
            return ModelDescriptor(self._input, self._output, dict(self._options), self._comment)
