"""What operations of tables ask of the table environment that they belong to."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pyflow.session.context import Context
from pyflow.streaming.runtime.timers import TimerReports
from pyflow.table.catalogs.manager import CatalogManager
from pyflow.table.changes.relation import Relation
from pyflow.table.columns.nodes import FunctionCall, Node
from pyflow.table.functions.java import JavaFunction
from pyflow.table.functions.settings import FunctionMetrics, FunctionSettings
from pyflow.table.table_config import TableConfig
from pyflow.table.udf import wrapped
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

    from pyflow.table.catalogs.manager import Entry
    from pyflow.table.catalogs.objects import CatalogBaseTable, CatalogFunction
    from pyflow.table.environment_settings import EnvironmentSettings
    from pyflow.table.table_descriptor import TableDescriptor

__all__ = ["TableContext"]


class Sql(Protocol):
    """Reads SQL: `pyflow.table.sql`, which stands on the operations that ask for it."""

    def query(self, context: TableContext, text: str) -> Any:
        """Return the table of a query."""

    def view(self, context: TableContext, table: CatalogBaseTable, identifier: str) -> Relation:
        """Return the rows of a view, whose query is read anew."""

    def expression(self, context: TableContext, text: str, names: Sequence[str]) -> Node:
        """Return the node of an expression over columns of these names."""


class TableContext(Context):
    """The session, settings, catalogs and functions of a table environment.

    Parameters
    ----------
    session : SparkSession
    settings : EnvironmentSettings
    sql : Sql
        Reads what tables, views and programs have in SQL.

    Attributes
    ----------
    config : TableConfig
    catalogs : CatalogManager
    sql : Sql
    jars : list of str
        The paths of ``ADD JAR``.
    frames : dict
        Frames of unbounded tables, beside the descriptors whose identities are the keys.
    """

    def __init__(
        self,
        session: SparkSession,
        settings: EnvironmentSettings,
        sql: Sql,
    ) -> None:
        self.config = TableConfig(settings.get_configuration(), session)
        super().__init__(session, self.config.get_configuration(), settings.is_streaming_mode())
        self.catalogs = CatalogManager(
            settings.get_built_in_catalog_name(), settings.get_built_in_database_name(), session
        )
        self.jars: list[str] = []
        self.frames: dict[int, tuple[TableDescriptor, DataFrame]] = {}
        self.sql = sql
        #: The views that are read now, from the outer to the inner one.
        self._views: list[tuple[str, str, str]] = []
        self._metrics = FunctionMetrics(session)
        self._unnamed = 0

    @functools.cached_property
    def timer_reports(self) -> Accumulator[Any]:
        """What takes the earliest timers of tasks to the driver; there is none over Connect."""
        param: Any = TimerReports()
        return self.session.sparkContext.accumulator([], param)

    @functools.cached_property
    def one_row(self) -> Relation:
        """The relation of one row without columns, in one partition."""
        return Relation(self.session.range(0, 1, 1, 1).select(), ())

    def view(self, entry: Entry) -> Relation:
        """Return the rows of a view whose query is in SQL.

        Raises
        ------
        TableException
            If it reads itself.
        """
        if entry.path in self._views:
            raise TableException(f"The view {entry.identifier} reads itself.")
        self._views.append(entry.path)
        try:
            return self.sql.view(self, entry.table, entry.identifier)
        finally:
            self._views.pop()

    def unnamed(self) -> str:
        """Return a name for a table that has none."""
        name = f"UnnamedTable${self._unnamed}"
        self._unnamed += 1
        return name

    def function(self, name: str) -> Any:
        """Return the function registered under a name; None if there is none."""
        found = self.catalogs.function(name)
        if found is None or found.function is not None:
            return None if found is None else found.function
        assert found.described is not None
        return self.instantiated(found.described)

    def system_function(self, name: str) -> Any:
        """Return the temporary system function of a name; None if there is none."""
        found = self.catalogs.system_function(name)
        return None if found is None else found.function or self.function(name)

    def instantiated(self, described: CatalogFunction) -> Any:
        """Return the function that a catalog describes.

        Raises
        ------
        TableException
            If there is none of its name.
        """
        name = described.get_class_name()
        if described.get_function_language() != "PYTHON":
            return JavaFunction(name, self.session)
        module, _, attribute = name.rpartition(".")
        if not module or not attribute:
            raise TableException(f"a Python function is named as 'module.name', not {name!r}")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise TableException(f"'{name}' cannot be imported: {error}") from error
        return found if isinstance(found, JavaFunction) else wrapped(found)

    def function_of(self, call: Node, *kinds: str) -> Any:
        """Return the function that a node calls.

        Raises
        ------
        TableException
            If it calls none, or one of another kind.
        """
        if not isinstance(call, FunctionCall):
            raise TableException(f"expected a call of a {' or '.join(kinds)} function, got: {call}")
        function = call.function
        if kinds and function.kind not in kinds:
            raise TableException(
                f"expected a {' or '.join(kinds)} function, "
                f"but {function.name!r} is a function of kind {function.kind}"
            )
        return function

    def function_settings(self) -> FunctionSettings:
        """Return the settings that functions depend on, as they are now."""
        return FunctionSettings.of(self.session, self.configuration, self._metrics)
