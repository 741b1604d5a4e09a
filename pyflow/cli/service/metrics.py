"""Numbers about a job."""

from __future__ import annotations

import time
from typing import Any

from pyflow.cli.service.database import JobRow

_NAMES = {"batch": "batch", "rows_per_second": "rowsPerSecond"}


def metrics_of(row: JobRow, described: dict[str, Any]) -> dict[str, object]:
    """Return the metrics of a job by their names.

    Parameters
    ----------
    row : JobRow
    described : dict
        What its program tells of itself.
    """
    end = row.ended or time.time()
    found: dict[str, object] = {"uptime": int((end - row.submitted) * 1000)}
    executions = described.get("jobs", [])
    found["numExecutions"] = len(executions)
    found["numRunningExecutions"] = sum(each["state"] == "RUNNING" for each in executions)
    for execution in executions:
        for number, query in enumerate(execution["queries"]):
            for key, name in _NAMES.items():
                if query[key] is not None:
                    found[f"{execution['id']}.{number}.{name}"] = query[key]
    return found
