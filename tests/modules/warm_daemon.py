"""PySpark's daemon, with what its workers import already loaded.

A worker ends with the first failing task, and each new one would import pyarrow again: with
hundreds of failing tasks that is most of the time of the tests.
"""

import numpy  # noqa: F401
import pandas  # noqa: F401
import pyarrow  # noqa: F401
import pyspark.sql.conversion
import pyspark.sql.pandas.types
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

if __name__ == "__main__":
    manager()
