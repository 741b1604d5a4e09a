"""Records what becomes of elements of declared types. Takes an hour.

An element leaves a function with an output type. Recorded is what the next Python function is given
(``next``), what is printed (``printed``) and what `execute_and_collect` returns (``collected``), in
PyFlink's process mode; and what a function is given of elements of a collection (``collection``).
PyFlink prints from the JVM, and what does not fit may end a process: the programs run in processes
of their own, which write down what they have found.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import cloudpickle
import recordings
import stream_values
from stream_values import CASES, OF_COLLECTIONS, names_of, shown

#: What is recorded, and of which types.
PARTS = {"process": list(CASES), "collection": OF_COLLECTIONS}

#: How many jobs a process runs for elements of collections: each leaves threads of PyFlink behind.
JOBS = 8

_PYTHON_ERROR = re.compile(r"^((?:\w+\.)*\w*(?:Error|Exception): .*)$", re.MULTILINE)
_THREAD_ERROR = re.compile(r"PythonException: <class '(?:\w+\.)*(\w+)'>: (.*)")


def cause(error: BaseException) -> str:
    """Return the line of an error that says what its reason was."""
    text = str(error)
    in_thread = _THREAD_ERROR.findall(text)
    if in_thread:
        return ": ".join(in_thread[-1])
    harness = text.rpartition("Error received from SDK harness")[2]
    in_process = _PYTHON_ERROR.findall(harness) if "SDK harness" in text else []
    if in_process:
        return in_process[-1].strip()
    causes = [line for line in text.splitlines() if line.startswith("Caused by: ")]
    if causes:
        return causes[-1].removeprefix("Caused by: ").strip()
    first = (text.splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"


class Programs:
    """Runs the programs of one part, whose output is in a file."""

    def __init__(self, part: str, output: str) -> None:
        self.part = part
        self.output = Path(output).open(encoding="utf-8")  # noqa: SIM115
        self.names = names_of("pyflink")

    def stream(self, type_text: str, values: list[str]) -> Any:
        from pyflink.common import Configuration
        from pyflink.datastream import StreamExecutionEnvironment

        names, type_info = self.names, eval(type_text, self.names)
        settings = Configuration()
        settings.set_string("python.execution-mode", "process")
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.set_parallelism(1)
        if self.part == "collection":
            elements = [eval(value, names) for value in values]
            return env, env.from_collection(elements, type_info)

        def made(index: int) -> Any:
            return eval(values[index], names_of("pyflink"))

        return env, env.from_collection(list(range(len(values)))).map(made, type_info)

    def executed(self, type_text: str, values: list[str], kinds: list[str]) -> dict[str, list[str]]:
        """Return the lines of each kind."""
        from pyflink.common import Types

        env, stream = self.stream(type_text, values)
        if "printed" in kinds:
            stream.print("printed")
        if "next" in kinds:
            told = stream.map(shown, Types.STRING())
            told.start_new_chain().print("next")
        self.output.read()
        env.execute()
        lines = self.output.read().splitlines()
        found = {
            kind: [line.removeprefix(f"{kind}> ") for line in lines if line.startswith(f"{kind}> ")]
            for kind in kinds
        }
        if any(len(each) != len(values) for each in found.values()):
            raise RuntimeError(f"{len(values)} elements gave other lines: {lines}")
        return found

    def collected(self, type_text: str, values: list[str]) -> list[str]:
        _, stream = self.stream(type_text, values)
        with stream.execute_and_collect() as found:
            texts = [shown(value) for value in found]
        if len(texts) != len(values):
            raise RuntimeError(f"{len(values)} elements gave {texts}")
        return texts

    def attempt(self, run: Any, *arguments: Any) -> Any:
        try:
            return run(*arguments)
        except Exception as error:
            self.check_alive()
            return f"error: {cause(error)}"

    def check_alive(self) -> None:
        from pyflink.java_gateway import get_gateway

        try:
            get_gateway().jvm.System.currentTimeMillis()
        except Exception:
            os._exit(3)

    def together(self, type_text: str, values: list[str]) -> dict[str, Any] | None:
        """Return the answers of all values, from one program; None if it fails."""
        found = self.attempt(self.executed, type_text, values, ["printed", "next"])
        if isinstance(found, str):
            return None
        collected = self.attempt(self.collected, type_text, values)
        if isinstance(collected, str):
            return None
        return {
            value: {"next": following, "printed": printed, "collected": each}
            for value, following, printed, each in zip(
                values, found["next"], found["printed"], collected
            )
        }

    def not_encoded(self, type_text: str, values: list[str], note: Any) -> dict[str, Any]:
        """Return the errors of PyFlink's coder, which processes are given their elements by."""
        from pyflink.common import Row, Types
        from pyflink.fn_execution import coders
        from pyflink.fn_execution.flink_fn_execution_pb2 import TypeInfo
        from pyflink.java_gateway import get_gateway

        type_info = eval(type_text, self.names) or Types.PICKLED_BYTE_ARRAY()
        jvm = get_gateway().jvm
        loader = jvm.Thread.currentThread().getContextClassLoader()
        converter = (
            jvm.org.apache.flink.streaming.api.utils.PythonTypeUtils.TypeInfoToProtoConverter
        )
        described = converter.toTypeInfoProto(type_info.get_java_type_info(), loader).toByteArray()
        field = coders.from_type_info_proto(TypeInfo.FromString(bytes(described)))
        coder = coders.RowCoder([field], ["f0"]).get_impl()
        errors = {}
        for value in values:
            note(type_text, value, "begun")
            try:
                coder.encode(Row(eval(value, self.names)))
            except Exception as error:
                errors[value] = {"error": f"{type(error).__name__}: {error}"}
                note(type_text, value, errors[value])
        return errors

    def printed(self, type_text: str, value: str) -> str:
        found = self.attempt(self.executed, type_text, [value], ["printed"])
        return found if isinstance(found, str) else found["printed"][0]

    def following(self, type_text: str, value: str) -> str:
        found = self.attempt(self.executed, type_text, [value], ["next"])
        return found if isinstance(found, str) else found["next"][0]

    def alone(self, type_text: str, value: str, printed: str) -> dict[str, str]:
        """Return the answers of a value, of which some may be errors."""
        collected = self.attempt(self.collected, type_text, [value])
        return {
            "next": self.following(type_text, value),
            "printed": printed,
            "collected": collected if isinstance(collected, str) else collected[0],
        }


