"""Sources that are Java classes of Flink."""

from __future__ import annotations

from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = ["InputFormat"]


@unsupported("it is a Java class of Flink; read with a connector or a data source of Spark")
class InputFormat:
    """A source that is a Java class of Flink."""

    def __init__(self, j_input_format: Any) -> None: ...
