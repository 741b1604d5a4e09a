"""Flink's settings and their effect here: one table, used for checks and docs.

A setting is mapped to settings of Spark or PyFlow, is read here, or is accepted without effect
because it does not apply to Spark. A setting whose values would change results, but are not
supported, is refused. Keys that begin with ``spark.`` are Spark's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyflow.common.configuration import Configuration, boolean_of, map_of
from pyflow.common.time import Duration
from pyflow.session.flink_jars import without_flink
from pyflow.session.log_levels import level_of, levels_of
from pyflow.session.options_without_effect import DEFAULT, NONE, REFUSED
from pyflow.util.exceptions import TableException
from pyflow.util.yaml_lists import list_of

Parser = Callable[[str], Any]

_OFFSET = re.compile(r"Z|(UTC|GMT|UT)?[+-]\d{1,2}(:?\d{2}){0,2}|UTC|GMT|UT")


class Effect(Enum):
    """The effect of a setting."""

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
        Its name. A name that ends with ``.*`` stands for all settings with that prefix.
    effect : Effect
        Its effect.
    meaning : str
        What it does here, or why it has no effect.
    parse : callable
        Parses a string, or raises ValueError.
    default : str, optional
        Its value if it is not set.
    spark : tuple of str
        The settings of Spark or PyFlow that it is mapped to.
    convert : callable
        Returns the value of these, given that of the setting; None to leave them unchanged.
    """

    key: str
    effect: Effect
    meaning: str
    parse: Parser = str
    default: str | None = None
    spark: tuple[str, ...] = ()
    convert: Callable[[Any], str | None] = str


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


def one_of(*names: str) -> Parser:
    """Return a parser for one of these names, in any case."""

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
        one_of("process", "thread", "auto"),
        spark=("spark.pyflow.execution-mode",),
    ),
    Setting(
        "python.fn-execution.bundle.size",
        Effect.SESSION,
        "the maximum number of rows that are passed to Python in one call",
        _positive,
        spark=("spark.pyflow.bundle.size",),
    ),
    Setting(
        "python.fn-execution.bundle.time",
        Effect.SESSION,
        "the time in which a bundle is gathered and evaluated; in milliseconds if it has no unit",
        Duration.parse,
        spark=("spark.pyflow.bundle.time",),
        convert=_millis,
    ),
    Setting(
        "python.fn-execution.arrow.batch.size",
        Effect.SESSION,
        "the maximum number of rows in a batch for pandas functions",
        _positive,
        spark=("spark.sql.execution.arrow.maxRecordsPerBatch",),
    ),
    Setting(
        "python.profile.enabled",
        Effect.SESSION,
        "`true` measures the time of functions with Spark's profiler, which `spark.profile` shows",
        boolean_of,
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
        "as `parallelism.default`; the one that is set later takes precedence",
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
        "the Python interpreter in whose environment functions run",
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
        "whether slow tasks are started a second time",
        boolean_of,
        spark=("spark.speculation",),
        convert=lambda enabled: str(enabled).lower(),
    ),
    Setting("python.files", Effect.FILES, "modules, zip files and directories", _listing),
    Setting("python.archives", Effect.FILES, "archives, each with `#` and a name", _listing),
    Setting(
        "python.requirements",
        Effect.FILES,
        "packages of a requirements file, installed on the machine of the program, for executors "
        "of its platform; with `#` and a directory, only packages in the directory",
        lambda text: [text],
    ),
    Setting("pipeline.jars", Effect.FILES, "jars, separated by `;`", _listing),
    Setting("pipeline.classpaths", Effect.FILES, "jars, separated by `;`", _listing),
)

