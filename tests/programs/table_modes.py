"""Table programs in the modes of functions: `table_modes.py MASTER FILE MODE... [-- CASE...]`.

MASTER is that of a session of Spark Connect, which PySpark starts in this process's JVM, or, after
``classic:``, of a classic one. What the programs give is written into FILE.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "table"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "modules"))

from pyspark import cloudpickle

import mode_cases
import sessions

cloudpickle.register_pickle_by_value(mode_cases)


def main() -> None:
    master, file, *modes = sys.argv[1:]
    wanted = [*mode_cases.CASES, *mode_cases.CONNECT]
    if "--" in modes:
        place = modes.index("--")
        modes, wanted = modes[:place], modes[place + 1 :]
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
    connect = not master.startswith("classic:")
    spark = sessions.start(master.removeprefix("classic:"), connect=connect)
    found = {}

    def see(mode: str, kind: str, name: str, run: Callable[[Any], Any]) -> None:
        begun = time.monotonic()
        seen = mode_cases.outcome(run, mode_cases.environment(kind, mode))
        found[f"{mode} {kind} {name}"] = seen
        Path(file).write_text(json.dumps(found))
        print(f"{time.monotonic() - begun:6.2f} {mode} {kind} {name}: {seen}"[:200], flush=True)

    for mode in modes:
        see(mode, "streaming", "place", mode_cases.place)
        for name in wanted:
            if name in mode_cases.CASES:
                for kind in mode_cases.CASES[name].environments:
                    see(mode, kind, name, mode_cases.CASES[name].run)
            else:
                see(mode, "streaming", name, mode_cases.CONNECT[name][0])
    spark.stop()


if __name__ == "__main__":
    main()
