"""Lets a debugger look into functions of the shared interpreter, by debugpy.

debugpy follows all threads of an interpreter, those of the JVM too, by ``sys.monitoring``. It keeps
its state once per process, in modules that isolated interpreters refuse: functions that would run
there run in the shared interpreter while a debugger is asked for.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

__all__ = ["answer", "wait_for_client"]

_OLDEST = (3, 12)
_POLL_SECONDS = 0.05

_address: list[Any] | None = None
#: The name of the function whose next call stops.
_function: str | None = None
_wait_until = 0.0


def answer(request: bytes) -> bytes:
    """Do what ``pyflow debug`` asks for.

    Parameters
    ----------
    request : bytes
        JSON: ``host``, ``port``, ``function`` (a name or None) and ``seconds`` (how long tasks that
        begin wait for a debugger, if there is such a name).

    Returns
    -------
    bytes
        JSON: ``address``, or ``error``.
    """
    try:
        return json.dumps(_listen(**json.loads(request))).encode()
    except Exception as error:
        return json.dumps({"error": f"{type(error).__name__}: {error}"}).encode()


def _listen(host: str, port: int, function: str | None, seconds: float) -> dict[str, Any]:
    global _address, _function, _wait_until
    if sys.version_info < _OLDEST:
        return {
            "error": f"Python {sys.version.split()[0]}: before 3.12 debugpy does not see threads "
            "of the JVM. python.debug.loopback has functions run in the program"
        }
    try:
        import debugpy
    except ImportError as error:
        return {"error": f"{error}: pip install 'pyflow[debug]' into the Python in {sys.prefix}"}
    if _address is None:
        debugpy.configure(subProcess=False)
        # The adapter is a process of its own: the one in process serves a single connection.
        _address = list(debugpy.listen((host, port)))
    _function, _wait_until = function, time.monotonic() + seconds
    return {"address": _address}


def wait_for_client() -> None:
    """Wait for a debugger where one is to stop in the next call of a function."""
    global _function
    if _function is None:
        return
    import debugpy

    while not debugpy.is_client_connected():
        if time.monotonic() > _wait_until:
            return
        time.sleep(_POLL_SECONDS)
    name, _function = _function, None
    if name is not None:
        _stop_in(name)


def _stop_in(function: str) -> None:
    """Stop once at the beginning of functions of a name.

    Debuggers that go leave such a breakpoint behind: without the condition it would stop later
    calls, with nobody there to let them go on.
    """
    import pydevd  # type: ignore[import-not-found]
    from _pydevd_bundle.pydevd_api import PyDevdAPI  # type: ignore[import-not-found]
    from _pydevd_bundle.pydevd_breakpoints import (  # type: ignore[import-not-found]
        FunctionBreakpoint,
    )

    debugger = pydevd.get_global_debugger()
    breakpoints = dict(debugger.function_breakpoint_name_to_breakpoint)
    breakpoints[function] = FunctionBreakpoint(0, function, None, None, "NONE", "@HIT@ == 1")
    PyDevdAPI().set_function_breakpoints(debugger, list(breakpoints.values()))
