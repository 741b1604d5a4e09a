"""What is done with a window that fires, and with one that is over: the window functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pyflow.common.constants import MAX_LONG_VALUE
from pyflow.datastream.functions import (
    AllWindowFunction,
    KeyedStateStore,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from pyflow.datastream.runtime.chained import emitting

if TYPE_CHECKING:
    from pyflow.datastream.runtime.operator import KeyedContext
    from pyflow.datastream.state import StateDescriptor

__all__ = ["Evaluator", "evaluator"]


class Evaluator:
    """Emits the contents of windows.

    Parameters
    ----------
    context : KeyedContext
    """

    def __init__(self, context: KeyedContext) -> None:
        self._emit = context.emit
        #: Of the element or timer for which a window is evaluated that has no end.
        self.timestamp: int | None = None

    def _timestamp_of(self, window: Any) -> int | None:
        """Return the timestamp of what a window emits."""
        end: int = window.max_timestamp()
        return self.timestamp if end == MAX_LONG_VALUE else end

    def fire(self, window: Any, namespace: bytes, contents: list[Any]) -> None:
        """Emit what becomes of the contents of a window of the current key.

        Parameters
        ----------
        window : Window
        namespace : bytes
            Of its state.
        contents : list
        """
        timestamp = self._timestamp_of(window)
        for each in contents:
            self._emit(each, timestamp)

    def clear(self, window: Any, namespace: bytes) -> None:
        """Have the state of a window removed, which is over."""


class _Applying(Evaluator):
    """Emits what a function makes of the contents."""

    def __init__(self, context: KeyedContext, function: Any) -> None:
        super().__init__(context)
        self._key = context.key
        self._emit_all = emitting(context)
        self._function = function

    def fire(self, window: Any, namespace: bytes, contents: list[Any]) -> None:
        made = self._function.apply(self._key(), window, contents)
        self._emit_all(made, self._timestamp_of(window))


class _ApplyingToAll(_Applying):
    def fire(self, window: Any, namespace: bytes, contents: list[Any]) -> None:
        self._emit_all(self._function.apply(window, contents), self._timestamp_of(window))


class _Processing(_Applying):
    def __init__(self, context: KeyedContext, function: Any, is_merging: bool) -> None:
        super().__init__(context, function)
        self._own = _WindowContext(context, is_merging)

    def fire(self, window: Any, namespace: bytes, contents: list[Any]) -> None:
        own = self._own.of(window, namespace)
        self._emit_all(
            self._function.process(self._key(), own, contents), self._timestamp_of(window)
        )

    def clear(self, window: Any, namespace: bytes) -> None:
        self._function.clear(self._own.of(window, namespace))


class _ProcessingAll(_Processing):
    def fire(self, window: Any, namespace: bytes, contents: list[Any]) -> None:
        own = self._own.of(window, namespace)
        self._emit_all(self._function.process(own, contents), self._timestamp_of(window))


class _WindowContext(ProcessWindowFunction.Context[Any], ProcessAllWindowFunction.Context[Any]):
    """What a function may ask for while it handles a window."""

    def __init__(self, context: KeyedContext, is_merging: bool) -> None:
        self._keyed = context
        self._is_merging = is_merging
        self._window: Any = None
        self._namespace = b""
        self._global_state = KeyedStateStore(context.state)

    def of(self, window: Any, namespace: bytes) -> _WindowContext:
        """Return this context, of a window."""
        self._window, self._namespace = window, namespace
        return self

    def window(self) -> Any:
        return self._window

    def current_processing_time(self) -> int:
        return self._keyed.processing_time()

    def current_watermark(self) -> int:
        return self._keyed.watermark()

    def window_state(self) -> KeyedStateStore:
        if self._is_merging:
            return KeyedStateStore(_refuse)
        state, namespace = self._keyed.state, self._namespace
        return KeyedStateStore(lambda descriptor: state(descriptor, namespace))

    def global_state(self) -> KeyedStateStore:
        return self._global_state


def _refuse(descriptor: StateDescriptor) -> NoReturn:
    raise RuntimeError("Per-window state is not allowed when using merging windows.")


def evaluator(context: KeyedContext, function: Any, is_merging: bool) -> Evaluator:
    """Return what evaluates windows by a function.

    Parameters
    ----------
    context : KeyedContext
    function : WindowFunction, ProcessWindowFunction, AllWindowFunction, ProcessAllWindowFunction
        None emits the contents themselves.
    is_merging : bool
        Whether windows merge, and have no state of functions.

    Raises
    ------
    TypeError
        If the function is none of these.
    """
    if function is None:
        return Evaluator(context)
    if isinstance(function, WindowFunction):
        return _Applying(context, function)
    if isinstance(function, AllWindowFunction):
        return _ApplyingToAll(context, function)
    if isinstance(function, ProcessWindowFunction):
        return _Processing(context, function, is_merging)
    if isinstance(function, ProcessAllWindowFunction):
        return _ProcessingAll(context, function, is_merging)
    raise TypeError(
        "expected a WindowFunction, a ProcessWindowFunction or one of those for all elements, got "
        f"{function!r}"
    )
