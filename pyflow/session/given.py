"""Settings by Flink's names that a program is given from outside, by ``pyflow run`` or a file."""

from __future__ import annotations

from pyflow.common.configuration import Configuration
from pyflow.session.builder import present_settings

__all__ = ["PREFIX", "given_settings"]

#: What a setting of Flink's has before its name in ``spark-defaults.conf`` and for ``--conf``.
PREFIX = "spark.pyflow.conf."


def given_settings(*configurations: Configuration | None) -> Configuration:
    """Return the settings that a program is given from outside, merged with its own.

    Parameters
    ----------
    configurations : Configuration
        The program's own settings. They take precedence over those from outside, and a later
        configuration over an earlier one.

    Returns
    -------
    Configuration
        A new one, without the settings that are given without a value.
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
