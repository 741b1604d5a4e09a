"""The Python shell: names that are bound, banner, prompts, and SQL in Python's own console."""

from __future__ import annotations

import code
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflow.cli.interactive.client import execute
from pyflow.cli.interactive.completion import candidates
from pyflow.cli.interactive.results import show
from pyflow.cli.interactive.statements import is_blank, split
from pyflow.session.builder import present_settings, spark_defaults
from pyflow.session.given import PREFIX
from pyflow.util.exceptions import JavaException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyflow.table import TableEnvironment

__all__ = ["EXAMPLE", "banner", "interact", "label", "names", "run_sql"]

#: What the banner shows, and what can be typed as it stands.
EXAMPLE = """\
double = udf(lambda n: 2 * n, result_type=DataTypes.BIGINT())
st_env.create_temporary_view("numbers", st_env.from_elements([(1,), (2,)], ["n"]))
st_env.from_path("numbers").select(col("n"), double(col("n"))).execute().print()
%sql SELECT SUM(n) FROM numbers
"""


def names() -> dict[str, Any]:
    """Return what the shell binds: the session, the environments, and what programs import."""
    import pyflow.common
    import pyflow.datastream
    import pyflow.table
    import pyflow.table.expressions
    import pyflow.table.udf
    from pyflow.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment

    bound: dict[str, Any] = {}
    for module in (pyflow.common, pyflow.datastream, pyflow.table, pyflow.table.expressions):
        bound.update({name: getattr(module, name) for name in getattr(module, "__all__", ())})
    bound.update(
        {name: getattr(pyflow.table.udf, name) for name in ("udf", "udtf", "udaf", "udtaf")}
    )
    if "SPARK_REMOTE" in os.environ:
        # Data streams are not there over Spark Connect.
        _connect()
        settings = EnvironmentSettings.in_streaming_mode()
        bound["st_env"] = TableEnvironment.create(settings)
        bound["s_env"] = None
    else:
        bound["s_env"] = pyflow.datastream.StreamExecutionEnvironment.get_execution_environment()
        bound["st_env"] = StreamTableEnvironment.create(bound["s_env"])
    bound["spark"] = bound["st_env"]._context.session
    return bound


def _connect() -> None:
    """Start the session of Spark Connect, with what the command was given for it."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    outside = spark_defaults()
    given = {
        key: value
        for key, value in present_settings(builder).items()
        if key not in outside and not key.startswith(PREFIX)
    }
    builder.config(map={"spark.pyflow.execution-mode": "thread", **given}).getOrCreate()


def label(spark: SparkSession) -> str:
    """Return where functions run now: the mode, and in thread mode the interpreter."""
    mode = spark.conf.get("spark.pyflow.execution-mode", None) or "process"
    if mode == "process":
        return mode
    return f"{mode}, {spark.conf.get('spark.pyflow.interpreter', None) or 'auto'}"


def banner(bound: dict[str, Any]) -> str:
    """Return what the shell says first."""
    import pyflow

    spark = bound["spark"]
    place = os.environ.get("SPARK_REMOTE") or spark.conf.get("spark.master", "")
    streams = ", data streams: s_env" if bound["s_env"] is not None else ""
    return (
        f"PyFlow {pyflow.__version__}, Spark {spark.version} at {place}, "
        f"Python {sys.version.split()[0]}\n"
        f"Session: spark, tables: st_env{streams}. The prompt says where functions run.\n"
        f"For example:\n\n{EXAMPLE}"
    )


def run_sql(t_env: TableEnvironment, text: str) -> None:
    """Run the statements of a text, and show what each returns.

    Raises
    ------
    Exception
        If a statement fails; those behind it are not run.
    """
    statements, rest = split(text)
    if not is_blank(rest):
        statements.append(rest.strip())
    for statement in statements:
        show(t_env, execute(t_env, statement))


class _Prompt:
    """The prompt as it is when it is shown."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def __str__(self) -> str:
        return f"[{label(self._spark)}] >>> "


class _Console(code.InteractiveConsole):
    """Python's console, with lines of ``%sql``, and after ``%%sql`` lines up to an empty one."""

    def __init__(self, bound: dict[str, Any]) -> None:
        super().__init__(bound)
        self._t_env = bound["st_env"]
        self.cell: list[str] | None = None

    def push(self, line: str, *arguments: Any, **options: Any) -> bool:
        """Run a line; return whether more lines are expected."""
        if self.cell is not None:
            if line.strip():
                self.cell.append(line)
                return True
            text, self.cell = "\n".join(self.cell), None
            self._run(text)
            return False
        words = line.split(None, 1)
        if not self.buffer and words[:1] == ["%%sql"]:
            self.cell = words[1:]
            return True
        if not self.buffer and words[:1] == ["%sql"]:
            self._run("".join(words[1:]))
            return False
        return super().push(line, *arguments, **options)

    def resetbuffer(self) -> None:
        """Forget what has been typed of something unfinished."""
        super().resetbuffer()
        self.cell = None

    def _run(self, text: str) -> None:
        try:
            run_sql(self._t_env, text)
        except KeyboardInterrupt:
            print()
        except JavaException as error:
            print(error, file=sys.stderr)
        except Exception:
            self.showtraceback()


def interact(bound: dict[str, Any], history: str) -> None:
    """Run Python's own console in the terminal until its end."""
    console = _Console(bound)
    _use_readline(console, bound, history)
    sys.ps1, sys.ps2 = _Prompt(bound["spark"]), "... "
    try:
        console.interact(banner(bound), exitmsg="")
    except SystemExit:
        pass
    finally:
        with suppress(ImportError, OSError):
            import readline

            Path(history).parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(history)
            os.chmod(history, 0o600)


def _use_readline(console: _Console, bound: dict[str, Any], history: str) -> None:
    try:
        import readline
        import rlcompleter
    except ImportError:
        return
    of_python = rlcompleter.Completer(bound)
    found: list[str] = []

    def complete(word: str, state: int) -> str | None:
        line, end = readline.get_line_buffer(), readline.get_endidx()
        if console.cell is None and not line.lstrip().startswith(("%sql ", "%%sql ")):
            return of_python.complete(word, state)
        if state == 0:
            before = line[:end].removeprefix("%%sql ").removeprefix("%sql ")
            earlier = "\n".join(console.cell or ())
            found[:] = candidates(bound["st_env"], f"{earlier}\n{before}", line[end:])
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n()[]{}+-*/=<>,;:'\"")
    readline.parse_and_bind("tab: complete")
    with suppress(OSError):
        readline.read_history_file(history)
