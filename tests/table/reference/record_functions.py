"""Writes function_values.json: ``python record_functions.py``, with a Python that has PyFlink 2.3.

PyFlink's workers exchange values with Flink through coders. What a function gets is what they
decode, and what becomes of a result is that, encoded and decoded again: no job has to run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyflink.common import Row
from pyflink.fn_execution import coders
from pyflink.table import DataTypes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from function_values import ARGUMENTS, RESULTS, shown, value_of  # noqa: E402

PLAIN = {
    "TinyIntType": coders.TinyIntCoder,
    "SmallIntType": coders.SmallIntCoder,
    "IntType": coders.IntCoder,
    "BigIntType": coders.BigIntCoder,
    "BooleanType": coders.BooleanCoder,
    "FloatType": coders.FloatCoder,
    "DoubleType": coders.DoubleCoder,
    "VarBinaryType": coders.BinaryCoder,
    "VarCharType": coders.CharCoder,
    "DateType": coders.DateCoder,
    "TimeType": coders.TimeCoder,
}


def coder_of(declared):
    """The coder of a type, as PyFlink's workers choose it."""
    kind = type(declared).__name__
    if kind in PLAIN:
        return PLAIN[kind]()
    if kind == "DecimalType":
        return coders.DecimalCoder(declared.precision, declared.scale)
    if kind == "TimestampType":
        return coders.TimestampCoder(declared.precision)
    if kind == "ArrayType":
        return coders.GenericArrayCoder(coder_of(declared.element_type))
    if kind == "MapType":
        return coders.MapCoder(coder_of(declared.key_type), coder_of(declared.value_type))
    assert kind == "RowType", kind
    fields = [coder_of(field.data_type) for field in declared.fields]
    return coders.RowCoder(fields, [field.name for field in declared.fields])


def passed_on(text, value):
    """A value behind the coder, or the class of the error that it raises."""
    declared = eval(f"DataTypes.{text}", {"DataTypes": DataTypes})
    columns = coders.FlattenRowCoder([coder_of(declared)]).get_impl()
    try:
        return shown(columns.decode(columns.encode([value]))[0])
    except Exception as error:
        return f"error: {type(error).__name__}"


def main():
    answers = {
        which: [passed_on(text, value_of(expression, Row)) for text, expression in cases]
        for which, cases in (("arguments", ARGUMENTS), ("results", RESULTS))
    }
    (HERE / "function_values.json").write_text(
        json.dumps(answers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
