"""Runs jobs of PyFlink in processes of their own: they leave threads behind, and some never end."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

#: How many jobs a process may run.
JOBS = 8


def answers_of(
    answer: Callable[[Any, TextIO], Any], wanted: Sequence[Any], seconds: int = 60
) -> list[Any]:
    """Return answers from a new process, up to that of a job which ended it.

    Parameters
    ----------
    answer
        A function of a module. It returns what JSON has for each that is wanted, and is given what
        PyFlink prints, too.
    wanted
        With as many jobs as a process may run.
    seconds
        In which each has to end.
    """
    with tempfile.TemporaryDirectory() as directory:
        arguments = (answer, wanted, directory, seconds)
        process = multiprocessing.get_context("spawn").Process(target=_run, args=arguments)
        process.start()
        process.join()
        found = Path(directory, "found")
        if not found.exists():
            raise RuntimeError(f"the jobs did not begin: {process.exitcode}")
        answers = list(map(json.loads, found.read_text(encoding="utf-8").splitlines()))
    if process.exitcode:
        answers.append({"error": f"it did not end in {seconds} s"})
    return answers


def _run(
    answer: Callable[[Any, TextIO], Any], wanted: Sequence[Any], directory: str, seconds: int
) -> None:
    path = f"{directory}/output"
    # What is written by the JVM, which is started later, goes there, too.
    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    # Jobs of which PyFlink's collector hears nothing any more never end.
    signal.signal(signal.SIGALRM, lambda *_: os._exit(4))
    with open(path, encoding="utf-8") as output, open(f"{directory}/found", "w") as found:
        for each in wanted:
            print(each, file=sys.stderr, flush=True)
            signal.alarm(seconds)
            found.write(json.dumps(answer(each, output)) + "\n")
            signal.alarm(0)
            found.flush()
    # What PyFlink has left behind may never end.
    os._exit(0)
