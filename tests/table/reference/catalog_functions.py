"""Functions that the programs over catalogs name; of the package that has been imported."""

from __future__ import annotations

import sys
from importlib import import_module

PACKAGE = "pyflink" if "pyflink" in sys.modules else "pyflow"
DataTypes = import_module(f"{PACKAGE}.table").DataTypes
wrappers = import_module(f"{PACKAGE}.table.udf")

plus = wrappers.udf(lambda x: x + 1, result_type=DataTypes.INT())
minus = wrappers.udf(lambda x: x - 1, result_type=DataTypes.INT())
nd = wrappers.udf(lambda x: x, result_type=DataTypes.INT(), deterministic=False)


@wrappers.udtf(result_types=[DataTypes.STRING()])
def split(x):
    yield x


@wrappers.udaf(result_type=DataTypes.BIGINT(), func_type="pandas")
def total(x):
    return x.sum()
