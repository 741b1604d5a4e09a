"""Names that older versions of PyFlink have: importing one says what replaces it."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["missing"]


def missing(module: str, name: str, gone: Mapping[str, str]) -> AttributeError | ImportError:
    """Return the error for a name that a module does not have.

    Parameters
    ----------
    module, name
    gone
        What to use instead, by the names that the module no longer has.
    """
    if name in gone:
        return ImportError(f"{name} is gone from PyFlink, and from {module}: use {gone[name]}")
    return AttributeError(f"module {module!r} has no attribute {name!r}")
