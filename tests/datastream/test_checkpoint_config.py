"""Settings of checkpoints and state as PyFlink's methods read and write them."""

from __future__ import annotations

import pytest

from pyflow.common import Configuration, Duration
from pyflow.datastream.checkpoint_config import CheckpointConfig, ExternalizedCheckpointCleanup
from pyflow.datastream.checkpoint_storage import (
    CustomCheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from pyflow.datastream.checkpointing_mode import CheckpointingMode
from pyflow.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from pyflow.datastream.state_backend import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    PredefinedOptions,
)
from pyflow.datastream.time_characteristic import TimeCharacteristic
from pyflow.util.exceptions import TableException

RETAIN = ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION
NONE = ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS


# Recorded from PyFlink 2.3.
@pytest.mark.parametrize(
    ("method", "value", "key", "written"),
    [
        ("checkpoint_interval", 60_000, "interval", "1 min"),
        ("checkpoint_timeout", 30_000, "timeout", "30 s"),
        ("min_pause_between_checkpoints", 500, "min-pause", "500 ms"),
        ("max_concurrent_checkpoints", 2, "max-concurrent-checkpoints", "2"),
        ("tolerable_checkpoint_failure_number", 2, "tolerable-failed-checkpoints", "2"),
        (
            "externalized_checkpoint_retention",
            RETAIN,
            "externalized-checkpoint-retention",
            "RETAIN_ON_CANCELLATION",
        ),
        (
            "aligned_checkpoint_timeout",
            Duration.of_seconds(3),
            "aligned-checkpoint-timeout",
            "3 s",
        ),
    ],
)
def test_settings_are_those_of_flink(method, value, key, written):
    configuration = Configuration()
    config = CheckpointConfig(configuration)

    assert getattr(config, f"set_{method}")(value) is config

    assert configuration.to_dict() == {f"execution.checkpointing.{key}": written}
    assert getattr(config, f"get_{method}")() == value


def test_defaults_are_those_of_flink():
    config = CheckpointConfig()

    assert not config.is_checkpointing_enabled()
    assert config.get_checkpoint_interval() == -1
    assert config.get_checkpoint_timeout() == 600_000
    assert config.get_min_pause_between_checkpoints() == 0
    assert config.get_max_concurrent_checkpoints() == 1
    assert config.is_fail_on_checkpointing_errors()
    assert config.get_externalized_checkpoint_retention() is NONE
    assert not config.is_externalized_checkpoints_enabled()
    assert config.get_alignment_timeout() == Duration(0)
    assert not config.is_force_unaligned_checkpoints()


def test_a_mode_is_exact_where_checkpoints_are_taken():
    config = CheckpointConfig()
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE

    config.set_checkpoint_interval(1000)

    assert config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE


def test_checkpoints_are_unaligned_in_exact_mode_alone():
    config = CheckpointConfig().set_checkpoint_interval(1000).enable_unaligned_checkpoints()
    assert config.is_unaligned_checkpoints_enabled()

    config.set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE)

    assert not config.is_unaligned_checkpoints_enabled()


@pytest.mark.parametrize(
    ("method", "value", "message"),
    [
        ("checkpoint_interval", 9, "interval must be larger than or equal to 10 ms"),
        ("checkpoint_timeout", 1, "timeout must be larger than or equal to 10 ms"),
        ("min_pause_between_checkpoints", -1, "must be zero or positive"),
        ("max_concurrent_checkpoints", 0, "must be at least one"),
        ("tolerable_checkpoint_failure_number", -1, "must be non-negative"),
    ],
)
def test_settings_out_of_range_are_refused(method, value, message):
    with pytest.raises(ValueError, match=message):
        getattr(CheckpointConfig(), f"set_{method}")(value)


@pytest.mark.parametrize("interval", ["5 ms", "abc"])
def test_an_interval_is_checked_where_it_is_read(interval):
    configuration = Configuration().set_string("execution.checkpointing.interval", interval)

    with pytest.raises(ValueError, match=r"interval must|abc"):
        CheckpointConfig(configuration).is_checkpointing_enabled()


def test_a_mode_is_read_in_any_case_and_checked():
    configuration = Configuration().set_string("execution.checkpointing.interval", "1 s")
    configuration.set_string("execution.checkpointing.mode", "at_least_once")
    config = CheckpointConfig(configuration)
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE

    configuration.set_string("execution.checkpointing.mode", "exactly-once")

    with pytest.raises(ValueError, match="Expected one of: EXACTLY_ONCE, AT_LEAST_ONCE"):
        config.get_checkpointing_mode()


def test_names_of_older_versions_set_the_same():
    config = CheckpointConfig()

    config.enable_externalized_checkpoints(ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION)
    config.set_checkpoint_storage_dir("file:///checkpoints")

    assert config.get_externalized_checkpoint_retention() is RETAIN
    assert config.get_checkpoint_storage().get_checkpoint_path() == "file:///checkpoints"
    assert [each.name for each in TimeCharacteristic] == [
        "ProcessingTime",
        "IngestionTime",
        "EventTime",
    ]


@pytest.mark.parametrize(
    "storage",
    [JobManagerCheckpointStorage(), FileSystemCheckpointStorage("file:///checkpoints/")],
)
def test_a_storage_is_read_from_its_settings(storage):
    found = CheckpointConfig().set_checkpoint_storage(storage).get_checkpoint_storage()

    assert type(found) is type(storage)
    assert found.settings() == storage.settings()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FileSystemCheckpointStorage(), "must not be None"),
        (lambda: FileSystemCheckpointStorage("/checkpoints"), "scheme .* is null"),
        (lambda: FileSystemCheckpointStorage("file:///"), "the root directory"),
        (lambda: FileSystemCheckpointStorage("file:///a", 2 << 20), "threshold for file state"),
        (lambda: JobManagerCheckpointStorage(None, -1), "maxStateSize must be > 0"),
    ],
)
def test_storage_that_cannot_be_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_sizes_of_files_of_checkpoints_have_flink_s_defaults():
    storage = FileSystemCheckpointStorage("file:///a")

    assert storage.get_min_file_size_threshold() == 20480
    assert storage.get_write_buffer_size() == 4096
    assert JobManagerCheckpointStorage().get_max_state_size() == 5 << 20


def test_a_state_backend_tells_its_settings():
    rocksdb = EmbeddedRocksDBStateBackend(True)
    rocksdb.set_db_storage_paths("/tmp/a", "file:///tmp/b")
    rocksdb.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)

    assert HashMapStateBackend().settings() == {"state.backend.type": "hashmap"}
    assert rocksdb.settings() == {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.incremental": "true",
        "state.backend.rocksdb.localdir": "/tmp/a,file:///tmp/b",
        "state.backend.rocksdb.predefined-options": "FLASH_SSD_OPTIMIZED",
    }
    assert rocksdb.get_number_of_transfer_threads() == 4


@pytest.mark.parametrize("path", ["relative", "hdfs://host/path"])
def test_rocksdb_needs_local_directories(path):
    with pytest.raises(ValueError, match=r"Relative|non-local"):
        EmbeddedRocksDBStateBackend().set_db_storage_paths(path)


@pytest.mark.parametrize(
    "call",
    [
        lambda: CustomStateBackend("org.example.Backend"),
        lambda: CustomCheckpointStorage("org.example.Storage"),
        lambda: EmbeddedRocksDBStateBackend().set_options("org.example.Options"),
    ],
)
def test_java_classes_are_refused(call):
    with pytest.raises(TableException, match=r"is not supported: .*Java class of Flink"):
        call()
