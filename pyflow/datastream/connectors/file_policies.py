"""How files of sinks are named and when they end."""

from __future__ import annotations

__all__ = [
    "BucketAssigner",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RollingPolicy",
]


class BucketAssigner:
    """In which directory below that of a sink files are written.

    Parameters
    ----------
    pattern : str or None
        A pattern of Java's ``DateTimeFormatter`` for the time of writing; None for the directory of
        the sink itself.
    zone : str or None
        The time zone; None for that of the JVM.
    """

    def __init__(self, pattern: str | None, zone: str | None = None) -> None:
        self.pattern = pattern
        self.zone = zone

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """Return the assigner that has all files in the directory of the sink."""
        return BucketAssigner(None)

    @staticmethod
    def date_time_bucket_assigner(
        format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None
    ) -> BucketAssigner:
        """Return the assigner that has files in directories named by the time of writing.

        Parameters
        ----------
        format_str : str
            A pattern of Java's ``DateTimeFormatter``.
        timezone_id : str, optional
            Such as ``Europe/Berlin``; that of the JVM, if none is given.
        """
        return BucketAssigner(format_str, timezone_id)


class RollingPolicy:
    """When a file ends and another one begins.

    Here a file ends with the micro-batch in which it was begun, or with the program.
    """

    @staticmethod
    def default_rolling_policy(
        part_size: int = 1024 * 1024 * 128,
        rollover_interval: int = 60 * 1000,
        inactivity_interval: int = 60 * 1000,
    ) -> DefaultRollingPolicy:
        """Return the policy by size and time; what a micro-batch writes is not divided by it.

        Parameters
        ----------
        part_size : int
            In bytes.
        rollover_interval, inactivity_interval : int
            In milliseconds.

        Raises
        ------
        ValueError
            If one of them is not positive.
        """
        for name, value in (
            ("part_size", part_size),
            ("rollover_interval", rollover_interval),
            ("inactivity_interval", inactivity_interval),
        ):
            if value <= 0:
                raise ValueError(f"{name} must be positive, but is {value}")
        return DefaultRollingPolicy()

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Return the policy by which files end with checkpoints: here with micro-batches."""
        return OnCheckpointRollingPolicy()


class DefaultRollingPolicy(RollingPolicy):
    """The policy by size and time."""


class OnCheckpointRollingPolicy(RollingPolicy):
    """The policy by which files end with checkpoints."""


class OutputFileConfig:
    """What names of files begin and end with.

    Parameters
    ----------
    part_prefix, part_suffix : str
    """

    def __init__(self, part_prefix: str, part_suffix: str) -> None:
        self._prefix = part_prefix
        self._suffix = part_suffix

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Begin such a description: ``part`` and nothing."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Return what names begin with."""
        return self._prefix

    def get_part_suffix(self) -> str:
        """Return what names end with."""
        return self._suffix

    class OutputFileConfigBuilder:
        """Makes an `OutputFileConfig`."""

        def __init__(self) -> None:
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set what names begin with."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set what names end with."""
            self.part_suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            """Return the description."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)


class FileCompactStrategy:
    """When files are merged: here what a micro-batch writes is in one file from the start."""

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Begin a strategy."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Makes a `FileCompactStrategy`."""

        def __init__(self) -> None:
            self._checkpoints = -1
            self._size = -1

        def build(self) -> FileCompactStrategy:
            """Return the strategy.

            Raises
            ------
            ValueError
                If neither a number of checkpoints nor a size was set.
            """
            if self._checkpoints < 0 and self._size < 0:
                raise ValueError("At least one trigger condition must be configured.")
            return FileCompactStrategy()

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Have files merged after so many checkpoints.

            Raises
            ------
            ValueError
                If the number is not positive.
            """
            if num_checkpoints_before_compaction <= 0:
                raise ValueError("Number of checkpoints before compaction should be more than 0.")
            self._checkpoints = num_checkpoints_before_compaction
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Have files merged when they have so many bytes."""
            self._size = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Set how many threads merge files; nothing is merged afterwards here.

            Raises
            ------
            ValueError
                If the number is not positive.
            """
            if num_compact_threads <= 0:
                raise ValueError("Compact threads should be more than 0.")
            return self


class FileCompactor:
    """How files are merged: here what a micro-batch writes is in one file from the start."""

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Return the compactor that appends files to each other.

        Parameters
        ----------
        file_delimiter : bytes, optional
            What would stand between them.
        """
        return FileCompactor()

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Return the compactor that takes a single file as it is."""
        return FileCompactor()
