"""Table environments: where tables, functions and settings live."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflow.common.configuration import Configuration
from pyflow.common.typeinfo import RowTypeInfo, Types
from pyflow.common.types import Row, RowKind, _create_row
from pyflow.session.given import given_settings
from pyflow.session.start import active_session
from pyflow.table import sql
from pyflow.table.catalogs.catalog import Catalog
from pyflow.table.catalogs.objects import CatalogFunction
from pyflow.table.context import TableContext
from pyflow.table.environment_settings import EnvironmentSettings
from pyflow.table.functions.java import JavaFunction
from pyflow.table.functions.names import built_in_names
from pyflow.table.module import MODULES, ModuleEntry
from pyflow.table.relations import data_frames, sources
from pyflow.table.relations.tables import relation_of, relation_of_entry
from pyflow.table.statement_set import StatementSet
from pyflow.table.table import Table
from pyflow.table.udf import wrapped
from pyflow.types.logical_types import DataType, RowType
from pyflow.util.exceptions import TableException
from pyflow.util.unsupported import unsupported

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame, SparkSession

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.data_stream import DataStream
    from pyflow.datastream.stream_execution_environment import StreamExecutionEnvironment
    from pyflow.table.catalogs.manager import CatalogManager
    from pyflow.table.catalogs.objects import CatalogDescriptor
    from pyflow.table.changelog_mode import ChangelogMode
    from pyflow.table.model_descriptor import ModelDescriptor
    from pyflow.table.module import Module
    from pyflow.table.plan_reference import PlanReference
    from pyflow.table.schema import Schema
    from pyflow.table.table_config import TableConfig
    from pyflow.table.table_descriptor import TableDescriptor

__all__ = ["StreamTableEnvironment", "TableEnvironment"]

_PARTITIONS = "spark.sql.shuffle.partitions"
_MODELS = "there are no models here; call one from a function"
_MODULES = "built-in functions are those of this package; there are no modules of others"
_PLANS = "Spark plans a query when it runs; there are no plans to keep"


class TableEnvironment:
    """Makes tables, keeps tables and functions by name, and holds the settings.

    Use :meth:`create` to make one.
    """

    def __init__(self, session: SparkSession, settings: EnvironmentSettings) -> None:
        _prepare(session, settings.is_streaming_mode())
        self._context = TableContext(session, settings, sql)

    @property
    def _catalogs(self) -> CatalogManager:
        return self._context.catalogs

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
        self._catalogs.add_system_function(name, _registered(function))

    def drop_temporary_system_function(self, name: str) -> bool:
        """Drop a temporary function; return whether there was one of the name."""
        return self._catalogs.drop_system_function(name)

    def create_temporary_function(self, path: str, function: Any) -> None:
        """Register a Python function under a name in a catalog and database.

        Parameters
        ----------
        path : str
            The name; the current catalog and database where it names none.
        function
            As for :meth:`create_temporary_system_function`.
        """
        self._catalogs.add_function(path, _registered(function))

    def drop_temporary_function(self, path: str) -> bool:
        """Drop a temporary function; return whether there was one of the name."""
        return self._catalogs.drop_temporary_function(path)

    def drop_function(self, path: str) -> bool:
        """Drop a function of a catalog; return whether there was one."""
        return self._catalogs.drop_function(path, ignore=True)

    def create_java_temporary_system_function(self, name: str, function_class_name: str) -> None:
        """Register a function of a JVM class under a name that holds in every catalog.

        Parameters
        ----------
        name : str
            The name, in any case.
        function_class_name : str
            A class that implements one of ``org.apache.spark.sql.api.java.UDF0`` to ``UDF22``.
        """
        function = JavaFunction(function_class_name, self._context.session)
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
        self._context.instantiated(function)
        self._catalogs.create_function(path, function, bool(ignore_if_exists))

    def create_java_temporary_function(self, path: str, function_class_name: str) -> None:
        """Register a function of a JVM class; as :meth:`create_temporary_function`."""
        self.create_temporary_function(
            path, JavaFunction(function_class_name, self._context.session)
        )

    def create_temporary_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool | None = False,  # noqa: N803
    ) -> None:
        """Describe a table that a connector reads or writes.

        Parameters
        ----------
        path : str
            The name; the current catalog and database where it names none.
        descriptor : TableDescriptor
            Columns, connector and options.
        ignoreIfExists : bool
            Whether a table that is there already stays, without an error.
        """
        self._catalogs.add_table(path, descriptor, temporary=True, ignore=bool(ignoreIfExists))

    def create_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool | None = False,  # noqa: N803
    ) -> None:
        """Describe a table of the catalog, which lives as long as the environment.

        Parameters
        ----------
        path, descriptor, ignoreIfExists
            As for :meth:`create_temporary_table`.
        """
        self._catalogs.add_table(path, descriptor, temporary=False, ignore=bool(ignoreIfExists))

    def create_temporary_view(
        self,
        view_path: str,
        table_or_data_stream: Table | DataStream,
        *fields_or_schema: Any,
    ) -> None:
        """Register a table as a temporary view.

        Parameters
        ----------
        view_path : str
            The name.
        table_or_data_stream : Table or DataStream
            The table, or the data stream that becomes one.
        fields_or_schema
            For a data stream, as :meth:`StreamTableEnvironment.from_data_stream` has them.
        """
        from pyflow.datastream.data_stream import DataStream

        table = table_or_data_stream
        if isinstance(table, DataStream):
            table = self._of_data_stream(table, *fields_or_schema)
        elif not isinstance(table, Table):
            raise TypeError(f"expected a Table or a DataStream, got {type(table).__name__}")
        elif fields_or_schema:
            raise ValueError(f"Invalid arguments for 'fields': {fields_or_schema!r}")
        table._register(view_path, temporary=True)

    def _of_data_stream(self, data_stream: DataStream, *fields_or_schema: Any) -> Table:
        from pyflow.table.relations.data_streams import relation_of_stream

        relation = relation_of_stream(data_stream, fields_or_schema, self._context)
        return Table(relation, self._context)

    def create_view(
        self, view_path: str, table: Table, ignore_if_exists: bool | None = False
    ) -> None:
        """Register a table as a view of the catalog, which lives as long as the environment.

        Parameters
        ----------
        view_path : str
            The name.
        table : Table
            The table.
        ignore_if_exists : bool
            Whether what is there already stays, without an error.
        """
        table._register(view_path, temporary=False, ignore=bool(ignore_if_exists))

    def drop_temporary_table(self, table_path: str) -> bool:
        """Drop a temporary table; return whether there was one of the name."""
        return self._catalogs.drop_temporary(table_path, view=False)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Drop a table of the catalog; return whether there was one of the name.

        Raises
        ------
        TableException
            If there is none and `ignore_if_not_exists` is false.
        """
        return self._catalogs.drop_permanent(
            table_path, view=False, ignore=bool(ignore_if_not_exists)
        )

    def drop_temporary_view(self, view_path: str) -> bool:
        """Drop a temporary view; return whether there was one of the name."""
        return self._catalogs.drop_temporary(view_path, view=True)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Drop a view of the catalog; return whether there was one of the name.

        Raises
        ------
        TableException
            If there is none and `ignore_if_not_exists` is false.
        """
        return self._catalogs.drop_permanent(
            view_path, view=True, ignore=bool(ignore_if_not_exists)
        )

    def from_path(self, path: str) -> Table:
        """Return the table or view of a name.

        Raises
        ------
        TableException
            If there is none.
        """
        return Table(relation_of_entry(self._catalogs.find(path), self._context), self._context)

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """Return the table that a connector reads.

        Parameters
        ----------
        descriptor : TableDescriptor
            Columns, connector and options.
        """
        return Table(relation_of(descriptor, "of a descriptor", self._context), self._context)

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
        return Table(
            sources.of_elements(elements, schema, verify_schema, self._context), self._context
        )

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
        return Table(data_frames.of_pandas(pdf, schema, splits_num, self._context), self._context)

    def from_spark(self, frame: DataFrame) -> Table:
        """Return a table of a data frame of Spark.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
            A frame with columns of different names. In streaming mode it may be a streaming one,
            whose column with a watermark is a time attribute.
        """
        if frame.isStreaming and not self._context.is_streaming:
            raise TableException(
                "A streaming data frame of Spark is unbounded, which is not allowed in batch mode."
            )
        return Table(sources.of_spark(frame), self._context)

    def list_catalogs(self) -> list[str]:
        """Return the names of the catalogs."""
        return self._catalogs.catalogs()

    def list_databases(self) -> list[str]:
        """Return the names of the databases of the current catalog."""
        return self._catalogs.databases()

    def list_tables(self) -> list[str]:
        """Return the names of the tables and views of the current database."""
        return self._catalogs.names()

    def list_views(self) -> list[str]:
        """Return the names of the views of the current database."""
        return self._catalogs.names(view=True)

    def list_materialized_tables(self) -> list[str]:
        """Return the names of the materialized tables of the current database: none."""
        return []

    def list_temporary_tables(self) -> list[str]:
        """Return the names of the temporary tables and views of the current database."""
        return self._catalogs.names(temporary=True)

    def list_temporary_views(self) -> list[str]:
        """Return the names of the temporary views of the current database."""
        return self._catalogs.names(view=True, temporary=True)

    def list_user_defined_functions(self) -> list[str]:
        """Return the names of the program's functions."""
        return self._catalogs.function_names()

    def list_functions(self) -> list[str]:
        """Return the names of all functions, built-in ones among them."""
        return sorted({*built_in_names(), *self._catalogs.function_names()})

    def list_modules(self) -> list[str]:
        """Return the names of the modules: ``core``, the built-in functions."""
        return [each.name() for each in MODULES]

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return the modules and whether they are used."""
        return list(MODULES)

    def list_models(self) -> list[str]:
        """Return the names of the models: none."""
        return []

    def list_temporary_models(self) -> list[str]:
        """Return the names of the temporary models: none."""
        return []

    def get_current_catalog(self) -> str:
        """Return the name of the current catalog."""
        return self._catalogs.catalog

    def use_catalog(self, catalog_name: str) -> None:
        """Make a catalog the current one.

        Raises
        ------
        CatalogException
            If there is none of the name.
        """
        self._catalogs.use_catalog(catalog_name)

    def get_current_database(self) -> str:
        """Return the name of the current database."""
        return self._catalogs.database

    def use_database(self, database_name: str) -> None:
        """Make a database the current one.

        Raises
        ------
        CatalogException
            If there is none of the name.
        """
        self._catalogs.use_database(database_name)

    def get_config(self) -> TableConfig:
        """Return the settings."""
        return self._context.config

    def create_statement_set(self) -> StatementSet:
        """Return a set of insertions that run together."""
        return StatementSet(self._context)

    def add_python_file(self, file_path: str) -> None:
        """Let functions import from a Python file, a package's archive or a directory.

        Where several have a module of one name, the last added counts, for functions that have not
        imported it before.

        Parameters
        ----------
        file_path : str
            Path on the driver.
        """
        from pyflow.session.dependencies import add_file

        add_file(self._context.session, file_path)

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
        from pyflow.session.dependencies import add_archive

        add_archive(self._context.session, archive_path, target_dir)

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Let functions import packages of a requirements file.

        They are installed on the machine of the program, once, by uv or pip, for the Python of its
        functions, and executors get them; these are of the same platform.

        Parameters
        ----------
        requirements_file_path : str
        requirements_cache_dir : str, optional
            A directory with packages; no others are used then.

        Raises
        ------
        TableException
            If there is no such file, or the packages cannot be installed; the message has the last
            lines of the installer.
        """
        from pyflow.session.dependencies import add_requirements

        add_requirements(self._context.session, requirements_file_path, requirements_cache_dir)

    def sql_query(self, query: str) -> Any:
        """Return the table of a query in Flink's SQL.

        Parameters
        ----------
        query : str
            SELECT, VALUES, or queries combined.

        Raises
        ------
        TableException
            With line and column, where the query is wrong or asks for what is not supported.
        """
        return sql.query(self._context, query)

    def execute_sql(self, stmt: str) -> Any:
        """Run a statement in Flink's SQL.

        Parameters
        ----------
        stmt : str
            One statement; docs/table-api/sql.md says which.

        Raises
        ------
        TableException
            With line and column, where the statement is wrong or asks for what is not supported.
        """
        return sql.execute(self._context, stmt)

    def explain_sql(self, stmt: str, *extra_details: int) -> Any:
        """Return how a query or an insertion in Flink's SQL is run.

        Parameters
        ----------
        stmt : str
            A query, INSERT or STATEMENT SET.
        *extra_details
            As for :meth:`Table.explain`.
        """
        return sql.explain(self._context, stmt, *extra_details)

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
        self._catalogs.create_catalog(catalog_name, catalog_descriptor)

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
        self._catalogs.register_catalog(catalog_name, catalog)

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        """Return the catalog of a name; None if there is none."""
        return self._catalogs.catalog_or_none(catalog_name)

    @unsupported(_MODULES)
    def load_module(self, module_name: str, module: Module) -> None:
        """Add a module of functions."""

    @unsupported(_MODULES)
    def unload_module(self, module_name: str) -> None:
        """Remove a module of functions."""

    @unsupported(_MODULES)
    def use_modules(self, *module_names: str) -> None:
        """Choose which modules of functions are used."""

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
        """Drop a model."""

    @unsupported(_MODELS)
    def drop_temporary_model(self, model_path: str) -> Any:
        """Drop a model."""

    @unsupported(_PLANS)
    def load_plan(self, plan_reference: PlanReference) -> Any:
        """Read a plan."""

    @unsupported(_PLANS)
    def compile_plan_sql(self, stmt: str) -> Any:
        """Make a plan of a statement."""

    @unsupported(_PLANS)
    def execute_plan(self, plan_reference: PlanReference) -> Any:
        """Run a plan."""


