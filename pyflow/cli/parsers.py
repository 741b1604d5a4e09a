"""Command lines that end with those of others."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


class RefusedFlag(argparse.Action):
    """A flag of Flink that is refused with what to use; its constant says that."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """Say so."""
        parser.error(f"{option} of Flink is not supported: {self.const}")


class Parser(argparse.ArgumentParser):
    """A parser of a subcommand, which may be followed by a program's arguments.

    Its own options end at the first word that is none of them, or none of their values.
    """

    #: Whether options for spark-submit may follow, behind ``--``.
    takes_spark_options = False
    #: Whether a program's arguments follow.
    runs_program = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse the command's own options; keep what follows as ``arguments`` and ``spark``."""
        if not self.takes_spark_options or args is None:
            return super().parse_known_args(args, namespace)
        end = self._end_of_options(args) if self.runs_program else 0
        mark = args.index("--", end) if "--" in args[end:] else len(args)
        if not self.runs_program:
            end = mark
        parsed, extra = super().parse_known_args(args[:end], namespace)
        parsed.arguments, parsed.spark = list(args[end:mark]), list(args[mark + 1 :])
        return parsed, extra

    def _end_of_options(self, words: Sequence[str]) -> int:
        place = 0
        while place < len(words):
            word = words[place]
            action = self._option_string_actions.get(word)
            if action is not None:
                place += 1 if action.nargs == 0 else 2
            elif word.startswith("-D") or word.partition("=")[0] in self._long_options():
                place += 1
            else:
                break
        return min(place, len(words))

    def _long_options(self) -> set[str]:
        return {option for option in self._option_string_actions if option.startswith("--")}
