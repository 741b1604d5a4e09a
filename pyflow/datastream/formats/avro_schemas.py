"""Schemas of Avro, and the types of the records that they describe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyflow.common.typeinfo import RowTypeInfo, TypeInformation, Types
from pyflow.util.exceptions import TableException

__all__ = ["AvroSchema", "GenericRecordAvroTypeInfo", "logical_type", "nullable", "type_of_schema"]

_PRIMITIVES = {
    "null": None,
    "boolean": Types.BOOLEAN,
    "int": Types.INT,
    "long": Types.LONG,
    "float": Types.FLOAT,
    "double": Types.DOUBLE,
    "bytes": None,
    "string": Types.STRING,
}
_LOGICAL = {
    ("int", "date"): Types.SQL_DATE,
    ("int", "time-millis"): Types.SQL_TIME,
    ("long", "time-micros"): Types.SQL_TIME,
    ("long", "timestamp-millis"): Types.SQL_TIMESTAMP,
    ("long", "timestamp-micros"): Types.SQL_TIMESTAMP,
    ("bytes", "decimal"): Types.BIG_DEC,
    ("fixed", "decimal"): Types.BIG_DEC,
}


class AvroSchema:
    """A schema of Avro; made by `parse_string` and `parse_file`.

    Parameters
    ----------
    schema
        What its JSON has been parsed into.

    Raises
    ------
    ValueError
        If it is no schema.
    """

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._named: dict[str, Any] = {}
        self.root = self._resolved(schema, "")

    def __str__(self) -> str:
        return json.dumps(self._schema, separators=(",", ":"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AvroSchema) and self._schema == other._schema

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return AvroSchema, (self._schema,)

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """Return the schema of a JSON text.

        Raises
        ------
        ValueError
            If the text is none of a schema.
        """
        try:
            parsed = json.loads(json_schema)
        except ValueError as error:
            raise ValueError(f"{json_schema[:200]!r} is no schema of Avro: {error}") from error
        return AvroSchema(parsed)

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """Return the schema in a file of this machine.

        Raises
        ------
        OSError
            If there is no such file.
        ValueError
            If it holds no schema.
        """
        return AvroSchema.parse_string(Path(file_path).read_text(encoding="utf-8"))

    def _resolved(self, schema: Any, namespace: str) -> Any:
        """Return a schema as a dict, with the types that are named in it as the same objects.

        A union is a dict with the type ``union``, and ``branches``.
        """
        if isinstance(schema, list):
            branches = [self._resolved(each, namespace) for each in schema]
            return {"type": "union", "branches": branches}
        if isinstance(schema, str):
            return self._found(schema, namespace)
        if not isinstance(schema, dict) or "type" not in schema:
            raise ValueError(f"{schema!r} is no schema of Avro")
        kind = schema["type"]
        if isinstance(kind, (dict, list)):
            return self._resolved(kind, namespace)
        if kind in ("record", "error", "enum", "fixed"):
            return self._declared(schema, kind, namespace)
        if kind == "array":
            return {**schema, "items": self._resolved(schema["items"], namespace)}
        if kind == "map":
            return {**schema, "values": self._resolved(schema["values"], namespace)}
        return schema if kind in _PRIMITIVES else self._found(kind, namespace)

    def _found(self, name: str, namespace: str) -> Any:
        if name in _PRIMITIVES:
            return {"type": name}
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        found = self._named.get(full, self._named.get(name))
        if found is None:
            raise ValueError(f"{name!r} is not the name of a type of Avro")
        return found

    def _declared(self, schema: dict[str, Any], kind: str, namespace: str) -> Any:
        if not schema.get("name"):
            raise ValueError(f"a type of Avro has no name: {schema!r}")
        full = schema["name"]
        if "." not in full:
            inside = schema.get("namespace", namespace)
            full = f"{inside}.{full}" if inside else full
        made = {**schema, "type": "record" if kind == "error" else kind, "name": full}
        self._named[full] = made
        if "fields" in schema:
            inside = full.rpartition(".")[0]
            made["fields"] = [
                {**each, "type": self._resolved(each["type"], inside)} for each in schema["fields"]
            ]
        elif kind not in ("enum", "fixed"):
            raise ValueError(f"the record {full!r} has no fields")
        return made


class GenericRecordAvroTypeInfo(TypeInformation):
    """The type of records of Avro, which are dicts.

    Parameters
    ----------
    schema : AvroSchema
    """

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema

    def __repr__(self) -> str:
        return f"GenericRecordAvroTypeInfo({self._schema})"


def logical_type(schema: Mapping[str, Any]) -> str | None:
    """Return the logical type of a resolved schema; None for one that rows do not know."""
    name = schema.get("logicalType")
    return name if (schema["type"], name) in _LOGICAL else None


def nullable(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], int | None]:
    """Return what a resolved schema is beside null, and the place of null in its union.

    Raises
    ------
    TableException
        If it is a union of several types.
    """
    if schema["type"] != "union":
        return schema, None
    branches = schema["branches"]
    others = [each for each in branches if each["type"] != "null"]
    if len(others) != 1 or len(branches) > 2:
        names = ", ".join(str(each["type"]) for each in branches)
        raise TableException(
            f"fields of rows are of one type, or null; the schema of Avro has a union of {names}"
        )
    nulls = [place for place, each in enumerate(branches) if each["type"] == "null"]
    return others[0], nulls[0] if nulls else None


def type_of_schema(schema: AvroSchema) -> RowTypeInfo:
    """Return the type of the rows that records of a schema become.

    Raises
    ------
    TableException
        If the schema is none of records, or has types that rows do not have.
    """
    if schema.root["type"] != "record":
        raise TableException(f"rows are made of records of Avro, not of {schema}")
    return _record(schema.root, ())


def _record(schema: Mapping[str, Any], around: tuple[str, ...]) -> RowTypeInfo:
    if schema["name"] in around:
        raise TableException(f"the record {schema['name']!r} of Avro is inside of itself")
    around = (*around, schema["name"])
    names = [each["name"] for each in schema["fields"]]
    return Types.ROW_NAMED(names, [_type(each["type"], around) for each in schema["fields"]])


def _type(union: Mapping[str, Any], around: tuple[str, ...]) -> TypeInformation:
    schema, _ = nullable(union)
    kind = schema["type"]
    logical = logical_type(schema)
    if logical is not None:
        return _LOGICAL[kind, logical]()
    if kind == "record":
        return _record(schema, around)
    if kind == "array":
        element = _type(schema["items"], around)
        return Types.BASIC_ARRAY(element) if element == Types.STRING() else _array(element)
    if kind == "map":
        return Types.MAP(Types.STRING(), _type(schema["values"], around))
    if kind == "enum":
        return Types.STRING()
    if kind in ("bytes", "fixed"):
        return Types.PRIMITIVE_ARRAY(Types.BYTE())
    made = _PRIMITIVES[kind]
    if made is None:
        raise TableException("rows have no fields that are always null, as the schema of Avro has")
    return made()


def _array(element: TypeInformation) -> TypeInformation:
    return Types.OBJECT_ARRAY(element)