class StreamTableEnvironment(TableEnvironment):
    """A table environment that also reads and writes data streams.

    A data stream of a collection becomes a table by :meth:`from_data_stream`.
    """

    # Of the program; it runs the streams that tables become.
    _streams: StreamExecutionEnvironment
    # Whether the program has it, too.
    _is_given: bool

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
            Mode and configuration; they take precedence over those of the other environment.

        Raises
        ------
        TypeError
            If the first is of another type.
        ValueError
            If neither is given.
        """
        from pyflow.datastream.stream_execution_environment import (
            OF_STREAMS,
            StreamExecutionEnvironment,
        )

        given = stream_execution_environment
        if given is not None and not isinstance(given, StreamExecutionEnvironment):
            raise TypeError(f"expected a StreamExecutionEnvironment, got {type(given).__name__}")
        if given is None and environment_settings is None:
            raise ValueError(
                "No argument found, the param 'stream_execution_environment' "
                "or 'environment_settings' is required."
            )
        of_streams = None if given is None else given._configuration
        of_tables = None
        if environment_settings is not None:
            of_tables = environment_settings.get_configuration()
        configuration = given_settings(of_streams, of_tables)
        chosen = configuration.to_dict().items()
        own = {key: value for key, value in chosen if not key.startswith(OF_STREAMS)}
        settings = EnvironmentSettings(Configuration.from_dict(own))
        made = StreamTableEnvironment(_session(settings), settings)
        made._streams = given or StreamExecutionEnvironment(configuration)
        made._is_given = given is not None
        return made

    def create_statement_set(self) -> StatementSet:
        """Return a set of insertions that run together, also as a part of a stream program."""
        return StatementSet(self._context, self._streams if self._is_given else None)

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

    def from_changelog_stream(
        self,
        data_stream: DataStream,
        schema: Schema | None = None,
        changelog_mode: ChangelogMode | None = None,
    ) -> Table:
        """Return the table that a stream of changes describes.

        Parameters
        ----------
        data_stream : DataStream
            Rows of a row type, each of a RowKind.
        schema : Schema, optional
            Names columns of the rows, may convert them, leave some out and add others.
        changelog_mode : ChangelogMode, optional
            Which kinds there are. Those of `ChangelogMode.upsert` are the newest rows by the
            primary key of the schema. Rows of other kinds are not refused.
        """
        from pyflow.table.relations.data_streams import relation_of_changes

        relation = relation_of_changes(data_stream, schema, changelog_mode, self._context)
        return Table(relation, self._context)

    def to_data_stream(self, table: Table) -> DataStream:
        """Return the rows of a table as a data stream.

        Raises
        ------
        TableException
            If rows of the table change.
        """
        from pyflow.table.relations.stream_of_table import source_of

        return self._streams.from_source(*source_of(table._relation), "Table")

    def to_changelog_stream(
        self,
        table: Table,
        target_schema: Schema | None = None,
        changelog_mode: ChangelogMode | None = None,
    ) -> DataStream:
        """Return the changes of a table as a data stream of rows, each of a RowKind.

        Parameters
        ----------
        table : Table
        target_schema : Schema, optional
            Columns of the rows, by position, to which those of the table are converted. A column of
            the metadata ``rowtime`` becomes the event time of the elements.
        changelog_mode : ChangelogMode, optional
            Which kinds the stream has: all if None, and without a schema. `ChangelogMode.upsert`
            leaves out rows from before updates.

        Raises
        ------
        TableException
            If the columns do not fit the schema, if the stream has no updates, which the table has,
            or if the primary key of upserts is not that of the table.
        """
        from pyflow.table.relations.stream_of_table import source_of_changes, source_with_schema

        relation = table._relation
        if target_schema is None:
            return self._streams.from_source(*source_of_changes(relation), "Table")
        source = source_with_schema(relation, target_schema, changelog_mode)
        return self._streams.from_source(*source, "Table")

    def to_append_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the rows of a table as a data stream of elements of a type.

        Raises
        ------
        TableException
            If rows of the table change, or its columns do not fit the type.
        """
        from pyflow.table.relations.stream_of_table import source_of_types

        source = source_of_types(table._relation, type_info, may_change=False)
        stream = self._streams.from_source(*source, "Table")
        return stream.map(_Retyped.of(type_info), type_info)

    def to_retract_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the changes of a table as tuples: whether a row is added, and the row.

        Raises
        ------
        TableException
            If the columns of the table do not fit the type.
        """
        from pyflow.table.relations.stream_of_table import source_of_types

        source = source_of_types(table._relation, type_info, may_change=True)
        stream = self._streams.from_source(*source, "Table")
        return stream.map(
            _Retracted(_Retyped.of(type_info)), Types.TUPLE([Types.BOOLEAN(), type_info])
        )


@dataclass(frozen=True)
class _Retyped:
    """Makes elements of a type of rows, or of tuples.

    Parameters
    ----------
    names : list of str or None
        Of the fields of rows; None for tuples.
    """

    names: list[str] | None

    @staticmethod
    def of(type_info: TypeInformation) -> _Retyped:
        """Return what makes elements of a type."""
        if isinstance(type_info, RowTypeInfo):
            return _Retyped(type_info.get_field_names())
        return _Retyped(None)

    def __call__(self, row: Row) -> Row | tuple[Any, ...]:
        """Return the values of a row, whose fields may have other names."""
        if self.names is None:
            return tuple(row)
        return _create_row(self.names, tuple(row), row.get_row_kind())


@dataclass(frozen=True)
class _Retracted:
    retyped: _Retyped

    def __call__(self, row: Row) -> tuple[bool, Row | tuple[Any, ...]]:
        """Return whether a row is added, and its values."""
        return row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER), self.retyped(row)


def _registered(function: Any) -> Any:
    return function if isinstance(function, JavaFunction) else wrapped(function)


def _settings(given: Any) -> EnvironmentSettings:
    """Return settings with those that the program is given from outside below them."""
    if isinstance(given, EnvironmentSettings):
        given = given.get_configuration()
    if not isinstance(given, Configuration):
        raise TypeError("argument should be EnvironmentSettings or Configuration")
    return EnvironmentSettings(given_settings(given))


def _session(settings: EnvironmentSettings) -> SparkSession:
    """Return the active session, or start one.

    Nearly all programs have SQL; its modules are imported while the JVM starts. They add none of
    PySpark's, whose circular imports two threads could meet half-way.
    """
    threading.Thread(target=sql.load, daemon=True).start()
    return active_session(settings.get_configuration())


def _prepare(session: SparkSession, streaming: bool) -> None:
    """Give a session the settings that tables need."""
    is_classic = hasattr(session, "_jsparkSession")
    if is_classic:
        from pyflow.session.jvm_classes import remember_methods

        remember_methods(session._jvm)
    session.conf.set("spark.sql.caseSensitive", "true")
    session.conf.set("spark.sql.timeType.enabled", "true")
    # Each task of an operator with state opens a store; Spark's default are 200 tasks.
    if streaming and is_classic and session.conf.get(_PARTITIONS, None) is None:
        session.conf.set(_PARTITIONS, str(session.sparkContext.defaultParallelism))
