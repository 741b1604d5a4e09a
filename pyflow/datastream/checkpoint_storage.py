"""Where checkpoints lie.

Spark writes them to a directory of a file system, always.
"""

from __future__ import annotations

from typing import Any

from pyflow.common.configuration import Configuration
from pyflow.util.unsupported import unsupported

__all__ = [
    "CheckpointStorage",
    "CustomCheckpointStorage",
    "FileSystemCheckpointStorage",
    "JobManagerCheckpointStorage",
]

_STORAGE = "execution.checkpointing.storage"
_DIRECTORY = "execution.checkpointing.dir"
_SAVEPOINTS = "execution.checkpointing.savepoint-dir"


class CheckpointStorage:
    """Where checkpoints lie."""

    def settings(self) -> dict[str, str]:
        """Return the settings that say so. PyFlow's own."""
        return {}

    def get_savepoint_path(self) -> str | None:
        """Return the directory of savepoints: None, it is the setting's."""
        return None


class JobManagerCheckpointStorage(CheckpointStorage):
    """The memory of Flink's JobManager; Spark has a directory in any case.

    Parameters
    ----------
    checkpoint_path : str, optional
        The directory, with its scheme.
    max_state_size : int, optional
        The most bytes of a state. It has no effect.

    Raises
    ------
    ValueError
        If the path has no scheme or is the root, or the size is not positive.
    """

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024

    def __init__(
        self, checkpoint_path: str | None = None, max_state_size: int | None = None
    ) -> None:
        if max_state_size is not None and max_state_size <= 0:
            raise ValueError("maxStateSize must be > 0")
        self._path = None if checkpoint_path is None else _checked(checkpoint_path)
        self._max_state_size = max_state_size or self.DEFAULT_MAX_STATE_SIZE

    def settings(self) -> dict[str, str]:
        """Return the settings that say so. PyFlow's own."""
        directory = {} if self._path is None else {_DIRECTORY: self._path}
        return {_STORAGE: "jobmanager", **directory}

    def get_checkpoint_path(self) -> str | None:
        """Return the directory; None if there is none."""
        return self._path

    def get_max_state_size(self) -> int:
        """Return the most bytes of a state."""
        return self._max_state_size

    def __str__(self) -> str:
        return (
            "JobManagerCheckpointStorage (checkpoints to JobManager)"
            f" ( maxStateSize: {self._max_state_size})"
        )


class FileSystemCheckpointStorage(CheckpointStorage):
    """A directory of a file system.

    Parameters
    ----------
    checkpoint_path : str
        The directory, with its scheme: ``file:///checkpoints``, ``s3a://bucket/checkpoints``.
    file_state_size_threshold : int, optional
        The least bytes of state for a file of its own. It has no effect.
    write_buffer_size : int
        The bytes of the buffer of a file that is written. It has no effect.

    Raises
    ------
    ValueError
        If there is no path, it has no scheme or is the root, or the threshold is none of Flink's.
    """

    MAX_FILE_STATE_THRESHOLD = 1024 * 1024

    def __init__(
        self,
        checkpoint_path: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int = -1,
    ) -> None:
        if checkpoint_path is None:
            raise ValueError("checkpoint_path must not be None")
        self._path = _checked(checkpoint_path)
        threshold = -1 if file_state_size_threshold is None else file_state_size_threshold
        if not -1 <= threshold <= self.MAX_FILE_STATE_THRESHOLD:
            raise ValueError(
                "The threshold for file state size must be in "
                f"[-1, {self.MAX_FILE_STATE_THRESHOLD}], where '-1' means to use the value from "
                "the deployment's configuration."
            )
        self._threshold = 20 * 1024 if threshold < 0 else threshold
        self._buffer_size = 4096 if write_buffer_size < 0 else write_buffer_size

    def settings(self) -> dict[str, str]:
        """Return the settings that say so. PyFlow's own."""
        return {_STORAGE: "filesystem", _DIRECTORY: self._path}

    def get_checkpoint_path(self) -> str:
        """Return the directory."""
        return self._path

    def get_min_file_size_threshold(self) -> int:
        """Return the least bytes of state for a file of its own."""
        return self._threshold

    def get_write_buffer_size(self) -> int:
        """Return the bytes of the buffer of a file that is written."""
        return self._buffer_size

    def __str__(self) -> str:
        return f"FileSystemCheckpointStorage ({self._path})"


@unsupported("it is a Java class of Flink; use FileSystemCheckpointStorage")
class CustomCheckpointStorage(CheckpointStorage):
    """A place for checkpoints by a Java class."""

    def __init__(self, j_custom_checkpoint_storage: Any) -> None: ...


def storage_of(configuration: Configuration) -> CheckpointStorage | None:
    """Return where checkpoints lie by the settings; None if they do not say so. PyFlow's own."""
    directory = configuration.get_string(_DIRECTORY, None)
    if configuration.get_string(_STORAGE, "") == "jobmanager":
        return JobManagerCheckpointStorage(directory)
    return None if directory is None else FileSystemCheckpointStorage(directory)


def _checked(path: str) -> str:
    scheme, _, rest = path.partition(":")
    if not rest or "/" in scheme:
        raise ValueError(
            "The scheme (hdfs://, file://, etc) is null. Please specify the file system scheme "
            f"explicitly in the URI {path!r}."
        )
    if not rest.strip("/"):
        raise ValueError("Cannot use the root directory for checkpoints.")
    return path.rstrip("/")
