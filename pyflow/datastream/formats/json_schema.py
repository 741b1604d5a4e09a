"""The type of rows that a JSON schema describes."""

from __future__ import annotations

import json
from typing import Any

from pyflow.common.typeinfo import TypeInformation, Types

__all__ = ["type_of_schema"]

_FORMATS = {"date-time": Types.SQL_TIMESTAMP, "date": Types.SQL_DATE, "time": Types.SQL_TIME}


def type_of_schema(schema: str) -> TypeInformation:
    """Return the type of the values that a JSON schema describes.

    Parameters
    ----------
    schema : str
        In JSON.

    Raises
    ------
    ValueError
        If it is no JSON schema, or describes what rows do not have, such as one of several types.
    """
    try:
        root = json.loads(schema)
    except ValueError as error:
        raise ValueError(f"Invalid JSON schema: {error}") from error
    return _type("<root>", root, root)


def _type(place: str, node: Any, root: Any) -> TypeInformation:
    if not isinstance(node, dict):
        raise ValueError(f"Invalid JSON schema in node: {place}")
    if "$ref" in node:
        node = _referenced(node["$ref"], root)
    if "allOf" in node or "anyOf" in node or "not" in node:
        raise ValueError(
            "Union types are such as 'allOf', 'anyOf' etc. and extending are not supported yet."
        )
    if "oneOf" in node:
        return _one_of(place, node["oneOf"], root)
    if "type" not in node:
        raise ValueError(f"No type could be found in node:{place}")
    name = node["type"]
    if isinstance(name, list):
        return _one_of(place, [{**node, "type": each} for each in name], root)
    if name == "object":
        fields = node.get("properties", {})
        types = [_type(f"{place}/{key}", value, root) for key, value in fields.items()]
        return Types.ROW_NAMED(list(fields), types)
    if name == "array":
        return _array(place, node, root)
    if name in ("number", "integer"):
        return Types.BIG_DEC()
    if name == "boolean":
        return Types.BOOLEAN()
    if name == "string":
        return _string(place, node)
    raise ValueError(f"Unsupported type '{name}' in node: {place}")


def _one_of(place: str, nodes: list[Any], root: Any) -> TypeInformation:
    others = [each for each in nodes if not (isinstance(each, dict) and each.get("type") == "null")]
    if len(others) != 1:
        raise ValueError("Union types with more than just a null type are not supported yet.")
    return _type(place, others[0], root)


def _array(place: str, node: dict[str, Any], root: Any) -> TypeInformation:
    if "items" not in node:
        raise ValueError(f"Arrays must specify an 'items' property in node: {place}")
    items = node["items"]
    if isinstance(items, list):
        types = [_type(f"{place}[{number}]", each, root) for number, each in enumerate(items)]
        return Types.ROW_NAMED([f"f{number}" for number in range(len(types))], types)
    element = _type(f"{place}/items", items, root)
    simple = element in (Types.STRING(), Types.BOOLEAN())
    return Types.BASIC_ARRAY(element) if simple else Types.OBJECT_ARRAY(element)


def _string(place: str, node: dict[str, Any]) -> TypeInformation:
    if node.get("format") in _FORMATS:
        return _FORMATS[node["format"]]()
    encoding = node.get("contentEncoding")
    if encoding is None:
        return Types.STRING()
    if encoding != "base64":
        raise ValueError(f"Invalid encoding '{encoding}' in node: {place}")
    return Types.PRIMITIVE_ARRAY(Types.BYTE())


def _referenced(reference: str, root: Any) -> Any:
    parts = reference.split("/")
    if len(parts) != 3 or parts[0] != "#" or parts[1] != "definitions":
        raise ValueError(
            "Only JSON schemes with simple references (one indirection in the same document) are "
            f"supported yet. But was: {reference}"
        )
    if parts[2] not in root.get("definitions", {}):
        raise ValueError(f"Could not find schema of reference: {reference}")
    return root["definitions"][parts[2]]
