"""What checks of an environment find."""

from __future__ import annotations

import dataclasses

__all__ = ["Finding"]


@dataclasses.dataclass(frozen=True)
class Finding:
    """What one check found; advice makes it a fault, or a warning where most programs work."""

    check: str
    found: str
    advice: str | None = None
    concerns_all: bool = True

    @property
    def status(self) -> str:
        """``OK``, ``WARNING`` or ``FAULT``."""
        if self.advice is None:
            return "OK"
        return "FAULT" if self.concerns_all else "WARNING"
