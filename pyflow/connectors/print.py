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
from pyflow.connectors.connector import Connector, Option, boolean, integer
from pyflow.session.local_rows import local_rows
from pyflow.table.changes.changelog import in_order
from pyflow.types.strings import row_text
from pyflow.types.values import from_spark_value

if TYPE_CHECKING:
    from pyflow.session.context import Context
    from pyflow.table.changes.relation import Relation


class Print(Connector):
    """A table whose rows are printed: ``+I[1, Hello]``."""

    identifier = "print"
    options = (
        Option("print-identifier"),
        Option("standard-error", boolean, "true or false", default=False),
        Option("sink.parallelism", integer, "an integer"),
    )
    takes_changes = True

    def write(self, rows: Relation, overwrite: bool, context: Context) -> None:
        """Print the rows, each with the number of its partition where there are several."""
        parallelism = self["sink.parallelism"] or context.parallelism()
        place = "$partition"
        subtask = F.spark_partition_id() % parallelism + 1
        numbered = rows.rows(*rows.changes, subtask.alias(place))
        ordered = in_order(replace(rows, frame=numbered))
        types = [data_type for _, data_type in rows.fields]
        zone = context.time_zone()
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
