"""Records what state with a time to live answers in PyFlink's thread mode. Takes a minute.

In its process mode workers cache values, which do not expire there.
"""

from __future__ import annotations

import sys
from typing import Any, TextIO

import cloudpickle
import recordings
from job_processes import answers_of
from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment
from ttl_cases import calls, function_of
from window_cases import api

#: In which the program has to end: it sleeps for most of it.
SECONDS = 120


def answer_of(name: str, output: TextIO) -> Any:
    """Return what the program emits, or an error."""
    # What runs the function cannot import these modules.
    for module in (__name__, "ttl_cases"):
        cloudpickle.register_pickle_by_value(sys.modules[module])
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    environment = StreamExecutionEnvironment.get_execution_environment(configuration)
    environment.set_parallelism(1)
    stream = environment.from_collection(calls()).key_by(lambda value: "k", Types.STRING())
    try:
        with (
            stream.process(function_of(api("pyflink")))
            .map(str, Types.STRING())
            .execute_and_collect() as found
        ):
            return list(found)
    except Exception as error:
        return {"error": str(error)[-1500:]}


def record(only: list[str]) -> None:
    (answer,) = answers_of(answer_of, ["ttl"], SECONDS)
    if isinstance(answer, dict):
        raise RuntimeError(f"not recorded: {answer['error']}")
    recordings.write("datastream/ttl", answer)
