"""Where a compiled plan is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "BytesContentPlanReference",
    "FilePlanReference",
    "JsonContentPlanReference",
    "PlanReference",
]


class PlanReference:
    """Where a compiled plan is. A description: plans of Flink's planner are not run here."""

    @staticmethod
    def from_file(path: str | Path) -> FilePlanReference:
        """Return the reference to a plan in a file."""
        return FilePlanReference(Path(path))

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        """Return the reference to a plan in JSON."""
        return JsonContentPlanReference(json_string)

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> BytesContentPlanReference:
        """Return the reference to a plan in Smile, JSON's binary form."""
        return BytesContentPlanReference(smile_bytes)


@dataclass(frozen=True)
class FilePlanReference(PlanReference):
    """A plan in a file."""

    path: Path

    def get_file(self) -> Path:
        """Return the file's absolute path."""
        return self.path.resolve()


@dataclass(frozen=True)
class JsonContentPlanReference(PlanReference):
    """A plan in JSON."""

    content: str

    def get_content(self) -> str:
        """Return the plan."""
        return self.content


@dataclass(frozen=True)
class BytesContentPlanReference(PlanReference):
    """A plan in Smile."""

    content: bytes

    def get_content(self) -> bytes:
        """Return the plan."""
        return self.content
