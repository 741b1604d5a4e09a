"""A profile as a flame graph: an SVG that needs nothing else."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape

from pyflow.cli.profiling.samples import Frame, Stack

__all__ = ["to_svg"]

_WIDTH = 1200
_ROW = 18
_TOP = 40
_CHARACTER = 7
# Narrower frames are left out, in pixels.
_NARROWEST = 0.3

# A click shows a frame and what it has called over the whole width, a click on the title all.
_SCRIPT = """
const width = %d, frames = [...document.querySelectorAll("g")].map(g => ({
  g, rect: g.querySelector("rect"), text: g.querySelector("text"),
  x: +g.dataset.x, w: +g.dataset.w, name: g.dataset.name}));
function show(x, w) {
  for (const f of frames) {
    const left = Math.max(f.x, x), right = Math.min(f.x + f.w, x + w);
    f.g.style.display = right - left > w * 1e-6 ? "" : "none";
    const at = (left - x) / w * width, wide = (right - left) / w * width;
    f.rect.setAttribute("x", at);
    f.rect.setAttribute("width", Math.max(wide, 0));
    f.text.setAttribute("x", at + 3);
    f.text.textContent = wide > 20 ? f.name.slice(0, (wide - 6) / %d) : "";
  }
}
for (const f of frames) f.g.onclick = () => show(f.x, f.w);
document.getElementById("title").onclick = () => show(0, 1);
"""


@dataclass
class _Node:
    samples: int = 0
    called: dict[Frame, _Node] = field(default_factory=dict)

    def depth(self) -> int:
        return 1 + max((each.depth() for each in self.called.values()), default=0)


def to_svg(title: str, stacks: Iterable[Stack]) -> str:
    """Return the graph; what has called a function is below it.

    Parameters
    ----------
    title : str
        What was profiled.
    stacks : iterable of Stack
        In any order.
    """
    root = _Node()
    for stack in stacks:
        node = root
        node.samples += stack.samples
        for frame in stack.frames:
            node = node.called.setdefault(frame, _Node())
            node.samples += stack.samples
    height = _TOP + root.depth() * _ROW
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            f'width="{_WIDTH}" height="{height}" font-family="monospace" font-size="12">',
            f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text id="title" x="6" y="22" font-size="15">{escape(title)}</text>',
            *_drawn(root, root, 0, height - _ROW),
            f"<script>{_SCRIPT % (_WIDTH, _CHARACTER)}</script>",
            "</svg>",
            "",
        ]
    )


def _drawn(root: _Node, node: _Node, before: int, y: int) -> Iterator[str]:
    """Yield what has been called, the most frequent first, from so many samples on."""
    for frame, each in sorted(node.called.items(), key=lambda item: -item[1].samples):
        yield from _frame(frame, each.samples, before, y, root.samples)
        if each.samples * _WIDTH >= _NARROWEST * root.samples:
            yield from _drawn(root, each, before, y - _ROW)
        before += each.samples


def _frame(frame: Frame, samples: int, before: int, y: int, all_samples: int) -> Iterator[str]:
    x, width = before / all_samples, samples / all_samples
    if width * _WIDTH < _NARROWEST:
        return
    place = f" ({frame.file}:{frame.line})" if frame.file else ""
    tooltip = f"{frame.name}{place}: {100 * width:.1f}%, {samples} samples"
    room = int((width * _WIDTH - 6) / _CHARACTER)
    shown = frame.name[:room] if room > 1 else ""
    yield (
        f'<g data-x="{x:.7f}" data-w="{width:.7f}" data-name="{escape(frame.name)}">'
        f"<title>{escape(tooltip)}</title>"
        f'<rect x="{x * _WIDTH:.2f}" y="{y}" width="{width * _WIDTH:.2f}" height="{_ROW - 1}" '
        f'fill="{_color(frame)}"/>'
        f'<text x="{x * _WIDTH + 3:.2f}" y="{y + 13}">{escape(shown)}</text></g>'
    )


def _color(frame: Frame) -> str:
    """Return a warm color for functions, the same for those of one file; grey for what is none."""
    if frame.file is None:
        return "#c8ccd0"
    number = zlib.crc32(frame.file.encode())
    return f"hsl({number % 50}, 80%, {62 + number // 50 % 14}%)"
