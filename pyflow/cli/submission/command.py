"""The command line of spark-submit that starts a program.

What the user gives by PyFlink's flags and keys becomes settings by Flink's names first. Of these
some become options of spark-submit, and the rest reaches the program's environment
(`given_settings`).
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyflow.cli.submission import module_program
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.files import existing, interpreter, module_files
from pyflow.cli.submission.requirements import installed
from pyflow.cli.submission.spark_options import SparkOptions, as_options
from pyflow.cli.submission.targets import YARN_FOLDERS, YARN_TAGS, Target, yarn_tag
from pyflow.session import builder as session
from pyflow.session.flink_jars import without_flink
from pyflow.session.given import PREFIX
from pyflow.session.options import Effect, check, find, of_spark, value_of_text
from pyflow.session.requirements import archive_of
from pyflow.util.addresses import local_path
from pyflow.util.exceptions import TableException

_CLIENT = "python.client.executable"
_EXECUTABLE = "python.executable"
_MODE = "spark.pyflow.execution-mode"
_DRIVER_PYTHON = "spark.pyspark.driver.python"
_EXECUTOR_PYTHON = "spark.pyspark.python"
_ARCHIVES = "spark.archives"
_PATHS = "spark.executorEnv.PYTHONPATH"
_CLIENT_VARIABLES = ("PYFLOW_CLIENT_EXECUTABLE", "PYFLINK_CLIENT_EXECUTABLE")
# Settings that become options of spark-submit, and do not reach the program.
_OF_SUBMIT = (
    _CLIENT,
    "pipeline.classpaths",
    "pipeline.jars",
    "python.archives",
    "python.files",
    "python.requirements",
)
# Settings of data streams, which tables refuse.
_OF_STREAMS = ("execution.savepoint.", "execution.state-recovery.")


@dataclass
class Program:
    """What is to be run.

    Parameters
    ----------
    file, module : str, optional
        The script, or the module; neither for a program that a terminal talks with.
    arguments : list of str
        Those of the program.
    settings : dict
        Settings by Flink's names, of ``-D`` and of flags.
    spark : SparkOptions
        Settings of Spark of ``-D``, and options of spark-submit.
    target : Target, optional
    image : str, optional
        Of Docker, for the executors.
    """

    file: str | None = None
    module: str | None = None
    arguments: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    spark: SparkOptions = field(default_factory=SparkOptions)
    target: Target | None = None
    image: str | None = None

    @property
    def name(self) -> str:
        """What the program is called."""
        return self.module or Path(self.file or "shell").name


@dataclass(frozen=True)
class Folders:
    """Where files are that are made for programs.

    Parameters
    ----------
    files : Path
        Directories and wheels that were packed, since spark-submit does not take them.
    requirements : Path
        Packages that were installed.
    """

    files: Path
    requirements: Path


@dataclass(frozen=True)
class Command:
    """A command line of spark-submit.

    Parameters
    ----------
    words : list of str
    home : str
        The Spark that is meant.
    target : Target
    pythons : dict
        Settings of Spark that say which Python runs the program, and which one functions.
    """

    words: list[str]
    home: str
    target: Target
    pythons: dict[str, str]

    def __str__(self) -> str:
        return f"SPARK_HOME={shlex.quote(self.home)} {shlex.join(self.words)}"

    def cluster(self) -> dict[str, str] | None:
        """Return where the driver will be, as the registry notes it; None on this machine."""
        if self.target.is_driven_here:
            return None
        named = {name: os.environ[name] for name in YARN_FOLDERS if os.environ.get(name)}
        folders = {name: os.path.abspath(path) for name, path in named.items()}
        return {"master": str(self.target.master), "spark_home": self.home, **folders}

    def environment(self) -> dict[str, str]:
        """Return the variables that it is run with."""
        return {**os.environ, "SPARK_HOME": self.home}

    def of_terminal(self) -> tuple[str, dict[str, str]]:
        """Return the Python that is run without spark-submit, and its variables.

        What spark-submit runs has no terminal. PySpark starts it for the JVM alone, with the same
        options.
        """
        variables = {**self.environment(), "PYSPARK_SUBMIT_ARGS": shlex.join(self.words[1:])}
        if _EXECUTOR_PYTHON in self.pythons:
            variables["PYSPARK_PYTHON"] = self.pythons[_EXECUTOR_PYTHON]
        return self.pythons[_DRIVER_PYTHON], variables


def compose(program: Program, folders: Folders, identifier: str | None = None) -> Command:
    """Return the command that runs a program.

    Parameters
    ----------
    program : Program
    folders : Folders
        Where files are that are made for it.
    identifier : str, optional
        Of the program, by which a cluster can be asked for it.

    Raises
    ------
    SubmissionError
        If the program, a file of it, a setting or the target is not as it has to be.
    """
    home = session.spark_home()
    if home is None:
        raise SubmissionError("there is no Spark: set SPARK_HOME, or pip install pyspark")
    submit = home / "bin" / "spark-submit"
    if not os.access(submit, os.X_OK):
        raise SubmissionError(f"there is no Spark: {submit} cannot be run")
    defaults = session.defaults_of(program.spark.properties_file)
    given = {k.removeprefix(PREFIX): v for k, v in defaults.items() if k.startswith(PREFIX) and v}
    _check({**given, **program.settings})
    _refuse_contradictions(program)
    # Of the file and the command the command holds, whichever of two names it has for a setting.
    commanded = {*program.spark.settings, *program.settings}
    for key, value in program.settings.items():
        commanded |= spark_settings(key, value).keys()
    held = {k: v for k, v in given.items() if not {k, *spark_settings(k, v)} & commanded}
    settings = {**held, **program.settings}
    target = _target(program, defaults)
    spark = {**_of_target(target), **_of_settings(settings)}
    if program.image is not None:
        spark.update(target.with_image(program.image))
    spark.update(program.spark.settings)
    if program.module is not None:
        spark.setdefault("spark.app.name", program.module)
    present = {**defaults, **spark}
    if identifier is not None and target.master == "yarn" and not target.is_driven_here:
        spark[YARN_TAGS] = session.with_items(present.get(YARN_TAGS, ""), yarn_tag(identifier))
    pythons = _pythons(settings, target, present)
    spark.update(pythons)
    spark.update(_files(settings, target, present, folders.files))
    spark.update(_requirements(settings, target, {**present, **spark}, folders.requirements))
    spark.update(_of_plugin({**present, **spark}, target))
    spark.update(_for_program(settings, given, target))
    options = [*as_options(spark), *program.spark.others]
    return Command([str(submit), *options, *_main(program)], str(home), target, pythons)


def _check(settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        if key == "python.requirements" or key.startswith(_OF_STREAMS):
            continue
        try:
            check(key, value)
        except TableException as error:
            raise SubmissionError(f"-D {key}: {error}") from None


def _refuse_contradictions(program: Program) -> None:
    spark = program.spark.settings
    for key, value in program.settings.items():
        # Another one comes too late for the session.
        of_start = spark_settings(key, value) if key in (_CLIENT, _EXECUTABLE) else {}
        for name, other in of_start.items():
            if spark.get(name, other) != other:
                raise SubmissionError(
                    f"{key}={value} sets {name}={other}, and the command {name}={spark[name]}: "
                    "leave one of them out"
                )
    named = program.target and program.target.master
    master = spark.get("spark.master")
    if named and master and named != master:
        raise SubmissionError(f"-t {named} and spark.master={master} exclude each other")


def spark_settings(key: str, value: str) -> dict[str, str]:
    """Return the settings of Spark that one of Flink becomes."""
    if key == "python.requirements" or key.startswith(_OF_STREAMS):
        return {}
    return dict(of_spark(find(key), value))


def _target(program: Program, defaults: Mapping[str, str]) -> Target:
    spark = program.spark.settings
    named = program.target or Target(None)
    master = spark.get("spark.master") or named.master or defaults.get("spark.master")
    mode = spark.get("spark.submit.deployMode") or named.deploy_mode
    return Target(master, mode or defaults.get("spark.submit.deployMode"))


def _of_target(target: Target) -> dict[str, str]:
    chosen = {"spark.master": target.master, "spark.submit.deployMode": target.deploy_mode}
    return {key: value for key, value in chosen.items() if value is not None}


def _of_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of Spark that those of Flink become, for all sessions of the program."""
    found = {}
    for key, value in settings.items():
        setting = find(key)
        if setting.effect in (Effect.SESSION, Effect.START):
            found.update(of_spark(setting, value))
    return found


