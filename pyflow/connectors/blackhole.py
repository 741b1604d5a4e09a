"""The connector ``blackhole``: computes rows and keeps none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflow.connectors.connector import Connector, Option, integer

if TYPE_CHECKING:
    from pyflow.session.context import Context
    from pyflow.table.changes.relation import Relation


class Blackhole(Connector):
    """A table that forgets what is written into it."""

    identifier = "blackhole"
    options = (Option("sink.parallelism", integer, "an integer"),)
    takes_changes = True
    forgets_rows = True

    def write(self, rows: Relation, overwrite: bool, context: Context) -> None:
        """Compute the rows."""
        rows.frame.write.format("noop").mode("overwrite").save()
