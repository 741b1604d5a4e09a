"""Records what PyFlink's schemas of rows make of messages, and of rows.

Flink's Java classes are called through its gateway. A row is recorded as Java shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import recordings
import row_schemas as cases


def _reason(error: Exception) -> str:
    lines = str(error).splitlines()
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    found = causes[-1] if causes else next((each for each in lines if "Exception" in each), "")
    return "error: " + found.removeprefix(": ").split(":")[0].rpartition(".")[2]


def _attempt(run: Any) -> Any:
    try:
        return run()
    except Exception as error:
        return _reason(error)


def _reader(schema: Any) -> Any:
    read = schema._j_deserialization_schema
    read.open(None)
    return read


def _read(reader: Any, message: bytes) -> str | None:
    row = reader.deserialize(message)
    return None if row is None else str(row.toString())


def _written(schema: Any, row: Any) -> str:
    write = schema._j_serialization_schema
    write.open(None)
    return bytes(write.serialize(row)).decode("utf-8")


def record(only: Sequence[str] = ()) -> None:
    """Record all answers."""
    names = cases.names_of("pyflink")
    answers: dict[str, Any] = {"read": {}, "written": {}, "schemas": {}}
    for wanted, expression in ((cases.JSON, cases.json_reader), (cases.CSV, cases.csv_reader)):
        for type_text, calls, messages in wanted:
            text = expression(type_text, calls)
            reader = _reader(eval(text, names))
            answers["read"].setdefault(text, {}).update(
                (repr(message), _attempt(lambda r=reader, m=message: _read(r, m)))
                for message in messages
            )
    for type_text, values in cases.WRITTEN:
        row_type = cases.TWO.format(type_text)
        reader = _reader(eval(cases.json_reader(row_type, ""), names))
        texts = [
            cases.json_writer(row_type),
            *(cases.csv_writer(row_type, calls) for calls in cases.WRITERS),
        ]
        for text in texts:
            schema = _attempt(lambda t=text: eval(t, names))
            answers["written"][text] = (
                schema
                if isinstance(schema, str)
                else [
                    _attempt(
                        lambda s=schema, v=value, r=reader: _written(
                            s, r.deserialize(cases.written_message(v))
                        )
                    )
                    for value in values
                ]
            )
    for schema in cases.SCHEMAS:
        builder = names["JsonRowDeserializationSchema"].builder()
        answers["schemas"][schema] = _attempt(
            lambda b=builder, s=schema: repr(b.json_schema(s)._type_info)
        )
    recordings.write("datastream/row_schemas", answers)