def _pythons(
    settings: Mapping[str, str], target: Target, present: Mapping[str, str]
) -> dict[str, str]:
    """Return which Python runs the program, and which one functions.

    That of the command, unless others are named; on YARN and Kubernetes the executors' own.
    """
    of_program = (
        settings.get(_CLIENT)
        or present.get(_DRIVER_PYTHON)
        or next(filter(None, map(os.environ.get, _CLIENT_VARIABLES)), None)
        or os.environ.get("PYSPARK_DRIVER_PYTHON")
    )
    of_functions = present.get(_EXECUTOR_PYTHON) or os.environ.get("PYSPARK_PYTHON")
    found = {}
    if target.is_driven_here:
        found[_DRIVER_PYTHON] = interpreter(of_program or sys.executable, "-pyclientexec")
    elif of_program is not None:
        found[_DRIVER_PYTHON] = of_program
    if of_functions is None and not str(target.master).startswith(("yarn", "k8s://")):
        of_functions = found.get(_DRIVER_PYTHON)
    if of_functions is not None:
        if target.is_local:
            interpreter(of_functions, "-pyexec")
        found[_EXECUTOR_PYTHON] = of_functions
    return found


def _files(
    settings: Mapping[str, str], target: Target, present: Mapping[str, str], staged: Path
) -> dict[str, str]:
    """Return the settings of Spark by which files reach driver and executors."""
    files = module_files(_listed(settings, "python.files"), "-pyfs", staged)
    archives = [_archive(each) for each in _listed(settings, "python.archives")]
    named = without_flink(_listed(settings, "pipeline.jars"))
    jars = [existing(each, "-j") for each in named]
    found = {}
    folders = []
    for each in _listed(settings, "pipeline.classpaths"):
        path = local_path(each)
        if path is None:
            jars.append(each)
        elif each.startswith("file:/"):
            folders.append(str(path))
        else:
            raise SubmissionError(f"-C: {each!r} is no address, such as file:///path/of.jar")
    if folders:
        for key in ("spark.driver.extraClassPath", "spark.executor.extraClassPath"):
            found[key] = ":".join(filter(None, [present.get(key), *folders]))
    if target.is_local:
        # A local master has no directories of executors: the program's environment unpacks them.
        archives = []
    lists = {"spark.submit.pyFiles": files, _ARCHIVES: archives, "spark.jars": jars}
    for key, items in lists.items():
        if items:
            found[key] = session.with_items(present.get(key, ""), *items)
    return found


