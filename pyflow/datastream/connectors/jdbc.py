"""A sink of databases, by statements of the program."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.errors import PythonException
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from pyflow.common.typeinfo import Types
from pyflow.connectors.jdbc import DATABASES, NOT_IN_DATABASES, failure_reason
from pyflow.datastream.connectors.base import Sink
from pyflow.datastream.formats.row_columns import RowEncoder
from pyflow.datastream.formats.row_types import columns_of, shape_in_session
from pyflow.types.logical_types import RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.common.typeinfo import RowTypeInfo, TypeInformation
    from pyflow.session.context import Context

__all__ = ["JdbcConnectionOptions", "JdbcExecutionOptions", "JdbcSink"]

_WRITER = "io.pyflow.connectors.JdbcStatements"
# The number of RowKind.UPDATE_AFTER: any row that is not to be deleted by its key.
_WRITTEN = 2
# Strings, quoted names and comments, and question marks; two are an operator of PostgreSQL.
_TOKENS = re.compile(
    r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|\?\?|(\?)", flags=re.DOTALL
)


class JdbcSink(Sink):
    """Executes a statement for each element; made by `sink`.

    The elements of a task are written in one transaction, where the database has them. After a
    failure a micro-batch is written again: statements that insert or update by a key have each
    element once.
    """

    def __init__(
        self,
        sql: str,
        type_info: RowTypeInfo,
        connection: JdbcConnectionOptions,
        execution: JdbcExecutionOptions,
    ) -> None:
        row_type = type_info.data_type()
        if not isinstance(row_type, RowType):
            raise TypeError(f"type_info must be a type of rows, not {type_info}")
        for field in row_type.fields:
            if isinstance(field.data_type, NOT_IN_DATABASES):
                raise TableException(
                    f"field {field.name!r} of type_info has the type {field.data_type.sql}, which "
                    "databases do not have"
                )
        marks = sum(1 for token in _TOKENS.finditer(sql) if token[1])
        # What ends a string that has a backslash is different from database to database.
        if marks != len(row_type.fields) and "\\" not in sql:
            raise ValueError(
                f"the statement has {marks} question marks, and type_info {len(row_type.fields)} "
                f"fields: {sql}"
            )
        self._sql = self.writes = sql
        self._row_type = row_type
        types, names = type_info.get_field_types(), type_info.get_field_names()
        self._unscaled = {
            place: name
            for place, (name, each) in enumerate(zip(names, types))
            if each == Types.BIG_DEC()
        }
        self._connection = connection
        self._execution = execution

    @staticmethod
    def sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """Return the sink of a statement.

        Parameters
        ----------
        sql : str
            Any statement that changes rows, such as ``INSERT INTO t (a, b) VALUES (?, ?)``. The
            fields of an element are its parameters, in their order.
        type_info : RowTypeInfo
            The types of the parameters.
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
        execution = jdbc_execution_options or JdbcExecutionOptions.defaults()
        return JdbcSink(sql, type_info, jdbc_connection_options, execution)

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[Any, ...]]:
        """Return what makes the parameters of an element."""
        encode = RowEncoder(shape_in_session(self._row_type))
        return _ExactParameters(encode, self._unscaled) if self._unscaled else encode

    def schema(self, type_info: TypeInformation | None) -> spark.StructType:
        """Return the columns of the parameters."""
        return columns_of(self._row_type)

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Execute the statement for each row.

        Raises
        ------
        TableException
            If the database refuses it. It says why.
        """
        options = self._connection.options()
        writers = self._connection.writers()
        if writers is not None:
            frame = frame.coalesce(writers)
        parameters = [_parameter(field) for field in frame.schema.fields]
        kind = F.lit(_WRITTEN).cast("tinyint").alias("$kind")
        options["writeStatement"] = self._sql
        options["batchsize"] = str(self._execution.get_batch_size())
        writer = frame.select(*parameters, kind).write.format(_WRITER).options(**options)
        try:
            writer.mode("append").save()
        except PythonException:
            # Of the program's own functions.
            raise
        except Exception as error:
            raise TableException(
                f"the statement {self._sql!r} failed: {failure_reason(error)}"
            ) from error


class _ExactParameters:
    """Makes the parameters of an element, and refuses numbers that would be rounded.

    Parameters
    ----------
    encode : RowEncoder
    unscaled : dict
        The places and names of fields whose type has no scale.
    """

    def __init__(self, encode: RowEncoder, unscaled: dict[int, str]) -> None:
        self._encode = encode
        self._unscaled = unscaled

    def __call__(self, value: Any, timestamp: int | None) -> tuple[Any, ...]:
        made = self._encode(value, timestamp)
        for place, name in self._unscaled.items():
            is_named = isinstance(value, dict) or name in (getattr(value, "_fields", None) or ())
            given = value[name] if is_named else value[place]
            if made[place] != given:
                raise ValueError(
                    f"field {name} of the element is {given}, and a BIG_DEC has 18 decimal places "
                    "at most here: round it, or declare the field as a string"
                )
        return made


def _parameter(field: spark.StructField) -> Column:
    column = F.col(f"`{field.name}`")
    # Spark has no setter for times of the day.
    is_time = isinstance(field.dataType, spark.TimeType)
    return column.cast("string").alias(field.name) if is_time else column


class JdbcConnectionOptions:
    """How a database is reached; made by `JdbcConnectionOptionsBuilder`.

    Parameters
    ----------
    url : str
        Such as ``jdbc:mysql://host:3306/database``.
    driver_name : str or None
        The class of the driver; None for that of MySQL, MariaDB, PostgreSQL or SQLite.
    user_name, password : str or None

    Raises
    ------
    ValueError
        If the address is none of JDBC.
    TableException
        If there is no class of a driver, and the database is none of those known.
    """

    def __init__(
        self,
        url: str,
        driver_name: str | None = None,
        user_name: str | None = None,
        password: str | None = None,
    ) -> None:
        parts = url.split(":", 2)
        if len(parts) < 3 or parts[0] != "jdbc":
            raise ValueError(f"{url!r} is no address such as jdbc:mysql://host:3306/database")
        self._database = next((each for each in DATABASES if parts[1] in each.schemes), None)
        if self._database is None and driver_name is None:
            raise TableException(
                f"the driver of {url!r} is not known; name its class by with_driver_name()"
            )
        self._url = url
        self._driver_name = driver_name
        self._user_name = user_name
        self._password = password

    def get_db_url(self) -> str:
        """Return the address."""
        return self._url

    def get_driver_name(self) -> str | None:
        """Return the class of the driver, if one was given."""
        return self._driver_name

    def get_user_name(self) -> str | None:
        """Return the name of the user, if one was given."""
        return self._user_name

    def get_password(self) -> str | None:
        """Return the password, if one was given."""
        return self._password

    def options(self) -> dict[str, str]:
        """Return the options of Spark's JDBC sink. PyFlow's own."""
        url, driver = self._url, self._driver_name
        if self._database is not None and driver in (None, self._database.driver):
            url, driver = self._database.address(url), self._database.driver
        # The statement names its table itself.
        options = {"url": url, "driver": str(driver), "dbtable": "statement"}
        if self._user_name is not None:
            options["user"] = self._user_name
        if self._password is not None:
            options["password"] = self._password
        return options

    def writers(self) -> int | None:
        """Return how many tasks may write at once; None for any number. PyFlow's own."""
        return None if self._database is None else self._database.writers

    class JdbcConnectionOptionsBuilder:
        """Makes `JdbcConnectionOptions`."""

        def __init__(self) -> None:
            self._url: str | None = None
            self._driver_name: str | None = None
            self._user_name: str | None = None
            self._password: str | None = None

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the address."""
            self._url = url
            return self

        def with_driver_name(
            self, driver_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the class of the driver."""
            self._driver_name = driver_name
            return self

        def with_user_name(
            self, user_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the name of the user."""
            self._user_name = user_name
            return self

        def with_password(
            self, password: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the password."""
            self._password = password
            return self

        def build(self) -> JdbcConnectionOptions:
            """Return the options.

            Raises
            ------
            ValueError
                If there is no address.
            """
            if not self._url:
                raise ValueError("JdbcConnectionOptions need an address: call with_url()")
            return JdbcConnectionOptions(
                self._url, self._driver_name, self._user_name, self._password
            )


class JdbcExecutionOptions:
    """How many statements are executed at once; made by `builder` or `defaults`.

    Parameters
    ----------
    batch_interval_ms : int
        In milliseconds; 0 for none. Statements are executed with each micro-batch.
    batch_size : int
        How many statements go to the database at once.
    max_retries : int
        How often a failed batch would be tried again; Spark tries tasks again, as often as
        ``spark.task.maxFailures`` says.
    """

    def __init__(
        self, batch_interval_ms: int = 0, batch_size: int = 5000, max_retries: int = 3
    ) -> None:
        self._batch_interval_ms = batch_interval_ms
        self._batch_size = batch_size
        self._max_retries = max_retries

    def get_batch_interval_ms(self) -> int:
        """Return the interval in milliseconds."""
        return self._batch_interval_ms

    def get_batch_size(self) -> int:
        """Return how many statements go to the database at once."""
        return self._batch_size

    def get_max_retries(self) -> int:
        """Return how often a failed batch would be tried again."""
        return self._max_retries

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Return 5000 statements at once and 3 tries more."""
        return JdbcExecutionOptions()

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Begin such options."""
        return JdbcExecutionOptions.Builder()

    class Builder:
        """Makes `JdbcExecutionOptions`."""

        def __init__(self) -> None:
            self._made = JdbcExecutionOptions()

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            """Set how many statements go to the database at once."""
            self._made._batch_size = size
            return self

        def with_batch_interval_ms(self, interval_ms: int) -> JdbcExecutionOptions.Builder:
            """Set the interval in milliseconds; statements are executed with each micro-batch."""
            self._made._batch_interval_ms = interval_ms
            return self

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            """Set how often a failed batch would be tried again.

            Raises
            ------
            ValueError
                If the number is negative.
            """
            if max_retries < 0:
                raise ValueError(f"max_retries must not be negative, but is {max_retries}")
            self._made._max_retries = max_retries
            return self

        def build(self) -> JdbcExecutionOptions:
            """Return the options."""
            made = self._made
            return JdbcExecutionOptions(
                made._batch_interval_ms, made._batch_size, made._max_retries
            )
