"""What the service refuses, as its answers say it."""

from __future__ import annotations


class RefusedError(Exception):
    """A request cannot be served.

    Parameters
    ----------
    status : int
        Of the answer.
    reason : str
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
