"""Makes the environment of another Spark minor version, in which tests try the jar.

python -m scripts.other_spark
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

VERSION = "4.1.1"
ENVIRONMENT = (
    Path(__file__).resolve().parent.parent
    / "build"
    / f"spark-{VERSION}-python-{sys.version_info[1]}"
)


def environment() -> Path:
    """The environment, made once and kept with what was built."""
    ready = ENVIRONMENT / "ready"
    if not ready.exists():
        python = ENVIRONMENT / "bin" / "python"
        for command in (
            [sys.executable, "-m", "venv", "--clear", ENVIRONMENT],
            [python, "-m", "pip", "install", "--quiet", f"pyspark=={VERSION}"],
        ):
            subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
        ready.touch()
    return ENVIRONMENT


if __name__ == "__main__":
    environment()
