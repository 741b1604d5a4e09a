"""Writes configurations.json: ``python record_configurations.py``, with PyFlink 2.3's Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyflink.common import Configuration

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from configurations import PROGRAMS, answer  # noqa: E402


def main():
    found = {program: answer(program, Configuration) for program in PROGRAMS}
    path = HERE / "configurations.json"
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
