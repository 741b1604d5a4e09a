"""What catalogs hold: names, databases, tables, functions, partitions, statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyflow.common.configuration import Configuration
from pyflow.table.schema import Schema
from pyflow.table.table_descriptor import TableDescriptor
from pyflow.table.table_schema import TableSchema
from pyflow.util.exceptions import TableException
from pyflow.util.identifiers import quoted
from pyflow.util.unsupported import unsupported

if TYPE_CHECKING:
    from pyflow.table.changes.relation import Relation


@dataclass(frozen=True, order=True)
class ObjectPath:
    """The name of a table, view or function in its database.

    Parameters
    ----------
    database_name, object_name : str
        The two names.
    """

    database_name: str
    object_name: str

    def get_database_name(self) -> str:
        """Return the database's name."""
        return self.database_name

    def get_object_name(self) -> str:
        """Return the object's name in it."""
        return self.object_name

    def get_full_name(self) -> str:
        """Return both names with a point between."""
        return f"{self.database_name}.{self.object_name}"

    def compare_to(self, other: ObjectPath) -> int:
        """Return -1, 0 or 1: whether this name comes before the other, is it, or comes after."""
        return (self > other) - (self < other)

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """Return the name of ``database.object``.

        Raises
        ------
        ValueError
            If there are not two names.
        """
        names = full_name.split(".")
        if len(names) != 2:
            raise ValueError(f"{full_name!r} is not of the form database.object")
        return ObjectPath(*names)

    def __str__(self) -> str:
        return self.get_full_name()


@dataclass(frozen=True)
class ObjectIdentifier:
    """The full name of a table, view or function; made by `of`."""

    catalog_name: str
    database_name: str
    object_name: str

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        """Return the name of an object in a database of a catalog.

        Raises
        ------
        ValueError
            If one of the names is None.
        """
        if None in (catalog_name, database_name, object_name):
            raise ValueError(
                "the names of catalog, database and object must all be given, not"
                f" {(catalog_name, database_name, object_name)}"
            )
        return ObjectIdentifier(catalog_name, database_name, object_name)

    def get_catalog_name(self) -> str:
        """Return the catalog's name."""
        return self.catalog_name

    def get_database_name(self) -> str:
        """Return the database's name."""
        return self.database_name

    def get_object_name(self) -> str:
        """Return the object's name."""
        return self.object_name

    def to_object_path(self) -> ObjectPath:
        """Return the name within the catalog."""
        return ObjectPath(self.database_name, self.object_name)

    def to_list(self) -> list[str]:
        """Return the three names."""
        return [self.catalog_name, self.database_name, self.object_name]

    def as_serializable_string(self) -> str:
        """Return the name as SQL reads it, each part in backquotes."""
        return ".".join(map(quoted, self.to_list()))

    def as_summary_string(self) -> str:
        """Return the name to be read by people, without quotes."""
        return ".".join(self.to_list())

    def __str__(self) -> str:
        return self.as_serializable_string()


@dataclass(frozen=True)
class CatalogDatabase:
    """A database; made by `create_instance`."""

    properties: Mapping[str, str]
    comment: str | None = None

    @staticmethod
    def create_instance(
        properties: Mapping[str, str], comment: str | None = None
    ) -> CatalogDatabase:
        """Return a database of these properties."""
        return CatalogDatabase(dict(properties), comment)

    def get_properties(self) -> dict[str, str]:
        """Return the properties."""
        return dict(self.properties)

    def get_comment(self) -> str | None:
        """Return the comment of the database."""
        return self.comment

    def copy(self) -> CatalogDatabase:
        """Return an equal database."""
        return CatalogDatabase(dict(self.properties), self.comment)

    def get_description(self) -> str | None:
        """Return the comment of the database."""
        return self.comment

    def get_detailed_description(self) -> str | None:
        """Return the comment of the database."""
        return self.comment


