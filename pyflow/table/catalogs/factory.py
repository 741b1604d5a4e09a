"""Catalogs by the option ``type`` of CREATE CATALOG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pyflow.table.catalogs.in_memory import GenericInMemoryCatalog
from pyflow.table.catalogs.spark import SparkCatalog
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyflow.table.catalogs.catalog import Catalog

_DATABASE = "default-database"


def _in_memory(name: str, options: Mapping[str, str], session: SparkSession) -> Catalog:
    return GenericInMemoryCatalog(name, options.get(_DATABASE, "default"))


def _of_spark(name: str, options: Mapping[str, str], session: SparkSession) -> Catalog:
    return SparkCatalog(
        name, session, options.get("catalog", "spark_catalog"), options.get(_DATABASE)
    )


#: What makes a catalog of a type, and the options that it takes.
_TYPES: dict[
    str, tuple[Callable[[str, Mapping[str, str], SparkSession], Catalog], tuple[str, ...]]
] = {
    "generic_in_memory": (_in_memory, (_DATABASE,)),
    "spark": (_of_spark, ("catalog", _DATABASE)),
}


def catalog_of_options(name: str, options: Mapping[str, str], session: SparkSession) -> Catalog:
    """Return the catalog that options describe.

    Raises
    ------
    TableException
        If there is no such type, or an option that it does not have.
    """
    given = dict(options)
    kind = given.pop("type", None)
    if kind is None:
        raise TableException(
            f"Unable to create catalog '{name}'. Catalog options do not contain an option key "
            f"'type' for discovering a catalog. Types here are: {', '.join(sorted(_TYPES))}."
        )
    if kind not in _TYPES:
        raise TableException(
            f"Unable to create catalog '{name}'. There is no type '{kind}' here. Types here are: "
            f"{', '.join(sorted(_TYPES))}. A catalog of Spark's, as of Iceberg or of a relational "
            "database, is reached by type 'spark' with the option 'catalog'."
        )
    make, known = _TYPES[kind]
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise TableException(
            f"Unable to create catalog '{name}'. Unsupported options found for '{kind}': "
            f"{', '.join(unknown)}. Supported options: {', '.join(sorted(('type', *known)))}."
        )
    return make(name, given, session)
