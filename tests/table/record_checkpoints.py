"""Records checkpoints of the jobs of `stateful_jobs.py`, and the rows that come after them.

``python tests/table/record_checkpoints.py [JOB...]``. Users' jobs go on from such checkpoints: one
is recorded again only where the queries or rows of its job have changed, and never because state
has other names, schemas or classes than before.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

import job_runs  # noqa: E402
import sessions  # noqa: E402
from checkpoint_archives import pack, unpack  # noqa: E402
from pyflow.table import EnvironmentSettings, TableEnvironment  # noqa: E402
from stateful_jobs import JOBS  # noqa: E402

REFERENCE = HERE / "reference" / "checkpoints"
#: So long no row comes any more when all windows have ended.
QUIET_SECONDS = 30


def environment():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("python.execution-mode", "thread")
    return t_env


def record(spark, name, before, after):
    job = JOBS[name]
    until = (lambda lines: job_runs.is_committed(before)) if job.by_clock else None
    found = job_runs.run(environment(), job, before, [job.recorded], until=until)
    if job.by_clock and found:
        raise ValueError(f"{name}: windows have ended before the checkpoint, record it again")
    states = job_runs.states(spark, before)
    archive = REFERENCE / f"{name}.zip"
    pack(before, archive, job_runs.CHECKPOINT)
    time.sleep(2 * job.lifetime + 1)
    unpack(archive, after)
    until = Quiet() if job.by_clock else None
    later = job_runs.run(environment(), job, after, job.later, 1, until)
    recorded = {"states": states, "rows before": found, "rows after": later}
    text = json.dumps(recorded, indent=0, ensure_ascii=False)
    archive.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


class Quiet:
    """Whether no lines have come for some time."""

    def __init__(self):
        self._last = (0, time.monotonic())

    def __call__(self, lines):
        if len(lines) != self._last[0]:
            self._last = (len(lines), time.monotonic())
        return bool(lines) and time.monotonic() - self._last[1] > QUIET_SECONDS


def main():
    spark = sessions.start(conf={"spark.driver.memory": "3g"})
    spark.sparkContext.setLogLevel("ERROR")
    for name in sys.argv[1:] or JOBS:
        with tempfile.TemporaryDirectory() as before, tempfile.TemporaryDirectory() as after:
            begun = time.monotonic()
            record(spark, name, Path(before), Path(after))
            print(name, f"{time.monotonic() - begun:.0f} s", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
