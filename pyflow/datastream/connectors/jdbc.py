"""Databases as sinks, by statements of the program.

The statements run in executors, through the driver's jar that the session has been given and
Spark's own handling of connections, types and batches. The rows of a task are one transaction. A
task, or a micro-batch, that fails is written again: a statement that updates the row of its key, as
``INSERT ... ON CONFLICT ... DO UPDATE`` does, leaves no row twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyflow.common.typeinfo import MapTypeInfo, RowTypeInfo, TupleTypeInfo
from pyflow.datastream.connectors.base import Sink
from pyflow.datastream.formats.row_columns import RowEncoder
from pyflow.datastream.formats.row_types import columns_of, shape_in_session
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context
    from pyflow.types.logical_types import RowType

__all__ = ["JdbcConnectionOptions", "JdbcExecutionOptions", "JdbcSink"]

# Texts and quoted names, comments, and question marks; two are one in PostgreSQL's operators.
_TOKENS = re.compile(
    r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|\?\?|(\?)", flags=re.DOTALL
)
_TABLE = "statement"


@dataclass(frozen=True)
class JdbcConnectionOptions:
    """How a database is reached; made by its ``JdbcConnectionOptionsBuilder``."""

    _url: str
    _driver: str | None = None
    _user: str | None = None
    _password: str | None = field(default=None, repr=False)

    def get_db_url(self) -> str:
        """Return the address, such as ``jdbc:postgresql://host/database``."""
        return self._url

    def get_driver_name(self) -> str | None:
        """Return the class of the driver; None for that of the database."""
        return self._driver

    def get_user_name(self) -> str | None:
        """Return the name of the user, if one is set."""
        return self._user

    def get_password(self) -> str | None:
        """Return the password, if one is set."""
        return self._password

    class JdbcConnectionOptionsBuilder:
        """Builds `JdbcConnectionOptions`."""

        def __init__(self) -> None:
            self._options = JdbcConnectionOptions("")

        def _set(self, **values: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._options = replace(self._options, **values)
            return self

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the address, such as ``jdbc:postgresql://host/database``."""
            return self._set(_url=url)

        def with_driver_name(
            self, driver_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the class of the driver; its jar must be one of the session."""
            return self._set(_driver=driver_name)

        def with_user_name(
            self, user_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the name of the user."""
            return self._set(_user=user_name)

        def with_password(
            self, password: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the password."""
            return self._set(_password=password)

        def build(self) -> JdbcConnectionOptions:
            """Return the options.

            Raises
            ------
            ValueError
                If there is no address, or it is none of JDBC.
            """
            url = self._options.get_db_url()
            if not re.match(r"jdbc:[^:]+:", url or ""):
                raise ValueError(
                    f"the address of a database is one as jdbc:postgresql://host/name, not {url!r}"
                )
            return self._options


@dataclass(frozen=True)
class JdbcExecutionOptions:
    """How many rows are sent at once; made by `builder`."""

    _batch_interval_ms: int = 0
    _batch_size: int = 5000
    _max_retries: int = 3

    def get_batch_interval_ms(self) -> int:
        """Return after how many milliseconds rows are sent in Flink; here when a batch ends."""
        return self._batch_interval_ms

    def get_batch_size(self) -> int:
        """Return how many rows are sent at once."""
        return self._batch_size

    def get_max_retries(self) -> int:
        """Return how often Flink tries again; Spark does as ``spark.task.maxFailures`` says."""
        return self._max_retries

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Return the options of sinks that are given none."""
        return JdbcExecutionOptions()

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Return a builder of options."""
        return JdbcExecutionOptions.Builder()

    class Builder:
        """Builds `JdbcExecutionOptions`."""

        def __init__(self) -> None:
            self._options = JdbcExecutionOptions()

        def _set(self, **values: int) -> JdbcExecutionOptions.Builder:
            self._options = replace(self._options, **values)
            return self

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            """Set how many rows are sent at once, 5000 by default."""
            return self._set(_batch_size=size)

        def with_batch_interval_ms(self, interval_ms: int) -> JdbcExecutionOptions.Builder:
            """Set after how many milliseconds rows are sent; here they are when a batch ends."""
            return self._set(_batch_interval_ms=interval_ms)

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            """Set how often to try again; Spark does as ``spark.task.maxFailures`` says.

            Raises
            ------
            ValueError
                If the number is negative.
            """
            if max_retries < 0:
                raise ValueError(f"max_retries is not negative, as {max_retries} is")
            return self._set(_max_retries=max_retries)

        def build(self) -> JdbcExecutionOptions:
            """Return the options."""
            return self._options


class JdbcSink(Sink):
    """Runs a statement for each row; made by `sink`."""

    def __init__(
        self,
        sql: str,
        type_info: RowTypeInfo,
        connection: JdbcConnectionOptions,
        execution: JdbcExecutionOptions,
    ) -> None:
        self._sql = sql
        self._type_info = type_info
        self._connection = connection
        self._execution = execution

    @staticmethod
    def sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """Return a sink that runs a statement for each row.

        Parameters
        ----------
        sql : str
            The statement, such as an INSERT, with a question mark for each field.
        type_info : RowTypeInfo
            Of the rows.
        jdbc_connection_options : JdbcConnectionOptions
        jdbc_execution_options : JdbcExecutionOptions, optional

        Raises
        ------
        TypeError
            If the type is none of rows.
        ValueError
            If the statement has another number of question marks than the type fields.
        TableException
            If databases do not have the type of a field.
        """
        if not isinstance(type_info, RowTypeInfo):
            raise TypeError(f"type_info is the type of rows, not {type_info!r}")
        for name, each in zip(type_info.get_field_names(), type_info.get_field_types()):
            if isinstance(each, (TupleTypeInfo, MapTypeInfo)):
                raise TableException(
                    f"field {name!r} has the type {each!r}, which databases do not have"
                )
        marks = sum(1 for found in _TOKENS.finditer(sql) if found[1])
        fields = len(type_info.get_field_types())
        if marks != fields:
            raise ValueError(
                f"the statement has {marks} question marks for the {fields} fields of a row: {sql}"
            )
        execution = jdbc_execution_options or JdbcExecutionOptions.defaults()
        return JdbcSink(sql, type_info, jdbc_connection_options, execution)

    def _row_type(self) -> RowType:
        from pyflow.types.logical_types import RowType

        found = self._type_info.data_type()
        assert isinstance(found, RowType)
        return found

    def schema(self, type_info: TypeInformation | None) -> StructType:
        """Return a column for each field."""
        return columns_of(self._row_type())

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[Any, ...] | None]:
        """Return what makes the columns of a row."""
        return RowEncoder(shape_in_session(self._row_type()))

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Run the statement for each row.

        Raises
        ------
        TableException
            If the database refuses it. It says why.
        """
        from pyspark.sql import functions as F

        from pyflow.connectors.jdbc import WRITER, database_of, failure_reason, written
        from pyflow.table.changes.relation import KIND, UPDATE_AFTER

        database = database_of(self._connection.get_db_url())
        if database is not None and database.writers is not None:
            frame = frame.coalesce(database.writers)
        columns = [written(each.name, each.data_type) for each in self._row_type().fields]
        rows = frame.select(*columns, F.lit(UPDATE_AFTER).cast("tinyint").alias(KIND))
        try:
            rows.write.format(WRITER).options(**self._options()).mode("append").save()
        except Exception as error:
            raise TableException(
                f"the statement {self._sql!r} failed at {self._connection.get_db_url()!r}: "
                f"{failure_reason(error)}"
            ) from error

    def _options(self) -> dict[str, str]:
        from pyflow.connectors.jdbc import database_of

        connection = self._connection
        url, driver = connection.get_db_url(), connection.get_driver_name()
        database = database_of(url)
        if driver is None and database is not None:
            url, driver = database.address(url), database.driver
        given = {
            "driver": driver,
            "user": connection.get_user_name(),
            "password": connection.get_password(),
        }
        return {
            "url": url,
            "dbtable": _TABLE,
            "writeStatement": self._sql,
            "batchsize": str(self._execution.get_batch_size()),
            **{key: value for key, value in given.items() if value is not None},
        }
