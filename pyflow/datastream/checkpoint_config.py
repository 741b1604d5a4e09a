"""How checkpoints are taken."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from pyflow.common.configuration import Configuration
from pyflow.common.time import Duration
from pyflow.datastream.checkpoint_storage import CheckpointStorage, storage_of
from pyflow.datastream.checkpointing_mode import CheckpointingMode
from pyflow.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention

__all__ = ["CheckpointConfig"]

_PREFIX = "execution.checkpointing."
_LEAST_MILLIS = 10
_ANY_NUMBER = 2**31 - 1

_E = TypeVar("_E", bound=Enum)

#: The name of versions before 2.0.
ExternalizedCheckpointCleanup = ExternalizedCheckpointRetention


class CheckpointConfig:
    """How checkpoints are taken: a face of settings of Flink's names.

    A checkpoint of Spark is taken at the end of each batch. The interval, the directory and the
    retention say what they say in Flink; the other settings are kept and read back, and have no
    effect.

    Parameters
    ----------
    configuration : Configuration, optional
        The settings to read and write; new ones if there are none.
    """

    #: Values that Flink has where nothing is set; times are in milliseconds.
    DEFAULT_MODE = CheckpointingMode.EXACTLY_ONCE
    DEFAULT_TIMEOUT = 600_000
    DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS = 0
    DEFAULT_MAX_CONCURRENT_CHECKPOINTS = 1

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._configuration = Configuration() if configuration is None else configuration

    def is_checkpointing_enabled(self) -> bool:
        """Return whether an interval is set."""
        return self.get_checkpoint_interval() > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return how often an element counts in state after a failure.

        As in Flink ``AT_LEAST_ONCE`` where no checkpoints are taken, which are those of batch
        programs and of programs without an interval.

        Raises
        ------
        ValueError
            If the setting names no mode.
        """
        is_batch = self._configuration.get_string("execution.runtime-mode", "") == "BATCH"
        if is_batch or not self.is_checkpointing_enabled():
            return CheckpointingMode.AT_LEAST_ONCE
        return self._enum("mode", self.DEFAULT_MODE)

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Set how often an element counts in state after a failure."""
        return self._set("mode", checkpointing_mode.name)

    def get_checkpoint_interval(self) -> int:
        """Return the milliseconds between checkpoints; -1 if none are taken.

        Raises
        ------
        ValueError
            If the setting is no length of time, or less than 10 milliseconds.
        """
        interval = self._millis("interval", -1)
        if interval != -1:
            _check_least("interval", interval)
        return interval

    def set_checkpoint_interval(self, checkpoint_interval: int) -> CheckpointConfig:
        """Set the milliseconds between checkpoints, and have them taken.

        Raises
        ------
        ValueError
            If it is less than 10.
        """
        _check_least("interval", checkpoint_interval)
        return self._set_millis("interval", checkpoint_interval)

    def get_checkpoint_timeout(self) -> int:
        """Return the milliseconds after which a checkpoint is given up."""
        return self._millis("timeout", self.DEFAULT_TIMEOUT)

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> CheckpointConfig:
        """Set the milliseconds after which a checkpoint is given up. It has no effect.

        Raises
        ------
        ValueError
            If it is less than 10.
        """
        _check_least("timeout", checkpoint_timeout)
        return self._set_millis("timeout", checkpoint_timeout)

    def get_min_pause_between_checkpoints(self) -> int:
        """Return the least milliseconds from one checkpoint to the next."""
        return self._millis("min-pause", self.DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS)

    def set_min_pause_between_checkpoints(
        self, min_pause_between_checkpoints: int
    ) -> CheckpointConfig:
        """Set the least milliseconds from one checkpoint to the next. It has no effect.

        Raises
        ------
        ValueError
            If it is negative.
        """
        if min_pause_between_checkpoints < 0:
            raise ValueError("Pause value must be zero or positive")
        return self._set_millis("min-pause", min_pause_between_checkpoints)

    def get_max_concurrent_checkpoints(self) -> int:
        """Return how many checkpoints may be taken at once."""
        return self._integer("max-concurrent-checkpoints", self.DEFAULT_MAX_CONCURRENT_CHECKPOINTS)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """Set how many checkpoints may be taken at once. It has no effect.

        Raises
        ------
        ValueError
            If it is less than 1.
        """
        if max_concurrent_checkpoints < 1:
            raise ValueError("The maximum number of concurrent attempts must be at least one.")
        return self._set("max-concurrent-checkpoints", max_concurrent_checkpoints)

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Return whether a job fails with the first checkpoint that does."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(
        self, fail_on_checkpointing_errors: bool
    ) -> CheckpointConfig:
        """Set whether a job fails with the first checkpoint that does. It has no effect."""
        return self.set_tolerable_checkpoint_failure_number(
            0 if fail_on_checkpointing_errors else _ANY_NUMBER
        )

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """Return how many checkpoints may fail in a row before the job does."""
        return self._integer("tolerable-failed-checkpoints", 0)

    def set_tolerable_checkpoint_failure_number(
        self, tolerable_checkpoint_failure_number: int
    ) -> CheckpointConfig:
        """Set how many checkpoints may fail in a row before the job does. It has no effect.

        Raises
        ------
        ValueError
            If it is negative.
        """
        if tolerable_checkpoint_failure_number < 0:
            raise ValueError("The tolerable failure checkpoint number must be non-negative.")
        return self._set("tolerable-failed-checkpoints", tolerable_checkpoint_failure_number)

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set what becomes of checkpoints when a job is cancelled."""
        return self._set("externalized-checkpoint-retention", retention_mode.name)

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Return whether there are checkpoints that outlive a job."""
        retention = self.get_externalized_checkpoint_retention()
        return retention is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """Return what becomes of checkpoints when a job is cancelled.

        Raises
        ------
        ValueError
            If the setting names no retention.
        """
        return self._enum(
            "externalized-checkpoint-retention",
            ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS,
        )

    def set_externalized_checkpoint_cleanup(
        self, cleanup_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set what becomes of checkpoints when a job is cancelled, as before 2.0."""
        return self.set_externalized_checkpoint_retention(cleanup_mode)

    def get_externalized_checkpoint_cleanup(self) -> ExternalizedCheckpointRetention:
        """Return what becomes of checkpoints when a job is cancelled, as before 2.0."""
        return self.get_externalized_checkpoint_retention()

    def enable_externalized_checkpoints(
        self, cleanup_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set what becomes of checkpoints when a job is cancelled, as before 1.15."""
        return self.set_externalized_checkpoint_retention(cleanup_mode)

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints are unaligned, as those of ``EXACTLY_ONCE`` may be."""
        is_exact = self.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
        return is_exact and self._boolean("unaligned.enabled")

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        """Set whether checkpoints are unaligned. It has no effect."""
        return self._set("unaligned.enabled", enabled)

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        """Have no unaligned checkpoints. It has no effect."""
        return self.enable_unaligned_checkpoints(False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """Set after which time a checkpoint becomes an unaligned one. It has no effect."""
        return self._set("aligned-checkpoint-timeout", str(alignment_timeout))

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """Return after which time a checkpoint becomes an unaligned one."""
        return Duration.of_millis(self._millis("aligned-checkpoint-timeout", 0))

    def set_alignment_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """Set the same as `set_aligned_checkpoint_timeout`."""
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        """Return the same as `get_aligned_checkpoint_timeout`."""
        return self.get_aligned_checkpoint_timeout()

    def set_force_unaligned_checkpoints(
        self, force_unaligned_checkpoints: bool = True
    ) -> CheckpointConfig:
        """Set whether checkpoints are unaligned in all programs. It has no effect."""
        return self._set("unaligned.forced", force_unaligned_checkpoints)

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return whether checkpoints are unaligned in all programs."""
        return self._boolean("unaligned.forced")

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> CheckpointConfig:
        """Set where checkpoints lie, as before 2.0."""
        for key, value in storage.settings().items():
            self._configuration.set_string(key, value)
        return self

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> CheckpointConfig:
        """Set the directory of checkpoints, as before 2.0."""
        return self._set("dir", checkpoint_path)

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        """Return where checkpoints lie, as before 2.0; None if it is not set."""
        return storage_of(self._configuration)

    def _set(self, name: str, value: str | int) -> CheckpointConfig:
        key = _PREFIX + name
        if isinstance(value, bool):
            self._configuration.set_boolean(key, value)
        elif isinstance(value, int):
            self._configuration.set_integer(key, value)
        else:
            self._configuration.set_string(key, value)
        return self

    def _set_millis(self, name: str, millis: int) -> CheckpointConfig:
        return self._set(name, str(Duration.of_millis(millis)))

    def _millis(self, name: str, default: int) -> int:
        text = self._configuration.get_string(_PREFIX + name, None)
        return default if text is None else Duration.parse(text).to_millis()

    def _integer(self, name: str, default: int) -> int:
        return self._configuration.get_integer(_PREFIX + name, default)

    def _boolean(self, name: str) -> bool:
        return self._configuration.get_boolean(_PREFIX + name, False)

    def _enum(self, name: str, default: _E) -> _E:
        text = self._configuration.get_string(_PREFIX + name, default.name)
        kind = type(default)
        assert text is not None
        try:
            return kind[text.upper()]
        except KeyError:
            expected = ", ".join(each.name for each in kind)
            raise ValueError(
                f"Could not parse value '{text}' for key '{_PREFIX + name}'. Expected one of: "
                f"{expected}"
            ) from None


def _check_least(what: str, millis: int) -> None:
    if millis < _LEAST_MILLIS:
        raise ValueError(f"Checkpoint {what} must be larger than or equal to {_LEAST_MILLIS} ms")
