"""Records functions of times, which a program of Java calls: it takes a JDK."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import pyflink
import recordings
from time_functions import COLUMNS, ZONES

HERE = Path(__file__).parent


def record(only: list[str]) -> None:
    libraries = sorted((Path(pyflink.__file__).parent / "lib").glob("*.jar"))
    path = ":".join(map(str, libraries))
    with tempfile.TemporaryDirectory() as directory:
        for name, (_, values) in COLUMNS.items():
            (Path(directory) / name).write_text("\n".join(values) + "\n", encoding="utf-8")
        (Path(directory) / "zones").write_text("\n".join(ZONES) + "\n", encoding="utf-8")
        command = ["java", "-cp", path, str(HERE / "TimeFunctions.java"), directory]
        run = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    found: dict[str, dict[str, list[str | None]]] = {zone: {} for zone in ZONES}
    for line in run.stdout.splitlines():
        zone, expression, _, value = line.split("\t")
        found[zone].setdefault(expression, []).append(None if value == "null" else value)
    zones = []
    for zone, expressions in found.items():
        lines = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(values, ensure_ascii=False)}"
            for name, values in expressions.items()
        )
        zones.append(f'"{zone}": {{\n{lines}\n}}')
    recordings.write_text("time_functions", "{\n" + ",\n".join(zones) + "\n}")
