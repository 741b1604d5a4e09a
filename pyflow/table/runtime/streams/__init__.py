"""Operators that keep state while rows of an unbounded stream go by.

Each is a processor of PySpark's ``transformWithState``, with its methods but without its base
class, so that these modules import nothing but the standard library at their top. An operator gets,
per micro-batch, the rows of one key. They are sorted by their SEQUENCE where their order matters:
Spark keeps the order of arrival within a key only as long as it does not spill.

Changes that an operator emits for a key are numbered in the order in which it emits them, near the
numbers of the rows that caused them.
"""
