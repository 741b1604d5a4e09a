"""Flags of programs that are started: settings by Flink's names, and where they run."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence

from pyflow.cli.submission.command import Program
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.spark_options import SparkOptions
from pyflow.cli.submission.targets import Target

__all__ = ["add_settings", "program_of_flags", "split_settings"]

# Flags that set a setting of Flink's, with what they say.
VALUES = (
    ("-pyfs", "--pyFiles", "python.files", "LIST", "files, packages and directories for import"),
    ("-pyarch", "--pyArchives", "python.archives", "LIST", "archives to unpack, with #name or not"),
    ("-pyreq", "--pyRequirements", "python.requirements", "FILE[#DIR]", "packages to install"),
    ("-pyexec", "--pyExecutable", "python.executable", "PATH", "the Python of functions"),
    (
        "-pyclientexec",
        "--pyClientExecutable",
        "python.client.executable",
        "PATH",
        "the Python of the program; without it that of PYFLOW_CLIENT_EXECUTABLE, "
        "PYFLINK_CLIENT_EXECUTABLE or PYSPARK_DRIVER_PYTHON, or of this command",
    ),
    ("-pypath", "--pyPythonPath", "python.pythonpath", "PATHS", "PYTHONPATH on executors"),
    ("-p", "--parallelism", "parallelism.default", "N", "tasks after a shuffle"),
    (
        "-s",
        "--fromSavepoint",
        "execution.savepoint.path",
        "PATH",
        "the savepoint that a data stream program goes on from",
    ),
)
LISTS = (
    ("-j", "--jarfile", "pipeline.jars", "JAR", "a jar for driver and executors; repeatable"),
    (
        "-C",
        "--classpath",
        "pipeline.classpaths",
        "URL",
        "a jar or directory that is there on all machines, or a jar elsewhere; repeatable",
    ),
)


def add_settings(parser: argparse.ArgumentParser, without: Collection[str] = ()) -> None:
    """Add the flags of settings, ``-D`` and ``-t``.

    Parameters
    ----------
    parser : ArgumentParser
    without : collection of str
        Short flags that the command does not have.
    """
    add = parser.add_argument
    for short, long, key, metavar, text in VALUES:
        if short not in without:
            add(short, long, dest=key, metavar=metavar, help=f"{text} ({key})")
    for short, long, key, metavar, text in LISTS:
        add(short, long, dest=key, action="append", metavar=metavar, help=f"{text} ({key})")
    add(
        "-t",
        "--target",
        help="local[N], local-cluster[N,CORES,MB], spark://HOST:PORT, yarn, yarn-application or "
        "k8s://URL; without it spark.master of spark-defaults.conf, or this machine",
    )
    add(
        "-D",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting by Flink's name or Spark's (spark.*); repeatable",
    )


def _settings_of(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the settings that flags are."""
    given = vars(arguments)
    found = {key: given[key] for _, _, key, _, _ in VALUES if given.get(key) is not None}
    found.update({key: ";".join(given[key]) for _, _, key, _, _ in LISTS if given.get(key)})
    if given.get("allowNonRestoredState"):
        found["execution.savepoint.ignore-unclaimed-state"] = "true"
    return found


def program_of_flags(arguments: argparse.Namespace) -> Program:
    """Return a program with what the flags say of it: settings, target, options of spark-submit.

    Raises
    ------
    SubmissionError
        If a flag's value is not as it has to be.
    """
    own, of_spark = split_settings(arguments.settings)
    spark = SparkOptions.of(arguments.spark)
    spark.settings = {**of_spark, **spark.settings}
    return Program(
        settings={**own, **_settings_of(arguments)},
        spark=spark,
        target=None if arguments.target is None else Target.named(arguments.target),
    )


def split_settings(settings: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return settings by Flink's names, and those of Spark."""
    own: dict[str, str] = {}
    of_spark: dict[str, str] = {}
    for text in settings:
        key, has_value, value = text.partition("=")
        if not key or not has_value:
            raise SubmissionError(f"-D takes KEY=VALUE, not {text!r}")
        (of_spark if key.startswith("spark.") else own)[key] = value
    return own, of_spark
