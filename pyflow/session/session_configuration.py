"""Settings by Flink's names that a session follows."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from pyflow.common.configuration import Configuration, text_of
from pyflow.session.dependencies import add_archive, add_file, add_jars, add_requirements
from pyflow.session.options import Effect, check, find, is_in, of_spark
from pyflow.util.addresses import local_path
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SessionConfiguration", "add_files"]


class SessionConfiguration(Configuration):
    """Settings that a session follows: each is checked and given to it when it is set.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        The session.
    configuration : Configuration
        Settings to begin with.

    Raises
    ------
    TableException
        Here, and whenever something is set: if there is no such setting, it cannot have the
        value, it is not supported, or it comes too late, for a session that was started otherwise.
    """

    def __init__(self, session: SparkSession, configuration: Configuration) -> None:
        super().__init__()
        self._session = session
        self._given = Configuration(configuration)
        #: What the session's own settings were before.
        self._before: dict[str, str | None] = {}
        self.add_all(configuration)

    def reset(self, key: str) -> None:
        """Give a setting the value that it had at the start, or none.

        Raises
        ------
        TableException
            If there is no such setting, or it has added files, which stay.
        """
        setting = find(key)
        if not self.contains_key(key):
            return
        if self._given.contains_key(key):
            self._put(key, self._given._values[key])
            return
        if setting.effect is Effect.FILES:
            raise TableException(f"the setting {key!r} has added files to the session, which stay")
        for name in of_spark(setting, text_of(self._values[key])):
            before = self._before.get(name)
            if before is None:
                self._session.conf.unset(name)
            else:
                self._session.conf.set(name, before)
        self.remove_config(key)

    def _put(self, key: str, value: Any) -> None:
        text = text_of(value)
        setting = check(key, text)
        if setting.effect is Effect.FILES:
            add_files(self._session, key, setting.parse(text))
        for name, spark_value in of_spark(setting, text).items():
            if setting.effect is Effect.SESSION:
                self._before.setdefault(name, self._session.conf.get(name, None))
                self._session.conf.set(name, spark_value)
            elif not _was_started_with(self._session, name, spark_value):
                raise TableException(
                    f"the setting {key!r} comes too late: the session was started without"
                    f" {name}={spark_value}; give it to the builder of the session"
                )
        super()._put(key, value)


def add_files(session: SparkSession, key: str, files: list[str]) -> None:
    """Give a session the files of a setting.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
    key : str
        The setting's name.
    files : list of str
    """
    if key == "python.requirements":
        for each in files:
            file, _, packages = each.partition("#")
            add_requirements(session, _path(file), packages or None)
    elif key == "python.archives":
        for each in files:
            archive, _, target = each.partition("#")
            add_archive(session, _path(archive), target or None)
    elif key == "python.files":
        # The first of several has precedence, the last added as well.
        for each in reversed(files):
            add_file(session, _path(each))
    else:
        add_jars(session, key, [_path(each) for each in files])


def _path(given: str) -> str:
    """Return the path of a file of this machine, or the address of another."""
    return str(local_path(given) or given)


def _was_started_with(session: SparkSession, key: str, value: str) -> bool:
    current = session.conf.get(key, None)
    if key != "spark.pyspark.python":
        return is_in(key, value, current)
    executable = current or os.environ.get("PYSPARK_PYTHON", "python3")
    return shutil.which(executable) == shutil.which(value)
