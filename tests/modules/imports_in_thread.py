"""A module that waits, while it is imported, for a thread that imports another one."""

from __future__ import annotations

import threading


def _import() -> None:
    import points  # noqa: F401


_thread = threading.Thread(target=_import, daemon=True)
_thread.start()
_thread.join(timeout=20)
has_waited_in_vain = _thread.is_alive()
