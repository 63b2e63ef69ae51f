"""The layout of a graph in a picture: in layers, from the inputs down, with few crossings.

Layers are longest ways from the inputs. An edge over several layers gets a point in each, so that it keeps clear of
other boxes. The order within a layer follows the neighbours' places (barycentres), in a few sweeps up and down.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

SWEEPS = 8
GAP_X, GAP_Y, HEIGHT, BEND = 18.0, 44.0, 28.0, 10.0


@dataclass
class Layout:
    """The places of boxes, and the points of edges.

    Attributes
    ----------
    place : dict from key to (x, y)
        Middles of boxes.
    bends : dict from (int, key, key) to list of (x, y)
        The points between the ends of each edge, by its number and ends.
    width, height : float
        Of the whole.
    """

    place: dict[Hashable, tuple[float, float]] = field(default_factory=dict)
    bends: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0


def lay_out(widths: Mapping[Hashable, float], edges: Sequence[tuple[Hashable, Hashable]]) -> Layout:
    """Return where to draw the boxes of a graph without cycles.

    Parameters
    ----------
    widths : dict from key to float
        How wide each box is; in an order in which what is needed comes first.
    edges : list of (key, key)
        From what is needed to who needs it.

    Examples
    --------
    >>> found = lay_out({"x": 40, "y": 40, "x+y": 60}, [("x", "x+y"), ("y", "x+y")])
    >>> found.place["x"][1] == found.place["y"][1] < found.place["x+y"][1]
    True
    """
    layer = _layers(list(widths), edges)
    chains, size = _chains(layer, edges, dict(widths))
    rows = _rows(layer, chains)
    links = [(a, b) for chain in chains for a, b in itertools.pairwise(chain)]
    _order(rows, links)
    x = _abscissae(rows, links, size)
    found = Layout()
    if not x:
        return found
    left = min(x[k] - size[k] / 2 for k in x) - GAP_X
    for i, row in enumerate(rows):
        for key in row:
            found.place[key] = (x[key] - left, GAP_Y / 2 + HEIGHT / 2 + i * (HEIGHT + GAP_Y))
    for number, chain in enumerate(chains):
        found.bends[number] = [found.place.pop(key) if key in found.place else (0.0, 0.0) for key in chain[1:-1]]
    found.width = max(x[k] + size[k] / 2 for k in x) - left + GAP_X
    found.height = len(rows) * (HEIGHT + GAP_Y)
    return found


def _layers(keys: Sequence[Hashable], edges: Sequence[tuple[Hashable, Hashable]]) -> dict[Hashable, int]:
    below: dict[Hashable, list[Hashable]] = {k: [] for k in keys}
    above: dict[Hashable, list[Hashable]] = {k: [] for k in keys}
    for a, b in edges:
        below[a].append(b)
        above[b].append(a)
    layer: dict[Hashable, int] = {}
    for k in keys:
        layer[k] = max((layer[a] + 1 for a in above[k]), default=0)
    # What nothing computes stands right above the first who needs it.
    for k in keys:
        if not above[k] and below[k]:
            layer[k] = min(layer[b] for b in below[k]) - 1
    return layer


def _chains(
    layer: Mapping[Hashable, int], edges: Sequence[tuple[Hashable, Hashable]], size: dict[Hashable, float]
) -> tuple[list[list[Hashable]], dict[Hashable, float]]:
    """Return each edge as the keys that it passes, one in each layer; those between the ends are new."""
    chains: list[list[Hashable]] = []
    for number, (a, b) in enumerate(edges):
        between: list[Hashable] = [("bend", number, i) for i in range(layer[a] + 1, layer[b])]
        size.update(dict.fromkeys(between, BEND))
        chains.append([a, *between, b])
    return chains, size


def _rows(layer: Mapping[Hashable, int], chains: Sequence[Sequence[Hashable]]) -> list[list[Hashable]]:
    rows: list[list[Hashable]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for key, i in layer.items():
        rows[i].append(key)
    for chain in chains:
        for step, key in enumerate(chain[1:-1], start=1):
            rows[layer[chain[0]] + step].append(key)
    return rows


def _order(rows: list[list[Hashable]], links: Sequence[tuple[Hashable, Hashable]]) -> None:
    up: dict[Hashable, list[Hashable]] = {}
    down: dict[Hashable, list[Hashable]] = {}
    for a, b in links:
        down.setdefault(a, []).append(b)
        up.setdefault(b, []).append(a)
    rank = {key: i for row in rows for i, key in enumerate(row)}
    for sweep in range(SWEEPS):
        neighbours, order = (up, rows) if sweep % 2 == 0 else (down, rows[::-1])
        for row in order:
            mean = {k: _mean([rank[n] for n in neighbours.get(k, [k])]) for k in row}
            row.sort(key=lambda k: mean[k])
            rank.update({key: i for i, key in enumerate(row)})


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _abscissae(
    rows: Sequence[Sequence[Hashable]], links: Sequence[tuple[Hashable, Hashable]], size: Mapping[Hashable, float]
) -> dict[Hashable, float]:
    """Return the horizontal position of each box: near its neighbours, none over another."""
    near: dict[Hashable, list[Hashable]] = {}
    for a, b in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    x: dict[Hashable, float] = {}
    for row in rows:
        place = -sum(size[k] + GAP_X for k in row) / 2
        for key in row:
            x[key] = place + size[key] / 2
            place += size[key] + GAP_X
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            _settle(row, {k: sum(x[n] for n in near[k]) / len(near[k]) if k in near else x[k] for k in row}, size, x)
    return x


def _settle(
    row: Sequence[Hashable], wanted: Mapping[Hashable, float], size: Mapping[Hashable, float], x: dict[Hashable, float]
) -> None:
    """Put a row where it wants to be, the mean of pushing to the right and pushing to the left."""
    right, left = dict(wanted), dict(wanted)
    for a, b in itertools.pairwise(row):
        right[b] = max(right[b], right[a] + (size[a] + size[b]) / 2 + GAP_X)
    for b, a in zip(row[::-1], row[-2::-1], strict=False):
        left[a] = min(left[a], left[b] - (size[a] + size[b]) / 2 - GAP_X)
    for key in row:
        x[key] = (right[key] + left[key]) / 2
