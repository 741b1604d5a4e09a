"""Data streams, under the names of ``pyflink.datastream``.

What is imported comes from the module that has it, so that an executor that needs the classes of
functions imports no more.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyflow.util.gone import missing

if TYPE_CHECKING:
    from pyflow.datastream.async_data_stream import AsyncDataStream as AsyncDataStream
    from pyflow.datastream.data_stream import DataStream as DataStream
    from pyflow.datastream.data_stream import KeyedStream as KeyedStream
    from pyflow.datastream.execution_mode import RuntimeExecutionMode as RuntimeExecutionMode
    from pyflow.datastream.output_tag import OutputTag as OutputTag
    from pyflow.datastream.stream_execution_environment import (
        StreamExecutionEnvironment as StreamExecutionEnvironment,
    )

_MODULES = {
    "stream_execution_environment": "StreamExecutionEnvironment",
    "data_stream": "DataStream KeyedStream WindowedStream AllWindowedStream ConnectedStreams "
    "BroadcastStream BroadcastConnectedStream DataStreamSink CloseableIterator CachedDataStream",
    "async_data_stream": "AsyncDataStream",
    "functions": "MapFunction CoMapFunction FlatMapFunction CoFlatMapFunction ReduceFunction "
    "FilterFunction ProcessFunction KeyedProcessFunction CoProcessFunction KeyedCoProcessFunction "
    "WindowFunction AllWindowFunction ProcessWindowFunction ProcessAllWindowFunction "
    "AggregateFunction BroadcastProcessFunction KeyedBroadcastProcessFunction AsyncFunction "
    "RuntimeContext KeySelector Partitioner SourceFunction SinkFunction AsyncRetryPredicate "
    "AsyncRetryStrategy",
    "timerservice": "TimerService",
    "checkpointing_mode": "CheckpointingMode",
    "checkpoint_config": "CheckpointConfig ExternalizedCheckpointCleanup",
    "externalized_checkpoint_retention": "ExternalizedCheckpointRetention",
    "state_backend": "StateBackend HashMapStateBackend EmbeddedRocksDBStateBackend "
    "CustomStateBackend PredefinedOptions",
    "checkpoint_storage": "CheckpointStorage JobManagerCheckpointStorage "
    "FileSystemCheckpointStorage CustomCheckpointStorage",
    "execution_mode": "RuntimeExecutionMode",
    "window": "Window TimeWindow CountWindow GlobalWindow WindowAssigner MergingWindowAssigner "
    "TriggerResult Trigger",
    "time_domain": "TimeDomain",
    "time_characteristic": "TimeCharacteristic",
    "slot_sharing_group": "SlotSharingGroup MemorySize",
    "output_tag": "OutputTag",
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = list(_NAMES)

# State backends of versions before 2.0 said where checkpoints are, too.
_WITH_DIRECTORY = ", and set execution.checkpointing.dir to where checkpoints are kept"
_GONE = {
    "MemoryStateBackend": f"HashMapStateBackend{_WITH_DIRECTORY}",
    "FsStateBackend": f"HashMapStateBackend{_WITH_DIRECTORY}",
    "RocksDBStateBackend": f"EmbeddedRocksDBStateBackend{_WITH_DIRECTORY}",
    "ExternalizedCheckpointCleanup": "ExternalizedCheckpointRetention",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise missing(__name__, name, _GONE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
