"""Imported by its package, from which it imports."""

from __future__ import annotations

from cyclic import NUMBER

FIRST = NUMBER + 1
