"""d. Products of matrices and vectors, from 4 x 4 to 1000 x 1000, with transposes and sums around them."""

from __future__ import annotations

from benchmarks.workload import BOTH, Workload, normal, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
LOOSE = {"float32": 1e-3}


def product(xp, x, y):
    return [xp.dot(x, y)]


for n in (500, 1000):
    add(f"d_dot_{n}", normal(x=(n, n), y=(n, n)), product, dtypes=BOTH, flops=2 * n**3, tolerance=LOOSE)
add("d_gemv_2000", normal(x=(2000, 2000), y=2000), product, dtypes=BOTH, reads=4e6, tolerance=LOOSE)
add("d_gemm_fused_500", normal(x=(500, 500), y=(500, 500), z=(500, 500)),
    lambda xp, x, y, z: [0.5 * xp.dot(x, y) + 2.0 * z], flops=2 * 500**3)  # fmt: skip
add("d_batched_dot", normal(x=(64, 100, 100), y=(64, 100, 100)), lambda xp, x, y: [xp.batched_dot(x, y)], dtypes=BOTH,
    flops=64 * 2e6, tolerance=LOOSE)  # fmt: skip

# Others of the same kinds, so that nothing is tuned to those above.
for n in (4, 10, 32, 100):
    add(f"d_dot_{n}", normal(x=(n, n), y=(n, n)), product, dtypes=BOTH, flops=2 * n**3, tolerance=LOOSE)
add("d_dot_odd_333", normal(x=(333, 333), y=(333, 333)), product, dtypes=BOTH, flops=2 * 333**3, tolerance=LOOSE)
add("d_dot_tall", normal(x=(10000, 50), y=(50, 20)), product, dtypes=BOTH, flops=2e7, tolerance=LOOSE)
add("d_dot_narrow", normal(x=(20, 10000), y=(10000, 20)), product, dtypes=BOTH, flops=8e6, tolerance=LOOSE)
add("d_dot_transposed", normal(x=(500, 500), y=(500, 500)), lambda xp, x, y: [xp.dot(x.T, y)], dtypes=BOTH, flops=2 * 500**3,
    tolerance=LOOSE)  # fmt: skip
add("d_gram", normal(x=(1000, 200)), lambda xp, x: [xp.dot(x.T, x)], flops=2 * 1000 * 200**2)
add("d_gemv_transposed", normal(x=(2000, 1000), y=2000), lambda xp, x, y: [xp.dot(x.T, y)], dtypes=BOTH, reads=2e6, tolerance=LOOSE)
add("d_gemv_64", normal(x=(64, 64), y=64), product, dtypes=BOTH, tolerance=LOOSE)
add("d_inner_1e6", normal(x=10**6, y=10**6), product, dtypes=BOTH, reads=2e6, tolerance=LOOSE)
add("d_outer_1000", normal(x=1000, y=1000), lambda xp, x, y: [xp.outer(x, y)], dtypes=BOTH, reads=2e3, writes=1e6)
add("d_batched_10", normal(x=(256, 10, 10), y=(256, 10, 10)), lambda xp, x, y: [xp.batched_dot(x, y)], dtypes=BOTH,
    flops=256 * 2000, tolerance=LOOSE)  # fmt: skip
add("d_affine_tanh", normal(x=(64, 256), w=(256, 256), b=256), lambda xp, x, w, b: [xp.tanh(xp.dot(x, w) + b)], dtypes=BOTH,
    flops=2 * 64 * 256**2, tolerance=LOOSE)  # fmt: skip
add("d_quadratic_form", normal(x=500, a=(500, 500)), lambda xp, x, a: [xp.dot(xp.dot(x, a), x)], dtypes=BOTH, tolerance=LOOSE,
    reads=2.5e5)  # fmt: skip
add("d_rank_one_update", normal(a=(500, 500), x=500, y=500), lambda xp, a, x, y: ([], {"a": a + 1e-9 * xp.outer(x, y)}),
    state=("a",), dtypes=BOTH)  # fmt: skip
