"""Maps in Spark's columns."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def map_of_last(keys: Column, values: Column) -> Column:
    """Return the map of two arrays, in which the last value of a key is kept.

    Spark fails for duplicate keys, unless a setting of the session says otherwise.
    """
    entries = F.arrays_zip(keys.alias("key"), values.alias("value"))
    last = F.filter(
        entries,
        lambda entry, position: (
            ~F.exists(
                F.slice(
                    keys, position + 2, F.greatest(F.array_size(keys) - position - 1, F.lit(0))
                ),
                lambda key: key.eqNullSafe(entry.getField("key")),
            )
        ),
    )
    return F.map_from_entries(last)
