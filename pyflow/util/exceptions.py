"""Errors of the Table API, with the names of ``pyflink.util.exceptions``.

In PyFlink they carry a stack trace of the JVM; here they carry the message.
"""

from __future__ import annotations


class JavaException(Exception):
    """Base of the errors of the Table API.

    Parameters
    ----------
    stack_trace : str
        What was wrong, where, and what to do.
    """

    def __init__(self, stack_trace: str) -> None:
        super().__init__(stack_trace)
        self.stack_trace = stack_trace

    def __str__(self) -> str:
        return self.stack_trace


class TableException(JavaException):
    """A table, expression or setting is used wrongly, or asks for what is not supported."""


class CatalogException(JavaException):
    """A catalog cannot do what was asked of it."""


class DatabaseAlreadyExistException(JavaException):
    """A database is created that is there already."""


class DatabaseNotEmptyException(JavaException):
    """A database is dropped that still holds tables."""


class DatabaseNotExistException(JavaException):
    """A database is used that is not there."""


class FunctionAlreadyExistException(JavaException):
    """A function is created that is there already."""


class FunctionNotExistException(JavaException):
    """A function is used that is not there."""


class PartitionAlreadyExistsException(JavaException):
    """A partition is created that is there already."""


class PartitionNotExistException(JavaException):
    """A partition is used that is not there, or of a table without partitions."""


class PartitionSpecInvalidException(JavaException):
    """The keys of a partition are not the first keys by which its table is partitioned."""


class TableAlreadyExistException(JavaException):
    """A table or view is created that is there already."""


class TableNotExistException(JavaException):
    """A table or view is used that is not there."""


class ModelAlreadyExistException(JavaException):
    """A model is created that is there already."""


class ModelNotExistException(JavaException):
    """A model is used that is not there."""


class TableNotPartitionedException(JavaException):
    """A partition is asked of a table that has none."""
