"""What the Table API and the DataStream API share, under the names of ``pyflink.common``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyflow.util.gone import missing

if TYPE_CHECKING:
    from pyflow.common.completable_future import CompletableFuture as CompletableFuture
    from pyflow.common.config_options import ConfigOption as ConfigOption
    from pyflow.common.config_options import ConfigOptions as ConfigOptions
    from pyflow.common.configuration import Configuration as Configuration
    from pyflow.common.execution_config import ExecutionConfig as ExecutionConfig
    from pyflow.common.input_dependency_constraint import (
        InputDependencyConstraint as InputDependencyConstraint,
    )
    from pyflow.common.job_client import JobClient as JobClient
    from pyflow.common.job_execution_result import JobExecutionResult as JobExecutionResult
    from pyflow.common.job_id import JobID as JobID
    from pyflow.common.job_status import JobStatus as JobStatus
    from pyflow.common.restart_strategy import RestartStrategies as RestartStrategies
    from pyflow.common.restart_strategy import (
        RestartStrategyConfiguration as RestartStrategyConfiguration,
    )
    from pyflow.common.serialization import ByteArraySchema as ByteArraySchema
    from pyflow.common.serialization import DeserializationSchema as DeserializationSchema
    from pyflow.common.serialization import Encoder as Encoder
    from pyflow.common.serialization import SerializationSchema as SerializationSchema
    from pyflow.common.serialization import SimpleStringSchema as SimpleStringSchema
    from pyflow.common.serializer import TypeSerializer as TypeSerializer
    from pyflow.common.time import Duration as Duration
    from pyflow.common.time import Instant as Instant
    from pyflow.common.time import Time as Time
    from pyflow.common.typeinfo import TypeInformation as TypeInformation
    from pyflow.common.typeinfo import Types as Types
    from pyflow.common.types import Row as Row
    from pyflow.common.types import RowKind as RowKind
    from pyflow.common.watermark_strategy import (
        AssignerWithPeriodicWatermarksWrapper as AssignerWithPeriodicWatermarksWrapper,
    )
    from pyflow.common.watermark_strategy import WatermarkStrategy as WatermarkStrategy

_MODULES = {
    "Configuration": "configuration",
    "ConfigOption": "config_options",
    "ConfigOptions": "config_options",
    "ExecutionConfig": "execution_config",
    "TypeInformation": "typeinfo",
    "TypeSerializer": "serializer",
    "Types": "typeinfo",
    "SerializationSchema": "serialization",
    "DeserializationSchema": "serialization",
    "SimpleStringSchema": "serialization",
    "ByteArraySchema": "serialization",
    "Encoder": "serialization",
    "CompletableFuture": "completable_future",
    "InputDependencyConstraint": "input_dependency_constraint",
    "JobClient": "job_client",
    "JobExecutionResult": "job_execution_result",
    "JobID": "job_id",
    "JobStatus": "job_status",
    "RestartStrategies": "restart_strategy",
    "RestartStrategyConfiguration": "restart_strategy",
    "Row": "types",
    "RowKind": "types",
    "WatermarkStrategy": "watermark_strategy",
    "Duration": "time",
    "Instant": "time",
    "Time": "time",
    "AssignerWithPeriodicWatermarksWrapper": "watermark_strategy",
}

__all__ = list(_MODULES)

# What programs for versions before 1.16 import from here.
_MODULES.update(
    (f"{name}Row{kind}Schema", "serialization")
    for name in ("Avro", "Csv", "Json")
    for kind in ("Serialization", "Deserialization")
)

_GONE = {
    "SimpleStringEncoder": "Encoder.simple_string_encoder()",
    "CheckpointingMode": "pyflow.datastream.CheckpointingMode",
    "ExternalizedCheckpointCleanup": "pyflow.datastream.ExternalizedCheckpointRetention",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise missing(__name__, name, _GONE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
