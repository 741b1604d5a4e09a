"""Settings by Flink's names that a program is given from outside, by ``pyflow run`` or a file."""

from __future__ import annotations

from pyflow.common.configuration import Configuration
from pyflow.session.builder import present_settings

__all__ = ["PREFIX", "given_settings"]

#: What a setting of Flink's has before its name in ``spark-defaults.conf`` and for ``--conf``.
PREFIX = "spark.pyflow.conf."


def given_settings(*configurations: Configuration | None) -> Configuration:
    """Return the settings that a program is given from outside, and over them those of its own.

    Parameters
    ----------
    configurations : Configuration
        The program's own settings; those of a later one hold before those of one before.

    Returns
    -------
    Configuration
        A new one. A setting that is given without a value is not in it.
    """
    from pyspark.sql import SparkSession

    present = present_settings(SparkSession.builder)
    given = {
        key.removeprefix(PREFIX): value
        for key, value in present.items()
        if key.startswith(PREFIX) and value
    }
    merged = Configuration.from_dict(given)
    for configuration in configurations:
        if configuration is not None:
            merged.add_all(configuration)
    return merged
