"""How a program is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyflow.common.configuration import Configuration, map_of, map_text
from pyflow.common.time import Duration

__all__ = ["ExecutionConfig"]

_PARAMETERS = "pipeline.global-job-parameters"


class ExecutionConfig:
    """How a program is run: a face of settings of Flink's names.

    Settings of the JVM's serializers (Kryo, Avro, generic types), of object reuse and of closures
    are kept and read back, and have no effect: rows travel in Spark's form.

    Parameters
    ----------
    configuration : Configuration, optional
        The settings to read and write; new ones if there are none.
    """

    PARALLELISM_DEFAULT = -1
    PARALLELISM_UNKNOWN = -2

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._configuration = Configuration() if configuration is None else configuration

    def _switch(self, key: str, value: bool) -> ExecutionConfig:
        self._configuration.set_boolean(key, value)
        return self

    def _number(self, key: str, value: int, least: int) -> ExecutionConfig:
        if value < least:
            raise ValueError(f"{key} must be at least {least}, not {value}")
        self._configuration.set_integer(key, value)
        return self

    def _millis(self, key: str, default: int) -> int:
        text = self._configuration.get_string(key, None)
        return default if text is None else Duration.parse(text).to_millis()

    def enable_closure_cleaner(self) -> ExecutionConfig:
        """Switch the cleaner of closures of the JVM on. It has no effect."""
        self._configuration.set_string("pipeline.closure-cleaner-level", "RECURSIVE")
        return self

    def disable_closure_cleaner(self) -> ExecutionConfig:
        """Switch the cleaner of closures of the JVM off. It has no effect."""
        self._configuration.set_string("pipeline.closure-cleaner-level", "NONE")
        return self

    def is_closure_cleaner_enabled(self) -> bool:
        """Return whether the cleaner of closures is on."""
        return self._configuration.get_string("pipeline.closure-cleaner-level", "") != "NONE"

    def set_auto_watermark_interval(self, interval: int) -> ExecutionConfig:
        """Set the milliseconds between watermarks; 0 for none."""
        if interval < 0:
            raise ValueError(f"the interval of watermarks must not be negative, but is {interval}")
        self._configuration.set_string("pipeline.auto-watermark-interval", f"{interval} ms")
        return self

    def get_auto_watermark_interval(self) -> int:
        """Return the milliseconds between watermarks."""
        return self._millis("pipeline.auto-watermark-interval", 200)

    def set_latency_tracking_interval(self, interval: int) -> ExecutionConfig:
        """Set the milliseconds between marks that measure latency. It has no effect."""
        self._configuration.set_string("metrics.latency.interval", f"{max(interval, 0)} ms")
        return self

    def get_latency_tracking_interval(self) -> int:
        """Return the milliseconds between marks that measure latency; 0 for none."""
        return self._millis("metrics.latency.interval", 0)

    def get_parallelism(self) -> int:
        """Return how many tasks share an operation's work; -1 for the session's default."""
        return self._configuration.get_integer("parallelism.default", self.PARALLELISM_DEFAULT)

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """Set how many tasks share an operation's work; -1 for the session's default.

        Raises
        ------
        ValueError
            If the number is neither positive nor one of the constants.
        """
        if parallelism == self.PARALLELISM_UNKNOWN:
            return self
        if parallelism < 1 and parallelism != self.PARALLELISM_DEFAULT:
            raise ValueError(f"the parallelism must be at least 1, or -1, not {parallelism}")
        self._configuration.set_integer("parallelism.default", parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of groups of keys of state; -1 for the default."""
        return self._configuration.get_integer("pipeline.max-parallelism", -1)

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Set the number of groups of keys of state."""
        return self._number("pipeline.max-parallelism", max_parallelism, 1)

    def get_task_cancellation_interval(self) -> int:
        """Return the milliseconds between attempts to cancel a task."""
        return self._millis("task.cancellation.interval", 30_000)

    def set_task_cancellation_interval(self, interval: int) -> ExecutionConfig:
        """Set the milliseconds between attempts to cancel a task."""
        return self._number("task.cancellation.interval", interval, 0)

    def get_task_cancellation_timeout(self) -> int:
        """Return the milliseconds after which a task that cannot be cancelled ends its process."""
        return self._millis("task.cancellation.timeout", 180_000)

    def set_task_cancellation_timeout(self, timeout: int) -> ExecutionConfig:
        """Set the milliseconds after which a task that cannot be cancelled ends its process."""
        return self._number("task.cancellation.timeout", timeout, 0)

    def enable_force_kryo(self) -> ExecutionConfig:
        """Switch the serializer Kryo on. It has no effect."""
        return self._switch("pipeline.force-kryo", True)

    def disable_force_kryo(self) -> ExecutionConfig:
        """Switch the serializer Kryo off. It has no effect."""
        return self._switch("pipeline.force-kryo", False)

    def is_force_kryo_enabled(self) -> bool:
        """Return whether the serializer Kryo is on."""
        return self._configuration.get_boolean("pipeline.force-kryo", False)

    def enable_generic_types(self) -> ExecutionConfig:
        """Allow generic types. It has no effect."""
        return self._switch("pipeline.generic-types", True)

    def disable_generic_types(self) -> ExecutionConfig:
        """Forbid generic types. It has no effect."""
        return self._switch("pipeline.generic-types", False)

    def has_generic_types_disabled(self) -> bool:
        """Return whether generic types are forbidden."""
        return not self._configuration.get_boolean("pipeline.generic-types", True)

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        """Let operators without an identifier have one made."""
        return self._switch("pipeline.auto-generate-uids", True)

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Require an identifier of every operator."""
        return self._switch("pipeline.auto-generate-uids", False)

    def has_auto_generated_uids_enabled(self) -> bool:
        """Return whether operators without an identifier have one made."""
        return self._configuration.get_boolean("pipeline.auto-generate-uids", True)

    def enable_force_avro(self) -> ExecutionConfig:
        """Switch the serializer Avro on. It has no effect."""
        return self._switch("pipeline.force-avro", True)

    def disable_force_avro(self) -> ExecutionConfig:
        """Switch the serializer Avro off. It has no effect."""
        return self._switch("pipeline.force-avro", False)

    def is_force_avro_enabled(self) -> bool:
        """Return whether the serializer Avro is on."""
        return self._configuration.get_boolean("pipeline.force-avro", False)

    def enable_object_reuse(self) -> ExecutionConfig:
        """Allow the JVM to reuse objects. It has no effect."""
        return self._switch("pipeline.object-reuse", True)

    def disable_object_reuse(self) -> ExecutionConfig:
        """Forbid the JVM to reuse objects. It has no effect."""
        return self._switch("pipeline.object-reuse", False)

    def is_object_reuse_enabled(self) -> bool:
        """Return whether the JVM may reuse objects."""
        return self._configuration.get_boolean("pipeline.object-reuse", False)

    def get_global_job_parameters(self) -> dict[str, str]:
        """Return the parameters that functions read from their context."""
        return map_of(str(self._configuration.get_string(_PARAMETERS, "")))

    def set_global_job_parameters(
        self, global_job_parameters_dict: Mapping[str, Any]
    ) -> ExecutionConfig:
        """Set the parameters that functions read from their context, as texts."""
        self._configuration.set_string(_PARAMETERS, map_text(global_job_parameters_dict))
        return self

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        """Return the classes with a serializer of Kryo: none."""
        return {}

    def get_registered_kryo_types(self) -> list[str]:
        """Return the classes known to Kryo: none."""
        return []

    def get_registered_pojo_types(self) -> list[str]:
        """Return the Java classes known as plain objects: none."""
        return []

    def is_use_snapshot_compression(self) -> bool:
        """Return whether snapshots of state are to be compressed."""
        return self._configuration.get_boolean(
            "execution.checkpointing.snapshot-compression", False
        )

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Say whether snapshots of state are to be compressed. Spark's always are."""
        return self._switch(
            "execution.checkpointing.snapshot-compression", use_snapshot_compression
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExecutionConfig) and self._configuration == other._configuration

    def __hash__(self) -> int:
        return hash(self._configuration)
