"""How much the service takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of size and number.

    Parameters
    ----------
    upload : int
        Bytes of an artifact.
    store : int
        Bytes of all artifacts.
    artifacts : int
    unpacked : int
        How many times its own size an archive may have when it is unpacked.
    running : int
        Jobs that run at a time.
    ended : int
        Jobs that have ended and are remembered.
    clients : int
        Connections at a time.
    """

    upload: int = 256 << 20
    store: int = 4 << 30
    artifacts: int = 1000
    unpacked: int = 100
    running: int = 16
    ended: int = 100
    clients: int = 200
