"""Checkpoints of the generated pipelines, from which the jobs of later versions go on.

``python tests/datastream/pipeline_checkpoints.py`` records those that are missing. One is recorded
again only where the pipelines have changed, and never because state has other names, schemas or
bytes than before.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: How many calls of the source come before the checkpoint.
CALLS = 5


def archive(numbers):
    """Where the checkpoint of a job with some pipelines is."""
    name = f"pipelines-{numbers.start}-{numbers.stop - 1}.zip"
    return HERE / "reference" / "checkpoints" / name


def main():
    sys.path[:0] = [str(HERE), str(HERE / "reference"), str(HERE.parent), str(HERE.parent.parent)]
    sys.path.insert(0, str(HERE.parent / "table" / "reference"))

    from pipeline_runs import PARTS, add_bursts, emitted_over

    import sessions
    from checkpoint_archives import pack
    from pyflow.common import Configuration
    from pyflow.datastream import StreamExecutionEnvironment
    from pyflow.datastream.testing import TestStream

    spark = sessions.start(conf={"spark.driver.memory": "3g"})
    spark.sparkContext.setLogLevel("ERROR")
    for numbers in PARTS:
        if archive(numbers).exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = TestStream()
            list(islice(add_bursts(source), CALLS))
            configuration = Configuration()
            configuration.set_string("python.execution-mode", "thread")
            configuration.set_string("execution.checkpointing.dir", Path(folder).as_uri())
            env = StreamExecutionEnvironment.get_execution_environment(configuration)
            emitted_over(env.set_parallelism(2), source, numbers)
            pack(Path(folder), archive(numbers), stream=source._directory)
            print(archive(numbers).name, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
