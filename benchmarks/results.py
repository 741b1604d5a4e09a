"""Access to the figures of one run, as ``results.json`` holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.cases import BY_NAME as CASES
from benchmarks.cases import FunctionCase, KindCase


class MissingFigureError(KeyError):
    """A figure was not measured."""


@dataclass(frozen=True)
class Results:
    """The figures of one run.

    Attributes
    ----------
    raw : dict
        What ``results.json`` holds.
    statistic : callable
        What makes one figure of the rounds.
    """

    raw: dict[str, Any]
    statistic: Callable[[Iterable[float]], float] = median

    @property
    def masters(self) -> list[str]:
        """The masters measured, in order."""
        return list(dict.fromkeys(sample["master"] for sample in self.raw["samples"]))

    @property
    def cases(self) -> list[str]:
        """The cases measured, in order."""
        return list(dict.fromkeys(sample["case"] for sample in self.raw["samples"]))

    @property
    def plain_cases(self) -> list[str]:
        """Those of plain functions."""
        return [case for case in self.cases if isinstance(CASES[case], FunctionCase)]

    @property
    def kinds(self) -> list[str]:
        """Those of functions of other kinds."""
        return [case for case in self.cases if isinstance(CASES[case], KindCase)]

    @property
    def modes(self) -> list[str]:
        """The modes measured, in order."""
        return list(dict.fromkeys(sample["mode"] for sample in self.raw["samples"]))

    @property
    def session_modes(self) -> list[str]:
        """The modes of the fresh sessions, in order."""
        return list(dict.fromkeys(session["mode"] for session in self.raw["sessions"]))

    def rows(self, case: str) -> int:
        """Return how many rows one measurement of a case took."""
        return int(next(s["rows"] for s in self.raw["samples"] if s["case"] == case))

    def samples(self, master: str, case: str, mode: str, measure: str = "wall_ns") -> list[float]:
        """Return the nanoseconds per row of every round.

        Raises
        ------
        MissingFigureError
            If there are none.
        """
        found = [
            sample[measure]
            for sample in self.raw["samples"]
            if (sample["master"], sample["case"], sample["mode"]) == (master, case, mode)
        ]
        if not found:
            raise MissingFigureError(f"{case} in mode {mode} on {master}")
        return found

    def nanos(self, master: str, case: str, mode: str, measure: str = "wall_ns") -> float:
        """Return the nanoseconds per row."""
        return float(self.statistic(self.samples(master, case, mode, measure)))

    def bridge_nanos(self, bridge: str, interpreter: str, bundle: int, case: str) -> float:
        """Return the nanoseconds per call through a bridge without Spark."""
        key = {"bridge": bridge, "interpreter": interpreter, "bundle": bundle, "case": case}
        calls = self.raw.get("bridges", {}).get("calls", [])
        found = [call["ns"] for call in calls if key.items() <= call.items()]
        if not found:
            raise MissingFigureError(f"{case} through {bridge}, {interpreter}")
        return float(self.statistic(found))

    def first_row_seconds(self, mode: str) -> float:
        """Return the seconds to the first result of a function in a fresh session."""
        return self._session_figure(mode, "first_row_seconds")

    def session_seconds(self, mode: str) -> float:
        """Return the seconds a session took to start."""
        return self._session_figure(mode, "session_seconds")

    def memory_bytes(self, mode: str, case: str) -> float:
        """Return the peak memory of a case above a session that has run no Python."""
        for session in self._sessions(mode):
            if case in session["memory_bytes"]:
                return float(session["memory_bytes"][case])
        raise MissingFigureError(f"memory of {case} in mode {mode}")

    def _session_figure(self, mode: str, figure: str) -> float:
        return float(self.statistic(session[figure] for session in self._sessions(mode)))

    def _sessions(self, mode: str) -> list[dict[str, Any]]:
        found = [session for session in self.raw["sessions"] if session["mode"] == mode]
        if not found:
            raise MissingFigureError(f"a fresh session in mode {mode}")
        return found
