"""The goals PyFlow has set itself, and whether a run reaches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.results import MissingFigureError, Results

ONE_SLOT, TWO_SLOTS = "local[1]", "local[2]"

# Not slower, where both run the same: what two medians of the same thing may differ by.
_LEVEL = 0.95


@dataclass(frozen=True)
class Goal:
    """One line of the table of goals.

    Attributes
    ----------
    subject : str
        What is compared with what.
    goal, figure : str
        The bound, and what the run shows.
    reached : bool or None
        None where the run lacks a figure.
    """

    subject: str
    goal: str
    figure: str
    reached: bool | None


def assess(results: Results) -> list[Goal]:
    """Return every goal with what a run says about it."""
    return [
        *_overheads(results),
        *_one_row(results),
        *_ratios(results),
        *_floors(results),
        _at_most(
            "CPU per row of `x + 1`, two slots, isolated, as a share of Arrow process mode",
            1 / 3,
            lambda: (
                results.nanos(TWO_SLOTS, "long", "isolated", "cpu_ns")
                / results.nanos(TWO_SLOTS, "long", "arrow", "cpu_ns")
            ),
            "{:.2f}",
        ),
        *(
            _at_most(
                f"first result of a function in a warm session, {mode}",
                0.4,
                lambda mode=mode: results.first_row_seconds(mode),  # type: ignore[misc]
                "{:.2f} s",
            )
            for mode in ("shared", "isolated")
        ),
        *_kinds(results),
        _at_most(
            "peak memory of `pandas_udf` on a string, two slots, as a share of process mode",
            1 / 2,
            lambda: (
                results.memory_bytes("thread", "pandas-string")
                / results.memory_bytes("process", "pandas-string")
            ),
            "{:.2f}",
        ),
    ]


def _overheads(results: Results) -> Iterator[Goal]:
    for case, title, bound in (("long", "`x + 1`", 30), ("upper", "`str.upper`", 50)):
        for mode in ("shared", "isolated"):

            def overhead(case: str = case, mode: str = mode) -> float:
                alone = results.nanos(ONE_SLOT, case, "builtin") + results.nanos(
                    ONE_SLOT, case, "floor"
                )
                return results.nanos(ONE_SLOT, case, mode) - alone

            yield _at_most(
                f"{title}, one slot, {mode}: above built-in expression and plain loop together",
                bound,
                overhead,
                "{:.0f} ns",
            )


def _one_row(results: Results) -> Iterator[Goal]:
    """One row per call: through the bridge alone, and in Spark with bundles of one row."""
    for mode in ("shared", "isolated"):
        floor = partial(results.nanos, ONE_SLOT, "long", "floor")
        yield _at_most(
            f"`x + 1`, {mode}, one row per call, bridge alone: above plain loop",
            250,
            lambda mode=mode, floor=floor: (  # type: ignore[misc]
                results.bridge_nanos("pyflow", mode, 1, "long") - floor()
            ),
            "{:.0f} ns",
        )
        yield _at_most(
            f"`x + 1`, one slot, {mode}, one row per call: above built-in expression and plain "
            "loop together",
            350,
            lambda mode=mode, floor=floor: (  # type: ignore[misc]
                results.nanos(ONE_SLOT, "long", f"{mode}-one")
                - results.nanos(ONE_SLOT, "long", "builtin")
                - floor()
            ),
            "{:.0f} ns",
        )


def _ratios(results: Results) -> Iterator[Goal]:
    def faster(case: str, others: tuple[str, ...]) -> Callable[[], float]:
        return lambda: (
            min(results.nanos(TWO_SLOTS, case, mode) for mode in others)
            / results.nanos(TWO_SLOTS, case, "isolated")
        )

    for case, title, arrow, pickled in (
        ("long", "`x + 1`", 3.5, 5),
        ("upper", "`str.upper`", 3, 5),
    ):
        subject = f"{title}, two slots, isolated, against"
        yield _at_least(f"{subject} Arrow process mode", arrow, faster(case, ("arrow",)))
        yield _at_least(f"{subject} pickled process mode", pickled, faster(case, ("pickled",)))
    subject = "1 MB binary, two slots, isolated, against the better process mode"
    yield _at_least(subject, 10, faster("binary-1MB", ("arrow", "pickled")))


def _floors(results: Results) -> Iterator[Goal]:
    """Functions that need nearly all of the time themselves: what there is to gain is little."""
    for case, title in (
        ("json-100B", "JSON 100 B"),
        ("json-1kB", "JSON 1 kB"),
        ("json-10kB", "JSON 10 kB"),
        ("json-100kB", "JSON 100 kB"),
    ):

        def above(case: str = case) -> float:
            passed = results.nanos(TWO_SLOTS, case, "passed")
            function = results.nanos(TWO_SLOTS, case, "floor")
            return results.nanos(TWO_SLOTS, case, "isolated") / (passed + function)

        yield _at_most(
            f"{title}, two slots, isolated: against the column passed on by the built-in pipeline "
            "and the function in two plain Python processes together",
            1.1,
            above,
            "{:.2f}x",
        )


def _kinds(results: Results) -> Iterator[Goal]:
    def faster(case: str, master: str, measure: str, mode: str) -> Callable[[], float]:
        return lambda: (
            results.nanos(master, case, "process", measure)
            / results.nanos(master, case, mode, measure)
        )

    for case, title, one_slot, two_slots in (
        ("pandas-long", "`pandas_udf`, long", 2, 1),
        ("pandas-string", "`pandas_udf`, string", 2, 1),
        ("arrow-sum", "`arrow_udf`, ten columns", 3, 3),
        ("arrow-strings", "`arrow_udf`, 1 kB strings", 3, 3),
        ("map-in-arrow", "`mapInArrow`, 100 columns", 3, 3),
        ("udtf", "`udtf`", 2.5, 2.5),
        ("apply-in-pandas", "`applyInPandas`", 1.1, _LEVEL),
        ("aggregate", "grouped `mean`", 1.1, _LEVEL),
    ):
        mode = "isolated" if case == "udtf" else "thread"
        for master, slots, bound in (
            (ONE_SLOT, "one slot", one_slot),
            (TWO_SLOTS, "two slots", two_slots),
        ):
            chosen = "auto" if bound == _LEVEL else mode
            subject = (
                f"{title}, {slots}{', `auto`' if bound == _LEVEL else ''}, against process mode"
            )
            yield _at_least(subject, bound, faster(case, master, "wall_ns", chosen))
        if case.startswith("pandas"):
            yield _at_least(
                f"{title}, one slot, CPU time against process mode",
                2,
                faster(case, ONE_SLOT, "cpu_ns", mode),
            )


def _at_least(subject: str, bound: float, figure: Callable[[], float]) -> Goal:
    try:
        value = figure()
    except MissingFigureError:
        return Goal(subject, f"≥ {bound:g}x", "not measured", None)
    return Goal(subject, f"≥ {bound:g}x", f"{value:.2f}x", value >= bound)


def _at_most(subject: str, bound: float, figure: Callable[[], float], form: str) -> Goal:
    goal = "≤ " + form.format(bound)
    try:
        value = figure()
    except MissingFigureError:
        return Goal(subject, goal, "not measured", None)
    return Goal(subject, goal, form.format(value), value <= bound)
