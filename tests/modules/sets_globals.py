"""A module that sets, while it is imported, what Python keeps once per process."""

from __future__ import annotations

import decimal
import sqlite3
import warnings

decimal.getcontext().Emax = 999_000
warnings.filterwarnings("error", message="raised by a filter of a module")

connection = sqlite3.connect(":memory:", isolation_level=None)
connection.execute("create table numbers (task integer, n integer)")
