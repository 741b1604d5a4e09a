"""Programs that are run only to obtain the plan of their first job, and end when it is written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["PLAN_FILE", "end_with_plan"]

#: The variable that names the file for the plan.
PLAN_FILE = "PYFLOW_PLAN_FILE"


def end_with_plan(plan: Callable[[], Mapping[str, Any]]) -> None:
    """Write the plan of a job and end the program, where that was asked for.

    Parameters
    ----------
    plan : callable
        Returns the plan, whose values are those of JSON.

    Raises
    ------
    SystemExit
        If the plan was asked for.
    """
    file = os.environ.get(PLAN_FILE)
    if file is None:
        return
    Path(file).write_text(json.dumps(plan()))
    raise SystemExit(0)
