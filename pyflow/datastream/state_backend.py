"""How state is kept while a program runs.

Spark keeps it in RocksDB, or as its setting ``spark.sql.streaming.stateStore.providerClass`` says;
what is said here is kept and read back, and has no effect.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = [
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "HashMapStateBackend",
    "PredefinedOptions",
    "StateBackend",
]


class StateBackend:
    """How state is kept while a program runs."""

    def settings(self) -> dict[str, str]:
        """Return the settings of Flink that say the same. PyFlow's own."""
        return {}


class HashMapStateBackend(StateBackend):
    """State in memory."""

    def settings(self) -> dict[str, str]:
        """Return the settings of Flink that say the same. PyFlow's own."""
        return {"state.backend.type": "hashmap"}

    def __str__(self) -> str:
        return "HashMapStateBackend"


class PredefinedOptions(Enum):
    """Options of RocksDB for a kind of machine."""

    #: Those of RocksDB itself.
    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class EmbeddedRocksDBStateBackend(StateBackend):
    """State in RocksDB.

    Parameters
    ----------
    enable_incremental_checkpointing : bool, optional
        Whether a checkpoint has only what has changed since the last one.

    Raises
    ------
    TypeError
        If it is neither True, False nor None.
    """

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        if enable_incremental_checkpointing not in (None, True, False):
            raise TypeError(
                "Unsupported input for 'enable_incremental_checkpointing': "
                f"{enable_incremental_checkpointing}, the value of the parameter should be None or "
                "True or False."
            )
        self._incremental = enable_incremental_checkpointing
        self._paths: list[str] | None = None
        self._options: PredefinedOptions | None = None
        self._threads: int | None = None

    def settings(self) -> dict[str, str]:
        """Return the settings of Flink that say the same. PyFlow's own."""
        settings = {"state.backend.type": "rocksdb"}
        if self._incremental is not None:
            settings["execution.checkpointing.incremental"] = str(self._incremental).lower()
        if self._paths is not None:
            settings["state.backend.rocksdb.localdir"] = ",".join(self._paths)
        if self._options is not None:
            settings["state.backend.rocksdb.predefined-options"] = self._options.name
        if self._threads is not None:
            settings["state.backend.rocksdb.checkpoint.transfer.thread.num"] = str(self._threads)
        return settings

    def set_db_storage_paths(self, *paths: str) -> None:
        """Set the local directories of RocksDB; without one, the default ones.

        Raises
        ------
        ValueError
            If a path is relative, or of another file system.
        """
        for path in paths:
            scheme, colon, rest = path.rpartition(":")
            if colon and scheme != "file":
                raise ValueError(f"Path {path} has a non-local scheme")
            if not rest.startswith("/"):
                raise ValueError(f"Relative paths are not supported: {path}")
        self._paths = list(paths) or None

    def get_db_storage_paths(self) -> list[str] | None:
        """Return the local directories of RocksDB; None for the default ones."""
        return self._paths

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Return whether a checkpoint has only what has changed since the last one."""
        return bool(self._incremental)

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Set the options of RocksDB for a kind of machine."""
        self._options = options

    def get_predefined_options(self) -> PredefinedOptions:
        """Return the options of RocksDB."""
        return self._options or PredefinedOptions.DEFAULT

    @unsupported(
        "a factory of options is a Java class of Flink; Spark's settings "
        "spark.sql.streaming.stateStore.rocksdb.* tune RocksDB"
    )
    def set_options(self, options_factory_class_name: str) -> None:
        """Set the Java class that makes the options of RocksDB."""

    def get_options(self) -> str | None:
        """Return the Java class that makes the options of RocksDB: None."""
        return None

    def get_number_of_transfer_threads(self) -> int:
        """Return how many threads copy files of checkpoints."""
        return 4 if self._threads is None else self._threads

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Set how many threads copy files of checkpoints.

        Raises
        ------
        ValueError
            If it is not positive.
        """
        if number_of_transfering_threads <= 0:
            raise ValueError(
                "The number of threads used to transfer files in EmbeddedRocksDBStateBackend "
                "should be greater than zero."
            )
        self._threads = number_of_transfering_threads

    def __str__(self) -> str:
        return f"EmbeddedRocksDBStateBackend({self.settings()})"


@unsupported("it is a Java class of Flink; Spark has the state in a state store of its own")
class CustomStateBackend(StateBackend):
    """A way of keeping state by a Java class."""

    def __init__(self, j_custom_state_backend: Any) -> None: ...