@dataclass(frozen=True)
class CatalogBaseTable:
    """A table or a view; made by `create_table` and `create_view`.

    Parameters
    ----------
    schema : Schema
        The columns.
    options : dict
        The options of connector and format.
    partition_keys : tuple of str
        The columns by which the table is partitioned.
    comment : str, optional
        Its comment.
    original_query, expanded_query : str, optional
        Of a view: the query as written, and with all names in full.
    """

    schema: Schema
    options: Mapping[str, str] = field(default_factory=dict)
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None
    original_query: str | None = None
    expanded_query: str | None = None

    @staticmethod
    def create_table(
        schema: TableSchema,
        partition_keys: list[str] | tuple[str, ...] = (),
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """Return a table.

        Parameters
        ----------
        schema : TableSchema
            The columns.
        partition_keys : list of str
            The columns by which it is partitioned.
        properties : dict, optional
            The options of connector and format.
        comment : str, optional
            Its comment.
        """
        return CatalogBaseTable(
            _declared(schema), dict(properties or {}), tuple(partition_keys), comment
        )

    @staticmethod
    def create_view(
        original_query: str,
        expanded_query: str,
        schema: TableSchema,
        properties: Mapping[str, str],
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """Return a view.

        Parameters
        ----------
        original_query, expanded_query : str
            The query as written, and with all names in full.
        schema : TableSchema
            The columns.
        properties : dict
            Options.
        comment : str, optional
            Its comment.
        """
        columns = _declared(schema)
        return CatalogBaseTable(
            columns, dict(properties), (), comment, original_query, expanded_query
        )

    def get_options(self) -> dict[str, str]:
        """Return the options of connector and format."""
        return dict(self.options)

    def get_unresolved_schema(self) -> Schema:
        """Return the columns."""
        return self.schema

    def get_comment(self) -> str | None:
        """Return the comment of the table."""
        return self.comment

    def copy(self) -> CatalogBaseTable:
        """Return an equal table."""
        return replace(self)

    def get_description(self) -> str | None:
        """Return the comment of the table."""
        return self.comment

    def get_detailed_description(self) -> str | None:
        """Return None, as Flink's tables do."""
        return None

    @property
    def is_view(self) -> bool:
        """Whether it is a view."""
        return self.expanded_query is not None

    @cached_property
    def _descriptor(self) -> TableDescriptor:
        """The table as connectors have it; the same object each time."""
        return TableDescriptor(self.schema, self.options, self.partition_keys, self.comment)

    @staticmethod
    def _of_descriptor(descriptor: TableDescriptor) -> CatalogBaseTable:
        """Return the table of a descriptor, which has a schema."""
        assert descriptor.schema is not None
        return CatalogBaseTable(
            descriptor.schema,
            descriptor.options,
            descriptor.partition_keys,
            descriptor.comment,
        )


@dataclass(frozen=True)
class QueryView(CatalogBaseTable):
    """A view of a query in SQL, which is read anew at each use.

    Parameters
    ----------
    query_columns : tuple of str
        The columns of the query when the view was made: what ``*`` has meant.
    place : tuple of str
        The catalog and database that were the current ones then: what names mean.
    """

    query_columns: tuple[str, ...] = ()
    place: tuple[str, str] = ("", "")


@dataclass(frozen=True, eq=False)
class TableView(CatalogBaseTable):
    """A view of a table that a program has made by operations.

    Parameters
    ----------
    relation : Relation
        The rows of the table.
    """

    relation: Relation | None = None

    @property
    def is_view(self) -> bool:
        """Whether it is a view."""
        return True


@dataclass(frozen=True)
class CatalogPartition:
    """A partition; made by `create_instance`."""

    properties: Mapping[str, str]
    comment: str | None = None

    @staticmethod
    def create_instance(
        properties: Mapping[str, str], comment: str | None = None
    ) -> CatalogPartition:
        """Return a partition of these properties."""
        return CatalogPartition(dict(properties), comment)

    def get_properties(self) -> dict[str, str]:
        """Return the properties."""
        return dict(self.properties)

    def copy(self) -> CatalogPartition:
        """Return an equal partition."""
        return CatalogPartition(dict(self.properties), self.comment)

    def get_description(self) -> str | None:
        """Return None, as Flink's partitions do."""
        return None

    def get_detailed_description(self) -> str | None:
        """Return None, as Flink's partitions do."""
        return None

    def get_comment(self) -> str | None:
        """Return the comment of the partition."""
        return self.comment


@dataclass(frozen=True)
class CatalogFunction:
    """A function that a catalog names; made by `create_instance`."""

    class_name: str
    function_language: str
    options: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def create_instance(class_name: str, function_language: str = "Python") -> CatalogFunction:
        """Return the function of this name.

        Parameters
        ----------
        class_name : str
            ``module.name`` of a Python function, or the name of a Java class.
        function_language : str
            ``Python``, ``Java`` or ``Scala``, in any case.

        Raises
        ------
        ValueError
            If it is another language.
        """
        language = function_language.upper()
        if language not in ("PYTHON", "JAVA", "SCALA"):
            raise ValueError(
                f"function_language must be 'Python', 'Java' or 'Scala', not {function_language!r}"
            )
        return CatalogFunction(class_name, language)

    def get_class_name(self) -> str:
        """Return the name of what computes the function."""
        return self.class_name

    def copy(self) -> CatalogFunction:
        """Return an equal function."""
        return CatalogFunction(self.class_name, self.function_language, dict(self.options))

    def get_description(self) -> str | None:
        """Return what the function is."""
        return "This is a user-defined function"

    def get_detailed_description(self) -> str | None:
        """Return what the function is."""
        return "This is a user-defined function"

    def get_function_language(self) -> str:
        """Return the language: ``PYTHON``, ``JAVA`` or ``SCALA``."""
        return self.function_language

    def get_options(self) -> dict[str, str]:
        """Return the function's options."""
        return dict(self.options)


@dataclass(frozen=True)
class CatalogModel:
    """A model of machine learning; made by `create_model`."""

    input_schema: Schema
    output_schema: Schema
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    @staticmethod
    def create_model(
        input_schema: Schema,
        output_schema: Schema,
        options: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogModel:
        """Return a model of what it is asked, what it answers, and its provider's options."""
        return CatalogModel(input_schema, output_schema, dict(options or {}), comment)

    def copy(self) -> CatalogModel:
        """Return an equal model."""
        return CatalogModel(**self.__dict__)

    def get_comment(self) -> str | None:
        """Return the comment of the model."""
        return self.comment

    def get_options(self) -> dict[str, str]:
        """Return the provider's options."""
        return dict(self.options)


@unsupported("it is a Java class of Flink; call the program's own functions")
class Procedure:
    """A procedure of a catalog."""

    def __init__(self, j_procedure: Any) -> None: ...


class CatalogPartitionSpec:
    """The values of the columns by which a table is partitioned.

    Parameters
    ----------
    partition_spec : dict
        Values by column, in any order.
    """

    def __init__(self, partition_spec: Mapping[str, str]) -> None:
        self._partition_spec = dict(partition_spec)

    def get_partition_spec(self) -> dict[str, str]:
        """Return the values by column."""
        return dict(self._partition_spec)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CatalogPartitionSpec)
            and self._partition_spec == other._partition_spec
        )

    def __hash__(self) -> int:
        return hash(frozenset(self._partition_spec.items()))

    def __str__(self) -> str:
        values = ", ".join(f"{key}={value}" for key, value in self._partition_spec.items())
        return f"CatalogPartitionSpec{{{{{values}}}}}"


@dataclass(frozen=True)
class CatalogTableStatistics:
    """How large a table or partition is.

    Parameters
    ----------
    row_count : int
        Rows.
    field_count : int
        Files, in spite of the name, which is PyFlink's.
    total_size, raw_data_size : int
        Bytes in files, and in memory.
    properties : dict, optional
        Anything else.
    """

    row_count: int
    field_count: int
    total_size: int
    raw_data_size: int
    properties: Mapping[str, str] | None = None

    def get_row_count(self) -> int:
        """Return the number of rows."""
        return self.row_count

    def get_field_count(self) -> int:
        """Return the number of files."""
        return self.field_count

    def get_total_size(self) -> int:
        """Return the bytes in files."""
        return self.total_size

    def get_raw_data_size(self) -> int:
        """Return the bytes in memory."""
        return self.raw_data_size

    def get_properties(self) -> dict[str, str]:
        """Return anything else that is known."""
        return dict(self.properties or {})

    def copy(self) -> CatalogTableStatistics:
        """Return equal figures."""
        return CatalogTableStatistics(**self.__dict__)


@dataclass(frozen=True)
class CatalogColumnStatistics:
    """What is known of the values of columns.

    Parameters
    ----------
    column_statistics_data : dict
        Figures by column.
    properties : dict, optional
        Anything else.
    """

    column_statistics_data: Mapping[str, Any]
    properties: Mapping[str, str] | None = None

    def get_column_statistics_data(self) -> dict[str, Any]:
        """Return the figures by column."""
        return dict(self.column_statistics_data)

    def get_properties(self) -> dict[str, str]:
        """Return anything else that is known."""
        return dict(self.properties or {})

    def copy(self) -> CatalogColumnStatistics:
        """Return equal figures."""
        return CatalogColumnStatistics(**self.__dict__)


@dataclass(frozen=True)
class CatalogDescriptor:
    """A catalog's name and settings, as ``CREATE CATALOG``; made by `of`."""

    catalog_name: str
    configuration: Configuration
    comment: str | None = None

    @staticmethod
    def of(
        catalog_name: str, configuration: Configuration, comment: str | None = None
    ) -> CatalogDescriptor:
        """Return the description of a catalog.

        Raises
        ------
        TableException
            If it has no name.
        """
        if not catalog_name:
            raise TableException("a catalog needs a name")
        return CatalogDescriptor(catalog_name, configuration, comment)


def _declared(schema: TableSchema) -> Schema:
    return (
        Schema.new_builder()
        .from_fields(schema.get_field_names(), schema.get_field_data_types())
        .build()
    )
