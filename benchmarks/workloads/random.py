"""k. A million random numbers; ours from MRG31k3p, and from a counter: each in the fastest way that a peer has."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import BOTH, Workload, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
MOMENTS = {"normal": (0, 1), "uniform": (0.5, 12**-0.5)}


def like(kind: str) -> Any:
    """Return a test of mean and deviation: five of their own deviations, about."""

    def accept(results: list) -> bool:
        values, (mean, deviation) = np.asarray(results[0]), MOMENTS[kind]
        return values.shape == (10**6,) and abs(values.mean() - mean) < 5e-3 and abs(values.std() - deviation) < 5e-3

    return accept


for kind in MOMENTS:
    add(f"k_{kind}_counter_1e6", lambda rng: {}, lambda xp, kind=kind: [xp.random(kind, 10**6, from_counter=True)],
        accept=like(kind), dtypes=BOTH, writes=1e6)  # fmt: skip
    add(f"k_{kind}_1e6", lambda rng: {}, lambda xp, kind=kind: [xp.random(kind, 10**6)], accept=like(kind), dtypes=BOTH,
        writes=1e6)  # fmt: skip
