"""Data types, and values of them: what both APIs and functions on executors share."""
