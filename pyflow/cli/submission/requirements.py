"""Packages that a program's functions need, installed on this machine once."""

from __future__ import annotations

from pathlib import Path

from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.files import existing
from pyflow.session import requirements as packages_of_functions


def installed(requirements: str, python: str, directory: Path) -> Path:
    """Return a directory with the packages of a file of requirements.

    Parameters
    ----------
    requirements : str
        The file, and behind ``#`` a directory with packages; no others are used then.
    python : str
        The Python that functions run in.
    directory : Path
        Where such directories are.

    Raises
    ------
    SubmissionError
        If there is no such file, or the packages cannot be installed.
    """
    name, _, cache = requirements.partition("#")
    file = Path(existing(name, "-pyreq"))
    packages = Path(existing(cache, "-pyreq")) if cache else None
    try:
        return packages_of_functions.installed(file, packages, python, directory)
    except packages_of_functions.RequirementsError as error:
        raise SubmissionError(f"-pyreq: {error}") from None
