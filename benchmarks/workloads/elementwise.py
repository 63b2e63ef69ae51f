"""b. Element-wise expressions: few and many elements, cheap and dear functions, broadcasting, dtypes, layouts."""

from __future__ import annotations

from typing import Any

from benchmarks.workload import BOTH, Workload, normal, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)


def vectors(name: str, size: int, body: Any, names: str = "xy", **rest: Any) -> None:
    """Add a workload on vectors of one size, which writes one of them."""
    rest.setdefault("dtypes", BOTH)
    rest.setdefault("inputs", normal(**dict.fromkeys(names, size)))
    rest.setdefault("reads", len(names) * size)
    rest.setdefault("writes", size)
    add(f"b_{name}_{size:.0e}".replace("e+0", "e"), rest.pop("inputs"), body, **rest)


def polynomial(xp, x, y):
    return [x**2 + y**2 + 2 * x * y]


for size in (10**3, 10**6):
    vectors("poly", size, polynomial, numexpr="x**2 + y**2 + 2*x*y")
vectors("poly", 10**7, polynomial, numexpr="x**2 + y**2 + 2*x*y", dtypes=("float64",))
vectors("ratio", 10**6, lambda xp, a, b: [2 * a + 3 * b - a * b / (1 + a * a)], "ab", numexpr="2*a + 3*b - a*b/(1 + a*a)")
for size in (10**3, 10**6):
    vectors("transc", size, lambda xp, x, y: [xp.tanh(x) * xp.exp(-y) + xp.log1p(xp.exp(x))],
            numexpr="tanh(x)*exp(-y) + log1p(exp(x))")  # fmt: skip
vectors("sigmoid", 10**6, lambda xp, x: [xp.sigmoid(x)], "x", numexpr="1/(1 + exp(-x))")
add("b_bcast_2000", normal(m=(2000, 2000), u=(1, 2000), v=(2000, 1)), lambda xp, m, u, v: [m + u * v], dtypes=BOTH, stretched=True,
    numexpr="m + u*v", reads=4e6, writes=4e6)  # fmt: skip


# Others of the same kinds, so that nothing is tuned to those above.


def horner(xp, x):
    total = x * 0.1
    for k in range(1, 9):
        total = (total + 1.0 / k) * x
    return [total]


def gelu(xp, x):
    return [0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))]


def gelu_erf(xp, x):
    return [0.5 * x * (1 + xp.erf(x * 0.7071067811865476))]


def chain_of_20(xp, x, y):
    for k in range(20):
        x = x * y + 0.1 * k if k % 2 else abs(x) - y
    return [x]


def positive(*names: str, size: int) -> Any:
    """Return a maker of numbers between 0.1 and 3."""
    return lambda rng: {name: rng.uniform(0.1, 3, size) for name in names}


for size in (100, 10**4, 10**5):
    vectors("horner", size, horner, "x")
vectors("muladd", 10**5, lambda xp, x, y, z: [x * y + z], "xyz", numexpr="x*y + z")
vectors("add", 10**6, lambda xp, x, y: [x + y], numexpr="x + y")
vectors("axpy", 10**7, lambda xp, x, y: [2.5 * x + y], numexpr="2.5*x + y", dtypes=("float32",))
vectors("chain20", 10**6, chain_of_20)
for size in (10**3, 10**6):
    vectors("gelu", size, gelu, "x")
