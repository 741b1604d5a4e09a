"""Event times, whose watermark a query has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["with_event_time"]

# As io.pyflow.connectors.IdleSources has it.
_IDLE_TIMEOUT = "pyflow.idle-timeout"


def with_event_time(frame: DataFrame, name: str, delay: str, idle_timeout_ms: int) -> DataFrame:
    """Return the rows with the watermark of a column.

    Parameters
    ----------
    frame : DataFrame
    name : str
        Of the column, an instant.
    delay : str
        How late rows may be, as Spark's ``withWatermark`` takes it.
    idle_timeout_ms : int
        The time without rows after which these rows no longer hold back the watermark of a query,
        if the driver has the plugin; 0 for never.
    """
    if idle_timeout_ms > 0:
        frame = frame.withMetadata(name, {_IDLE_TIMEOUT: idle_timeout_ms})
    quoted = name.replace("`", "``")
    return frame.withWatermark(f"`{quoted}`", delay)
