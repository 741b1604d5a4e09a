"""What sources, sinks and operators need to know of the program that they belong to."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from pyflow.types.function_values import time_zone

if TYPE_CHECKING:
    import datetime

    from pyspark.sql import SparkSession

    from pyflow.common.configuration import Configuration
    from pyflow.session.kept_rows import KeptRows

__all__ = ["Context"]


class Context:
    """The session of a program, its settings, and whether its input may be unbounded.

    Parameters
    ----------
    session : SparkSession
    configuration : Configuration
        The settings, by Flink's names.
    is_streaming : bool
        Whether queries run in streaming mode.

    Attributes
    ----------
    has_open_functions : bool
        Whether unbounded data streams have become tables, whose functions stay open until a query
        ends.
    kept_rows : KeptRows or None
        Where the rows of a bounded source of an unbounded query with a checkpoint are kept.
    """

    def __init__(
        self, session: SparkSession, configuration: Configuration, is_streaming: bool
    ) -> None:
        self.session = session
        self.configuration = configuration
        self.is_streaming = is_streaming
        self.has_open_functions = False
        self.kept_rows: KeptRows | None = None

    def with_kept_rows(self, kept_rows: KeptRows) -> Context:
        """Return the context of a source whose rows are kept."""
        made = copy.copy(self)
        made.kept_rows = kept_rows
        return made

    def time_zone_name(self) -> str:
        """Return the name of the session's time zone, as it is set now."""
        return str(self.session.conf.get("spark.sql.session.timeZone"))

    def time_zone(self) -> datetime.tzinfo:
        """Return the session's time zone, as it is set now."""
        return time_zone(self.time_zone_name())

    def parallelism(self) -> int:
        """Return how many tasks work at once: as set, or as many as Spark has cores."""
        chosen = int(self.configuration.get_string("parallelism.default", None) or -1)
        if chosen > 0:
            return chosen
        if hasattr(self.session, "_jsparkSession"):
            return int(self.session.sparkContext.defaultParallelism)
        return 1
