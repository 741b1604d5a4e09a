"""Settings that put PyFlow into a Spark application."""

from __future__ import annotations

import functools
import importlib
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyflow
from pyflow.session import loopback
from pyflow.session.operation import serve
from pyflow.session.plugin import PLUGIN, driver_has_plugin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTALL_TABLE = "pip install 'pyflow[table]'"
ALLOWED = "spark.pyflow.thread-mode.allowed"

# Python's recursion limit is counted in calls, not bytes: on the JVM's default of 1 MiB a deep
# recursion in C code overflows the thread's stack, and the JVM with it, before Python objects.
STACK_SIZE = "8m"

# Three times HotSpot's: its optimising compiler has less to do while the JVM starts, on the cores
# that it starts on. Methods that are called often for long reach them all the same.
_COMPILER_THRESHOLDS = {
    "Tier4InvocationThreshold": 15_000,
    "Tier4MinInvocationThreshold": 1_800,
    "Tier4CompileThreshold": 45_000,
}

# Options of spark-submit that stand for settings which PyFlow reads or sets, as
# org.apache.spark.launcher.SparkSubmitOptionParser names them.
_OPTIONS = {
    "--driver-java-options": "spark.driver.extraJavaOptions",
    "--jars": "spark.jars",
    "--remote": "spark.remote",
}


class JarNotFoundError(FileNotFoundError):
    """The installed package does not contain the plugin jar."""


def jar_path() -> str:
    """Return the path of the plugin jar that came with this package, for this environment's Spark.

    Returns
    -------
    str
        Absolute path, for ``--jars`` or ``spark.jars``. Where there is none for this Spark, that
        for the newest, which says so in the log when an application starts and does nothing else.

    Raises
    ------
    JarNotFoundError
        If the package is used from a source tree whose jar has not been built.
    """
    jars = plugin_jars()
    if not jars:
        folder = Path(pyflow.__path__[0]).resolve() / "jars"
        raise JarNotFoundError(f"no plugin jar at {folder}: in a source tree, run `make build`")
    newest = max(jars, key=lambda minor: [int(number) for number in minor.split(".")])
    return str(jars.get(spark_minor(spark_version() or newest), jars[newest]))


def plugin_jars() -> dict[str, Path]:
    """Return the plugin jars that came with this package, by the minor version of their Spark."""
    name = re.compile(rf"pyflow-spark-(\d+\.\d+)_2\.13-{re.escape(pyflow.__version__)}\.jar")
    # Executors have the modules of the jar before those of the installed package.
    files = [
        file
        for folder in pyflow.__path__
        for file in sorted((Path(folder).resolve() / "jars").glob("*.jar"))
    ]
    return {match[1]: file for file in files if (match := name.fullmatch(file.name))}


def spark_version() -> str | None:
    """Return the version of the Spark that this environment uses, or None when there is none."""
    home = spark_home()
    for jar in sorted((home / "jars").glob("spark-core_*.jar")) if home else ():
        match = re.fullmatch(r"spark-core_[\d.]+-(.+)\.jar", jar.name)
        if match:
            return match[1]
    return None


def spark_minor(version: str) -> str:
    """Return the minor version of a version: 4.3 of 4.3.1."""
    return ".".join(version.split(".")[:2])


def class_archive() -> Path:
    """Return the file where ``pyflow archive`` writes the classes that drivers start with.

    It is beside the jar, so that it is as trusted, and goes with the environment.
    """
    return Path(jar_path()).with_suffix(".jsa")


def spark_home() -> Path | None:
    """Return the Spark that this environment uses, or None when there is none."""
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"])
    from importlib.util import find_spec

    pyspark = find_spec("pyspark")
    if pyspark is None or pyspark.origin is None:
        return None
    return Path(pyspark.origin).parent


def spark_defaults() -> dict[str, str]:
    """Return the settings of ``spark-defaults.conf``, empty when there is no such file."""
    directory = configuration_directory()
    return {} if directory is None else _properties(directory / "spark-defaults.conf")


