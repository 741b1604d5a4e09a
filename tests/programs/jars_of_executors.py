"""Calls a static method of a class of another jar on an executor."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import pyflow

builder = pyflow.configure(SparkSession.builder.master("local-cluster[1,1,1024]"))
spark = builder.getOrCreate()
print("called:", spark.range(1).select(F.expr("reflect('Probe', 'answer')")).first()[0])
spark.stop()
