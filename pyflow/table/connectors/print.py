"""The connector ``print``: writes rows to the program's standard output.

In Flink each task prints on its own machine; here the driver prints, so that the rows are seen
where the program runs.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.common.types import Row, RowKind
from pyflow.table.connectors.connector import Connector, Option, boolean, integer
from pyflow.table.local_rows import local_rows
from pyflow.table.planner.changelog import in_order
from pyflow.table.value_text import row_text
from pyflow.table.values import from_spark_value

if TYPE_CHECKING:
    from pyflow.table.planner.relation import Relation
    from pyflow.table.table_environment import TableEnvironment


class Print(Connector):
    """A table whose rows are printed: ``+I[1, Hello]``."""

    identifier = "print"
    options = (
        Option("print-identifier"),
        Option("standard-error", boolean, "true or false", default=False),
        Option("sink.parallelism", integer, "an integer"),
    )
    takes_changes = True

    def write(self, rows: Relation, overwrite: bool, environment: TableEnvironment) -> None:
        """Print the rows, each with the number of its partition where there are several."""
        parallelism = self["sink.parallelism"] or environment._parallelism()
        place = "$partition"
        subtask = F.spark_partition_id() % parallelism + 1
        numbered = rows.rows(*rows.changes, subtask.alias(place))
        ordered = in_order(replace(rows, frame=numbered))
        types = [data_type for _, data_type in rows.fields]
        zone = environment._time_zone()
        kinds = list(RowKind)
        stream = sys.stderr if self["standard-error"] else sys.stdout
        for values in local_rows(ordered):
            row = Row(*(from_spark_value(value, t) for value, t in zip(values, types)))
            if rows.updating:
                row.set_row_kind(kinds[values[len(types)]])
            prefix = self._prefix(values[-1], parallelism)
            print(f"{prefix}{row_text(row, types, zone)}", file=stream)
        stream.flush()

    def _prefix(self, subtask: int, parallelism: int) -> str:
        prefix = self["print-identifier"] or ""
        if parallelism > 1:
            prefix = f"{prefix}:{subtask}" if prefix else str(subtask)
        return f"{prefix}> " if prefix else ""
