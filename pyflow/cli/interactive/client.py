"""The SQL client: statements that are typed, of files and of standard input."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyflow.cli.interactive.completion import candidates
from pyflow.cli.interactive.results import show
from pyflow.cli.interactive.statements import is_blank, split
from pyflow.util.exceptions import JavaException, TableException

if TYPE_CHECKING:
    from pyflow.table import TableEnvironment
    from pyflow.table.table_result import TableResult

__all__ = ["SqlClient", "execute"]

_RUNTIME_MODE = "execution.runtime-mode"
_SET_MODE = re.compile(rf"SET\s+'{re.escape(_RUNTIME_MODE)}'\s*=\s*'(\w+)'", re.IGNORECASE)
_COMMANDS = ("CLEAR", "EXIT", "HELP", "QUIT")
_HELP = """\
A statement ends with a semicolon, and may take several lines. Ctrl-C ends a query.

HELP;   prints this
CLEAR;  clears the terminal
QUIT;   ends the client, as EXIT; and Ctrl-D do
BEGIN STATEMENT SET; INSERT ...; INSERT ...; END;  runs several insertions as one job
"""


def execute(t_env: TableEnvironment, statement: str) -> TableResult:
    """Run a statement, and return its result.

    ``SET 'execution.runtime-mode'`` holds for the statements that follow.
    """
    result: TableResult = t_env.execute_sql(statement)
    mode = _SET_MODE.fullmatch(statement.strip())
    if mode is not None:
        t_env._context.is_streaming = mode[1].lower() != "batch"
    return result


class SqlClient:
    """Runs statements one after the other, and shows what they return.

    Parameters
    ----------
    t_env : TableEnvironment
    """

    def __init__(self, t_env: TableEnvironment) -> None:
        self._t_env = t_env
        self._results: list[TableResult] = []
        self._insertions: list[str] | None = None

    def run(self, statement: str) -> bool:
        """Run a statement; return whether the client goes on.

        Raises
        ------
        Exception
            If the statement fails.
        """
        words = " ".join(statement.upper().split())
        if words in ("QUIT", "EXIT"):
            return False
        if words == "HELP":
            print(_HELP, end="")
        elif words == "CLEAR":
            print("\x1b[H\x1b[2J", end="")
        elif words == "BEGIN STATEMENT SET":
            self._insertions = []
        elif self._insertions is not None:
            self._of_set(statement, words)
        else:
            self._show(statement)
        return True

    def _of_set(self, statement: str, words: str) -> None:
        assert self._insertions is not None
        if words == "END":
            inside, self._insertions = self._insertions, None
            self._show(f"EXECUTE STATEMENT SET BEGIN {' '.join(inside)} END")
        elif words.startswith("INSERT "):
            self._insertions.append(f"{statement};")
        else:
            raise TableException("a statement set takes INSERT statements, and ends with END")

    def _show(self, statement: str) -> None:
        result = execute(self._t_env, statement)
        if result.get_job_client() is not None and result._query is None:
            self._results.append(result)
        show(self._t_env, result)

    def run_script(self, text: str, is_told: bool) -> int:
        """Run the statements of a text until one fails, and return the exit code.

        Parameters
        ----------
        text : str
        is_told : bool
            Whether statements are printed before they are run.
        """
        statements, rest = split(text)
        if not is_blank(rest):
            statements.append(rest.strip())
        for statement in statements:
            if is_told:
                print(f"pyflow SQL> {statement};", flush=True)
            try:
                if not self.run(statement):
                    break
            except KeyboardInterrupt:
                return 130
            except Exception as error:
                print(_text_of(error), file=sys.stderr)
                return 1
        if self._insertions is not None:
            print(
                "the statement set has no END: its INSERT statements have not been run",
                file=sys.stderr,
            )
            self._wait()
            return 1
        return self._wait()

    def _wait(self) -> int:
        """Wait for the insertions, which end with the client, and return the exit code."""
        try:
            for result in self._results:
                result.wait()
        except KeyboardInterrupt:
            self.close()
            return 130
        except JavaException as error:
            print(_text_of(error), file=sys.stderr)
            return 1
        return 0

    def close(self) -> None:
        """End the insertions that run."""
        for result in self._results:
            client = result.get_job_client()
            if client is not None:
                with suppress(Exception):
                    client.cancel().result()

    def interact(self, history: str) -> int:
        """Read statements from the terminal until QUIT or its end; return the exit code."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _use_readline(self._t_env, history)
        print("PyFlow SQL client: HELP; for help, QUIT; to end.", flush=True)
        try:
            for statement in _typed():
                try:
                    if not self.run(statement):
                        break
                except KeyboardInterrupt:
                    print()
                except Exception as error:
                    print(_text_of(error), file=sys.stderr, flush=True)
        finally:
            _save_history(history)
            self.close()
        return 0


def _typed() -> Iterator[str]:
    """The statements that are typed, one line or several each."""
    rest = ""
    while True:
        try:
            line = input("pyflow SQL> " if is_blank(rest) else "          > ")
        except KeyboardInterrupt:
            rest = ""
            print()
            continue
        except EOFError:
            print()
            return
        if not rest and line.strip().upper() in _COMMANDS:
            line += ";"
        statements, rest = split(f"{rest}{line}\n")
        yield from statements


def _text_of(error: Exception) -> str:
    """What a statement has failed with: the message, and of Spark's errors its first lines."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    shown = lines if isinstance(error, JavaException) else lines[:5]
    return "[ERROR] " + "\n".join(shown)


def _use_readline(t_env: TableEnvironment, history: str) -> None:
    """Let lines be edited, completed, and found again."""
    try:
        import readline
    except ImportError:
        return
    found: list[str] = []

    def complete(_: str, state: int) -> str | None:
        if state == 0:
            line, end = readline.get_line_buffer(), readline.get_endidx()
            found[:] = candidates(t_env, line[:end], line[end:])
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n()+-*/=<>,;'")
    readline.parse_and_bind("tab: complete")
    with suppress(OSError):
        readline.read_history_file(history)


def _save_history(history: str) -> None:
    with suppress(ImportError, OSError):
        import readline

        Path(history).parent.mkdir(parents=True, exist_ok=True)
        readline.write_history_file(history)
        os.chmod(history, 0o600)
