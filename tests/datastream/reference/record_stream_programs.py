"""Records the results of programs of the DataStream API. Takes three quarters of an hour.

Each runs in both of PyFlink's execution modes. ``PARTS=stream_programs/missing`` records what has
no answer yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

import cloudpickle
import recordings
from job_processes import JOBS, answers_of
from record_stream_values import cause
from stream_programs import SAME, environment_of, programs_of, results_of, texts_of

#: In which a program has to end.
SECONDS = 40

#: Name, runtime mode and execution mode of a program.
Run = tuple[str, str, str]


def answer_of(run: Run, output: TextIO) -> Any:
    """Return results and printed lines, or an error."""
    name, mode, execution_mode = run
    program = programs_of("pyflink", cloudpickle)[name]
    try:
        env = environment_of("pyflink", program, mode, execution_mode)
        results = results_of(program["function"](env))
        answer = {"results": texts_of(program, results)}
        if program["printed"]:
            env = environment_of("pyflink", program, mode, execution_mode)
            program["function"](env).print()
            output.read()
            env.execute()
            answer["printed"] = output.read().splitlines()
        return answer
    except Exception as error:
        return {"error": cause(error)}


def steps_of(runs: list[Run], programs: dict[str, Any]) -> Iterator[list[Run]]:
    """Yield what one process runs."""
    step: list[Run] = []
    jobs = 0
    for each in runs:
        of_this = 2 if programs[each[0]]["printed"] else 1
        if jobs + of_this > JOBS:
            yield step
            step, jobs = [], 0
        step.append(each)
        jobs += of_this
    yield step


def record(only: list[str]) -> None:
    programs = programs_of("pyflink", cloudpickle)
    known = recordings.known("datastream/programs", {})
    recorded = {
        name: {mode: known.get(name, {}).get(mode, {}) for mode in program["modes"]}
        for name, program in programs.items()
    }
    is_missing = only == ["missing"]
    left = [
        (name, mode, execution_mode)
        for execution_mode in ("process", "thread")
        for name, modes in recorded.items()
        for mode, answers in modes.items()
        if (execution_mode not in answers if is_missing else not only or name in only)
    ]
    while left:
        step = next(steps_of(left, programs))
        answers = answers_of(answer_of, step, SECONDS)
        left = left[len(answers) :]
        for (name, mode, execution_mode), answer in zip(step, answers):
            of_mode = recorded[name][mode]
            is_same = execution_mode == "thread" and answer == of_mode.get("process")
            of_mode[execution_mode] = SAME if is_same else answer
        # What was recorded before an interruption stays.
        recordings.write("datastream/programs", recorded)
