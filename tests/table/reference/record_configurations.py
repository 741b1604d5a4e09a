"""Records what programs over a configuration see."""

from __future__ import annotations

import recordings
from configurations import PROGRAMS, answer
from pyflink.common import Configuration


def record(only):
    found = {program: answer(program, Configuration) for program in PROGRAMS}
    recordings.write("configurations", found)
