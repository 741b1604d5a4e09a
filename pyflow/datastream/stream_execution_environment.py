"""Where data streams begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflow.common.configuration import Configuration
from pyflow.common.execution_config import ExecutionConfig
from pyflow.common.typeinfo import TypeInformation
from pyflow.datastream.data_stream import DataStream
from pyflow.datastream.execution_mode import RuntimeExecutionMode

__all__ = ["StreamExecutionEnvironment"]


class StreamExecutionEnvironment:
    """Makes data streams, and holds the settings of a program.

    A ``StreamTableEnvironment`` made with it takes these settings.

    Parameters
    ----------
    configuration : Configuration
        The settings.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
    ) -> StreamExecutionEnvironment:
        """Return a new environment with these settings."""
        return StreamExecutionEnvironment(Configuration(configuration))

    def get_config(self) -> ExecutionConfig:
        """Return the settings of how programs are run; what is set there is set here."""
        return ExecutionConfig(self._configuration)

    def configure(self, configuration: Configuration) -> None:
        """Take these settings, too."""
        self._configuration.add_all(configuration)

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """Set how many tasks share an operation's work, and return the environment.

        Raises
        ------
        ValueError
            If the number is less than 1, and not -1 for the session's default.
        """
        self.get_config().set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        """Return how many tasks share an operation's work; -1 for the session's default."""
        return self.get_config().get_parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """Set the number of groups of keys of state, and return the environment."""
        self.get_config().set_max_parallelism(max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of groups of keys of state; -1 for the default."""
        return self.get_config().get_max_parallelism()

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """Set how programs are run, and return the environment."""
        self._configuration.set_string("execution.runtime-mode", execution_mode.name)
        return self

    def from_collection(
        self, collection: Sequence[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of the objects of a collection, in their order.

        Parameters
        ----------
        collection : sequence
        type_info : TypeInformation, optional
            Their type. Tables need one.

        Raises
        ------
        ValueError
            If an object is not of the type.
        """
        elements = list(collection)
        if type_info is not None:
            for element in elements:
                type_info.to_internal_type(element)
        return DataStream(self, elements, type_info)
