"""The settings of a table environment."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pyflow.common.configuration import Configuration
from pyflow.session.options import check, value_of
from pyflow.session.session_configuration import SessionConfiguration
from pyflow.table.sql_dialect import SqlDialect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["TableConfig"]


class TableConfig:
    """The settings of a table environment, by Flink's names.

    An unknown name is an error, whose message suggests similar names; so is an invalid value.

    Parameters
    ----------
    configuration : Configuration, optional
        Settings to begin with.
    session : pyspark.sql.SparkSession, optional
        The session that follows the settings.
    """

    def __init__(
        self, configuration: Configuration | None = None, session: SparkSession | None = None
    ) -> None:
        given = Configuration() if configuration is None else configuration
        self._session = session
        self._configuration = given if session is None else SessionConfiguration(session, given)

    def get(self, key: str, default_value: str | None) -> str | None:
        """Return the setting of this name, or the default value if there is none."""
        return self._configuration.get_string(key, default_value)

    def set(self, key: str, value: str) -> TableConfig:
        """Set a value, and return these settings.

        Raises
        ------
        TableException
            If there is no such setting, it cannot have the value, or it is not supported.
        """
        if not isinstance(value, str):
            raise TypeError(f"the setting {key!r} takes a str, not {value!r}")
        check(key, value)
        self._configuration.set_string(key, value)
        return self

    def get_local_timezone(self) -> str:
        """Return the time zone in which ``TIMESTAMP_LTZ`` is shown."""
        zone = str(self.get("table.local-time-zone", "default"))
        if zone != "default":
            return zone
        if self._session is None:
            return _system_zone()
        return str(self._session.conf.get("spark.sql.session.timeZone"))

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set the time zone in which ``TIMESTAMP_LTZ`` is shown.

        Parameters
        ----------
        timezone_id : str
            As ``Europe/Berlin``, ``UTC`` or ``GMT-08:00``.

        Raises
        ------
        TypeError
            If it is not a string. (PyFlink raises a bare ``Exception``.)
        TableException
            If there is no such zone.
        """
        if not isinstance(timezone_id, str):
            raise TypeError(f"the time zone must be a str, not {timezone_id!r}")
        self.set("table.local-time-zone", timezone_id)

    def get_max_generated_code_length(self) -> int:
        """Return the length at which Flink splits generated code. It has no effect."""
        return int(str(self.get("table.generated-code.max-length", "4000")))

    def set_max_generated_code_length(self, max_generated_code_length: int) -> None:
        """Set the length at which Flink splits generated code. It has no effect.

        Raises
        ------
        TypeError
            If it is no whole number. (PyFlink raises a bare ``Exception``.)
        """
        if not isinstance(max_generated_code_length, int):
            raise TypeError(f"the length must be an int, not {max_generated_code_length!r}")
        self.set("table.generated-code.max-length", str(max_generated_code_length))

    def set_idle_state_retention(self, duration: datetime.timedelta) -> None:
        """Set how long idle state is kept; 0 means forever."""
        millis = round(duration / datetime.timedelta(milliseconds=1))
        self.set("table.exec.state.ttl", f"{millis} ms")

    def get_idle_state_retention(self) -> datetime.timedelta:
        """Return how long idle state is kept; 0 means forever."""
        duration = value_of(self._configuration, "table.exec.state.ttl")
        return datetime.timedelta(milliseconds=duration.to_millis())

    def get_configuration(self) -> Configuration:
        """Return the program's settings themselves: what is set there is set here."""
        return self._configuration

    def add_configuration(self, configuration: Configuration) -> None:
        """Take these settings, too.

        Raises
        ------
        TableException
            As `set` does.
        """
        for key, value in configuration.to_dict().items():
            check(key, value)
        self._configuration.add_all(configuration)

    def to_map(self) -> dict[str, str]:
        """Return all settings."""
        return self._configuration.to_dict()

    def get_sql_dialect(self) -> int:
        """Return the dialect of SQL: ``SqlDialect.DEFAULT``."""
        return SqlDialect.DEFAULT

    def set_sql_dialect(self, sql_dialect: int) -> None:
        """Set the dialect of SQL.

        Raises
        ------
        TableException
            If it is Hive's, which is not read.
        TypeError
            If it is no dialect.
        """
        names = {SqlDialect.DEFAULT: "default", SqlDialect.HIVE: "hive"}
        if sql_dialect not in names:
            raise TypeError(f"{sql_dialect!r} is no dialect; SqlDialect has them")
        self.set("table.sql-dialect", names[sql_dialect])

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python whose environment functions run in, before the session is started."""
        self.set("python.executable", python_exec)

    def get_python_executable(self) -> str | None:
        """Return the Python whose environment functions run in; None for the session's."""
        return self.get("python.executable", None)

    @staticmethod
    def get_default() -> TableConfig:
        """Return settings of which none is set."""
        return TableConfig()


def _system_zone() -> str:
    named = os.environ.get("TZ", "").lstrip(":")
    if named:
        return named
    target = Path("/etc/localtime").resolve().as_posix()
    return target.partition("/zoneinfo/")[2] or "UTC"
