"""Rows that are lines of CSV, alone or in files."""

from __future__ import annotations

from pyflow.datastream.formats.csv_rows import (
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
)

__all__ = ["CsvRowDeserializationSchema", "CsvRowSerializationSchema"]
