"""SQL in IPython and notebooks: ``%sql``, ``%%sql`` and their completion.

The shell loads it; a notebook does so with ``%load_ext pyflow``.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from pyflow.cli.interactive.completion import candidates
from pyflow.cli.interactive.console import banner, label, run_sql
from pyflow.util.exceptions import JavaException

if TYPE_CHECKING:
    from pyflow.table import TableEnvironment

__all__ = ["interact", "load"]

_MAGIC = re.compile(r"%%?sql\b")


def load(ipython: Any) -> None:
    """Add the magics to a shell of IPython.

    Parameters
    ----------
    ipython : IPython.core.interactiveshell.InteractiveShell
    """

    def sql(line: str, cell: str | None = None) -> None:
        """Run SQL: ``%sql`` a statement, ``%%sql`` all of a cell, over `st_env`."""
        text = line if cell is None else f"{line}\n{cell}"
        try:
            run_sql(_environment(ipython), text)
        except JavaException as error:
            print(error, file=sys.stderr)

    def complete(context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")[: context.cursor_line + 1]
        text = "\n".join([*lines[:-1], lines[-1][: context.cursor_position]])
        magics = list(_MAGIC.finditer(text))
        completions: list[Any] = []
        if magics and text[: magics[-1].start()].strip() == "":
            from IPython.core.completer import SimpleCompletion

            found = candidates(_environment(ipython), text[magics[-1].end() :])
            completions = [SimpleCompletion(text=each, type="sql") for each in found]
        fragment = re.search(r"[\w.`]*$", text)
        return {
            "completions": completions,
            "suppress": bool(completions),
            "matched_fragment": "" if fragment is None else fragment[0],
        }

    ipython.register_magic_function(sql, "line_cell", "sql")
    complete.matcher_api_version = 2  # type: ignore[attr-defined]
    complete.matcher_identifier = "pyflow-sql"  # type: ignore[attr-defined]
    complete.matcher_priority = 100  # type: ignore[attr-defined]
    ipython.Completer.custom_matchers.append(complete)


def _environment(ipython: Any) -> TableEnvironment:
    """The environment that the user's names have, or a new one for them."""
    bound = ipython.user_ns
    if "st_env" not in bound:
        from pyflow.table import EnvironmentSettings, TableEnvironment

        bound["st_env"] = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment: TableEnvironment = bound["st_env"]
    return environment


def interact(bound: dict[str, Any]) -> None:
    """Run IPython in the terminal until its end."""
    import IPython
    from IPython.terminal.prompts import Prompts
    from pygments.token import Token
    from traitlets.config import Config

    class Prompt(Prompts):  # type: ignore[misc]
        def in_prompt_tokens(self) -> list[tuple[Any, str]]:
            return [(Token.Prompt, f"[{label(bound['spark'])}] "), *super().in_prompt_tokens()]

    config = Config()
    config.TerminalInteractiveShell.prompts_class = Prompt
    config.TerminalInteractiveShell.banner1 = banner(bound)
    config.TerminalInteractiveShell.banner2 = ""
    config.InteractiveShellApp.extensions = ["pyflow"]
    IPython.start_ipython(argv=[], user_ns=bound, config=config)
