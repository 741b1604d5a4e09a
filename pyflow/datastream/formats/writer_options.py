"""Settings of formats of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyflow.common.configuration import Configuration

__all__ = ["writer_options"]


def writer_options(*configurations: Configuration | None) -> dict[str, str]:
    """Return what configurations say, as options of Spark's readers and writers.

    Spark hands them on to the formats, with those of Hadoop.
    """
    found: dict[str, str] = {}
    for each in configurations:
        if each is not None:
            found.update(each.to_dict())
    return found
