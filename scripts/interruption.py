"""Ctrl-C and SIGTERM as an event, for programs that account for their work before they end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruption() -> Iterator[threading.Event]:
    """Have both signals set an event, and raise ``KeyboardInterrupt`` from the end on.

    Python has no handler for SIGINT where it was ignored before, as a shell has it for programs in
    the background; and an exception that a handler raises is lost where it meets a destructor.
    """
    interrupted = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        signal.signal(number, lambda *_: interrupted.set())
    try:
        yield interrupted
    finally:
        for number in numbers:
            signal.signal(number, signal.default_int_handler)
