"""What of a query of tables stands in its checkpoint, by which another query is refused.

Spark knows sources and operators of a checkpoint by their order alone, and notices that a query
does not fit, if at all, when it has written to it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyflow.session.plugin import driver_has_plugin
from pyflow.streaming.jobs.spark_checkpoint import SparkCheckpoint
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check_query"]

_FILE = "pyflow-manifest.json"
# Has batches run; whether a query has it is for its settings to say.
_TICKS = "io.pyflow.connectors.TickSource"
_KINDS = {"sources": "reads", "operators": "keeps state of", "writes": "writes"}


def check_query(frame: DataFrame, checkpoint: str, writes: str) -> None:
    """Refuse a query that cannot go on from a checkpoint, which stays as it is.

    A query that goes on, or begins the checkpoint, is described there. Without the plugin in the
    driver nothing is compared.

    Parameters
    ----------
    frame
        What the query writes.
    checkpoint
        Its directory.
    writes
        To where.

    Raises
    ------
    TableException
        If the checkpoint is of another query.
    """
    if not driver_has_plugin():
        return
    wrapped: Any = frame
    files = SparkCheckpoint(frame.sparkSession, checkpoint)
    parts = files._jvm.org.apache.spark.sql.pyflow.QueryParts
    found: dict[str, Any] = {**json.loads(parts.json(wrapped._jdf)), "writes": writes}
    text, last = files.text(_FILE), files.last_batch()
    written: dict[str, Any] = {} if text is None else json.loads(text)
    planned = written.get("query")
    is_committed = planned is not None and written["since"] <= last
    # None where nothing has been committed, or by a version that described no queries.
    holds = planned if is_committed else written.get("before")
    if planned is not None and planned != found and last < 0 and writes:
        # The log of the files may have a batch that the checkpoint has not.
        holds = planned
    if holds is not None:
        _compare(holds, found, checkpoint)
    files.take_schemas()
    if planned == found:
        return
    if planned is not None and not is_committed:
        # Another query has planned a batch, and committed none.
        if last < 0:
            files.delete()
        else:
            files.remove_planned()
    made = {"query": found, "since": last + 1, "before": holds}
    files.write(json.dumps(made, indent=2), _FILE)


def _compare(before: dict[str, Any], now: dict[str, Any], checkpoint: str) -> None:
    for part, does in _KINDS.items():
        if part == "sources":
            one, other = (
                [each for each in found[part] if each[0] != _TICKS] for found in (before, now)
            )
            if len(one) == len(other) and all(map(_continues, one, other)):
                continue
        elif before[part] == now[part]:
            continue
        raise TableException(
            f"The checkpoint {checkpoint!r} is of another query: that {does} "
            f"{_text(before[part])}, and this one {does} {_text(now[part])}. Give the job another "
            "name by 'pipeline.name', or set another 'execution.checkpointing.dir', to begin "
            "without its state; or write the query as it was."
        )


def _continues(before: list[str], now: list[str]) -> bool:
    """Return whether a source goes on where another one has stopped: one of more topics."""
    topics = "subscribe "
    if before[0] == now[0] and before[1].startswith(topics) and now[1].startswith(topics):
        one, other = (set(each[1].removeprefix(topics).split(",")) for each in (before, now))
        return one <= other
    return before == now


def _text(part: Any) -> str:
    if isinstance(part, str):
        return part
    return ", ".join(" ".join(filter(None, each)) for each in part) or "nothing"
