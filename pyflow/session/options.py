"""What becomes of Flink's settings: one table, from which docs and checks are made.

A setting becomes one of Spark's or PyFlow's, is read here, or is accepted because Spark has
nothing that it could change. One whose value would change results, and cannot, is refused.
Keys that begin with ``spark.`` are Spark's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyflow.common.configuration import Configuration, map_of
from pyflow.common.time import Duration
from pyflow.util.exceptions import TableException
from pyflow.util.yaml_lists import list_of

Parser = Callable[[str], Any]

_OFFSET = re.compile(r"Z|(UTC|GMT|UT)?[+-]\d{1,2}(:?\d{2}){0,2}|UTC|GMT|UT")


class Effect(Enum):
    """What becomes of a setting."""

    SESSION = "sets, for the session,"
    START = "sets, when the session is started,"
    FILES = "adds to the session"
    READ = "read here"
    SUBMIT = "read by `pyflow run`"
    DEFAULT = "accepted with its default alone"
    NONE = "accepted without effect"
    REFUSED = "refused"


@dataclass(frozen=True)
class Setting:
    """A setting of Flink.

    Parameters
    ----------
    key : str
        Its name. Ending with ``.*`` it stands for all that begin with it.
    effect : Effect
        What becomes of it.
    meaning : str
        What it says here, or why it says nothing.
    parse : callable
        Returns the value of a text, or raises ValueError.
    default : str, optional
        Its value where none is set.
    spark : tuple of str
        The settings of Spark or PyFlow that it becomes.
    convert : callable
        Returns the text of those of the value; None to leave them as they are.
    """

    key: str
    effect: Effect
    meaning: str
    parse: Parser = str
    default: str | None = None
    spark: tuple[str, ...] = ()
    convert: Callable[[Any], str | None] = str


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("it must be true or false")
    return text.lower() == "true"


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("it must be a whole number") from None


def _positive(text: str) -> int:
    number = _integer(text)
    if number <= 0:
        raise ValueError("it must be a positive whole number")
    return number


def _one_of(*names: str) -> Parser:
    def parse(text: str) -> str:
        known = {name.upper(): name for name in names}
        if text.upper() not in known:
            raise ValueError(f"it must be one of {', '.join(names)}")
        return known[text.upper()]

    return parse


def _zone(text: str) -> str:
    if text != "default" and not _OFFSET.fullmatch(text):
        try:
            ZoneInfo(text)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("a zone is named as 'Europe/Berlin' or 'GMT-08:00'") from None
    return text


def _listing(text: str) -> list[str]:
    found = list_of(text)
    if found is not None:
        return [str(element) for element in found]
    return [part for part in text.split(";" if ";" in text else ",") if part]


def _millis(value: Duration) -> str:
    return f"{value.to_millis()}ms"


def _unless_default(value: str) -> str | None:
    return None if value == "default" else value


def _if_positive(value: int) -> str | None:
    return str(value) if value > 0 else None


_TO_SPARK = (
    Setting(
        "python.execution-mode",
        Effect.SESSION,
        "where functions run; also `auto`",
        _one_of("process", "thread", "auto"),
        spark=("spark.pyflow.execution-mode",),
    ),
    Setting(
        "python.fn-execution.bundle.size",
        Effect.SESSION,
        "the most rows that are passed to Python in one call",
        _positive,
        spark=("spark.pyflow.bundle.size",),
    ),
    Setting(
        "python.fn-execution.bundle.time",
        Effect.SESSION,
        "the time in which a bundle is gathered and evaluated, milliseconds without a unit",
        Duration.parse,
        spark=("spark.pyflow.bundle.time",),
        convert=_millis,
    ),
    Setting(
        "python.fn-execution.arrow.batch.size",
        Effect.SESSION,
        "the most rows of a batch that pandas functions get",
        _positive,
        spark=("spark.sql.execution.arrow.maxRecordsPerBatch",),
    ),
    Setting(
        "python.profile.enabled",
        Effect.SESSION,
        "`true` measures the time of functions with Spark's profiler, which `spark.profile` shows",
        _boolean,
        spark=("spark.sql.pyspark.udf.profiler",),
        convert=lambda enabled: "perf" if enabled else None,
    ),
    Setting(
        "table.local-time-zone",
        Effect.SESSION,
        "the time zone of `TIMESTAMP_LTZ`; `default` leaves the session's",
        _zone,
        spark=("spark.sql.session.timeZone",),
        convert=_unless_default,
    ),
    Setting(
        "parallelism.default",
        Effect.SESSION,
        "the number of tasks after a shuffle; -1 leaves the session's",
        _integer,
        spark=("spark.sql.shuffle.partitions",),
        convert=_if_positive,
    ),
    Setting(
        "table.exec.resource.default-parallelism",
        Effect.SESSION,
        "as `parallelism.default`; the one set later holds",
        _integer,
        spark=("spark.sql.shuffle.partitions",),
        convert=_if_positive,
    ),
    Setting(
        "table.optimizer.join.broadcast-threshold",
        Effect.SESSION,
        "the bytes up to which a table is broadcast for a join; -1 for none",
        _integer,
        spark=("spark.sql.autoBroadcastJoinThreshold",),
    ),
    Setting(
        "execution.checkpointing.num-retained",
        Effect.SESSION,
        "how many batches a query can go back",
        _positive,
        spark=("spark.sql.streaming.minBatchesToRetain",),
    ),
    Setting(
        "state.checkpoints.num-retained",
        Effect.SESSION,
        "as `execution.checkpointing.num-retained`",
        _positive,
        spark=("spark.sql.streaming.minBatchesToRetain",),
    ),
    Setting(
        "python.executable",
        Effect.START,
        "the Python whose environment functions run in",
        spark=("spark.pyspark.python",),
    ),
    Setting(
        "python.pythonpath",
        Effect.START,
        "directories on the executors where functions find modules, separated by colons",
        spark=("spark.executorEnv.PYTHONPATH",),
    ),
    Setting(
        "execution.batch.speculative.enabled",
        Effect.START,
        "whether slow tasks are begun a second time",
        _boolean,
        spark=("spark.speculation",),
        convert=lambda enabled: str(enabled).lower(),
    ),
    Setting("python.files", Effect.FILES, "modules, zip files and directories", _listing),
    Setting("python.archives", Effect.FILES, "archives, each with `#` and a name", _listing),
    Setting("pipeline.jars", Effect.FILES, "jars, separated by `;`", _listing),
    Setting("pipeline.classpaths", Effect.FILES, "jars, separated by `;`", _listing),
)

# Settings whose values are read or checked.
_TYPED = (
    Setting(
        "execution.runtime-mode",
        Effect.READ,
        "whether results are computed once or as input comes",
        _one_of("STREAMING", "BATCH"),
        "STREAMING",
    ),
    Setting(
        "table.builtin-catalog-name",
        Effect.READ,
        "the first catalog",
        default="default_catalog",
    ),
    Setting(
        "table.builtin-database-name",
        Effect.READ,
        "the first database",
        default="default_database",
    ),
    Setting(
        "python.client.executable",
        Effect.SUBMIT,
        "the Python of the program; one that runs already has its own",
    ),
    Setting(
        "python.metric.enabled",
        Effect.READ,
        "whether functions have metrics",
        _boolean,
        "true",
    ),
    Setting(
        "python.debug.loopback",
        Effect.READ,
        "whether functions run in the program's own Python process, with a local master",
        _boolean,
        "false",
    ),
    Setting(
        "pipeline.global-job-parameters",
        Effect.READ,
        "parameters that functions read from their context, as `name:value,name:value`",
        map_of,
    ),
    Setting(
        "table.exec.async-scalar.max-concurrent-operations",
        Effect.READ,
        "how many calls of an asynchronous function run at once",
        _positive,
        "10",
    ),
    Setting(
        "table.exec.async-scalar.timeout",
        Effect.READ,
        "how long such a call may take, with all attempts",
        Duration.parse,
        "3 min",
    ),
    Setting(
        "table.exec.async-scalar.retry-strategy",
        Effect.READ,
        "whether such a call is repeated when it fails",
        _one_of("NO_RETRY", "FIXED_DELAY"),
        "FIXED_DELAY",
    ),
    Setting(
        "table.exec.async-scalar.retry-delay",
        Effect.READ,
        "how long to wait before that",
        Duration.parse,
        "100 ms",
    ),
    Setting(
        "table.exec.async-scalar.max-attempts",
        Effect.READ,
        "how often such a call is tried",
        _positive,
        "3",
    ),
    Setting(
        "table.exec.state.ttl",
        Effect.READ,
        "how long the state of a query over unbounded tables is kept without being used",
        Duration.parse,
        "0 ms",
    ),
    Setting(
        "table.exec.sink.upsert-materialize",
        Effect.READ,
        "whether rows that meet under a sink's key are kept, so that one that is retracted gives "
        "way to the one before: where it is needed, never, or always over unbounded tables",
        _one_of("AUTO", "NONE", "FORCE"),
        "AUTO",
    ),
    Setting(
        "table.exec.mini-batch.enabled",
        Effect.READ,
        "whether unbounded rows wait for more as long as `table.exec.mini-batch.allow-latency`, "
        "and a key's changes are emitted once per batch",
        _boolean,
        "false",
    ),
    Setting(
        "table.exec.mini-batch.allow-latency",
        Effect.READ,
        "the time between two batches of unbounded rows, where mini-batches are enabled",
        Duration.parse,
        "0 ms",
    ),
    Setting(
        "table.exec.source.idle-timeout",
        Effect.READ,
        "after which time without rows an unbounded table with a watermark holds those of others "
        "back no more, until it has rows again; 0 for never. A query that goes on from a checkpoint "
        "needs a time-out where it had one, and none where it had none",
        Duration.parse,
        "0 ms",
    ),
    Setting(
        "execution.checkpointing.dir",
        Effect.READ,
        "where queries over unbounded tables keep, by the job's name, what they go on from",
    ),
    Setting(
        "state.checkpoints.dir",
        Effect.READ,
        "as `execution.checkpointing.dir`",
    ),
    Setting(
        "execution.checkpointing.interval",
        Effect.READ,
        "the time between two batches that a stream writes into files; others write progress with "
        "every batch. In real-time mode, how long a batch lasts: 5 minutes, if it is not set",
        Duration.parse,
    ),
    Setting(
        "pyflow.datastream.real-time",
        Effect.READ,
        "whether unbounded data streams run in Spark's real-time mode, record by record",
        _boolean,
        "false",
    ),
    Setting(
        "pipeline.name",
        Effect.READ,
        "the name of the job that is started next: its query, and its directory of checkpoints",
    ),
    Setting(
        "table.display.max-column-width",
        Effect.READ,
        "the width in which `print` shows texts in streaming mode",
        _positive,
        "30",
    ),
)

# Flink's default is what holds here, and the other values are not supported.
_DEFAULT = {
    "python.systemenv.enabled": (
        "true",
        "functions see the environment of their executor; `spark.executorEnv.*` changes it",
    ),
    "table.sql-dialect": ("default", "Hive's dialect is not read"),
    "table.dml-sync": ("false", "an INSERT runs in the background; `wait()` waits for it"),
    "table.exec.legacy-cast-behaviour": ("DISABLED", "a cast that fails is an error"),
    "table.exec.sink.not-null-enforcer": ("ERROR", "no row is dropped"),
    "table.exec.sink.type-length-enforcer": ("IGNORE", "texts and bytes are not cut to length"),
    "table.exec.source.cdc-events-duplicate": ("false", "changes are taken as they come"),
    "table.exec.sort.default-limit": ("-1", "ORDER BY returns all rows; use fetch()"),
    "table.exec.async-lookup.output-mode": ("ORDERED", "rows keep their order"),
    "table.exec.async-scalar.output-mode": ("ORDERED", "rows keep their order"),
    "table.column-expansion-strategy": ("", "`*` stands for all columns"),
    "table.legacy-nested-row-nullability": ("false", "fields keep what they say of None"),
    "table.plan.force-recompile": ("false", "there are no compiled plans"),
    "table.optimizer.nondeterministic-update.strategy": ("IGNORE", "plans are not checked for it"),
}

_MEMORY = "Spark shares its memory between operators itself"
_SPILLING = "Spark spills as it needs to"
_OPTIMIZER = "Spark's optimizer plans queries"
_CHECKPOINTS = "Spark writes state and progress with every batch"
_JVM_OBJECTS = "rows travel in Spark's form"
_RESTART = "Spark repeats tasks `spark.task.maxFailures` times"
_STATE = "state is kept in Spark's state store"
_PROCESSES = "it is of Flink's processes; `spark.*` are those of Spark's"
_CODE = "Spark generates its own code"
_CHAINING = "Spark joins operators between shuffles"
_WATERMARKS = "Spark moves watermarks with every batch"

_NONE = {
    "python.fn-execution.memory.managed": "`spark.executor.pyspark.memory` limits workers",
    "python.fn-execution.buffer.memory.size": "Flink has it no more",
    "python.fn-execution.framework.memory.size": "Flink has it no more",
    "python.operator-chaining.enabled": "functions that follow each other run in one pass",
    "python.internal.*": "it is PyFlink's own",
    "python.job-options": "it is PyFlink's own",
    "python.loopback-server.address": "it is PyFlink's own",
    "python.state.cache-size": _STATE,
    "python.map-state.read-cache-size": _STATE,
    "python.map-state.write-cache-size": _STATE,
    "python.map-state.iterate-response-batch-size": _STATE,
    "python.logging.default.level": "loggers keep the levels that functions give them in `open`",
    "python.logging.level.overrides": "loggers keep the levels that functions give them in `open`",
    "table.generated-code.max-length": _CODE,
    "table.generated-code.max-members": _CODE,
    "table.exec.operator-fusion-codegen.enabled": _CODE,
    "table.dynamic-table-options.enabled": "hints in SQL are read where they stand",
    "table.plan.compile.catalog-objects": "there are no compiled plans",
    "table.plan.restore.catalog-objects": "there are no compiled plans",
    "table.resources.download-dir": "Spark keeps files itself",
    "table.exec.mini-batch.size": "a batch is Spark's",
    "table.exec.sink.keyed-shuffle": "rows of a key reach a sink in order",
    "table.exec.sink.rowtime-inserter": "sinks take time columns as they are",
    "table.exec.sink.nested-constraint-enforcer": "rows inside are written as they are",
    "table.exec.sort.max-num-file-handles": _SPILLING,
    "table.exec.sort.async-merge-enabled": _SPILLING,
    "table.exec.spill-compression.enabled": _SPILLING,
    "table.exec.spill-compression.block-size": _SPILLING,
    "table.exec.resource.external-buffer-memory": _MEMORY,
    "table.exec.resource.hash-agg.memory": _MEMORY,
    "table.exec.resource.hash-join.memory": _MEMORY,
    "table.exec.resource.sort.memory": _MEMORY,
    "table.exec.window-agg.buffer-size-limit": _MEMORY,
    "table.exec.async-lookup.buffer-capacity": "rows are looked up one after the other",
    "table.exec.async-lookup.timeout": "rows are looked up one after the other",
    "table.exec.async-lookup.key-ordered-enabled": "rows are looked up one after the other",
    "table.exec.async-state.enabled": _STATE,
    "table.exec.async-ml-predict.*": "models are not run",
    "table.exec.async-table.*": "PyFlink has no asynchronous table functions",
    "table.exec.async-vector-search.*": "vectors are not searched",
    "table.exec.delta-join.*": _OPTIMIZER,
    "table.exec.sink.require-on-conflict": "updates are applied by the sink's key",
    "table.exec.sink.upsert-materialize-strategy.*": "updates are applied by the sink's key",
    "table.exec.unbounded-over.version": _OPTIMIZER,
    "table.exec.disabled-operators": _OPTIMIZER,
    "table.exec.rank.topn-cache-size": _STATE,
    "table.exec.interval-join.min-cleanup-interval": _STATE,
    "table.exec.simplify-operator-name-enabled": "operators have Spark's names",
    "table.exec.uid.generation": "operators have no identifiers",
    "table.exec.uid.format": "operators have no identifiers",
    "table.exec.legacy-transformation-uids": "operators have no identifiers",
    "table.exec.local-hash-agg.adaptive.enabled": _OPTIMIZER,
    "table.exec.local-hash-agg.adaptive.sampling-threshold": _OPTIMIZER,
    "table.exec.local-hash-agg.adaptive.distinct-value-rate-threshold": _OPTIMIZER,
    "table.exec.deduplicate.insert-update-after-sensitive-enabled": "both kinds are told apart",
    "table.exec.deduplicate.mini-batch.compact-changes-enabled": "a batch is Spark's",
    "table.optimizer.*": _OPTIMIZER,
    "execution.checkpointing.interval-during-backlog": _CHECKPOINTS,
    "execution.checkpointing.mode": _CHECKPOINTS,
    "execution.checkpointing.timeout": _CHECKPOINTS,
    "execution.checkpointing.min-pause": _CHECKPOINTS,
    "execution.checkpointing.max-concurrent-checkpoints": _CHECKPOINTS,
    "execution.checkpointing.tolerable-failed-checkpoints": _CHECKPOINTS,
    "execution.checkpointing.externalized-checkpoint-retention": _CHECKPOINTS,
    "execution.checkpointing.checkpoints-after-tasks-finish": _CHECKPOINTS,
    "execution.checkpointing.incremental": _CHECKPOINTS,
    "execution.checkpointing.savepoint-dir": _CHECKPOINTS,
    "execution.checkpointing.storage": _CHECKPOINTS,
    "execution.checkpointing.snapshot-compression": "Spark compresses state always",
    "execution.checkpointing.unaligned.*": _CHECKPOINTS,
    "execution.checkpointing.aligned-checkpoint-timeout": _CHECKPOINTS,
    "execution.checkpointing.cleaner.*": _CHECKPOINTS,
    "execution.checkpointing.create-subdir": _CHECKPOINTS,
    "execution.checkpointing.data-inline-threshold": _CHECKPOINTS,
    "execution.checkpointing.during-recovery.enabled": _CHECKPOINTS,
    "execution.checkpointing.file-merging.*": _CHECKPOINTS,
    "execution.checkpointing.local-backup.*": _CHECKPOINTS,
    "execution.checkpointing.write-buffer-size": _CHECKPOINTS,
    "execution.async-state.*": _STATE,
    "execution.batch-state-backend.enabled": _STATE,
    "execution.sort-keyed-partition.memory": _SPILLING,
    "execution.sort-partition.memory": _SPILLING,
    "execution.sorted-inputs.*": _SPILLING,
    "execution.buffer-timeout.*": "Spark passes rows on by batches",
    "execution.batch-shuffle-mode": "Spark writes shuffles to files",
    "execution.batch.adaptive.*": _OPTIMIZER,
    "execution.batch.speculative.*": "`spark.speculation.*` says when",
    "execution.attached": "the program is the driver",
    "execution.shutdown-on-attached-exit": "the program is the driver",
    "execution.target": "`spark.master` says where",
    "pipeline.auto-watermark-interval": _WATERMARKS,
    "pipeline.auto-generate-uids": "operators have no identifiers",
    "pipeline.closure-cleaner-level": _JVM_OBJECTS,
    "pipeline.object-reuse": _JVM_OBJECTS,
    "pipeline.generic-types": _JVM_OBJECTS,
    "pipeline.force-avro": _JVM_OBJECTS,
    "pipeline.force-kryo": _JVM_OBJECTS,
    "pipeline.force-kryo-avro": _JVM_OBJECTS,
    "pipeline.serialization-config": _JVM_OBJECTS,
    "pipeline.max-parallelism": "state has as many parts as there are tasks after a shuffle",
    "pipeline.operator-chaining.*": _CHAINING,
    "pipeline.sources.pause-until-first-checkpoint": _CHECKPOINTS,
    "pipeline.vertex-description-mode": "operators have Spark's names",
    "pipeline.vertex-name-include-index-prefix": "operators have Spark's names",
    "pipeline.watermark-alignment.*": _WATERMARKS,
    "state.backend": _STATE,
    "state.backend.*": _STATE,
    "state.checkpoint-storage": _CHECKPOINTS,
    "state.savepoints.dir": _CHECKPOINTS,
    "restart-strategy": _RESTART,
    "restart-strategy.*": _RESTART,
    "task.cancellation.*": "Spark ends tasks itself",
    "metrics.*": "metrics are Spark's",
    **{
        f"{prefix}.*": _PROCESSES
        for prefix in (
            "blob",
            "classloader",
            "client",
            "cluster",
            "env",
            "fs",
            "heartbeat",
            "high-availability",
            "historyserver",
            "io",
            "jobmanager",
            "jobstore",
            "kubernetes",
            "pekko",
            "plugin",
            "rest",
            "security",
            "slot",
            "sql-client",
            "sql-gateway",
            "taskmanager",
            "web",
            "yarn",
        )
    },
}

_REFUSED = {
    "python.requirements": (
        "packages are not installed while a job runs. `pyflow run -pyreq` installs them where "
        "functions run on the machine of the program; elsewhere use `python.archives` and "
        "`python.executable`"
    ),
    "execution.state-recovery.*": "there are no savepoints; a query goes on from its checkpoint",
    "execution.savepoint.*": "there are no savepoints; a query goes on from its checkpoint",
    "pipeline.cached-files": "give files to `SparkSession.addArtifacts`",
    "pipeline.jobvertex-parallelism-overrides": "tasks after all shuffles are equally many",
    "table.catalog-store.*": "catalogs are Spark's and are not kept by the Table API",
    "table.catalog-modification.listeners": "they are Java classes of Flink",
    "table.rtas-ctas.atomicity-enabled": "Spark creates tables step by step",
}

SETTINGS: dict[str, Setting] = {
    setting.key: setting
    for setting in (
        *_TO_SPARK,
        *_TYPED,
        *(
            Setting(key, Effect.DEFAULT, meaning, default=default)
            for key, (default, meaning) in _DEFAULT.items()
        ),
        *(Setting(key, Effect.NONE, meaning) for key, meaning in _NONE.items()),
        *(Setting(key, Effect.REFUSED, meaning) for key, meaning in _REFUSED.items()),
    )
}


def find(key: str) -> Setting:
    """Return what becomes of the setting of this name.

    Raises
    ------
    TableException
        If there is none; the message has names like it.
    """
    if key in SETTINGS:
        return SETTINGS[key]
    for prefix in _prefixes(key):
        if prefix in SETTINGS:
            return SETTINGS[prefix]
    if key.startswith("spark."):
        return Setting(key, Effect.SESSION, "Spark's own", spark=(key,))
    near = get_close_matches(key, SETTINGS, n=3, cutoff=0.7)
    hint = f" Near names: {', '.join(near)}." if near else ""
    raise TableException(f"there is no setting {key!r}.{hint}")


def _prefixes(key: str) -> Iterator[str]:
    parts = key.split(".")
    for length in range(len(parts) - 1, 0, -1):
        yield ".".join([*parts[:length], "*"])


def check(key: str, value: str) -> Setting:
    """Return what becomes of a setting, if it can be given this value.

    Raises
    ------
    TableException
        If there is no such setting, it cannot have the value, or it is refused.
    """
    setting = find(key)
    if setting.effect is Effect.REFUSED:
        raise TableException(f"the setting {key!r} is not supported: {setting.meaning}")
    if setting.effect is Effect.DEFAULT and value.lower() != str(setting.default).lower():
        raise TableException(
            f"the setting {key!r} cannot be {value!r}, only {setting.default!r}: {setting.meaning}"
        )
    try:
        setting.parse(value)
    except ValueError as error:
        raise TableException(f"the setting {key!r} cannot be {value!r}: {error}") from None
    return setting


def value_of(configuration: Configuration, key: str) -> Any:
    """Return the value of a setting that is read here, or its default.

    Returns
    -------
    bool, int, str, list of str, `Duration` or None
        As the setting's kind is; None where nothing is set and there is no default.
    """
    text = configuration.get_string(key, None)
    if text is None:
        default = find(key).default
        return None if default is None else find(key).parse(default)
    return value_of_text(key, text)


def value_of_text(key: str, text: str) -> Any:
    """Return the value that a setting has by a text.

    Raises
    ------
    TableException
        As `check` does.
    """
    return check(key, text).parse(text)


def start_settings(configuration: Configuration) -> dict[str, str]:
    """Return what to set of Spark's when a session is started.

    Raises
    ------
    TableException
        If there is a setting that is unknown, refused, or has a wrong value.
    """
    settings: dict[str, str] = {}
    for key, value in configuration.to_dict().items():
        setting = check(key, value)
        if setting.effect is Effect.START:
            settings.update(of_spark(setting, value))
    return settings


def session_settings(configuration: Configuration, prefix: str) -> dict[str, str]:
    """Return what the settings of a configuration whose names begin so are for a session of Spark.

    Raises
    ------
    TableException
        If there is one that is unknown, refused, or has a wrong value.
    """
    settings: dict[str, str] = {}
    for key, value in configuration.to_dict().items():
        if key.startswith(prefix) and (setting := check(key, value)).effect is Effect.SESSION:
            settings.update(of_spark(setting, value))
    return settings


def start_jars(configuration: Configuration) -> list[str]:
    """Return the jars that a session is started with."""
    return _listing(configuration.to_dict().get("pipeline.jars", ""))


def of_spark(setting: Setting, text: str) -> dict[str, str]:
    """Return the settings of Spark that a setting of this value becomes."""
    value = setting.convert(setting.parse(text))
    return {} if value is None else dict.fromkeys(setting.spark, value)
