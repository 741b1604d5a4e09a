"""The connector ``blackhole``: computes rows and keeps none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflow.table.connectors.connector import Connector, Option, integer

if TYPE_CHECKING:
    from pyflow.table.planner.relation import Relation
    from pyflow.table.table_environment import TableEnvironment


class Blackhole(Connector):
    """A table that forgets what is written into it."""

    identifier = "blackhole"
    options = (Option("sink.parallelism", integer, "an integer"),)
    takes_changes = True
    forgets_rows = True

    def write(self, rows: Relation, overwrite: bool, environment: TableEnvironment) -> None:
        """Compute the rows."""
        rows.frame.write.format("noop").mode("overwrite").save()
