"""Catalogs and what they hold, under the names of ``pyflink.table.catalog``."""

from __future__ import annotations

from typing import Any

from pyflow.common.unsupported import unsupported
from pyflow.table.catalog_objects import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    ObjectIdentifier,
    ObjectPath,
    Procedure,
)
from pyflow.table.catalog_objects import CatalogModel as CatalogModel
from pyflow.table.resolved_schema import (
    Column,
    ComputedColumn,
    Constraint,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)

__all__ = [
    "Catalog",
    "CatalogBaseTable",
    "CatalogColumnStatistics",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogFunction",
    "CatalogPartition",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "Column",
    "ComputedColumn",
    "Constraint",
    "HiveCatalog",
    "MetadataColumn",
    "ObjectIdentifier",
    "ObjectPath",
    "PhysicalColumn",
    "Procedure",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]

_OWN_CATALOG = (
    "a table environment keeps its tables and functions in a catalog of its own, which its methods"
    " read and write (create_table, list_tables, from_path, drop_table); Spark's catalogs are read"
    " with from_spark(spark.table(name))"
)

_MEMBERS = """
    get_default_database list_databases get_database database_exists create_database
    drop_database alter_database list_tables list_views list_materialized_tables get_table
    table_exists drop_table rename_table create_table alter_table list_partitions
    get_partition partition_exists create_partition drop_partition alter_partition
    list_functions list_procedures get_function get_procedure function_exists
    create_function alter_function drop_function list_models get_model model_exists
    drop_model rename_model create_model alter_model get_table_statistics
    get_table_column_statistics get_partition_statistics bulk_get_partition_statistics
    get_partition_column_statistics bulk_get_partition_column_statistics
    alter_table_statistics alter_table_column_statistics alter_partition_statistics
    alter_partition_column_statistics
"""


@unsupported(_OWN_CATALOG)
class Catalog:
    """Databases with their tables, functions, partitions and models."""

    def __init__(self, j_catalog: Any) -> None: ...


@unsupported(_OWN_CATALOG)
class HiveCatalog(Catalog):
    """The catalog of a Hive metastore."""

    def __init__(
        self,
        catalog_name: str,
        default_database: str | None = None,
        hive_conf_dir: str | None = None,
        hadoop_conf_dir: str | None = None,
        hive_version: str | None = None,
    ) -> None: ...


@unsupported(_OWN_CATALOG)
class JdbcCatalog(Catalog):
    """The catalog of a relational database."""

    def __init__(
        self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str
    ) -> None: ...


def _declare_members() -> None:
    for name in _MEMBERS.split():

        def member(self: Catalog, *args: Any, **kwargs: Any) -> Any:
            """Read or write the catalog."""

        member.__name__, member.__qualname__ = name, f"Catalog.{name}"
        setattr(Catalog, name, unsupported(_OWN_CATALOG)(member))


_declare_members()
