"""Records which values of a program tables and functions take, and what they give back.

Names of what is asked choose a part: ``PARTS="python_values/elements map,frames map"``. A process
should not run many jobs, and each value that PyFlink refuses takes some.
"""

from __future__ import annotations

import re

import flink
import pyarrow as pa
import pyflink.table as library
import recordings
from function_values import shown, shown_series
from pyflink.fn_execution import coders
from pyflink.table.types import create_arrow_schema
from pyflink.table.utils import arrow_to_pandas
from python_values import ASKED, NESTED, answers, names_of, seen_by_functions
from record_functions import answer, coder_of


def passed_on(declared, value):
    """A value behind the coder of functions: as they get it, and as it is of what they return."""
    columns = coders.FlattenRowCoder([coder_of(declared)]).get_impl()
    return shown(columns.decode(columns.encode([value]))[0])


def series_of(declared, value):
    """The series of a value, as functions see it."""
    schema = create_arrow_schema(["f"], [declared])
    if hasattr(value, "get_row_kind"):
        value = dict(zip(declared.field_names(), value))
    array = pa.array([value], type=schema.types[0])
    batch = pa.RecordBatch.from_arrays([array], schema=schema)
    return shown_series(arrow_to_pandas("UTC", [declared], [batch])[0])


def seen(name, ask):
    names = names_of(library)
    answers = []
    for text, value in seen_by_functions(name):
        # What Flink tells its workers of a class of a program.
        declared = eval(re.sub(r"POINT_AS_\w+", r"\g<0>.sql_type()", text), names)
        answers.append(answer(ask, (declared, eval(value, names))))
    return answers


def record(only):
    environment = flink.environment("batch")
    recorded = recordings.known("python_values", {})
    for name in NESTED:
        recorded[f"arguments {name}"] = seen(name, passed_on)
        recorded[f"series arguments {name}"] = seen(name, series_of)
    for which in ASKED:
        if not only or which in only:
            recorded[which] = answers(which, environment, library)
    recordings.write("python_values", recorded)
