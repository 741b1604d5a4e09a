"""Numbers that native code, Java and Python repeat: each has to be the same on all sides."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import types

import codec
import pyflow
from pyflow.datastream.graph.lowering import _TARGET as TARGET
from pyflow.datastream.runtime.stage import FIRST, LAST
from pyflow.streaming.plan import operator_metadata, watermarks
from pyflow.thread_mode import batches, current_task, program, state_access
from pyflow.thread_mode.state_access import Request
from pyflow.thread_mode.stateful import Operation
from pyflow.thread_mode.types import ARROW_EXCHANGE, PICKLE_EXCHANGE, describe
from user_defined import PointType

_KINDS = {
    "Null": types.NullType(),
    "Boolean": types.BooleanType(),
    "Byte": types.ByteType(),
    "Short": types.ShortType(),
    "Integer": types.IntegerType(),
    "Long": types.LongType(),
    "Float": types.FloatType(),
    "Double": types.DoubleType(),
    "Decimal": types.DecimalType(),
    "String": types.StringType(),
    "Binary": types.BinaryType(),
    "Date": types.DateType(),
    "Timestamp": types.TimestampType(),
    "TimestampNtz": types.TimestampNTZType(),
    "Time": types.TimeType(),
    "DayTimeInterval": types.DayTimeIntervalType(),
    "Array": types.ArrayType(types.LongType()),
    "Map": types.MapType(types.LongType(), types.LongType()),
    "Struct": types.StructType(),
    "Variant": types.VariantType(),
    "UserDefined": PointType(),
}

# By their names in native code.
_PYTHON = {
    **{f"Kind::k{name}": describe(each)[0] for name, each in _KINDS.items()},
    "Exchange::kPickle": PICKLE_EXCHANGE,
    "Exchange::kArrow": ARROW_EXCHANGE,
    "OutputColumn::Source::kInput": program._INPUT_COLUMN,
    "OutputColumn::Source::kFunction": program._FUNCTION_COLUMN,
    "Batches::kEnd": batches._END,
    "Batches::kEndOfGroup": batches._END_OF_GROUP,
}

# Classes below io.pyflow, their fields, and what native code calls these.
_JAVA = {
    "bridge.PythonProgram": {
        "DONE": "Outcome::kDone",
        "ERROR": "Outcome::kFailed",
        "MOVE_TO_SHARED": "Outcome::kMoveToShared",
        "INTERRUPTED": "Outcome::kInterrupted",
        "OUTPUT": "Evaluation.output",
        "ROWS_DONE": "Evaluation.rows_done",
        "INPUT_BYTES_DONE": "Evaluation.input_bytes_done",
        "TIMES": "Evaluation.times",
        "CONVERSION_NANOS": "Evaluation.conversion_nanos",
        "EVALUATION_BYTES": "Evaluation.sizeof",
    },
    "bridge.PythonBatches": {
        "ROWS": "Step.rows",
        "TIMES": "Step.times",
        "STEP_BYTES": "Step.sizeof",
    },
    "bridge.BatchSource": {"END": "Batches::kEnd", "END_OF_GROUP": "Batches::kEndOfGroup"},
    "bridge.CallTimes": {
        "GIL_WAIT": "CallTimes.gil_wait_nanos",
        "PYTHON": "CallTimes.python_nanos",
        "SAMPLED": "CallTimes.sampled_nanos",
        "CPU": "CallTimes.cpu_nanos",
        "OTHERS_CPU": "CallTimes.others_cpu_nanos",
        "BYTES": "CallTimes.sizeof",
    },
    "bridge.LentMemory": {"HEADER_BYTES": "kLentHeaderBytes"},
    "arrow.CDataArray": {
        "LENGTH": "ArrowArray.length",
        "NULL_COUNT": "ArrowArray.null_count",
        "OFFSET": "ArrowArray.offset",
        "N_BUFFERS": "ArrowArray.n_buffers",
        "N_CHILDREN": "ArrowArray.n_children",
        "BUFFERS": "ArrowArray.buffers",
        "CHILDREN": "ArrowArray.children",
        "DICTIONARY": "ArrowArray.dictionary",
        "RELEASE": "ArrowArray.release",
        "PRIVATE_DATA": "ArrowArray.private_data",
        "BYTES": "ArrowArray.sizeof",
    },
}


@cache
def _native() -> dict[str, int]:
    lines = codec.load().pyflow_shared_numbers().decode().splitlines()
    return {name: int(number) for name, number in (line.split() for line in lines)}


def test_python_and_native_code_agree() -> None:
    assert {name: _native()[name] for name in _PYTHON} == _PYTHON


@pytest.mark.parametrize("name", _JAVA)
def test_java_and_native_code_agree(name: str) -> None:
    javap = shutil.which("javap")
    assert javap is not None, "a JDK is needed, as for the build"
    listing = subprocess.run(
        [javap, "-p", "-constants", "-cp", str(pyflow.jar_path()), f"io.pyflow.{name}"],
        env=codec.uninstrumented_environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    numbers = dict(re.findall(r"(?:int|long) (\w+) = (-?\d+)", listing))
    fields = _JAVA[name]
    assert {field: int(numbers.get(field, "none")) for field in fields} == {
        field: _native()[number] for field, number in fields.items()
    }


_ROOT = Path(__file__).resolve().parents[2]


def _constants(sources: str, constant: str) -> dict[str, int]:
    """Constants of a source: those of Scala are not in class files."""
    (file,) = _ROOT.glob(sources)
    return {name: int(number) for name, number in re.findall(constant, file.read_text(), re.M)}


def _upper(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def _numbers(owner: type) -> dict[str, int]:
    return {name: number for name, number in vars(owner).items() if name.isupper()}


def test_python_and_scala_agree_on_requests_for_state() -> None:
    scala = {
        _upper(name): number
        for name in ("StateAccess", "KeyedState")
        for name, number in _constants(
            f"jvm/src/*/scala/**/{name}.scala", r"\bval (\w+) = (\d+)$"
        ).items()
    }
    assert scala.pop("FIRST_OF_VARIABLE") == scala["EXISTS"]
    assert scala.pop("OPERATION_BITS") == state_access.VARIABLE_BITS
    assert _numbers(Request) == scala
    assert sorted(scala.values()) == list(range(len(scala)))
    (metrics,) = _constants(
        "jvm/src/*/scala/**/MetricReports.scala", r"\bval (\w+) = (\d+)$"
    ).values()
    assert metrics == current_task._METRICS > max(scala.values())


def test_python_and_scala_agree_on_operations_of_processors() -> None:
    scala = _constants("jvm/src/*/scala/**/StatefulFunction.scala", r"\bval (\w+) = (\d+)$")
    assert _numbers(Operation) == {_upper(name): number for name, number in scala.items()}


@pytest.mark.parametrize(
    ("source", "scala", "python"),
    [
        ("OperatorMetadata", 'Name = "{}"', operator_metadata._NAME),
        ("OperatorMetadata", 'State = "{}"', operator_metadata._STATE),
        ("IdleSources", 'Timeout = "{}"', watermarks._IDLE_TIMEOUT),
        ("ControlRowsExec", 'Target = "{}"', TARGET),
    ],
)
def test_python_and_scala_agree_on_names(source: str, scala: str, python: str) -> None:
    (file,) = _ROOT.glob(f"jvm/src/*/scala/**/{source}.scala")
    assert f"val {scala.format(python)}\n" in file.read_text()


def test_control_rows_have_the_least_and_the_greatest_number() -> None:
    (file,) = _ROOT.glob("jvm/src/*/scala/**/ControlRowsExec.scala")
    numbers = dict(re.findall(r"val (First|Last) = Int\.(\w+)$", file.read_text(), re.M))
    assert numbers == {"First": "MinValue", "Last": "MaxValue"}
    assert (FIRST, LAST) == (-(2**31), 2**31 - 1)


def test_every_number_is_compared() -> None:
    java = {number for fields in _JAVA.values() for number in fields.values()}
    assert set(_native()) == java | set(_PYTHON)
