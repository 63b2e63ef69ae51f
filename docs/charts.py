"""Pictures of measurements in SVG: rows of points over a logarithmic axis, in the reader's light or dark colours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

WIDTH, LABELS, RIGHT, ROW = 480, 176, 14, 23
#: Colours that people without red or green can tell apart, on light and on dark ground, and a shape for each.
LOOKS = (
    ("#0969b8", "#58a6ff", "circle"),
    ("#c44a00", "#ff9a57", "square"),
    ("#0b7d5b", "#3fd0a0", "triangle"),
    ("#9a6700", "#e3b341", "diamond"),
    ("#a6338a", "#e58ac9", "cross"),
)
OURS = ("#1f2328", "#f0f3f6", "star")
STYLE = """
text{{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2328}}
.title{{font-size:14px;font-weight:600}}.soft{{fill:#59636e;font-size:11px}}.card{{fill:#fff}}
.grid{{stroke:#d1d9e0}}.one{{stroke:#59636e}}.lost{{fill:#c44a00;fill-opacity:.07}}
{light}
@media (prefers-color-scheme:dark){{text{{fill:#f0f3f6}}.soft{{fill:#9198a1}}.card{{fill:#151b23}}
.grid{{stroke:#3d444d}}.one{{stroke:#9198a1}}.lost{{fill:#ff9a57;fill-opacity:.09}}
{dark}}}
"""


class Point(NamedTuple):
    """A value of a series; hollow for another value of the same kind, faint for one of many."""

    series: str
    value: float
    hollow: bool = False
    faint: bool = False


class Axis(NamedTuple):
    """The numbers of the axis and how they are written; whether 1 is a border, left of which others are faster."""

    low: float
    high: float
    ticks: Mapping[float, str]
    border: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value, in pixels."""
        share = math.log(min(max(value, self.low), self.high) / self.low) / math.log(self.high / self.low)
        return LABELS + share * (WIDTH - LABELS - RIGHT)


def mark(shape: str, x: float, y: float, size: float = 4.5) -> str:
    """Return the outline of a shape around a place."""
    corners = {
        "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
        "triangle": [(0, -1.1), (1.05, 0.8), (-1.05, 0.8)],
        "diamond": [(0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)],
        "cross": [
            (-1, -0.35),
            (-0.35, -0.35),
            (-0.35, -1),
            (0.35, -1),
            (0.35, -0.35),
            (1, -0.35),
            (1, 0.35),
            (0.35, 0.35),
            (0.35, 1),
            (-0.35, 1),
            (-0.35, 0.35),
            (-1, 0.35),
        ],
        "star": [
            (r * math.sin(k * math.pi / 5), -r * math.cos(k * math.pi / 5))
            for k in range(10)
            for r in [1.5 if k % 2 == 0 else 0.62]
        ],
    }
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}"'
    path = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in corners[shape])
    return f'<polygon points="{path}"'


class Chart:
    """A picture of rows of points.

    Parameters
    ----------
    title, said : str
        What is shown, and how to read it, in lines.
    axis : Axis
    series : sequence of str
        The names in the legend, in the order of their colours; one that is "Theano" is ours.
    """

    def __init__(self, title: str, said: str, axis: Axis, series: Sequence[str]) -> None:
        self.title, self.said, self.axis = title, said, axis
        others = [name for name in series if name != "Theano"]
        self.looks = {name: OURS if name == "Theano" else LOOKS[others.index(name) % len(LOOKS)] for name in series}
        self.numbers = {name: k for k, name in enumerate(series)}

    def point(self, point: Point, y: float) -> str:
        """Return the mark of a point."""
        kind = f"s{self.numbers[point.series]}" + "h" * point.hollow + "f" * point.faint
        shape = self.looks[point.series][2]
        if not point.faint:  # the series beside each other, so that equal values are seen
            y += (self.numbers[point.series] - (len(self.looks) - 1) / 2) * 2.4
        return f'{mark(shape, self.axis.at(point.value), y, 3 if point.faint else 4.5)} class="{kind}"/>'

    def legend(self, top: float) -> tuple[list[str], float]:
        """Return the names of the series beside their marks, and where they end."""
        parts, x, y = [], 14.0, top
        for name, (_, _, shape) in self.looks.items():
            width = 26 + 7 * len(name)
            if x + width > WIDTH - RIGHT:
                x, y = 14.0, y + 18
            parts.append(f'{mark(shape, x + 5, y - 4)} class="s{self.numbers[name]}"/>')
            parts.append(f'<text x="{x + 14:.1f}" y="{y}">{escape(name)}</text>')
            x += width
        return (parts, y) if len(self.looks) > 1 else ([], top - 18)

    def svg(self, rows: Iterable[tuple[str, Sequence[Point]]]) -> str:
        """Return the picture."""
        rows, axis = list(rows), self.axis
        lines = self.said.split("\n")
        legend, end = self.legend(46 + 16 * len(lines))
        top = end + 14
        bottom = top + ROW * len(rows)
        parts = [
            f'<text class="title" x="14" y="24">{escape(self.title)}</text>',
            *(f'<text class="soft" x="14" y="{42 + 16 * k}">{escape(line)}</text>' for k, line in enumerate(lines)),
            *legend,
        ]
        if axis.border:
            left = axis.at(axis.low)
            parts.append(
                f'<rect class="lost" x="{left:.1f}" y="{top}" width="{axis.at(1) - left:.1f}" height="{bottom - top}"/>'
            )
        for value, text in axis.ticks.items():
            x, kind = axis.at(value), "one" if axis.border and value == 1 else "grid"
            parts.append(f'<path class="{kind}" d="M{x:.1f} {top}V{bottom}"/>')
            parts.append(f'<text class="soft" x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{text}</text>')
        for k, (label, points) in enumerate(rows):
            y = top + ROW * (k + 0.5)
            parts.append(f'<text x="{LABELS - 10}" y="{y + 4}" text-anchor="end">{escape(label)}</text>')
            parts += [self.point(point, y) for point in points]
        height = bottom + 26
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img"><title>{escape(self.title)}</title><style>{self.style()}</style>\n'
            f'<rect class="card" width="{WIDTH}" height="{height}" rx="8"/>\n' + "\n".join(parts) + "\n</svg>\n"
        )

    def style(self) -> str:
        """Return the colours of all marks, by light and by dark."""
        light, dark = (
            "".join(
                f".s{k}{{fill:{color};stroke:{ground};stroke-width:.8}}.s{k}f{{fill:{color};fill-opacity:.35}}"
                f".s{k}h{{fill:{ground};fill-opacity:.6;stroke:{color};stroke-width:1.6}}"
                for k, color in enumerate(look[column] for look in self.looks.values())
            )
            for column, ground in enumerate(("#fff", "#151b23"))
        )
        return STYLE.format(light=light, dark=dark)
