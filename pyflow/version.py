"""The version of the package, under the name of ``pyflink.version``."""

from pyflow import __version__

__all__ = ["__version__"]
