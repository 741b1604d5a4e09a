"""A module that tunes the process while it is imported, as if it had the process for itself."""

from __future__ import annotations

import gc
import locale
import os
import resource
import signal
import time
import tracemalloc

VALUES = []

signal.signal(signal.SIGUSR2, signal.SIG_DFL)
signal.siginterrupt(signal.SIGUSR2, False)
VALUES.append("signal")

is_plain = locale.setlocale(locale.LC_NUMERIC) == "C"
locale.setlocale(locale.LC_NUMERIC, "C.utf8" if is_plain else "C")
VALUES.append("locale")

os.environ["TZ"] = "Asia/Tokyo"
time.tzset()
del os.environ["TZ"]
time.tzset()
VALUES.append("zone")

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
VALUES.append("limit")

os.sched_setaffinity(0, os.sched_getaffinity(0))
VALUES.append("priority")

gc.set_debug(0)
VALUES.append("debug")

tracemalloc.start()
tracemalloc.stop()
VALUES.append("trace")
