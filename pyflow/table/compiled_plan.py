"""Compiled plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = ["CompiledPlan"]


@unsupported(
    "it is a plan of Flink's planner; Spark plans each statement anew, so keep the statement"
)
class CompiledPlan:
    """A plan that is kept and run later."""

    def as_json_string(self) -> Any:
        """Return the plan in JSON."""

    def as_smile_bytes(self) -> Any:
        """Return the plan in Smile."""

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False) -> Any:
        """Write the plan to a file."""

    def get_flink_version(self) -> Any:
        """Return the version of Flink that made the plan."""

    def print_json_string(self) -> Any:
        """Print the plan in JSON."""

    def execute(self) -> Any:
        """Run the plan."""

    def explain(self, *extra_details: int) -> Any:
        """Return the plan in words."""

    def print_explain(self, *extra_details: int) -> Any:
        """Print the plan in words."""
