"""An application whose functions import a module that is only in the archive of its Python."""

import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf


def value(n):
    import only_in_archive

    executable = os.path.basename(os.readlink("/proc/self/exe"))
    return f"{only_in_archive.VALUE}, {os.path.basename(sys.prefix)}, {executable == 'java'}"


spark = SparkSession.builder.appName("archived").getOrCreate()
f = udf(value, useArrow=False)  # the archive has no pyarrow
for mode in ("default", "process", "thread"):
    if mode != "default":
        spark.conf.set("spark.pyflow.execution-mode", mode)
    values = spark.range(2).select(f("id")).distinct()
    print(f"{mode} {values.collect()}")
values.explain()
spark.stop()
