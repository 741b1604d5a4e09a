"""The version of PySpark, where what Spark does differs."""

from __future__ import annotations

import pyspark

__all__ = ["SPARK"]

#: Major and minor version: ``(4, 3)`` of 4.3.1.
SPARK = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
