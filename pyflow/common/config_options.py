"""Descriptions of settings: key, type and default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

__all__ = ["ConfigOption", "ConfigOptions"]

T = TypeVar("T")


@dataclass(frozen=True)
class ConfigOption(Generic[T]):
    """A setting that a `Configuration` can hold.

    Parameters
    ----------
    key : str
        Its name.
    value_type : str
        ``boolean``, ``int``, ``long``, ``float``, ``double`` or ``string``.
    default : optional
        Its value where none is set; None if there is none.
    """

    key: str
    value_type: str
    default: T | None = None


class ConfigOptions:
    """Describes settings: ``ConfigOptions.key("tmp.dir").string_type().default_value("/tmp")``."""

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        """Begin the description of the setting of this name."""
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """A setting of which the name is known."""

        def __init__(self, key: str) -> None:
            self._key = key

        def _of(self, value_type: str) -> ConfigOptions.TypedConfigOptionBuilder[Any]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, value_type)

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            """Say that its values are True and False."""
            return self._of("boolean")

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Say that its values are whole numbers of 32 bits."""
            return self._of("int")

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Say that its values are whole numbers of 64 bits."""
            return self._of("long")

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Say that its values are floating-point numbers of 32 bits."""
            return self._of("float")

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Say that its values are floating-point numbers of 64 bits."""
            return self._of("double")

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            """Say that its values are texts."""
            return self._of("string")

    class TypedConfigOptionBuilder(Generic[T]):
        """A setting of which name and type are known."""

        def __init__(self, key: str, value_type: str) -> None:
            self._key = key
            self._value_type = value_type

        def default_value(self, value: T) -> ConfigOption[T]:
            """Return the setting with its value where none is set."""
            return ConfigOption(self._key, self._value_type, value)

        def no_default_value(self) -> ConfigOption[T]:
            """Return the setting without such a value."""
            return ConfigOption(self._key, self._value_type)
