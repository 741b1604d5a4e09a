"""What PyFlink answered: files of this directory that `record.py` writes and tests read.

Each has a stamp: the version of PyFlink, and the day on which it was recorded.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: Of the DataStream API, whose recordings are named ``datastream/values``.
DATASTREAM = HERE.parents[1] / "datastream" / "reference"
REQUIREMENTS = HERE.parents[2] / "requirements" / "pyflink.txt"


def path_of(name: str) -> Path:
    """Return the file of a recording."""
    directory, _, stem = name.rpartition("/")
    return (DATASTREAM if directory else HERE) / f"{stem}.json"


def load(name: str) -> Any:
    """Return the answers of a recording."""
    return _read(name)["answers"]


def stamp_of(name: str) -> dict[str, str]:
    """Return with which version of PyFlink a recording was made, and when."""
    stamp: dict[str, str] = _read(name)["recorded"]
    return stamp


def known(name: str, otherwise: Any) -> Any:
    """Return the answers of a recording; something else where there is none yet."""
    return load(name) if path_of(name).exists() else otherwise


def write(name: str, answers: Any, indent: int | None = 1) -> None:
    """Write the answers of a recording."""
    write_text(name, json.dumps(answers, indent=indent, ensure_ascii=False))


def write_text(name: str, answers: str) -> None:
    """Write the answers of a recording, JSON whose lines are so that changes can be read."""
    from pyflink.version import __version__

    stamp = {"pyflink": __version__, "date": datetime.date.today().isoformat()}
    text = f'{{"recorded": {json.dumps(stamp)},\n"answers": {answers.strip()}}}\n'
    path_of(name).write_text(text, encoding="utf-8")


def pinned() -> str:
    """Return the version of PyFlink that recordings are made with."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    (version,) = (line.split("==")[1] for line in lines if line.startswith("apache-flink=="))
    return version


def _read(name: str) -> Any:
    return json.loads(path_of(name).read_text(encoding="utf-8"))
