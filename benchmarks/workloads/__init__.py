"""All workloads, by name, in the order of their groups."""

from __future__ import annotations

from benchmarks.workload import Workload
from benchmarks.workloads import (
    big_graphs,
    calls,
    densities,
    devices,
    elementwise,
    indexing,
    linalg,
    loops,
    networks,
    products,
    random,
    reductions,
    rows,
    sparse,
    training,
)

GROUPS = {
    "a": "calls",
    "b": "element-wise",
    "c": "reductions",
    "d": "products",
    "e": "training steps",
    "f": "convolution and networks",
    "g": "rows, softmax, pooling",
    "h": "loops",
    "i": "indexing",
    "j": "sparse",
    "k": "random",
    "l": "big graphs",
    "m": "log-densities",
    "n": "linear algebra",
    "o": "on a device",
}
# The group of which rows are too large for a processor.
OF_DEVICES = "o"

_PLACES = (calls, elementwise, reductions, products, training, networks, rows, loops, indexing, sparse, random, big_graphs, densities,
           linalg, devices)  # fmt: skip
_found = {name: workload for place in _PLACES for name, workload in place.TABLE.items()}
WORKLOADS: dict[str, Workload] = dict(sorted(_found.items(), key=lambda item: item[1].group))
