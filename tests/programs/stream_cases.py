"""Programs of data streams: `stream_cases.py MASTER FILE MODE... -- CASE...`.

MASTER is that of a classic session or, after ``connect:``, of a session of Spark Connect, which
PySpark starts in this process's JVM. What the programs give is written into FILE.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "datastream"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "modules"))

import deployed_cases
from pyspark import cloudpickle

import sessions

cloudpickle.register_pickle_by_value(deployed_cases)


def main() -> None:
    master, file, *rest = sys.argv[1:]
    place = rest.index("--")
    modes, names = rest[:place], rest[place + 1 :]
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
    connect = master.startswith("connect:")
    conf = {} if connect else sessions.cluster_conf()
    spark = sessions.start(master.removeprefix("connect:"), connect=connect, conf=conf)
    found = {}
    for mode in modes:
        for name in names:
            for kind in deployed_cases.CASES[name][1]:
                begun = time.monotonic()
                seen = deployed_cases.outcome(name, kind, mode)
                found[f"{mode} {kind} {name}"] = seen
                took = time.monotonic() - begun
                print(f"{took:6.2f} {mode} {kind} {name}: {seen}"[:400], flush=True)
    Path(file).write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main()
