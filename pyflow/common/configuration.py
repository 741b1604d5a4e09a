"""Settings by name, as a program gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pyflow.util.java_numbers import java_float
from pyflow.util.yaml_lists import list_of

T = TypeVar("T")

_INTEGER = re.compile(r"[-+]?[0-9]+")


class Configuration:
    """Settings by name: texts, numbers, booleans and bytes.

    It holds anything; what a key means, and whether it means anything, is asked when a table
    environment takes the settings.

    Parameters
    ----------
    other : Configuration, optional
        Settings to begin with.
    """

    def __init__(self, other: Configuration | None = None) -> None:
        self._values: dict[str, Any] = {} if other is None else dict(other._values)

    @classmethod
    def from_dict(cls, map: Mapping[str, str]) -> Configuration:
        """Return the settings of a dict."""
        configuration = cls()
        configuration._values.update(map)
        return configuration

    def get_string(self, key: str, default_value: str | None) -> str | None:
        """Return the setting of this name as text, or the default value if there is none."""
        return text_of(self._values[key]) if key in self._values else default_value

    def set_string(self, key: str, value: str) -> Configuration:
        """Set a text, and return this configuration."""
        return self._set(key, value, str)

    @staticmethod
    def parse_list_value(value: str) -> list[Any]:
        """Return the elements of a setting of several: ``a;b``, or a list in YAML.

        Raises
        ------
        ValueError
            If it is no YAML.
        """
        if not value:
            return []
        found = list_of(value)
        return value.split(";") if found is None else found

    def get_integer(self, key: str, default_value: int) -> int:
        """Return the setting of this name as a whole number, or the default value.

        Raises
        ------
        ValueError
            If it is no whole number.
        """
        return self._get(key, default_value, _integer)

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set a whole number, and return this configuration."""
        return self._set(key, value, int)

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """Return the setting of this name as True or False, or the default value.

        Raises
        ------
        ValueError
            If it is neither ``true`` nor ``false``, in any case.
        """
        return self._get(key, default_value, boolean_of)

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set True or False, and return this configuration."""
        return self._set(key, value, bool)

    def get_float(self, key: str, default_value: float) -> float:
        """Return the setting of this name as a floating-point number, or the default value.

        Raises
        ------
        ValueError
            If it is no number.
        """
        return self._get(key, float(default_value), float)

    def set_float(self, key: str, value: float) -> Configuration:
        """Set a floating-point number, and return this configuration."""
        return self._set(key, float(value), float)

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        """Return the setting of this name as bytes, or the default value.

        Raises
        ------
        ValueError
            If it was not set as bytes.
        """
        value = self._values.get(key, default_value)
        if not isinstance(value, (bytes, bytearray)):
            raise ValueError(f"the setting {key!r} is {value!r}, not bytes")
        return bytearray(value)

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        """Set bytes, and return this configuration."""
        return self._set(key, bytes(value), bytes)

    def key_set(self) -> set[str]:
        """Return the names of all settings."""
        return set(self._values)

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        """Put all settings, each of the type that it was set as, into a dict."""
        target_dict.update(self._values)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Take all settings of another configuration, and return this one.

        Parameters
        ----------
        other : Configuration
            The settings to take.
        prefix : str, optional
            What to put before their names.
        """
        for key, value in other._values.items():
            self._put((prefix or "") + key, value)
        return self

    def contains_key(self, key: str) -> bool:
        """Return whether there is a setting of this name."""
        return key in self._values

    def to_dict(self) -> dict[str, str]:
        """Return all settings as texts."""
        return {key: text_of(value) for key, value in self._values.items()}

    def remove_config(self, key: str) -> bool:
        """Remove the setting of this name, and return whether there was one."""
        return self._values.pop(key, None) is not None

    def _get(self, key: str, default_value: T, convert: Callable[[str], T]) -> T:
        if key not in self._values:
            return default_value
        value = self._values[key]
        try:
            return convert(text_of(value))
        except ValueError:
            kind = _KINDS[convert]
            raise ValueError(f"the setting {key!r} is {value!r}, which is not {kind}") from None

    def _set(self, key: str, value: Any, kind: type) -> Configuration:
        if not isinstance(key, str) or not isinstance(value, kind):
            raise TypeError(f"the setting {key!r} takes a {kind.__name__}, not {value!r}")
        self._put(key, value)
        return self

    def _put(self, key: str, value: Any) -> None:
        self._values[key] = value

    def __deepcopy__(self, memodict: dict[int, Any] | None = None) -> Configuration:
        return Configuration(self)

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self._values == other._values

    def __str__(self) -> str:
        return "{" + ", ".join(f"{key}={value}" for key, value in self.to_dict().items()) + "}"


def map_text(values: Mapping[str, Any]) -> str:
    """Return a setting of named values: ``name:value,name:value``."""
    entries = (f"{name}:{text_of(value)}" for name, value in values.items())
    return ",".join(
        "'" + entry.replace("'", "''") + "'" if set(entry) & set(",'") else entry
        for entry in entries
    )


def map_of(text: str) -> dict[str, str]:
    """Return the named values of a setting; an entry, or a value, may stand between quotes.

    Raises
    ------
    ValueError
        If an entry has no colon.
    """
    values = {}
    for entry in re.findall(r"\s*((?:'(?:[^']|'')*'|[^,])+)", text):
        whole = _unquoted(entry)
        name, colon, value = whole.partition(":")
        if not colon:
            raise ValueError(f"{whole!r} is not of the form name:value")
        values[name.strip()] = _unquoted(value) if whole == entry.strip() else value.strip()
    return values


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def text_of(value: Any) -> str:
    """Return a setting's value as text, as Flink writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return java_float(value, single=False)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def boolean_of(text: str) -> bool:
    """Return the value of a setting that is true or false.

    Raises
    ------
    ValueError
        If it is neither, in any case.
    """
    if text.lower() not in ("true", "false"):
        raise ValueError("it must be true or false")
    return text.lower() == "true"


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    return int(text)


_KINDS: dict[Callable[[str], Any], str] = {
    boolean_of: "true or false",
    _integer: "of type int",
    float: "of type float",
}
