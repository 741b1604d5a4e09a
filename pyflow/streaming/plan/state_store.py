"""The state store of queries with state."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["has_state_store", "state_store_settings"]

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"


def has_state_store(session: SparkSession) -> bool:
    """Return whether queries of a session keep state in RocksDB already."""
    return session.conf.get(_PROVIDER, None) == _ROCKSDB


def state_store_settings(session: SparkSession) -> dict[str, str]:
    """Return the settings with which queries of a session keep state in RocksDB.

    A batch writes its changes, and not all files of the store, unless the session says so.
    """
    changelog = session.conf.get(_CHANGELOG, None)
    return {_PROVIDER: _ROCKSDB, _CHANGELOG: changelog or "true"}
