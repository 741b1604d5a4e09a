"""Catalogs: where databases with their tables, views and functions are kept."""