vectors("gelu_erf", 10**6, gelu_erf, "x")
vectors("softplus", 10**6, lambda xp, x: [xp.softplus(x)], "x")
vectors("exp", 10**5, lambda xp, x: [xp.exp(x)], "x", numexpr="exp(x)")
vectors("log", 10**5, lambda xp, x: [xp.log(x)], "x", inputs=positive("x", size=10**5), numexpr="log(x)")
vectors("pow", 10**5, lambda xp, x, y: [x**y], inputs=positive("x", "y", size=10**5), numexpr="x**y")
vectors("sincos", 10**5, lambda xp, x: [xp.sin(x) * xp.cos(x)], "x", numexpr="sin(x)*cos(x)")
vectors("rsqrt", 10**6, lambda xp, x: [1 / xp.sqrt(x)], "x", inputs=positive("x", size=10**6), numexpr="1/sqrt(x)")
vectors("two_results", 10**5, lambda xp, x: [xp.tanh(x), 1 - xp.tanh(x) ** 2], "x")
vectors("masked", 10**6, lambda xp, x, y: [xp.where(x > 0, x, 0.1 * y)], numexpr="where(x > 0, x, 0.1*y)")
vectors("clip", 10**6, lambda xp, x: [xp.clip(x, -1.0, 1.0)], "x")
vectors("inside", 10**6, lambda xp, x, y: [x * x + y * y < 1], numexpr="x*x + y*y < 1", writes=125000)
vectors("odd", 99991, polynomial, numexpr="x**2 + y**2 + 2*x*y")


def whole(dtype: str, size: int = 10**6) -> Any:
    """Return a maker of two vectors of whole numbers."""
    return lambda rng: {name: rng.randint(-1000, 1000, size).astype(dtype) for name in "ab"}


vectors("integers", 10**6, lambda xp, a, b: [a * 3 + b * b - 7], inputs=whole("int64"), dtypes=("int64",), numexpr="a*3 + b*b - 7")
vectors("integers", 10**5, lambda xp, a, b: [a * b + a], inputs=whole("int32", 10**5), dtypes=("int32",), numexpr="a*b + a")
vectors("bits", 10**6, lambda xp, a, b: [(a & b) ^ (a | b)], inputs=whole("int32"), dtypes=("int32",))
add("b_mixed_1e6", lambda rng: {"x": rng.standard_normal(10**6), "n": rng.randint(0, 100, 10**6)},
    lambda xp, x, n: [x * n + 1], dtypes=("float64",), numexpr="x*n + 1", reads=2e6, writes=1e6)  # fmt: skip
add("b_mixed_floats_1e6",
    lambda rng: {"x": rng.standard_normal(10**6).astype("float32"), "y": rng.standard_normal(10**6)},
    lambda xp, x, y: [x * y + x], dtypes=("mixed",), numexpr="x*y + x", reads=1.5e6, writes=1e6)  # fmt: skip

add("b_rows_normalised", normal(x=(1000, 1000)),
    lambda xp, x: [(x - xp.mean(x, 1)[:, None]) / xp.sqrt(xp.var(x, 1)[:, None] + 1e-5)], dtypes=BOTH, reads=1e6,
    writes=1e6)  # fmt: skip
add("b_column_scaled", normal(m=(1000, 1000), v=(1000, 1)), lambda xp, m, v: [m * v - 1], dtypes=BOTH, numexpr="m*v - 1",
    stretched=True, reads=1e6, writes=1e6)  # fmt: skip
add("b_bias_narrow", normal(m=(100000, 10), b=(1, 10)), lambda xp, m, b: [m + b], dtypes=BOTH, numexpr="m + b", reads=1e6,
    writes=1e6, stretched=True)  # fmt: skip
add("b_outer_add_3d", normal(x=(100, 1, 100), y=(1, 100, 100)), lambda xp, x, y: [x + y], numexpr="x + y", reads=2e4,
    writes=1e6, stretched=True)  # fmt: skip
add("b_transposed_add", normal(x=(1000, 1000), y=(1000, 1000)), lambda xp, x, y: [x + y.T], dtypes=BOTH, reads=2e6,
    writes=1e6)  # fmt: skip
add("b_strided_add", normal(x=10**6, y=10**6), lambda xp, x, y: [x[::2] + y[::2]], reads=2e6, writes=5e5)  # all lines of memory are read
add("b_scalars_mixed_in", normal(x=10**5, c=()), lambda xp, x, c: [c * x + xp.exp(c)], dtypes=BOTH, reads=1e5, writes=1e5)