def configuration_directory() -> Path | None:
    """Return where Spark looks for its configuration, or None when there is no Spark."""
    if "SPARK_CONF_DIR" in os.environ:
        return Path(os.environ["SPARK_CONF_DIR"])
    home = spark_home()
    return None if home is None else home / "conf"


def defaults_of(properties_file: str | None) -> dict[str, str]:
    """Return the settings of a file of properties, or of ``spark-defaults.conf`` without one."""
    return spark_defaults() if properties_file is None else _properties(Path(properties_file))


def _properties(path: Path) -> dict[str, str]:
    """Return the settings of a file, empty when there is no such file."""
    if not path.is_file():
        return {}
    settings = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        match = re.match(r"\s*([^\s#!=:][^\s=:]*)\s*[\s=:]\s*(.*?)\s*$", line)
        if match:
            settings[match.group(1)] = match.group(2)
    return settings


def present_settings(builder: SparkSession.Builder) -> dict[str, str]:
    """Return the settings of the application that a builder starts.

    The builder's settings take precedence over those of ``spark-submit`` and its files, if it runs
    the program, or over those of ``PYSPARK_SUBMIT_ARGS`` and ``spark-defaults.conf``, if Python
    does.
    """
    if _is_submitted():
        return {**_submitted_settings(), **builder._options}
    options = _submit_options()
    outside = defaults_of(options.pop("--properties-file", None))
    return {**outside, **options, **builder._options}


