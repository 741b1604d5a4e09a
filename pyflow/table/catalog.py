"""Catalogs and what they hold, under the names of ``pyflink.table.catalog``."""

from __future__ import annotations

from pyflow.table.catalogs.catalog import Catalog
from pyflow.table.catalogs.in_memory import GenericInMemoryCatalog
from pyflow.table.catalogs.objects import (
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
from pyflow.table.catalogs.objects import CatalogModel as CatalogModel
from pyflow.table.catalogs.resolved_schema import (
    Column,
    ComputedColumn,
    Constraint,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)
from pyflow.table.catalogs.spark import SparkCatalog
from pyflow.util.unsupported import unsupported

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
    "GenericInMemoryCatalog",
    "HiveCatalog",
    "MetadataColumn",
    "ObjectIdentifier",
    "ObjectPath",
    "PhysicalColumn",
    "Procedure",
    "ResolvedSchema",
    "SparkCatalog",
    "UniqueConstraint",
    "WatermarkSpec",
]

_HIVE = (
    "start Spark with enableHiveSupport(), and its metastore is the catalog that CREATE CATALOG ..."
    " WITH ('type' = 'spark') shows"
)
_JDBC = (
    "name Spark's JDBCTableCatalog by spark.sql.catalog.NAME, NAME.url and NAME.driver, and make"
    " a catalog with 'type' = 'spark' and 'catalog' = NAME"
)


@unsupported(_HIVE)
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


@unsupported(_JDBC)
class JdbcCatalog(Catalog):
    """The catalog of a relational database."""

    def __init__(
        self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str
    ) -> None: ...
