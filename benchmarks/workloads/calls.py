"""a. What a call costs beside its work: a handful of numbers."""

from __future__ import annotations

import numpy as np

from benchmarks.workload import Workload, normal, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)

add("a_scalar_add1", lambda rng: {"x": np.array(1.5)}, lambda xp, x: [x + 1], numexpr="x + 1")
add("a_vec1_add1", lambda rng: {"x": np.ones(1)}, lambda xp, x: [x + 1], numexpr="x + 1")
add("a_shared_update", lambda rng: {"s": np.array(0.0)}, lambda xp, s: ([], {"s": s + 1}), state=("s",))
add("a_vec3_formula", normal(x=3, y=3, z=3), lambda xp, x, y, z: [x * y + z], numexpr="x*y + z")
add("a_two_results", normal(x=(2, 2)), lambda xp, x: [x + 1, x * 2])
add("a_ten_inputs", normal(**{f"x{i}": 4 for i in range(10)}), lambda xp, **x: [sum(x.values())])
add("a_sum_10", normal(x=10), lambda xp, x: [xp.sum(x)])