# Settings whose values are read or checked.
_TYPED = (
    Setting(
        "execution.runtime-mode",
        Effect.READ,
        "whether results are computed once, or continuously as input arrives",
        one_of("STREAMING", "BATCH"),
        "STREAMING",
    ),
    Setting(
        "table.builtin-catalog-name",
        Effect.READ,
        "the name of the initial catalog",
        default="default_catalog",
    ),
    Setting(
        "table.builtin-database-name",
        Effect.READ,
        "the name of the initial database",
        default="default_database",
    ),
    Setting(
        "python.client.executable",
        Effect.SUBMIT,
        "the Python interpreter that runs the program; without effect on a running program",
    ),
    Setting(
        "python.metric.enabled",
        Effect.READ,
        "whether functions have metrics",
        boolean_of,
        "true",
    ),
    Setting(
        "python.logging.default.level",
        Effect.READ,
        "the level from which loggers of functions write to the executor's log, in workers to its "
        "standard error, unless functions set another: OFF, ERROR, WARN, INFO, DEBUG, TRACE or a "
        "number of Python's `logging`. For PySpark's functions it is `spark.pyflow.logging.level`",
        level_of,
        "INFO",
    ),
    Setting(
        "python.logging.level.overrides",
        Effect.READ,
        "the levels of individual loggers and their children, as `name:level,name:level`. "
        "For PySpark's functions they are `spark.pyflow.logging.overrides`",
        levels_of,
    ),
    Setting(
        "python.debug.loopback",
        Effect.READ,
        "whether functions run in the program's own Python process, with a local master",
        boolean_of,
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
        "how long a call of an asynchronous function may take, with all attempts",
        Duration.parse,
        "3 min",
    ),
    Setting(
        "table.exec.async-scalar.retry-strategy",
        Effect.READ,
        "whether a failed call of an asynchronous function is retried",
        one_of("NO_RETRY", "FIXED_DELAY"),
        "FIXED_DELAY",
    ),
    Setting(
        "table.exec.async-scalar.retry-delay",
        Effect.READ,
        "how long to wait before a call is retried",
        Duration.parse,
        "100 ms",
    ),
    Setting(
        "table.exec.async-scalar.max-attempts",
        Effect.READ,
        "how often a call of an asynchronous function is tried",
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
        "whether all rows with the same key of a sink are kept, so that the previous row replaces "
        "one that is retracted: where it is needed, never, or always over unbounded tables",
        one_of("AUTO", "NONE", "FORCE"),
        "AUTO",
    ),
    Setting(
        "table.exec.mini-batch.enabled",
        Effect.READ,
        "whether rows of unbounded tables are buffered for `table.exec.mini-batch.allow-latency`, "
        "and the changes of a key are emitted once per batch",
        boolean_of,
        "false",
    ),
    Setting(
        "table.exec.mini-batch.allow-latency",
        Effect.READ,
        "the time between two batches of an unbounded table, if mini-batches are enabled",
        Duration.parse,
        "0 ms",
    ),
    Setting(
        "table.exec.source.idle-timeout",
        Effect.READ,
        "the time without rows after which an unbounded table is idle: until it has rows again, it "
        "does not hold back the watermark; 0 for never. A query that continues from a checkpoint "
        "has a time-out if it had one before, and has none otherwise",
        Duration.parse,
        "0 ms",
    ),
    Setting(
        "execution.checkpointing.dir",
        Effect.READ,
        "the directory for the checkpoints of queries over unbounded tables, by the job's name",
    ),
    Setting(
        "state.checkpoints.dir",
        Effect.READ,
        "as `execution.checkpointing.dir`",
    ),
    Setting(
        "execution.checkpointing.interval",
        Effect.READ,
        "the time between two batches of a stream that writes files; other streams write their "
        "progress with every batch. In real-time mode, the length of a batch, by default 5 minutes",
        Duration.parse,
    ),
    Setting(
        "pyflow.datastream.real-time",
        Effect.READ,
        "whether unbounded data streams run in Spark's real-time mode, record by record",
        boolean_of,
        "false",
    ),
    Setting(
        "pipeline.name",
        Effect.READ,
        "the name of the next job: of its query, and of its checkpoint directory",
    ),
    Setting(
        "table.display.max-column-width",
        Effect.READ,
        "the width in which `print` shows strings in streaming mode",
        _positive,
        "30",
    ),
)

SETTINGS: dict[str, Setting] = {
    setting.key: setting
    for setting in (
        *_TO_SPARK,
        *_TYPED,
        *(
            Setting(key, Effect.DEFAULT, meaning, default=default)
            for key, (default, meaning) in DEFAULT.items()
        ),
        *(Setting(key, Effect.NONE, meaning) for key, meaning in NONE.items()),
        *(Setting(key, Effect.REFUSED, meaning) for key, meaning in REFUSED.items()),
    )
}


def find(key: str) -> Setting:
    """Return the setting of this name.

    Raises
    ------
    TableException
        If there is no such setting; the message suggests similar names.
    """
    if key in SETTINGS:
        return SETTINGS[key]
    for prefix in _prefixes(key):
        if prefix in SETTINGS:
            return SETTINGS[prefix]
    if key.startswith("spark."):
        return Setting(key, Effect.SESSION, "Spark's own", spark=(key,))
    near = get_close_matches(key, SETTINGS, n=3, cutoff=0.7)
    hint = f" Similar names: {', '.join(near)}." if near else ""
    raise TableException(f"there is no setting {key!r}.{hint}")


def _prefixes(key: str) -> Iterator[str]:
    parts = key.split(".")
    for length in range(len(parts) - 1, 0, -1):
        yield ".".join([*parts[:length], "*"])


def check(key: str, value: str) -> Setting:
    """Return the setting of this name, if it can have this value.

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
        The parsed value; None if the setting is not set and has no default.
    """
    text = configuration.get_string(key, None)
    if text is None:
        default = find(key).default
        return None if default is None else find(key).parse(default)
    return value_of_text(key, text)


def value_of_text(key: str, text: str) -> Any:
    """Return the value of a setting, parsed from a string.

    Raises
    ------
    TableException
        As `check` does.
    """
    return check(key, text).parse(text)


def start_settings(configuration: Configuration) -> dict[str, str]:
    """Return the Spark settings that a session is started with.

    Raises
    ------
    TableException
        If a setting is unknown or refused, or has a wrong value.
    """
    settings: dict[str, str] = {}
    for key, value in configuration.to_dict().items():
        setting = check(key, value)
        if setting.effect is Effect.START:
            settings.update(of_spark(setting, value))
    return settings


def is_in(name: str, value: str, present: str | None) -> bool:
    """Return whether a setting of Spark has a value, or a path the directories of the value.

    More may have been added to a path when the program was submitted: YARN adds files to
    ``PYTHONPATH``, and `pyflow run` packages.
    """
    if present is None or not name.endswith(".PYTHONPATH"):
        return value == present
    return set(value.split(":")) <= set(re.split(":|<CPS>", present))


def session_settings(configuration: Configuration, prefix: str) -> dict[str, str]:
    """Return the Spark settings for a session, from the settings whose names have a prefix.

    Raises
    ------
    TableException
        If one of these is unknown or refused, or has a wrong value.
    """
    settings: dict[str, str] = {}
    for key, value in configuration.to_dict().items():
        if key.startswith(prefix) and (setting := check(key, value)).effect is Effect.SESSION:
            settings.update(of_spark(setting, value))
    return settings


def start_jars(configuration: Configuration) -> list[str]:
    """Return the jars that a session is started with."""
    return without_flink(_listing(configuration.to_dict().get("pipeline.jars", "")))


def of_spark(setting: Setting, text: str) -> dict[str, str]:
    """Return the Spark settings that a setting with this value is mapped to."""
    value = setting.convert(setting.parse(text))
    return {} if value is None else dict.fromkeys(setting.spark, value)
