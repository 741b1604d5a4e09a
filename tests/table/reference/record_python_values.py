"""Records which values of a program tables take, and what they give back."""

from __future__ import annotations

import flink
import pyflink.table as library
import recordings
from python_values import ASKED, answers


def record(only):
    environment = flink.environment("batch")
    recorded = {which: answers(which, environment, library) for which in ASKED}
    recordings.write("python_values", recorded)