def _requirements(
    settings: Mapping[str, str], target: Target, present: Mapping[str, str], directory: Path
) -> dict[str, str]:
    """Return the settings of Spark by which functions find packages that are installed for them."""
    requirements = settings.get("python.requirements")
    if not requirements:
        return {}
    functions, program = present.get(_EXECUTOR_PYTHON), present.get(_DRIVER_PYTHON, sys.executable)
    # Executors may have a Python that this machine does not; it is of the program's version.
    python = functions if functions and shutil.which(functions) else program
    packages = installed(requirements, python, directory)
    if target.is_this_machine:
        return {_PATHS: _joined(str(packages), present.get(_PATHS))}
    archive = archive_of(packages, directory)
    name = archive.partition("#")[2]
    return {
        _ARCHIVES: session.with_items(present.get(_ARCHIVES, ""), archive),
        # Below the executor's working directory. In thread mode the archive's name says it.
        _PATHS: _joined(name, present.get(_PATHS)),
    }


def _joined(path: str, others: str | None) -> str:
    return f"{path}:{others}" if others else path


def _archive(text: str) -> str:
    address, mark, name = text.partition("#")
    return f"{existing(address, '-pyarch')}{mark}{name}"


def _listed(settings: Mapping[str, str], key: str) -> list[str]:
    listed: list[str] = value_of_text(key, settings[key]) if settings.get(key) else []
    return listed


def _of_plugin(present: Mapping[str, str], target: Target) -> dict[str, str]:
    found = session.settings(present)
    if target.is_driven_here:
        key = "spark.driver.extraJavaOptions"
        found[key] = session.with_class_archive(found[key])
    return {**found, _MODE: present.get(_MODE, "thread")}


def _for_program(
    settings: Mapping[str, str], given: Mapping[str, str], target: Target
) -> dict[str, str]:
    """Return what reaches the program's environments; an empty value undoes that of a file."""
    kept = {k: "" if _is_of_submit(k, target) else v for k, v in settings.items()}
    if target.is_local and settings.get("python.archives"):
        archives = _listed(settings, "python.archives")
        kept["python.archives"] = ",".join(map(_archive, archives))
    undone = dict.fromkeys(given, "")
    return {f"{PREFIX}{k}": v for k, v in {**undone, **kept}.items() if v or given.get(k)}


def _is_of_submit(key: str, target: Target) -> bool:
    return key in _OF_SUBMIT and not (key == "python.archives" and target.is_local)


def _main(program: Program) -> Sequence[str]:
    """Return the words that name the program, with its arguments."""
    if program.module is not None:
        return [str(module_program.__file__), program.module, *program.arguments]
    if program.file is None:
        return ["pyspark-shell"]
    file = existing(program.file, "-py")
    if not file.endswith(".py"):
        raise SubmissionError(f"-py: {program.file!r} is no Python file; a module is given by -pym")
    return [file, *program.arguments]
