"""When a task may begin."""

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Whether a task begins when one of its inputs can be read, or all. Spark reads all."""

    ANY = 0
    ALL = 1
