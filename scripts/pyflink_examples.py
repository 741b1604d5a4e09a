"""Fetches PyFlink's own example programs, which tests run with other imports.

python -m scripts.pyflink_examples
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements" / "pyflink.txt"

#: Which of PyFlink's wheels has them does not matter: it is read, not installed.
WHEEL = ["--only-binary", ":all:", "--platform", "manylinux2014_x86_64", "--python-version", "3.11"]


def version() -> str:
    """Return the version of PyFlink that references are recorded with."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    (found,) = (line.split("==")[1] for line in lines if line.startswith("apache-flink=="))
    return found


def example_programs() -> Path:
    """Return the directory of the programs, downloaded once and kept with what was built.

    Raises
    ------
    subprocess.CalledProcessError
        If the wheel cannot be downloaded.
    """
    kept = ROOT / "build" / f"pyflink-examples-{version()}"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as directory:
            download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *WHEEL]
            command = [*download, "--dest", directory, f"apache-flink=={version()}"]
            subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
            (wheel,) = Path(directory).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                names = [each for each in archive.namelist() if "/examples/" in each]
                archive.extractall(f"{directory}/unpacked", names)
            try:
                Path(directory, "unpacked").rename(kept)
            except OSError:
                # Another process was faster.
                if not kept.exists():
                    raise
    return kept / "pyflink" / "examples"


if __name__ == "__main__":
    print(example_programs())
