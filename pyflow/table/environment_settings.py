"""What a table environment begins with."""

from __future__ import annotations

from pyflow.common.configuration import Configuration

__all__ = ["EnvironmentSettings"]

RUNTIME_MODE = "execution.runtime-mode"
CATALOG_NAME = "table.builtin-catalog-name"
DATABASE_NAME = "table.builtin-database-name"


class EnvironmentSettings:
    """What a `TableEnvironment` begins with; made by a builder, or by the two modes.

    Parameters
    ----------
    configuration : Configuration
        All settings, the mode and the names among them.
    """

    class Builder:
        """Builds `EnvironmentSettings`. Each method but the last returns the builder."""

        def __init__(self) -> None:
            self._configuration = Configuration()

        def with_configuration(self, config: Configuration) -> EnvironmentSettings.Builder:
            """Take these settings, too."""
            self._configuration.add_all(config)
            return self

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            """Compute results once, from bounded input."""
            return self._set(RUNTIME_MODE, "BATCH")

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            """Compute results as input comes, which is the default."""
            return self._set(RUNTIME_MODE, "STREAMING")

        def with_built_in_catalog_name(
            self, built_in_catalog_name: str
        ) -> EnvironmentSettings.Builder:
            """Name the first catalog, ``default_catalog`` by default."""
            return self._set(CATALOG_NAME, built_in_catalog_name)

        def with_built_in_database_name(
            self, built_in_database_name: str
        ) -> EnvironmentSettings.Builder:
            """Name the first database, ``default_database`` by default."""
            return self._set(DATABASE_NAME, built_in_database_name)

        def _set(self, key: str, value: str) -> EnvironmentSettings.Builder:
            self._configuration.set_string(key, value)
            return self

        def build(self) -> EnvironmentSettings:
            """Return the settings."""
            return EnvironmentSettings(Configuration(self._configuration))

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def get_built_in_catalog_name(self) -> str:
        """Return the name of the first catalog."""
        return str(self._configuration.get_string(CATALOG_NAME, "default_catalog"))

    def get_built_in_database_name(self) -> str:
        """Return the name of the first database."""
        return str(self._configuration.get_string(DATABASE_NAME, "default_database"))

    def is_streaming_mode(self) -> bool:
        """Return whether results are computed as input comes."""
        return str(self._configuration.get_string(RUNTIME_MODE, "STREAMING")).upper() == "STREAMING"

    def get_configuration(self) -> Configuration:
        """Return all settings."""
        return self._configuration

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        """Begin settings in streaming mode."""
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return the settings of streaming mode: results are computed as input comes."""
        return EnvironmentSettings.new_instance().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return the settings of batch mode: results are computed once, from bounded input."""
        return EnvironmentSettings.new_instance().in_batch_mode().build()
