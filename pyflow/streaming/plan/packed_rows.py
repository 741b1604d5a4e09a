"""Rows that Spark's workers emit pickled, many in one row: see ``runtime.rows.packing``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.streaming.runtime.rows import PACKED

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType

__all__ = ["unpacked"]

# As in UnpickledRows.scala.
_FUNCTION = "pyflow_unpickled_rows"


def unpacked(schema: StructType) -> Column:
    """Return the generator of packed rows."""
    return F.call_function(_FUNCTION, F.lit(schema.json()), F.col(PACKED))
