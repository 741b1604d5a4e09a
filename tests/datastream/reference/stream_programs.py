"""Runs the programs of ``tests/datastream/programs`` on PyFlink or on PyFlow.

The answers of PyFlink are in ``programs.json``; ``record_stream_programs.py`` writes them where
PyFlink is installed.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from stream_values import shown

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"

#: The module that the programs have in common.
PARTS = "program_parts"

#: What is recorded of PyFlink's thread mode where it answers as its process mode does.
SAME = "as in process mode"


def programs_of(package: str, pickler: Any) -> dict[str, dict[str, Any]]:
    """Return the programs as they are for a package, by name.

    Parameters
    ----------
    package
        That they import.
    pickler
        The ``cloudpickle`` of the package. Their functions go to workers by value.
    """
    parts = _module(PARTS, package)
    sys.modules[PARTS] = parts
    pickler.register_pickle_by_value(parts)
    for file in sorted(PROGRAMS.glob("*.py")):
        if file.stem != PARTS:
            _module(file.stem, package)
    return parts.PROGRAMS  # type: ignore[no-any-return]


def _module(name: str, package: str) -> ModuleType:
    """Return the module of a file; it is none that could be imported."""
    file = PROGRAMS / f"{name}.py"
    module = ModuleType(f"stream_programs_of_text_{name}" if name != PARTS else name)
    text = re.sub(r"\bpyflink\b", package, file.read_text(encoding="utf-8"))
    exec(compile(text, str(file), "exec"), module.__dict__)
    return module


def environment_of(package: str, program: dict[str, Any], mode: str, execution_mode: str) -> Any:
    """Return an environment for a program."""
    configuration = import_module(f"{package}.common").Configuration()
    datastream = import_module(f"{package}.datastream")
    configuration.set_string("python.execution-mode", execution_mode)
    env = datastream.StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(program["parallelism"])
    env.set_runtime_mode(getattr(datastream.RuntimeExecutionMode, mode))
    return env


def results_of(stream: Any) -> list[Any]:
    """Return the elements of the stream that a program has returned; its list if it is one."""
    if isinstance(stream, list):
        return stream
    with stream.execute_and_collect() as found:
        return list(found)


def texts_of(program: dict[str, Any], results: list[Any]) -> Any:
    """Return results as they are compared: all of them, or those of each key, in their order.

    Those that have no order are sorted.
    """
    if program["ordered"]:
        return list(map(shown, results))
    if program["key"] is None:
        return sorted(map(shown, results))
    of_keys: dict[str, list[str]] = {}
    for result in results:
        of_keys.setdefault(shown(program["key"](result)), []).append(shown(result))
    return dict(sorted(of_keys.items()))


def reference_of(program: dict[str, Any], mode: str, answers: dict[str, Any]) -> Any:
    """Return which of PyFlink's answers counts, of those that are no errors."""
    process, thread = answers["process"], answers["thread"]
    if thread == SAME:
        return process
    is_thread = mode == "BATCH" or program["reference"] == "thread"
    one, other = (thread, process) if is_thread else (process, thread)
    return other if "error" in one else one
