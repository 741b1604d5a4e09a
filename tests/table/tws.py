"""PySpark's tester of stateful processors, for the modules that need one."""

from __future__ import annotations

import pytest

try:
    from pyspark.sql.streaming import TwsTester as TwsTester
except ImportError:
    pytest.skip("Spark has no TwsTester before 4.2", allow_module_level=True)