def run(part: str, wanted: list[tuple[str, list[str]]], found: str, output: str) -> None:
    os.dup2(os.open(output, os.O_WRONLY | os.O_APPEND), 1)
    cloudpickle.register_pickle_by_value(stream_values)
    programs = Programs(part, output)
    with open(found, "a", encoding="utf-8") as notes:

        def note(*entry: Any) -> None:
            notes.write(json.dumps(entry, ensure_ascii=True) + "\n")
            notes.flush()

        if part == "collection":
            for type_text, value in [(t, v) for t, values in wanted for v in values][:JOBS]:
                note(type_text, value, "begun")
                note(type_text, value, {"next": programs.following(type_text, value)})
                print(part, type_text, value, file=sys.stderr, flush=True)
            # What PyFlink has left behind may never end.
            os._exit(0)
        for type_text, values in wanted:
            note(type_text, None, "together")
            errors = programs.not_encoded(type_text, values, note)
            values = [value for value in values if value not in errors]
            # Of the types whose values all are encoded, None is what most often fails later.
            for alone in ([], ["None"]):
                fitting = [value for value in values if value not in alone]
                answers = programs.together(type_text, fitting) if len(fitting) > 1 else None
                if answers is not None:
                    values = [value for value in values if value in alone]
                    break
            answers = {**(answers or {}), **apart(programs, type_text, values, note)}
            for value, answer in answers.items():
                note(type_text, value, answer)
            print(part, type_text, len(values), file=sys.stderr, flush=True)


def apart(programs: Programs, type_text: str, values: list[str], note: Any) -> dict[str, Any]:
    """Return the answers of values of which some do not fit."""
    printed = {}
    for value in values:
        note(type_text, value, "begun")
        printed[value] = programs.printed(type_text, value)
        # What no coder takes leaves no function.
        if printed[value].startswith("error: ") and "java." not in printed[value]:
            note(type_text, value, {"error": printed[value].removeprefix("error: ")})
    failed = [value for value in values if printed[value].startswith("error: ")]
    fitting = [value for value in values if value not in failed]
    answers = {v: {"error": printed[v].removeprefix("error: ")} for v in failed}
    together = programs.together(type_text, fitting) if len(fitting) > 1 else None
    answers.update(together or {})
    for value in failed if together else values:
        if value not in failed or "java." in printed[value]:
            note(type_text, value, "begun")
            answers[value] = programs.alone(type_text, value, printed[value])
    return answers


def answers_of(part: str, wanted: list[tuple[str, list[str]]]) -> dict[str, dict[str, Any]]:
    """Return the answers for types and values, in new processes whenever one has ended."""
    spawn = multiprocessing.get_context("spawn")
    answers: dict[str, dict[str, Any]] = {type_text: {} for type_text, _ in wanted}
    alone = set()
    with tempfile.TemporaryDirectory() as directory:
        found, output = f"{directory}/found", f"{directory}/output"
        for path in (found, output):
            open(path, "w").close()
        while True:
            left = [
                (type_text, [value for value in values if value not in answers[type_text]])
                for type_text, values in wanted
            ]
            # What ends a process together is asked for alone.
            steps = [
                (type_text, step)
                for type_text, values in left
                for step in ([[v] for v in values] if type_text in alone else [values])
                if step
            ]
            if not steps:
                return answers
            process = spawn.Process(target=run, args=(part, steps, found, output))
            process.start()
            process.join()
            lines = Path(found).read_text(encoding="utf-8").splitlines()
            entries = [json.loads(line) for line in lines]
            for type_text, value, answer in entries:
                if isinstance(answer, dict):
                    answers[type_text][value] = answer
            if process.exitcode:
                type_text, value, answer = entries[-1]
                if answer == "begun":
                    answers[type_text][value] = {"error": "the process ended"}
                elif type_text in alone:
                    raise RuntimeError(f"nothing was found of {type_text}")
                alone.add(type_text)


def record(only: list[str]) -> None:
    recorded = recordings.known("datastream/values", {})
    for part, types in PARTS.items():
        if only and part not in only:
            continue
        for place in range(0, len(types), 10):
            wanted = [(each, CASES[each]) for each in types[place : place + 10]]
            for type_text, answers in answers_of(part, wanted).items():
                of_type = recorded.setdefault(type_text, {})
                for value in CASES[type_text]:
                    of_type.setdefault(value, {})[part] = answers[value]
            # What was recorded before an interruption stays.
            recordings.write("datastream/values", recorded)
