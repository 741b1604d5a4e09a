"""Exceptions of functions, shown as PySpark's workers show them."""

from __future__ import annotations

import os
import traceback
from types import TracebackType
from typing import Any

from pyspark.errors import PySparkRuntimeError

from pyflow.thread_mode import pyspark_worker

__all__ = [
    "ErrorOptions",
    "FormattedError",
    "LoadRefusedError",
    "format_as_it_is",
    "format_exception",
]

_OWN_FILES = os.path.dirname(os.path.abspath(__file__)) + os.sep


class ErrorOptions:
    """What of a traceback is shown, as Spark's configuration says.

    Parameters
    ----------
    hide_traceback, simplified_traceback, traceback_with_locals : bool
        ``spark.sql.execution.pyspark.udf.hideTraceback.enabled``,
        ``spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled``,
        ``spark.python.tracebackWithLocals`` as Spark names them.
    """

    def __init__(
        self, hide_traceback: bool, simplified_traceback: bool, traceback_with_locals: bool
    ) -> None:
        self.hide_traceback = hide_traceback
        self.simplified_traceback = simplified_traceback
        self.traceback_with_locals = traceback_with_locals

    @classmethod
    def of(cls, spec: dict[str, Any]) -> ErrorOptions:
        """The options in a specification by the JVM, where they have the parameters' names."""
        return cls(
            spec["hide_traceback"], spec["simplified_traceback"], spec["traceback_with_locals"]
        )


class FormattedError(Exception):
    """An error of another interpreter, which has formatted it already; its text is the message."""


class LoadRefusedError(Exception):
    """Functions cannot be loaded into this interpreter, but workers can run them.

    The text is the reason, the end of a sentence.
    """


def format_exception(error: BaseException, options: ErrorOptions | None) -> str:
    """Format an exception that left a function.

    A ``StopIteration`` becomes PySpark's ``STOP_ITERATION_OCCURRED``, since it would end a loop
    over results silently.
    """
    if isinstance(error, (FormattedError, LoadRefusedError)):
        return str(error)
    if isinstance(error, StopIteration):
        error = _stop_iteration_occurred(error)
    return format_as_it_is(error, options)


def format_as_it_is(error: BaseException, options: ErrorOptions | None) -> str:
    """Format an exception, a ``StopIteration`` too."""
    if options is not None and options.hide_traceback:
        return "".join(traceback.format_exception_only(type(error), error))
    trace = error.__traceback__
    if options is not None and options.simplified_traceback:
        beyond = _beyond_own_frames(trace)
        simplified = pyspark_worker.simplified_traceback(beyond) if beyond is not None else None
        if simplified is not None:
            trace = simplified
            error.__cause__ = None
    capture_locals = options is not None and options.traceback_with_locals
    return "".join(
        traceback.TracebackException(
            type(error), error, trace, compact=True, capture_locals=capture_locals
        ).format()
    )


def _beyond_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback below PyFlow's own frames, which stand where a worker's would."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OWN_FILES):
        trace = trace.tb_next
    return trace


def _stop_iteration_occurred(error: StopIteration) -> BaseException:
    try:
        try:
            raise error
        except StopIteration:
            raise PySparkRuntimeError(  # noqa: B904  both are shown
                errorClass="STOP_ITERATION_OCCURRED", messageParameters={"exc": str(error)}
            )
    except PySparkRuntimeError as occurred:
        return occurred
