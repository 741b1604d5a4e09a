"""PyFlink's example programs of data streams that end, and how their outputs are compared.

They are not copied: tests read what ``scripts/pyflink_examples.py`` has fetched.
"""

from __future__ import annotations

import re

#: By name the file in ``pyflink/examples/datastream``.
EXAMPLES = {
    "basic_operations": "basic_operations.py",
    "event_time_timer": "event_time_timer.py",
    "process_json_data": "process_json_data.py",
    "session_with_dynamic_gap_window": "windowing/session_with_dynamic_gap_window.py",
    "session_with_gap_window": "windowing/session_with_gap_window.py",
    "sliding_time_window": "windowing/sliding_time_window.py",
    "state_access": "state_access.py",
    "tumbling_count_window": "windowing/tumbling_count_window.py",
    "tumbling_time_window": "windowing/tumbling_time_window.py",
    "word_count": "word_count.py",
}


def lines_of(output: str) -> list[str]:
    """Return the lines of an output, sorted, without the numbers of the subtasks."""
    return sorted(re.sub(r"^\d+> ", "", line) for line in output.splitlines())
