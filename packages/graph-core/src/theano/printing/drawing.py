"""A graph as a drawing of our own: SVG for a notebook, and a page to explore with a mouse, both without any program."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Hashable, Mapping, Sequence
from html import escape
from typing import Any

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.source import created_at
from theano.graph.text import printable
from theano.graph.variable import Constant, Variable
from theano.printing.layout import HEIGHT, Layout, lay_out
from theano.printing.page import PAGE
from theano.printing.picture import default_colorCodes, graph_of
from theano.printing.tree import debugprint
from theano.records import NamedTuple

#: Graphs of more nodes than this show themselves in a notebook as text only.
MOST_NODES = 80

INPUT, OUTPUT, CONSTANT, NODE = "#dff3df", "#cfe4fa", "#f4f4f4", "#fff4d6"
LONGEST = 34
#: Black letters can be read on all of these.
COLORS = {k: c for k, c in default_colorCodes.items() if k not in ("Input", "Output")} | {"Shape": "#e3cdb8"}


class Box(NamedTuple):
    """One thing in the picture: its number, label, shape and colour, and its tooltip."""

    number: int
    label: str
    shape: str
    color: str
    facts: dict[str, Any]


class Drawing:
    """The boxes and edges of a graph.

    Parameters
    ----------
    fct : Variable, Apply, FunctionGraph, compiled function, or list of Variable
    colors : dict from str to str, optional
        The colour of the ops whose class name contains the key. If none is given, nodes of a function that was
        profiled are the more orange the longer they took.
    details : bool
        Also find out what to tell about each node, beside the time that it took.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> drawing = Drawing(Not()(generic("x")))
    >>> [box.label for box in drawing.boxes.values()]
    ['x', 'Not', 'Generic']
    >>> drawing.svg()[:4]
    '<svg'
    """

    def __init__(self, fct: Any, colors: Mapping[str, str] | None = None, details: bool = True):
        self.outputs, self.order = graph_of(fct)
        self.colors = {**COLORS, **(colors or {})}
        self._by_time = not colors
        self._report = getattr(getattr(fct, "maker", None), "rewriting", None) if details else None
        self._times = _times(fct)
        self._given = fct.inputs if isinstance(fct, FunctionGraph) else ()
        self.details = details
        self.boxes: dict[Hashable, Box] = {}
        self.edges: list[tuple[Hashable, Hashable, str]] = []
        self._collect()

    def _collect(self) -> None:
        for v in self._given:
            self._leaf(v)
        for node in self.order:
            for v in node.inputs:
                if v.owner is None:
                    self._leaf(v)
            self._add(node, str(node.op), "ellipse", self._color_of(node), self._facts(node))
            for i, v in enumerate(node.inputs):
                source: Hashable = v if v.owner is None else v.owner
                self.edges.append((source, node, str(i) if len(node.inputs) > 1 else ""))
        for i, v in enumerate(self.outputs):
            if v.owner is None:
                self._leaf(v)
            end = ("output", i)
            label = v.name or str(v.type)
            self._add(end, label, "box", OUTPUT, {"kind": f"output {i}", "type": str(v.type)})
            index = "" if v.owner is None or len(v.owner.outputs) == 1 else str(v.index)
            self.edges.append((v if v.owner is None else v.owner, end, index))

    def _leaf(self, v: Variable) -> None:
        if v in self.boxes:
            return
        kind, color = ("constant", CONSTANT) if isinstance(v, Constant) else ("input", INPUT)
        facts = {"kind": kind, "type": str(v.type)}
        line = created_at(v)
        if self.details and line is not None:
            facts["written at"] = f"{line}  {line.text}".strip()
        self._add(v, str(v), "box", color, facts)

    def _add(self, key: Hashable, label: str, shape: str, color: str, facts: dict[str, str]) -> None:
        text = label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"
        self.boxes[key] = Box(len(self.boxes), text, shape, color, {"label": label, **facts})

    def _color_of(self, node: Apply) -> str:
        if self._times and self._by_time:
            return _heat(self._times.get(node, 0.0) / (max(self._times.values()) or 1.0))
        name = type(node.op).__name__
        return next((color for key, color in self.colors.items() if key in name), NODE)

    def _facts(self, node: Apply) -> dict[str, str]:
        time = {"time": _time_text(self._times[node], sum(self._times.values()))} if node in self._times else {}
        if not self.details:
            return time
        facts: dict[str, Any] = {"kind": "node", "op": type(node.op).__name__, **time}
        facts["outputs"] = ", ".join(str(v.type) for v in node.outputs)
        line = created_at(node.outputs[0]) if node.outputs else None
        if line is not None:
            facts["written at"] = f"{line}  {line.text}".strip()
        if self._report is not None:
            steps = self._report.why(node)
            facts["rule"] = steps[0].rule if steps else ""
            facts["made by"] = [str(step) for step in steps] or ["as it was written"]
        for name, maps in (("overwrites", node.op.destroy_map), ("views", node.op.view_map)):
            if maps:
                facts[name] = str(maps)
        inner = getattr(node.op, "inner_graph", None) or getattr(node.op, "fgraph", None)
        if isinstance(inner, FunctionGraph):
            facts["inner graph"] = debugprint(inner, file="str")
        return facts

    # -- as text ----------------------------------------------------------------------------------------------

    def _layout(self) -> tuple[Layout, dict[Hashable, float]]:
        widths = {key: 7.2 * len(box.label) + 22 for key, box in self.boxes.items()}
        return lay_out(widths, [(a, b) for a, b, _ in self.edges]), widths

    def svg(self) -> str:
        """Return the drawing as SVG."""
        found, widths = self._layout()
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {found.width:.0f} {found.height:.0f}" '
            f'width="{found.width:.0f}" height="{found.height:.0f}" font-family="sans-serif" font-size="12">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0 8 4 0 8z" fill="#777"/></marker></defs>',
        ]
        for number, (a, b, label) in enumerate(self.edges):
            points = [found.place[a], *found.bends[number], found.place[b]]
            parts.append(_edge(points, label, self.boxes[a].number, self.boxes[b].number))
        for key, box in self.boxes.items():
            parts.append(_box(box, *found.place[key], widths[key]))
        return printable("\n".join([*parts, "</svg>"]))

    def page(self, title: str) -> str:
        """Return the drawing as an HTML page that needs nothing else: it can be moved, searched and asked."""
        facts = [box.facts for box in self.boxes.values()]
        # No tag can begin within the data, whatever users call their variables.
        data = json.dumps(facts).replace("<", "\\u003c")
        parts = {"TITLE": escape(title), "SVG": self.svg(), "FACTS": data}
        return printable(re.sub("@(TITLE|SVG|FACTS)@", lambda found: parts[found[1]], PAGE))


def _edge(points: Sequence[tuple[float, float]], label: str, source: int, target: int) -> str:
    (x, y), (to_x, to_y) = points[0], points[-1]
    stops = [(x, y + HEIGHT / 2), *points[1:-1], (to_x, to_y - HEIGHT / 2)]
    path = f"M{stops[0][0]:.1f} {stops[0][1]:.1f}"
    for (ax, ay), (bx, by) in itertools.pairwise(stops):
        middle = (ay + by) / 2
        path += f"C{ax:.1f} {middle:.1f} {bx:.1f} {middle:.1f} {bx:.1f} {by:.1f}"
    text = ""
    if label:
        (ax, ay), (bx, by) = stops[-2], stops[-1]
        text = f'<text x="{bx + (ax - bx) * 0.3:.1f}" y="{by - 6:.1f}" fill="#777" font-size="9">{label}</text>'
    line = f'<path d="{path}" fill="none" stroke="#999" marker-end="url(#tip)"/>'
    return f'<g class="edge" data-from="{source}" data-to="{target}">{line}{text}</g>'


def _box(box: Box, x: float, y: float, width: float) -> str:
    style = f'fill="{box.color}" stroke="#666"'
    left, top = x - width / 2, y - HEIGHT / 2
    corner = HEIGHT / 2 if box.shape == "ellipse" else 2
    shape = f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{HEIGHT:.0f}" rx="{corner:.0f}" {style}/>'
    rule, time = box.facts.get("rule"), box.facts.get("time")
    told = "\n".join(filter(None, (str(box.facts.get("label", "")), f"made by {rule}" if rule else "", time)))
    text = f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{escape(box.label)}</text>'
    return f'<g class="box {box.shape}" data-number="{box.number}"><title>{escape(told)}</title>{shape}{text}</g>'


def _times(fct: Any) -> dict[Apply, float]:
    """Return the seconds that each node took, where the function was profiled."""
    profile = getattr(fct, "profile", None)
    if profile is None or not getattr(profile, "fct_callcount", 0):
        return {}
    return dict(profile.apply_time)


def _time_text(seconds: float, whole: float) -> str:
    return f"{100 * seconds / (whole or 1.0):.1f} % ({seconds:.3e} s)"


def _heat(share: float) -> str:
    """Return a colour from white to orange.

    Examples
    --------
    >>> _heat(0.0), _heat(1.0)
    ('#ffffff', '#ff9d5c')
    """
    return "#ff" + "".join(f"{round(255 + (end - 255) * share):02x}" for end in (0x9D, 0x5C))


def notebook_svg(fct: Any) -> str | None:
    """Return what a notebook shows of a graph, or None where text is better: for a leaf, and for what is too large."""
    outputs, order = graph_of(fct)
    if not order or len(order) > MOST_NODES:
        return None
    return Drawing(fct, details=False).svg()
