"""Tables and views of Spark's catalogs."""

from __future__ import annotations

from dataclasses import dataclass

from pyflow.table.catalogs.objects import CatalogBaseTable
from pyflow.table.table_descriptor import TableDescriptor

__all__ = ["SparkTable"]


@dataclass(frozen=True)
class SparkTable(CatalogBaseTable):
    """A table or view of Spark's.

    Parameters
    ----------
    full_name : str
        Its name in Spark's SQL.
    stored : frozenset of str
        The options that say how it is stored; others are properties, which can be changed.
    """

    full_name: str = ""
    stored: frozenset[str] = frozenset()

    @property
    def _descriptor(self) -> TableDescriptor:
        options = {"connector": "spark", "table": self.full_name}
        return TableDescriptor(self.schema, options, self.partition_keys, self.comment)
