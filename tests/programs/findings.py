"""What the programs here print about what they have found."""

from __future__ import annotations


def report(wrong: list[str]) -> None:
    """Print what was wrong, and ALL RIGHT if nothing was."""
    for each in wrong:
        print("WRONG", each)
    if not wrong:
        print("ALL RIGHT")
