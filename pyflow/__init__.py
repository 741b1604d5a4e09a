"""PyFlow runs PySpark's Python functions inside the executor JVM.

This package is also imported inside the interpreters that run there. It therefore imports
nothing before it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflow.session.builder import configure as configure
    from pyflow.session.builder import jar_path as jar_path

__version__ = "0.1.0"
__all__ = ["__version__", "configure", "jar_path"]


def load_ipython_extension(ipython: Any) -> None:
    """Add the magics ``%sql`` and ``%%sql`` to IPython, by ``%load_ext pyflow``."""
    from pyflow.cli.interactive.ipython import load

    load(ipython)


def __getattr__(name: str) -> Any:
    if name in ("configure", "jar_path"):
        from pyflow.session import builder as session

        return getattr(session, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
