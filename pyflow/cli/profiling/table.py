"""A profile as a table by function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pyflow.cli.profiling.samples import Frame, Stack

__all__ = ["lines"]

_MOST_FUNCTIONS = 30


def lines(stacks: Iterable[Stack]) -> Iterator[str]:
    """Yield the functions in which most time was spent, with their shares of all samples.

    ``self`` is the time in the function itself, C functions that it calls included, ``total`` that
    with the functions it calls, ``GIL`` what of ``self`` held the GIL, which py-spy does not say.
    """
    own: Counter[Frame] = Counter()
    total: Counter[Frame] = Counter()
    with_gil: Counter[Frame] = Counter()
    samples = 0
    for stack in stacks:
        samples += stack.samples
        own[stack.frames[-1]] += stack.samples
        if stack.with_gil is not None:
            with_gil[stack.frames[-1]] += stack.with_gil
        for frame in set(stack.frames):
            total[frame] += stack.samples
    yield f"{'self':>6} {'total':>6} {'GIL':>6}  function"
    ordered = sorted(total, key=lambda frame: (-own[frame], -total[frame], frame.name))
    for frame in ordered[:_MOST_FUNCTIONS]:
        shares = [f"{100 * each[frame] / samples:5.1f}%" for each in (own, total)]
        shares.append(
            f"{100 * with_gil[frame] / samples:5.1f}%" if frame in with_gil else f"{'':6}"
        )
        place = f" ({frame.file}:{frame.line})" if frame.file else ""
        yield f"{' '.join(shares)}  {frame.name}{place}"
    if len(ordered) > _MOST_FUNCTIONS:
        yield f"{'':20}  and {len(ordered) - _MOST_FUNCTIONS} more"
