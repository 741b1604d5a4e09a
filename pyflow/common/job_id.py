"""The name of a running job."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4

__all__ = ["JobID"]


@dataclass(frozen=True)
class JobID:
    """The name of a job, of 32 hexadecimal digits.

    Parameters
    ----------
    value : str, optional
        The digits; new ones if there are none.
    """

    value: str = field(default_factory=lambda: uuid4().hex)

    def __str__(self) -> str:
        return self.value
