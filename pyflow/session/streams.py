"""Bounded rows as a stream, for queries that also have unbounded ones."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.session.context import Context

__all__ = ["as_stream"]

# Says, as QueryParts.scala has it, that the path is that of this start alone.
_OWN = "pyflowRows"


def as_stream(frame: DataFrame, context: Context) -> DataFrame:
    """Return the rows of a frame as a stream that has them in its first batch.

    The rows are written once, into files that last as long as the checkpoint of the query, or else
    the program.

    Parameters
    ----------
    frame : DataFrame
    context : Context
    """
    if context.kept_rows is not None:
        path = context.kept_rows.path_of(frame, context.session)
    else:
        directory = tempfile.mkdtemp(prefix="pyflow-rows-")
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        path = f"{directory}/rows"
        frame.write.parquet(path)
    # Spark lets a pattern alone lead to another directory than when the rows were read.
    reader = context.session.readStream.schema(frame.schema).option(_OWN, "true")
    return reader.parquet(f"{path}/part-*")
