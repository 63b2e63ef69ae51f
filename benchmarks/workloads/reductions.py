"""c. Reductions: over all, the first, the middle and the last axis; sums, extremes, moments, truths; fused and alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import BOTH, Workload, normal, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
LOOSE = {"float32": 1e-3}


def reduction(name: str, body: Any, shape: Any = (2000, 2000), names: str = "x", dtypes: Any = ("float64",), **rest: Any) -> None:
    """Add a workload that reads arrays of one shape and writes little."""
    rest.setdefault("reads", len(names) * float(np.prod(shape)))
    rest.setdefault("inputs", normal(**dict.fromkeys(names, shape)))
    add("c_" + name, rest.pop("inputs"), body, dtypes=dtypes, tolerance=LOOSE, **rest)


reduction("sum", lambda xp, x: [xp.sum(x)], dtypes=BOTH, numexpr="sum(x)")
reduction("sum_ax0", lambda xp, x: [xp.sum(x, 0)], dtypes=BOTH, numexpr="sum(x, axis=0)")
reduction("sum_ax1", lambda xp, x: [xp.sum(x, 1)], dtypes=BOTH, numexpr="sum(x, axis=1)")
reduction("mean", lambda xp, x: [xp.mean(x)])
reduction("max_ax1", lambda xp, x: [xp.max(x, 1)])
reduction("max", lambda xp, x: [xp.max(x)])
reduction("argmax_ax1", lambda xp, x: [xp.argmax(x, 1)], dtypes=BOTH)
reduction("logsumexp_ax1", lambda xp, x: [xp.logsumexp(x, 1)], dtypes=BOTH)
reduction("sum3d_mid", lambda xp, x: [xp.sum(x, 1)], (100, 200, 300))
reduction("max3d_mid", lambda xp, x: [xp.max(x, 1)], (100, 200, 300))
reduction("sqdiff_sum", lambda xp, x, y: [xp.sum((x - y) ** 2)], names="xy", dtypes=BOTH, numexpr="sum((x - y)**2)")

# Others of the same kinds, so that nothing is tuned to those above.
for axis, place in enumerate(("first", "mid", "last")):
    reduction(f"sum3d_{place}_f32", lambda xp, x, axis=axis: [xp.sum(x, axis)], (100, 200, 300), dtypes=("float32",))
reduction("sum3d_outer_two", lambda xp, x: [xp.sum(x, (0, 2))], (100, 200, 300), dtypes=BOTH)
reduction("sum_1e3", lambda xp, x: [xp.sum(x)], 1000, dtypes=BOTH)
reduction("sum_1e5", lambda xp, x: [xp.sum(x)], 10**5, dtypes=BOTH)
for axis in (0, 1):
    reduction(f"sum_narrow_ax{axis}", lambda xp, x, axis=axis: [xp.sum(x, axis)], (100000, 10), dtypes=BOTH)
    reduction(f"sum_flat_ax{axis}", lambda xp, x, axis=axis: [xp.sum(x, axis)], (10, 100000))
    reduction(f"sum_small_ax{axis}", lambda xp, x, axis=axis: [xp.sum(x, axis)], (32, 64))
reduction("sum_strided", lambda xp, x: [xp.sum(x[:, ::2])])  # all lines of memory are read
reduction("mean_ax0", lambda xp, x: [xp.mean(x, 0)], dtypes=("float32",))
reduction("min_ax0", lambda xp, x: [xp.min(x, 0)], dtypes=BOTH)
reduction("max_f32", lambda xp, x: [xp.max(x)], dtypes=("float32",))
reduction("max_narrow_ax1", lambda xp, x: [xp.max(x, 1)], (100000, 10), dtypes=BOTH)
reduction("argmax_ax0", lambda xp, x: [xp.argmax(x, 0)], dtypes=BOTH)
reduction("argmax_narrow_ax1", lambda xp, x: [xp.argmax(x, 1)], (10000, 10), dtypes=BOTH)
reduction("argmin_flat", lambda xp, x: [xp.argmin(x, 0)], 10**6)
reduction("prod_ax1", lambda xp, x: [xp.prod(x, 1)], (1000, 1000),
          inputs=lambda rng: {"x": rng.uniform(0.99, 1.01, (1000, 1000))})  # fmt: skip
reduction("var", lambda xp, x: [xp.var(x)], dtypes=BOTH)
reduction("std_ax1", lambda xp, x: [xp.std(x, 1)], (1000, 1000), dtypes=BOTH)
reduction("mean_and_var_ax0", lambda xp, x: [xp.mean(x, 0), xp.var(x, 0)], (10000, 100), dtypes=BOTH)
reduction("norm", lambda xp, x: [xp.sqrt(xp.sum(x * x))], 10**6, dtypes=BOTH)
reduction("weighted_sum_ax1", lambda xp, x, y: [xp.sum(x * y, 1)], (1000, 1000), "xy", dtypes=BOTH)
reduction("mean_abs", lambda xp, x, y: [xp.mean(abs(x - y))], 10**6, "xy", dtypes=BOTH)
reduction("max_of_product", lambda xp, x, y: [xp.max(x * y)], 10**6, "xy")
reduction("sum_exp_ax1", lambda xp, x: [xp.sum(xp.exp(x), 1)], (1000, 1000), dtypes=BOTH)
reduction("sum_int64", lambda xp, x: [xp.sum(x)], inputs=lambda rng: {"x": rng.randint(-9, 9, (1000, 1000))}, dtypes=("int64",),
          reads=1e6)  # fmt: skip
reduction("max_int32_ax1", lambda xp, x: [xp.max(x, 1)], dtypes=("int32",), reads=1e6,
          inputs=lambda rng: {"x": rng.randint(-9999, 9999, (1000, 1000)).astype("int32")})  # fmt: skip
reduction("any_large", lambda xp, x: [xp.any(x > 10)], 10**6, dtypes=BOTH)
reduction("all_ax1", lambda xp, x: [xp.all(x < 10, 1)], (1000, 1000))
reduction("count_positive", lambda xp, x: [xp.sum(x > 0)], 10**6, dtypes=BOTH)
reduction("cumsum", lambda xp, x: [xp.cumsum(x)], 10**6, writes=1e6)
reduction("two_at_once", lambda xp, x: [xp.sum(x), xp.sum(x * x)], 10**6, dtypes=BOTH)
