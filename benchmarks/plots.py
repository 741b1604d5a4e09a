"""Plots of a run."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from benchmarks.cases import BY_NAME as CASES
from benchmarks.modes import BY_NAME as MODES
from benchmarks.results import MissingFigureError, Results

# What is not ours to change in grey, process modes in warm, thread modes in cold colours.
_COLOURS = {
    "builtin": "#b9b9b9",
    "passed": "#cfcfcf",
    "floor": "#7d7d7d",
    "pickled": "#d98c5f",
    "arrow": "#b5482a",
    "shared": "#6fa8c9",
    "isolated": "#1f5f8b",
    "shared-one": "#a9cfe3",
    "isolated-one": "#5b8fb5",
    "process": "#b5482a",
    "thread": "#6fa8c9",
    "auto": "#8a6fb0",
}
_JSON_BYTES = {"json-100B": 100, "json-1kB": 1_000, "json-10kB": 10_000, "json-100kB": 100_000}


def draw_plots(results: Results, folder: Path) -> dict[str, str]:
    """Draw every plot the figures allow; return its file name by master, ``kinds MASTER`` or
    ``json``.
    """
    plots = {}
    for master in results.masters:
        suffix = f"{master.replace('[', '').replace(']', '')}.png"
        for key, name, cases in (
            (master, "time-per-row", results.plain_cases),
            (f"kinds {master}", "kinds", results.kinds),
        ):
            if cases:
                plots[key] = f"{name}-{suffix}"
                _draw_cases(results, master, cases, folder / plots[key])
    if len(_JSON_BYTES.keys() & set(results.cases)) > 1:
        plots["json"] = "json-by-size.png"
        _draw_json(results, folder / plots["json"])
    return plots


def _draw_cases(results: Results, master: str, cases: list[str], path: Path) -> None:
    """Draw one panel per case, one pair of bars per mode: wall time, and thinner CPU time."""
    columns = min(3, len(cases))
    lines = -(-len(cases) // columns)
    figure, panels = plt.subplots(
        lines,
        columns,
        figsize=(4.6 * columns, 0.9 + 2.1 * lines),
        layout="constrained",
        squeeze=False,
    )
    figure.suptitle(
        f"Time per row on {master}: wall time (thick) / CPU time (thin)",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    for axes, case in zip(panels.flat, cases, strict=False):
        _draw_case(axes, results, master, case)
    for axes in panels.flat[len(cases) :]:
        axes.remove()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_case(axes: Axes, results: Results, master: str, case: str) -> None:
    modes = [mode for mode in CASES[case].modes if _has(results, master, case, mode)]
    wall = [results.nanos(master, case, mode) for mode in modes]
    cpu = [results.nanos(master, case, mode, "cpu_ns") for mode in modes]
    scale, unit = next(
        (scale, unit)
        for scale, unit in ((1, "ns"), (1e3, "µs"), (1e6, "ms"))
        if max(wall, default=0) < 3_000 * scale or unit == "ms"
    )
    longest = max([*wall, *cpu], default=1) / scale
    for line, mode in enumerate(modes):
        colour, ends = _COLOURS[mode], (wall[line] / scale, cpu[line] / scale)
        axes.barh(line - 0.14, ends[0], height=0.48, color=colour)
        axes.barh(line + 0.26, ends[1], height=0.24, color=colour, alpha=0.5)
        axes.text(
            max(ends) + 0.02 * longest,
            line,
            " / ".join(_short(end) for end in ends),
            va="center",
            fontsize=8,
        )
    axes.set_yticks(range(len(modes)), [MODES[mode].title for mode in modes])
    axes.set_xlim(0, 1.3 * longest)
    axes.invert_yaxis()
    axes.set_title(f"{CASES[case].title}, {unit}", loc="left", fontsize=10)
    axes.tick_params(length=0, labelsize=8)
    axes.xaxis.set_visible(False)
    axes.spines[["top", "right", "bottom"]].set_visible(False)


def _short(value: float) -> str:
    if value < 0.01:
        return "<0.01"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _draw_json(results: Results, path: Path) -> None:
    """Draw how many times as fast as pickled process mode each mode is, by size of the document."""
    figure, panels = plt.subplots(
        1,
        len(results.masters),
        figsize=(5.6 * len(results.masters), 4.2),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    figure.suptitle(
        "JSON by size of the document: speed, process, pickled = 1",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    for axes, master in zip(panels.flat, results.masters, strict=True):
        for mode in ("pickled", "arrow", "shared", "isolated"):
            cases = [
                case
                for case in _JSON_BYTES
                if _has(results, master, case, mode) and _has(results, master, case, "pickled")
            ]
            if not cases:
                continue
            speed = [
                results.nanos(master, c, "pickled") / results.nanos(master, c, mode) for c in cases
            ]
            axes.plot(
                [_JSON_BYTES[case] for case in cases],
                speed,
                "o-",
                color=_COLOURS[mode],
                label=MODES[mode].title,
            )
        axes.set_title(master, loc="left", fontsize=10)
        axes.set_xscale("log")
        axes.set_xticks(
            list(_JSON_BYTES.values()), [case.removeprefix("json-") for case in _JSON_BYTES]
        )
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", color="#e3e3e3")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    panels.flat[0].legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _has(results: Results, master: str, case: str, mode: str) -> bool:
    try:
        return bool(results.samples(master, case, mode))
    except MissingFigureError:
        return False
