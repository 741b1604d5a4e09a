"""Starts the program of a job in the background, as ``pyflow run -d`` does; a process of its own.

Standard input has what is to be run, as `Launch.text` writes it. The exit code is 0 once
spark-submit runs; otherwise standard error says why it does not, and nothing is noted of the job.
For a plan the process becomes spark-submit.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from dataclasses import asdict, dataclass, field

from pyflow.cli.submission import command
from pyflow.cli.submission.command import Program
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.registry import Registry
from pyflow.cli.submission.spark_options import SparkOptions
from pyflow.cli.submission.supervision import run_detached
from pyflow.cli.submission.targets import Target
from pyflow.session.planning import PLAN_FILE


@dataclass(frozen=True)
class Launch:
    """What is to be run.

    Parameters
    ----------
    id : str
        Of the job.
    name : str
    file, module : str, optional
        The script, or the module.
    target : str, optional
    arguments : list of str
    settings, spark : dict
        Settings by Flink's names, and Spark's.
    plan : str, optional
        The file for the plan of the program, which is not run then.
    """

    id: str
    name: str
    file: str | None
    module: str | None
    target: str | None
    arguments: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    spark: dict[str, str] = field(default_factory=dict)
    plan: str | None = None

    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    def words(self) -> list[str]:
        """Return the words of the process that starts it."""
        return [sys.executable, "-m", __spec__.name]

    def composed(self, registry: Registry) -> command.Command:
        """Return the command of spark-submit.

        Raises
        ------
        SubmissionError
            If a setting, a file or the target is not as it has to be.
        """
        target = None if self.target is None else Target.named(self.target)
        spark = SparkOptions(dict(self.spark))
        program = Program(
            self.file, self.module, list(self.arguments), dict(self.settings), spark, target
        )
        return command.compose(program, registry.folders, self.id)


def main() -> int:
    """Start the program that standard input names."""
    # A service that is started meanwhile sees that the job is still to come.
    fcntl.flock(os.open(".", os.O_RDONLY), fcntl.LOCK_EX)
    launch = Launch(**json.load(sys.stdin))
    registry = Registry.of_user()
    try:
        composed = launch.composed(registry)
        if launch.plan is not None:
            variables = {**composed.environment(), PLAN_FILE: launch.plan}
            os.execve(composed.words[0], composed.words, variables)
        target = composed.target.master or "local[*]"
        job = registry.create(launch.name, composed.words, target, launch.id, composed.cluster())
    except (SubmissionError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    code = run_detached(job, composed.environment())
    if code:
        registry.forget(job.id)
    return code


if __name__ == "__main__":
    sys.exit(main())