def _is_submitted() -> bool:
    """Return whether ``spark-submit`` has started this program, and the driver's JVM before it."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _submitted_settings() -> dict[str, str]:
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def _submit_options() -> dict[str, str]:
    """Return the settings of ``PYSPARK_SUBMIT_ARGS``, and its ``--properties-file``.

    PySpark passes them to ``spark-submit`` after those of the program. There, an option takes
    precedence over ``--conf``, and the last of several with the same name over the others.
    """
    settings = {}
    options = {}
    words = iter(_submit_words())
    for word in words:
        option, is_one_word, value = word.partition("=")
        if option not in ("-c", "--conf", "--properties-file", *_OPTIONS):
            continue
        value = value if is_one_word else next(words, "")
        if option in _OPTIONS:
            options[_OPTIONS[option]] = value
        elif option == "--properties-file":
            options[option] = value
        else:
            name, _, value = value.partition("=")
            settings[name] = value
    return {**settings, **options}


def _submit_words() -> list[str]:
    return shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))


def _extend_submit_options(values: Mapping[str, str]) -> None:
    """Add to the options of ``PYSPARK_SUBMIT_ARGS`` that would replace values in the driver."""
    given = _submit_options()
    words = _submit_words()
    jars, options = given.get("spark.jars"), given.get("spark.driver.extraJavaOptions")
    extended = []
    if jars is not None:
        with_all = with_items(jars, *values["spark.jars"].split(","))
        extended += ["--jars", with_all] if with_all != jars else []
    if options is not None:
        with_size = _with_stack_size(options)
        extended += ["--driver-java-options", with_size] if with_size != options else []
    if extended:
        # What follows the application's name is the application's.
        shells = [place for place, word in enumerate(words) if word == "pyspark-shell"]
        at = shells[-1] if shells else len(words)
        os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join([*words[:at], *extended, *words[at:]])


def import_state_messages() -> None:
    """Import the messages by which PySpark asks a processor for its state, when a query starts.

    Spark tells of a failure there only that a worker has ended.

    Raises
    ------
    ImportError
        If protobuf is not installed, or too old for them.
    """
    try:
        importlib.import_module("pyspark.sql.streaming.proto.StateMessage_pb2")
    except ImportError:
        raise
    except Exception as error:  # protobuf's, about versions
        raise ImportError(str(error)) from error


def _jar_for_executors(present: Mapping[str, str]) -> str | None:
    """Return the jar of the driver's plugin where executors would not get it, else None.

    ``--driver-class-path`` is the driver's alone. Executors that lack the plugin do not start.
    """
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    source = loader.loadClass(PLUGIN).getProtectionDomain().getCodeSource()
    jar = Path(jvm.java.nio.file.Paths.get(source.getLocation().toURI()).toString())
    home = spark_home()
    # On YARN the jars of spark-submit are in a setting of their own.
    keys = ("spark.jars", "spark.yarn.dist.jars")
    of_all = {Path(name).name for key in keys for name in present.get(key, "").split(",")}
    is_there = (
        jar.name in of_all
        or "spark.executor.extraClassPath" in present
        or (home is not None and jar.resolve().parent == (home / "jars").resolve())
    )
    return None if is_there or jar.suffix != ".jar" else str(jar)


def settings(present: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that put PyFlow into an application.

    Parameters
    ----------
    present : mapping
        Settings that the application already has. Lists and JVM options are extended, and a
        stack size that is already chosen stays.

    Returns
    -------
    dict
        Values for ``spark.jars``, ``spark.plugins`` and the JVM options of driver and executors;
        for a Spark Connect server that PySpark starts in this process, also who may use it.
    """
    starts_server = _starts_connect_server(present)
    # PySpark replaces spark.plugins when it starts that server; Spark loads those of both.
    plugins = "spark.plugins.defaultList" if starts_server else "spark.plugins"
    values = {
        "spark.jars": with_items(present.get("spark.jars", ""), jar_path()),
        plugins: with_items(present.get(plugins, ""), PLUGIN),
        "spark.driver.extraJavaOptions": _with_stack_size(
            present.get("spark.driver.extraJavaOptions", "")
        ),
        "spark.executor.extraJavaOptions": _with_stack_size(
            present.get("spark.executor.extraJavaOptions", "")
        ),
    }
    if starts_server:
        # The one who starts that server is its only user. The client may not tell the user's name.
        values[ALLOWED] = present.get(ALLOWED, "true")
    return values


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Set jar, plugin and JVM options on a session builder.

    The execution mode stays the caller's choice: ``spark.pyflow.execution-mode``. Settings
    of the builder, also those that it is given afterwards, of ``spark-submit``, of
    ``PYSPARK_SUBMIT_ARGS`` and of ``spark-defaults.conf`` are kept. In a program of
    ``spark-submit`` the jar has to be among its ``--jars`` or ``--packages``. In any other program
    functions run in the program's own Python, unless ``PYSPARK_PYTHON`` or
    ``spark.pyspark.python`` names another.

    Parameters
    ----------
    builder : SparkSession.Builder
        A builder whose session has not been started.

    Returns
    -------
    SparkSession.Builder
        The same builder.

    Examples
    --------
    >>> spark = (
    ...     pyflow.configure(SparkSession.builder)
    ...     .config("spark.pyflow.execution-mode", "thread")
    ...     .getOrCreate()
    ... )
    """
    from pyspark import SparkContext

    if _is_client(present_settings(builder)):
        warnings.warn(
            "a Spark Connect client cannot put PyFlow into a running server: add the lines that "
            "`pyflow conf` prints to the spark-defaults.conf of the server.",
            stacklevel=2,
        )
        return builder
    if SparkContext._active_spark_context is not None:
        warnings.warn(
            "a Spark application is already running in this process: it keeps its jars, plugins "
            "and JVM options. Stop it and restart Python before calling pyflow.configure().",
            stacklevel=2,
        )
    if _is_submitted() and not driver_has_plugin():
        warnings.warn(
            "spark-submit has started the driver without PyFlow's jar, so that functions run "
            f"in process mode: give it --jars {jar_path()} --conf spark.plugins={PLUGIN}",
            stacklevel=2,
        )
        return builder
    _put_into(builder)
    for name in ("getOrCreate", "create"):
        if name not in vars(builder):
            setattr(builder, name, _starting(builder, getattr(builder, name)))
    return builder


def _put_into(builder: SparkSession.Builder) -> None:
    """Set on a builder what its application needs, with what it has been given so far."""
    present = present_settings(builder)
    values = settings(present)
    if _is_submitted():
        # It has started the driver's JVM and named the jars.
        del values["spark.jars"], values["spark.driver.extraJavaOptions"]
        jar = _jar_for_executors(present)
        if jar is not None:
            values["spark.jars"] = with_items(present.get("spark.jars", ""), jar)
    else:
        _extend_submit_options(values)
        options = values["spark.driver.extraJavaOptions"]
        values["spark.driver.extraJavaOptions"] = with_class_archive(options)
    for key, value in values.items():
        builder.config(key, value)


def _starting(
    builder: SparkSession.Builder, start: Callable[[], SparkSession]
) -> Callable[[], SparkSession]:
    """Return a method of a builder that completes the settings before it starts a session.

    A setting that the builder was given after `configure` has replaced the one made there.
    """

    @functools.wraps(start)
    def completed() -> SparkSession:
        present = present_settings(builder)
        if not _is_client(present):
            _put_into(builder)
            _choose_python(builder, present)
            if loopback.is_wanted(present):
                master = present.get("spark.master", "local[*]")
                for key, value in loopback.settings(master).items():
                    builder.config(key, value)
        session = start()
        serve(session)
        return session

    return completed


def _choose_python(builder: SparkSession.Builder, present: Mapping[str, str]) -> None:
    """Set the variable that tells PySpark which Python functions run in.

    PySpark ignores the setting of a running program. In a program of ``spark-submit``, the variable
    has the value that ``spark-submit`` was given, and the program's own setting takes precedence.
    In any other program, a variable that the user has set takes precedence.
    """
    if not _is_submitted():
        python = present.get("spark.pyspark.python", sys.executable)
        os.environ.setdefault("PYSPARK_PYTHON", python)
    elif "spark.pyspark.python" in builder._options:
        os.environ["PYSPARK_PYTHON"] = builder._options["spark.pyspark.python"]


def _is_client(present: Mapping[str, str]) -> bool:
    """Return whether the application is a client of a Spark Connect server that runs already."""
    return _remote(present).startswith("sc://")


def _remote(present: Mapping[str, str]) -> str:
    """Return the address of the Spark Connect server, empty for a classic application."""
    return present.get("spark.remote") or os.environ.get("SPARK_REMOTE") or ""


def _starts_connect_server(present: Mapping[str, str]) -> bool:
    """Return whether PySpark will start a Connect server in this process: ``remote("local")``."""
    remote = _remote(present)
    mode = present.get("spark.api.mode") or os.environ.get("SPARK_API_MODE") or ""
    return remote.startswith("local") or (not remote and mode.lower() == "connect")


def with_items(items: str, *more: str) -> str:
    """Return a comma-separated list with more items in it once, at its end those that are new."""
    present = [part.strip() for part in items.split(",") if part.strip()]
    return ",".join(dict.fromkeys([*present, *more]))


def _with_stack_size(options: str) -> str:
    """Return JVM options that set the stack size of threads, by the user's choice if any."""
    if re.search(r"(^|\s)(-Xss|-XX:ThreadStackSize=)\S", options):
        return options
    return f"{options} -Xss{STACK_SIZE}".strip()


def with_class_archive(options: str) -> str:
    """Return JVM options that map Spark's classes from an archive, if there is one.

    A JVM that it was not written for, with another Java or other jars, loads them as ever; it
    would warn of that. With an archive, which is for JVMs that start quickly, thresholds of the
    optimising compiler are raised as well.
    """
    archive = class_archive()
    if re.search(r"-XX:(SharedArchiveFile|ArchiveClassesAtExit)=|-Xshare:", options):
        return options
    if not archive.is_file():
        return options
    options = f"{options} {shlex.quote(f'-XX:SharedArchiveFile={archive}')} -Xlog:cds*=off"
    if re.search(r"-X(int|comp)\b|-XX:.?(Tier|Compil|UseJVMCI)", options):
        return options
    thresholds = (f"-XX:{name}={value}" for name, value in _COMPILER_THRESHOLDS.items())
    return " ".join([options, *thresholds])
