"""The state store of queries with state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflow.util.spark_version import SPARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["keep_state_in_rocksdb", "state_store_settings"]

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"


def keep_state_in_rocksdb(session: SparkSession) -> None:
    """Have queries of a session keep state in RocksDB, if they do not."""
    if SPARK < (4, 3):
        # State stores of batches find no coordinator there before the session, or the server's over
        # Connect, has a manager of streams.
        _ = session.streams.active
    if session.conf.get(_PROVIDER, None) != _ROCKSDB:
        for key, value in state_store_settings(session).items():
            session.conf.set(key, value)


def state_store_settings(session: SparkSession) -> dict[str, str]:
    """Return the settings with which queries of a session keep state in RocksDB.

    A batch writes its changes, and not all files of the store, unless the session says so.
    """
    changelog = session.conf.get(_CHANGELOG, None)
    return {_PROVIDER: _ROCKSDB, _CHANGELOG: changelog or "true"}
