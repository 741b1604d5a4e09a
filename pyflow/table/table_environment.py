"""Table environments: where tables, functions and settings live."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyflow.common.configuration import Configuration
from pyflow.common.unsupported import unsupported
from pyflow.datastream.data_stream import DataStream
from pyflow.datastream.stream_execution_environment import StreamExecutionEnvironment
from pyflow.table import sources
from pyflow.table.catalog import Catalog, CatalogFunction
from pyflow.table.catalog_objects import TableView
from pyflow.table.catalogs.spark import SparkTable
from pyflow.table.environment_settings import EnvironmentSettings
from pyflow.table.java_functions import JavaFunction
from pyflow.table.module import ModuleEntry
from pyflow.table.objects import Entry, Objects
from pyflow.table.planner.configuration import start_jars, start_settings
from pyflow.table.planner.described import insertion_of, relation_of
from pyflow.table.planner.function_settings import FunctionMetrics, FunctionSettings
from pyflow.table.planner.named_functions import built_in_names
from pyflow.table.planner.nodes import FunctionCall, Node
from pyflow.table.planner.relation import Relation
from pyflow.table.runtime.values import time_zone
from pyflow.table.statement_set import StatementSet
from pyflow.table.table import Table
from pyflow.table.table_config import TableConfig
from pyflow.table.types import DataType, RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    import datetime

    import pandas
    from pyspark.sql import DataFrame, SparkSession

    from pyflow.table.catalog import CatalogDescriptor
    from pyflow.table.model_descriptor import ModelDescriptor
    from pyflow.table.module import Module
    from pyflow.table.plan_reference import PlanReference
    from pyflow.table.planner.described import Insertion
    from pyflow.table.table_descriptor import TableDescriptor

__all__ = ["StreamTableEnvironment", "TableEnvironment"]

# What a session is started with that has no such setting.
_DEFAULTS = {
    "spark.pyflow.execution-mode": "thread",
    # Its bars would run through the tables that the program prints.
    "spark.ui.showConsoleProgress": "false",
    # Spark would be told, in several calls, from which line of ours each column comes.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
_PARTITIONS = "spark.sql.shuffle.partitions"
_MODELS = "there are no models here; call one from a function"
_MODULES = "built-in functions are those of this package; there are no modules of others"
_PLANS = "Spark plans a query when it runs; there are no plans to keep"
_DATA_STREAMS = (
    "there are no operations on data streams here; one of a collection becomes a table by "
    "from_data_stream()"
)


class TableEnvironment:
    """Makes tables, keeps tables and functions by name, and holds the settings.

    Use :meth:`create` to make one.
    """

    def __init__(self, session: SparkSession, settings: EnvironmentSettings) -> None:
        self._spark = session
        self._is_streaming = settings.is_streaming_mode()
        self._objects = Objects(
            settings.get_built_in_catalog_name(), settings.get_built_in_database_name(), session
        )
        #: The views that are read now, from the outer to the inner one.
        self._views: list[tuple[str, str, str]] = []
        self._metrics = FunctionMetrics(session)
        self._unnamed = 0
        #: The paths of ADD JAR.
        self._jars: list[str] = []
        # Frames of tables without end, beside the descriptors that their numbers stand for.
        self._streams: dict[int, tuple[TableDescriptor, DataFrame]] = {}
        _prepare(session, self._is_streaming)
        self._config = TableConfig(settings.get_configuration(), session)

    @staticmethod
    def create(environment_settings: EnvironmentSettings | Configuration) -> TableEnvironment:
        """Make a table environment over the active session of Spark, or a new one.

        The session gets the settings that tables need: names are case-sensitive, and those of
        PyFlink's configuration that Spark has. In streaming mode there are as many tasks after a
        shuffle as the session has cores, unless it says how many.

        Parameters
        ----------
        environment_settings : EnvironmentSettings or Configuration
            Batch or streaming mode, and the configuration.

        Raises
        ------
        TypeError
            For anything else.
        """
        settings = _settings(environment_settings)
        return TableEnvironment(_session(settings), settings)

    def create_temporary_system_function(self, name: str, function: Any) -> None:
        """Register a Python function under a name that holds in every catalog.

        Parameters
        ----------
        name : str
            The name, in any case.
        function
            A wrapper that ``udf``, ``udtf``, ``udaf`` or ``udtaf`` returns, or an object of
            AggregateFunction or TableAggregateFunction.
        """
        self._objects.add_system_function(name, self._wrapped(function))

    def drop_temporary_system_function(self, name: str) -> bool:
        """Forget a function; return whether there was one of the name."""
        return self._objects.drop_system_function(name)

    def create_temporary_function(self, path: str, function: Any) -> None:
        """Register a Python function under a name in a catalog and database.

        Parameters
        ----------
        path : str
            The name; the current catalog and database where it names none.
        function
            As for :meth:`create_temporary_system_function`.
        """
        self._objects.add_function(path, self._wrapped(function))

    def drop_temporary_function(self, path: str) -> bool:
        """Forget a function; return whether there was one of the name."""
        return self._objects.drop_temporary_function(path)

    def drop_function(self, path: str) -> bool:
        """Drop a function of a catalog; return whether there was one."""
        return self._objects.drop_function(path, ignore=True)

    def create_java_temporary_system_function(self, name: str, function_class_name: str) -> None:
        """Register a function of a JVM class under a name that holds in every catalog.

        Parameters
        ----------
        name : str
            The name, in any case.
        function_class_name : str
            A class that implements one of ``org.apache.spark.sql.api.java.UDF0`` to ``UDF22``.
        """
        function = JavaFunction(function_class_name, self._spark)
        self.create_temporary_system_function(name, function)

    def create_java_function(
        self, path: str, function_class_name: str, ignore_if_exists: bool | None = None
    ) -> None:
        """Add a function of a JVM class to a catalog.

        Parameters
        ----------
        path : str
            The name; the current catalog and database where it names none.
        function_class_name : str
            As for :meth:`create_java_temporary_system_function`.
        ignore_if_exists : bool
            Whether a function that is there already stays, without an error.
        """
        function = CatalogFunction.create_instance(function_class_name, "Java")
        self._instantiated(function)
        self._objects.create_function(path, function, bool(ignore_if_exists))

    def create_java_temporary_function(self, path: str, function_class_name: str) -> None:
        """Register a function of a JVM class; as :meth:`create_temporary_function`."""
        self.create_temporary_function(path, JavaFunction(function_class_name, self._spark))

    def create_temporary_table(
        self, path: str, descriptor: TableDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Describe a table that a connector reads or writes.

        Parameters
        ----------
        path : str
            The name; the current catalog and database where it names none.
        descriptor : TableDescriptor
            Columns, connector and options.
        ignore_if_exists : bool
            Whether a table that is there already stays, without an error.
        """
        self._objects.add_table(path, descriptor, temporary=True, ignore=bool(ignore_if_exists))

    def create_table(
        self, path: str, descriptor: TableDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Describe a table of the catalog, which lives as long as the environment.

        Parameters
        ----------
        path, descriptor, ignore_if_exists
            As for :meth:`create_temporary_table`.
        """
        self._objects.add_table(path, descriptor, temporary=False, ignore=bool(ignore_if_exists))

    def create_temporary_view(
        self,
        view_path: str,
        table_or_data_stream: Table | DataStream,
        *fields_or_schema: Any,
    ) -> None:
        """Give a table a name.

        Parameters
        ----------
        view_path : str
            The name.
        table_or_data_stream : Table or DataStream
            The table, or the data stream that becomes one.
        fields_or_schema
            For a data stream, as :meth:`StreamTableEnvironment.from_data_stream` has them.
        """
        table = table_or_data_stream
        if isinstance(table, DataStream):
            table = self._of_data_stream(table, *fields_or_schema)
        elif not isinstance(table, Table):
            raise TypeError(f"expected a Table or a DataStream, got {type(table).__name__}")
        elif fields_or_schema:
            raise ValueError(f"Invalid arguments for 'fields': {fields_or_schema!r}")
        self._objects.add_view(view_path, table, temporary=True)

    def _of_data_stream(self, data_stream: DataStream, *fields_or_schema: Any) -> Table:
        from pyflow.table.data_streams import relation_of_stream

        return Table(relation_of_stream(data_stream, fields_or_schema, self), self)

    def create_view(
        self, view_path: str, table: Table, ignore_if_exists: bool | None = False
    ) -> None:
        """Give a table a name in the catalog, for as long as the environment lives.

        Parameters
        ----------
        view_path : str
            The name.
        table : Table
            The table.
        ignore_if_exists : bool
            Whether what is there already stays, without an error.
        """
        self._objects.add_view(view_path, table, temporary=False, ignore=bool(ignore_if_exists))

    def drop_temporary_table(self, table_path: str) -> bool:
        """Forget a temporary table; return whether there was one of the name."""
        return self._objects.drop_temporary(table_path, view=False)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Forget a table of the catalog; return whether there was one of the name.

        Raises
        ------
        TableException
            If there is none and `ignore_if_not_exists` is false.
        """
        return self._objects.drop_permanent(
            table_path, view=False, ignore=bool(ignore_if_not_exists)
        )

    def drop_temporary_view(self, view_path: str) -> bool:
        """Forget a temporary view; return whether there was one of the name."""
        return self._objects.drop_temporary(view_path, view=True)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Forget a view of the catalog; return whether there was one of the name.

        Raises
        ------
        TableException
            If there is none and `ignore_if_not_exists` is false.
        """
        return self._objects.drop_permanent(view_path, view=True, ignore=bool(ignore_if_not_exists))

    def from_path(self, path: str) -> Table:
        """Return the table or view of a name.

        Raises
        ------
        TableException
            If there is none.
        """
        return Table(self._relation_of(self._objects.find(path)), self)

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """Return the table that a connector reads.

        Parameters
        ----------
        descriptor : TableDescriptor
            Columns, connector and options.
        """
        return Table(relation_of(descriptor, "of a descriptor", self), self)

    def from_elements(
        self,
        elements: Iterable[Any],
        schema: DataType | list[str] | None = None,
        verify_schema: bool = True,
    ) -> Table:
        """Return a table of Python values.

        Parameters
        ----------
        elements : iterable
            Rows: tuples, lists, dicts, :class:`Row`, or expressions.
        schema : RowType, DataType or list of str, optional
            Types of the columns, or their names; what is not given is taken from the values.
        verify_schema : bool
            Whether values are checked against the types.
        """
        return Table(sources.of_elements(elements, schema, verify_schema, self), self)

    def from_pandas(
        self,
        pdf: pandas.DataFrame,
        schema: RowType | Sequence[str] | Sequence[DataType] | None = None,
        splits_num: int = 1,
    ) -> Table:
        """Return a table of a data frame of pandas.

        Parameters
        ----------
        pdf : pandas.DataFrame
            The rows; the index is left out.
        schema : RowType, list of str or list of DataType, optional
            Names or types of the columns, or both.
        splits_num : int
            Into how many partitions the rows are split.
        """
        return Table(sources.of_pandas(pdf, schema, splits_num, self), self)

    def from_spark(self, frame: DataFrame) -> Table:
        """Return a table of a data frame of Spark.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
            A frame with columns of different names. In streaming mode it may be a streaming one,
            whose column with a watermark is a time attribute.
        """
        if frame.isStreaming and not self._is_streaming:
            raise TableException(
                "A streaming data frame of Spark has no end, which is not allowed in batch mode."
            )
        return Table(sources.of_spark(frame), self)

    def list_catalogs(self) -> list[str]:
        """Return the names of the catalogs."""
        return self._objects.catalogs()

    def list_databases(self) -> list[str]:
        """Return the names of the databases of the current catalog."""
        return self._objects.databases()

    def list_tables(self) -> list[str]:
        """Return the names of the tables and views of the current database."""
        return self._objects.names()

    def list_views(self) -> list[str]:
        """Return the names of the views of the current database."""
        return self._objects.names(view=True)

    def list_materialized_tables(self) -> list[str]:
        """Return the names of the materialized tables of the current database: none."""
        return []

    def list_temporary_tables(self) -> list[str]:
        """Return the names of the temporary tables of the current database."""
        return self._objects.names(view=False, temporary=True)

    def list_temporary_views(self) -> list[str]:
        """Return the names of the temporary views of the current database."""
        return self._objects.names(view=True, temporary=True)

    def list_user_defined_functions(self) -> list[str]:
        """Return the names of the program's functions."""
        return self._objects.function_names()

    def list_functions(self) -> list[str]:
        """Return the names of all functions, built-in ones among them."""
        return sorted({*built_in_names(), *self._objects.function_names()})

    def list_modules(self) -> list[str]:
        """Return the names of the modules: ``core``, the built-in functions."""
        return ["core"]

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return the modules and whether they are used."""
        return [ModuleEntry("core", True)]

    def list_models(self) -> list[str]:
        """Return the names of the models: none."""
        return []

    def list_temporary_models(self) -> list[str]:
        """Return the names of the temporary models: none."""
        return []

    def get_current_catalog(self) -> str:
        """Return the name of the current catalog."""
        return self._objects.catalog

    def use_catalog(self, catalog_name: str) -> None:
        """Make a catalog the current one.

        Raises
        ------
        CatalogException
            If there is none of the name.
        """
        self._objects.use_catalog(catalog_name)

    def get_current_database(self) -> str:
        """Return the name of the current database."""
        return self._objects.database

    def use_database(self, database_name: str) -> None:
        """Make a database the current one.

        Raises
        ------
        CatalogException
            If there is none of the name.
        """
        self._objects.use_database(database_name)

    def get_config(self) -> TableConfig:
        """Return the settings."""
        return self._config

    def create_statement_set(self) -> StatementSet:
        """Return a set of insertions that run together."""
        return StatementSet(self)

    def add_python_file(self, file_path: str) -> None:
        """Let functions import from a Python file, a package's archive or a directory.

        Where several have a module of one name, the last added counts, for functions that have not
        imported it before.

        Parameters
        ----------
        file_path : str
            Path on the driver.
        """
        from pyflow.table.dependencies import add_file

        add_file(self._spark, file_path)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpack an archive into the working directory of functions.

        The functions of a local master have that of the program: a link there leads to the files
        as long as Spark's JVM runs.

        Parameters
        ----------
        archive_path : str
            Path of a zip file on the driver.
        target_dir : str, optional
            Name of the directory; that of the file by default.

        Raises
        ------
        TableException
            If there is no such file, another archive has that name, or, with a local master,
            something of that name is in the working directory.
        """
        from pyflow.table.dependencies import add_archive

        add_archive(self._spark, archive_path, target_dir)

    @unsupported(
        "packages are not installed while a job runs. Install them into the executors' Python, or "
        "pack an environment and use add_python_archive()"
    )
    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Install packages for functions."""

    def sql_query(self, query: str) -> Any:
        """Return the table of a query in Flink's SQL.

        Parameters
        ----------
        query : str
            SELECT, VALUES, or queries combined.

        Raises
        ------
        TableException
            With line and column, where the query is wrong or asks for what is not carried.
        """
        from pyflow.table import sql

        return sql.query(self, query)

    def execute_sql(self, stmt: str) -> Any:
        """Run a statement in Flink's SQL.

        Parameters
        ----------
        stmt : str
            One statement; docs/table-api/sql.md says which.

        Raises
        ------
        TableException
            With line and column, where the statement is wrong or asks for what is not carried.
        """
        from pyflow.table import sql

        return sql.execute(self, stmt)

    def explain_sql(self, stmt: str, *extra_details: int) -> Any:
        """Return how a query or an insertion in Flink's SQL is run.

        Parameters
        ----------
        stmt : str
            A query, INSERT or STATEMENT SET.
        *extra_details
            As for :meth:`Table.explain`.
        """
        from pyflow.table import sql

        return sql.explain(self, stmt, *extra_details)

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        """Add the catalog that a descriptor describes.

        Parameters
        ----------
        catalog_name : str
            Its name.
        catalog_descriptor : CatalogDescriptor
            The options of ``CREATE CATALOG``: ``type`` and those of the type.

        Raises
        ------
        CatalogException
            If there is one of the name.
        TableException
            If there is no such type, or no such option.
        """
        self._objects.create_catalog(catalog_name, catalog_descriptor)

    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """Add a catalog.

        Parameters
        ----------
        catalog_name : str
            Its name.
        catalog : Catalog
            A `GenericInMemoryCatalog`, a `SparkCatalog`, or one of a class of the program.

        Raises
        ------
        CatalogException
            If there is one of the name.
        TypeError
            If it is no catalog.
        """
        if not isinstance(catalog, Catalog):
            raise TypeError(f"expected a Catalog, got {type(catalog).__name__}")
        self._objects.register_catalog(catalog_name, catalog)

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        """Return the catalog of a name; None if there is none."""
        return self._objects.catalog_or_none(catalog_name)

    @unsupported(_MODULES)
    def load_module(self, module_name: str, module: Module) -> None:
        """Add a module of functions."""

    @unsupported(_MODULES)
    def unload_module(self, module_name: str) -> None:
        """Take a module of functions away."""

    @unsupported(_MODULES)
    def use_modules(self, *module_names: str) -> None:
        """Say which modules of functions are used."""

    @unsupported(_MODELS)
    def create_model(
        self,
        model_path: str,
        model_descriptor: ModelDescriptor,
        ignore_if_exists: bool | None = False,
    ) -> None:
        """Add a model."""

    @unsupported(_MODELS)
    def create_temporary_model(
        self,
        model_path: str,
        model_descriptor: ModelDescriptor,
        ignore_if_exists: bool | None = False,
    ) -> None:
        """Add a model."""

    @unsupported(_MODELS)
    def drop_model(self, model_path: str, ignore_if_not_exists: bool | None = True) -> Any:
        """Forget a model."""

    @unsupported(_MODELS)
    def drop_temporary_model(self, model_path: str) -> Any:
        """Forget a model."""

    @unsupported(_PLANS)
    def load_plan(self, plan_reference: PlanReference) -> Any:
        """Read a plan."""

    @unsupported(_PLANS)
    def compile_plan_sql(self, stmt: str) -> Any:
        """Make a plan of a statement."""

    @unsupported(_PLANS)
    def execute_plan(self, plan_reference: PlanReference) -> Any:
        """Run a plan."""

    # What tables, expressions and functions ask of their environment.

    def _relation_of(self, entry: Entry) -> Relation:
        """Return the rows of a table or view."""
        table = entry.table
        if isinstance(table, TableView):
            assert table.table is not None
            return table.table._rows
        if isinstance(table, SparkTable) or not table.is_view:
            return relation_of(table._descriptor, entry.identifier, self)
        if entry.path in self._views:
            raise TableException(f"The view {entry.identifier} reads itself.")
        from pyflow.table import sql

        self._views.append(entry.path)
        try:
            return sql.view(self, table, entry.identifier)
        finally:
            self._views.pop()

    @functools.cached_property
    def _one_row(self) -> Relation:
        """The relation of one row without columns, in one partition."""
        return Relation(self._spark.range(0, 1, 1, 1).select(), ())

    def _function(self, name: str) -> Any:
        """Return the function registered under a name; None if there is none."""
        found = self._objects.function(name)
        if found is None or found.function is not None:
            return None if found is None else found.function
        assert found.described is not None
        return self._instantiated(found.described)

    def _system_function(self, name: str) -> Any:
        """Return the temporary system function of a name; None if there is none."""
        found = self._objects.system_function(name)
        return None if found is None else found.function or self._function(name)

    def _instantiated(self, described: CatalogFunction) -> Any:
        """Return the function that a catalog describes.

        Raises
        ------
        TableException
            If there is none of its name.
        """
        name = described.get_class_name()
        if described.get_function_language() != "PYTHON":
            return JavaFunction(name, self._spark)
        module, _, attribute = name.rpartition(".")
        if not module or not attribute:
            raise TableException(f"the place of a Python function is 'module.name', not {name!r}")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise TableException(f"'{name}' cannot be imported: {error}") from error
        return self._wrapped(found)

    def _function_of(self, call: Node, *kinds: str) -> Any:
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

    def _check_wrapper(self, function: Any) -> None:
        from pyflow.table.udf import UserDefinedFunctionWrapper

        if not isinstance(function, UserDefinedFunctionWrapper):
            raise TypeError(
                "expected an Expression or a function made by udf(), udtf(), udaf() or udtaf(), "
                f"got {type(function).__name__}: {function!r}"
            )

    def _wrapped(self, function: Any) -> Any:
        from pyflow.table.udf import AggregateFunction, TableAggregateFunction, udaf, udtaf

        if isinstance(function, JavaFunction):
            return function
        if isinstance(function, AggregateFunction):
            return udaf(function)
        if isinstance(function, TableAggregateFunction):
            return udtaf(function)
        self._check_wrapper(function)
        return function

    def _function_settings(self) -> FunctionSettings:
        return FunctionSettings.of(self._spark, self._config.to_map(), self._metrics)

    def _time_zone_name(self) -> str:
        return str(self._spark.conf.get("spark.sql.session.timeZone"))

    def _time_zone(self) -> datetime.tzinfo:
        return time_zone(self._time_zone_name())

    def _parallelism(self) -> int:
        """Return how many tasks work at once: as set, or as many as Spark has cores."""
        chosen = int(self._config.get("parallelism.default", None) or -1)
        if chosen > 0:
            return chosen
        if hasattr(self._spark, "_jsparkSession"):
            return int(self._spark.sparkContext.defaultParallelism)
        return 1

    def _register_unnamed(self, table: Table) -> str:
        name = f"UnnamedTable${self._unnamed}"
        self._unnamed += 1
        self._objects.add_view(f"`{name}`", table, temporary=True)
        return name

    def _insertion(
        self,
        target: str | TableDescriptor,
        table: Table,
        overwrite: bool,
        on_conflict: str | None = None,
    ) -> Insertion:
        if isinstance(target, str):
            entry = self._objects.find(target)
            if entry.descriptor is None:
                raise TableException(f"{entry.identifier} is a view: it cannot be written.")
            return insertion_of(
                entry.descriptor,
                entry.identifier,
                entry.path,
                table._rows,
                overwrite,
                self,
                on_conflict,
            )
        name = "of a descriptor"
        return insertion_of(target, name, None, table._rows, overwrite, self, on_conflict)


class StreamTableEnvironment(TableEnvironment):
    """A table environment that also reads and writes data streams.

    A data stream of a collection becomes a table by :meth:`from_data_stream`.
    """

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment | None = None,
        environment_settings: EnvironmentSettings | None = None,
    ) -> StreamTableEnvironment:
        """Make a table environment.

        Parameters
        ----------
        stream_execution_environment : StreamExecutionEnvironment, optional
            Its settings are those of the tables, too.
        environment_settings : EnvironmentSettings, optional
            Mode and configuration; they hold before those of the other environment.

        Raises
        ------
        TypeError
            If the first is of another type.
        ValueError
            If neither is given.
        """
        given = stream_execution_environment
        if given is not None and not isinstance(given, StreamExecutionEnvironment):
            raise TypeError(f"expected a StreamExecutionEnvironment, got {type(given).__name__}")
        if given is None and environment_settings is None:
            raise ValueError(
                "No argument found, the param 'stream_execution_environment' "
                "or 'environment_settings' is required."
            )
        builder = EnvironmentSettings.new_instance()
        if given is not None:
            builder.with_configuration(given._configuration)
        if environment_settings is not None:
            builder.with_configuration(environment_settings.get_configuration())
        settings = builder.build()
        return StreamTableEnvironment(_session(settings), settings)

    def from_data_stream(self, data_stream: DataStream, *fields_or_schema: Any) -> Table:
        """Return the table of a data stream.

        Parameters
        ----------
        data_stream : DataStream
            The stream; its type says the columns: the fields of rows and tuples, ``f0`` otherwise.
        fields_or_schema : Schema or Expression
            A schema, which names columns by the stream's fields and may convert them, leave some
            out and add computed columns and watermarks; or expressions: fields of the stream, with
            an alias or not, or new names for the first of its fields, and then a processing time.

        Raises
        ------
        TableException
            If the stream has no type, or has no such fields.
        """
        return self._of_data_stream(data_stream, *fields_or_schema)

    @unsupported(_DATA_STREAMS)
    def from_changelog_stream(
        self, data_stream: Any, schema: Any = None, changelog_mode: Any = None
    ) -> Any:
        """Return the table that a stream of changes describes."""

    @unsupported(_DATA_STREAMS)
    def to_data_stream(self, table: Table) -> Any:
        """Return the rows of a table as a data stream."""

    @unsupported(_DATA_STREAMS)
    def to_changelog_stream(
        self, table: Table, target_schema: Any = None, changelog_mode: Any = None
    ) -> Any:
        """Return the changes of a table as a data stream."""

    @unsupported(_DATA_STREAMS)
    def to_append_stream(self, table: Table, type_info: Any) -> Any:
        """Return the rows of a table as a data stream."""

    @unsupported(_DATA_STREAMS)
    def to_retract_stream(self, table: Table, type_info: Any) -> Any:
        """Return the changes of a table as a data stream."""


def _settings(given: Any) -> EnvironmentSettings:
    if isinstance(given, Configuration):
        return EnvironmentSettings.new_instance().with_configuration(given).build()
    if not isinstance(given, EnvironmentSettings):
        raise TypeError("argument should be EnvironmentSettings or Configuration")
    return given


def _prepare(session: SparkSession, streaming: bool) -> None:
    """Give a session the settings that tables need."""
    is_classic = hasattr(session, "_jsparkSession")
    if is_classic:
        from pyflow.table.jvm_classes import remember_methods

        remember_methods(session._jvm)
    session.conf.set("spark.sql.caseSensitive", "true")
    session.conf.set("spark.sql.timeType.enabled", "true")
    # Each task of an operator with state opens a store; Spark's default are 200 tasks.
    if streaming and is_classic and session.conf.get(_PARTITIONS, None) is None:
        session.conf.set(_PARTITIONS, str(session.sparkContext.defaultParallelism))


def _session(settings: EnvironmentSettings) -> SparkSession:
    """Return the active session, or start one in which functions run in thread mode."""
    from pyspark.sql import SparkSession

    from pyflow.session import configure, present_settings, with_items

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    builder = SparkSession.builder
    present = present_settings(builder)
    jars = start_jars(settings.get_configuration())
    if jars:
        # The driver finds classes of sources and drivers in jars that it is started with.
        builder = builder.config("spark.jars", with_items(present.get("spark.jars", ""), *jars))
    builder = configure(builder)
    chosen = {key: value for key, value in _DEFAULTS.items() if key not in present}
    given = start_settings(settings.get_configuration())
    return builder.config(map={**chosen, **given}).getOrCreate()
