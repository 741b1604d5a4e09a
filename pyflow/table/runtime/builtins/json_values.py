"""The JSON functions of SQL: what is at a path, and what happens where nothing or no JSON is."""

from __future__ import annotations

import decimal
import json
from typing import Any

from pyflow.table.runtime.builtins.json_paths import MissingError, parse


class JsonFunctionError(ValueError):
    """A JSON function with ERROR ON EMPTY or ERROR ON ERROR found no value or an error."""


def _load(text: str) -> Any:
    return json.loads(text, parse_constant=_refused, parse_float=decimal.Decimal)


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def is_json(text: str | None, kind: str) -> bool:
    """Return whether a string is JSON of a kind: VALUE, SCALAR, ARRAY or OBJECT."""
    if text is None:
        return False
    try:
        value = _load(text)
    except ValueError:
        return False
    if kind == "VALUE":
        return True
    if isinstance(value, (dict, list)):
        return kind == ("OBJECT" if isinstance(value, dict) else "ARRAY")
    return kind == "SCALAR"


def _at(text: str, path: str) -> tuple[Any, bool]:
    """Return what is at a path, None if nothing is, and whether the path is lax.

    Raises
    ------
    ValueError, LookupError
        If the path is strict and the string is not JSON or has nothing at the path, or if the whole
        JSON is null.
    """
    parsed = parse(path)
    try:
        document = _load(text)
    except ValueError:
        if parsed.lax:
            return None, True
        raise
    if document is None:
        raise ValueError("json object can not be null")
    try:
        return parsed.find(document), parsed.lax
    except MissingError:
        if parsed.lax:
            return (None if parsed.definite else []), True
        raise


def exists(text: str | None, path: str, on_error: str) -> bool | None:
    """Return whether there is a value at a path; the list at a path to several values is one."""
    if text is None:
        return None
    try:
        value, _ = _at(text, path)
    except (ValueError, LookupError) as reason:
        if on_error == "ERROR":
            raise JsonFunctionError(f"JSON_EXISTS of {path!r} in {text!r}: {reason!r}") from None
        return {"TRUE": True, "FALSE": False}.get(on_error)
    return value is not None


def value(
    text: str | None,
    default_on_empty: str | None,
    default_on_error: str | None,
    path: str,
    on_empty: str,
    on_error: str,
) -> str | None:
    """Return the scalar at a path as a string."""
    if text is None:
        return None
    try:
        found, lax = _at(text, path)
    except (ValueError, LookupError) as reason:
        return _clause("JSON_VALUE", on_error, default_on_error, path, text, repr(reason))
    if found is None or (lax and isinstance(found, (dict, list))):
        return _clause("JSON_VALUE", on_empty, default_on_empty, path, text, "it is empty")
    if isinstance(found, (dict, list)):
        return _clause("JSON_VALUE", on_error, default_on_error, path, text, "it is no scalar")
    return found if isinstance(found, str) else dumped(found)


def _clause(
    function: str, clause: str, default: str | None, path: str, text: str, reason: str
) -> str | None:
    if clause == "ERROR":
        raise JsonFunctionError(f"{function} of {path!r} in {text!r}: {reason}")
    return default if clause == "DEFAULT" else None


_EMPTY = {"NULL": None, "EMPTY_ARRAY": "[]", "EMPTY_OBJECT": "{}"}


def query(text: str | None, path: str, wrapper: str, on_empty: str, on_error: str) -> str | None:
    """Return the JSON at a path as a string."""
    if text is None:
        return None
    try:
        found, lax = _at(text, path)
    except (ValueError, LookupError) as reason:
        if on_error == "ERROR":
            raise JsonFunctionError(f"JSON_QUERY of {path!r} in {text!r}: {reason!r}") from None
        return _EMPTY[on_error]
    if found is not None:
        scalar = not isinstance(found, (dict, list))
        is_array = isinstance(found, list)
        if wrapper == "UNCONDITIONAL_ARRAY" or (wrapper == "CONDITIONAL_ARRAY" and not is_array):
            found, scalar = [found], False
    if found is None or (lax and scalar):
        if on_empty == "ERROR":
            raise JsonFunctionError(f"JSON_QUERY of {path!r} in {text!r}: it is empty")
        return _EMPTY[on_empty]
    if scalar:
        if on_error == "ERROR":
            raise JsonFunctionError(f"JSON_QUERY of {path!r} in {text!r}: it is a scalar")
        return _EMPTY[on_error]
    return dumped(found)


def dumped(found: Any, in_order: bool = True) -> str:
    """Return a value as JSON, its numbers in the form of Java's ``BigDecimal.toString``.

    Parameters
    ----------
    found
        The value.
    in_order
        Whether the members of objects are put in the order of their names.
    """
    if isinstance(found, dict):
        names = sorted(found, key=lambda name: name.encode("utf-16-be")) if in_order else found
        members = (
            f"{json.dumps(name, ensure_ascii=False)}:{dumped(found[name], in_order)}"
            for name in names
        )
        return "{" + ",".join(members) + "}"
    if isinstance(found, list):
        return "[" + ",".join(dumped(each, in_order) for each in found) + "]"
    if isinstance(found, decimal.Decimal):
        return str(found)
    return json.dumps(found, ensure_ascii=False)


def number(text: str | None) -> str | None:
    """Return a number as Java's ``BigDecimal.toString`` does."""
    return None if text is None else str(decimal.Decimal(text))


def checked_json(text: str | None) -> str | None:
    """Return a string that is JSON in the form in which it is inserted into other JSON.

    Raises
    ------
    ValueError
        If it is not JSON.
    """
    if text is None or not text.strip():
        return None
    try:
        return dumped(_load(text), in_order=False)
    except ValueError:
        raise ValueError(f"Invalid JSON string in JSON(value) function: {text}") from None


def joined_object(
    keys: list[str | None] | None, values: list[str | None] | None, on_null: str
) -> str | None:
    """Return the JSON of an object with such members, whose values are JSON, by their keys.

    Raises
    ------
    ValueError
        If a key is null or there twice.
    """
    members: dict[str, str] = {}
    for key, member in zip(keys or (), values or ()):
        if key is None:
            raise ValueError("Key in JSON_OBJECTAGG must not be null.")
        if key in members:
            raise ValueError("Duplicate key in JSON_OBJECTAGG.")
        if member is not None or on_null == "NULL":
            members[key] = "null" if member is None else member
    # In the order of Java's strings.
    ordered = sorted(members.items(), key=lambda member: member[0].encode("utf-16-be"))
    inner = (f"{json.dumps(key, ensure_ascii=False)}:{text}" for key, text in ordered)
    return "{" + ",".join(inner) + "}"
