"""Loops that take several vectors at a time: their ends, layouts and special values, and which loops there are."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import scipy.special as sp
from kernel_harness import compile_text, params_of, run, unit_text
from layouts import in_all_layouts
from test_kernels_elemwise import elemwise_node

import theano.scalar as ts
from theano.scalar.composite import Composite
from theano.scalar.define import scalar_op
from theano.scalar.output_types import upgrade_to_float
from theano.tensor.elemwise.lowering import elemwise_kernel, plan_of

DTYPES = ("float32", "float64")


def long_chain(x, y):
    """Enough operators, and one of each kind that vectors have."""
    for k in range(5):
        x = ts.switch(ts.lt(x, y), ts.sqrt(ts.abs_(x - y)), -x / (y * y + ts.constant(k + 1, dtype=x.type.dtype)))
        x = ts.maximum(ts.minimum(x, y), x - y) + x
    return ts.clip(x, -y, y * y)


FUNCTIONS = {
    "chain": long_chain,
    "exp": lambda x, y: y * ts.exp(-x),
    "log": lambda x, y: ts.log(ts.abs_(x)) - y,
    "sigmoid": lambda x, y: x * ts.sigmoid(y),
    "pow": lambda x, y: ts.pow(ts.abs_(x), y) + y,
    "rsqrt": lambda x, y: ts.inv(ts.sqrt(ts.abs_(x))) * y,
    "two": lambda x, y: ts.exp(x) + ts.log(y * y),
    "erfc": lambda x, y: y * ts.erfc(x),
}
ORACLES = {
    "exp": lambda x, y: y * np.exp(-x),
    "log": lambda x, y: np.log(abs(x)) - y,
    "sigmoid": lambda x, y: x * sp.expit(y),
    "pow": lambda x, y: abs(x) ** y + y,
    "rsqrt": lambda x, y: 1 / np.sqrt(abs(x)) * y,
    "two": lambda x, y: np.exp(x) + np.log(y * y),
    "erfc": lambda x, y: y * sp.erfc(x),
}
CASES = [(name, dtype) for name in FUNCTIONS for dtype in DTYPES if (name, dtype) != ("erfc", "float64")]


def composite(name: str, dtype: str) -> Composite:
    x, y = (ts.get_scalar_type(dtype)() for _ in "xy")
    return Composite([x, y], [FUNCTIONS[name](x, y)])


def wanted(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        if name == "chain":
            return composite(name, x.dtype.name).numpy_form([x.dtype.name])(x, y)
        return np.asarray(ORACLES[name](x.astype("longdouble" if name != "erfc" else "float64"), y.astype("float64")))


def assert_near(name: str, got: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    want = wanted(name, x, y)
    if name == "chain":
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(want[got == 0]))
    else:
        eps = np.finfo(got.dtype).eps
        np.testing.assert_allclose(got, want.astype(got.dtype), rtol=8 * eps, atol=8 * eps * 4)


def operands(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> list[np.ndarray]:
    return [rng.uniform(-3, 3, shape).astype(dtype) for _ in "xy"]


@pytest.mark.parametrize("name, dtype", CASES)
def test_ends(name: str, dtype: str) -> None:
    """Each number of elements around whole vectors and whole steps; what is behind the results stays."""
    rng = np.random.default_rng(1)
    base = operands(rng, (400,), dtype)
    n = elemwise_node(composite(name, dtype), base)
    kernel = elemwise_kernel(n.op, n)
    vectors = plan_of(n).vectors
    assert vectors is not None
    lanes = 64 // np.dtype(dtype).itemsize
    step = lanes * vectors.together
    whole = run(kernel, n, base)[0]
    assert_near(name, whole, *base)
    sizes = {max(k * lanes + d, 0) for k in range(5) for d in (-1, 0, 1)} | {k * step + d for k in (1, 2, 3) for d in (-1, 0, 1)}
    for size in sorted(sizes):
        for start in (0, 1, 5):
            got = run(kernel, n, [x[start : start + size] for x in base])[0]
            np.testing.assert_array_equal(got, whole[start : start + size], err_msg=f"{size} from {start}")


@pytest.mark.parametrize("name, dtype", CASES)
def test_layouts(name: str, dtype: str) -> None:
    rng = np.random.default_rng(2)
    x, y = operands(rng, (7, 45), dtype)
    n = elemwise_node(composite(name, dtype), [x, y])
    kernel = elemwise_kernel(n.op, n)
    for _, left in in_all_layouts(x):
        for _, right in in_all_layouts(y):
            if left.shape == right.shape:
                assert_near(name, run(kernel, n, [left, right])[0], left, right)


@pytest.mark.parametrize("name, dtype", CASES)
@pytest.mark.parametrize("over", [0, 1])
def test_in_place(name: str, dtype: str, over: int) -> None:
    """The last vector of a step may be computed twice: what it is computed from must still be there."""
    rng = np.random.default_rng(3)
    for size in (1, 15, 16, 17, 33, 50, 64, 129, 200):
        base = operands(rng, (size,), dtype)
        n = elemwise_node(composite(name, dtype), base, inplace_pattern={0: over})
        assert_near(name, run(elemwise_kernel(n.op, n), n, [x.copy() for x in base])[0], *base)


@pytest.mark.parametrize("name, dtype", CASES)
def test_one_number_for_the_whole_loop(name: str, dtype: str) -> None:
    rng = np.random.default_rng(4)
    for k in (0, 1):
        base = operands(rng, (77,), dtype)
        base[k] = base[k][:1]
        n = elemwise_node(composite(name, dtype), base, [(i == k,) for i in (0, 1)])
        assert plan_of(n).vectors is not None
        assert_near(name, run(elemwise_kernel(n.op, n), n, base)[0], *np.broadcast_arrays(*base))


@pytest.mark.parametrize("name, dtype", CASES)
def test_special_values(name: str, dtype: str) -> None:
    """Zeros of both signs, infinities and nan, each with each, as they are alone."""
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e30, -1e-30], dtype)
    x, y = (a.ravel() for a in np.meshgrid(special, special))
    n = elemwise_node(composite(name, dtype), [x, y])
    kernel = elemwise_kernel(n.op, n)
    got = run(kernel, n, [x, y])[0]
    alone = np.concatenate([run(kernel, n, [x[i : i + 1], y[i : i + 1]])[0] for i in range(x.size)])
    np.testing.assert_array_equal(got, alone)
    if name in ("chain", "exp", "sigmoid"):
        assert_near(name, got, x, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_minus_zero_as_a_constant(dtype: str) -> None:
    """A number becomes a vector with the sign of its zero."""
    x, y = (ts.get_scalar_type(dtype)() for _ in "xy")
    minus = ts.constant(np.array(-0.0, dtype), dtype=dtype)
    op = Composite([x, y], [ts.switch(ts.gt(x, y), minus, ts.exp(x))])
    a = np.linspace(-1, 1, 50).astype(dtype)
    n = elemwise_node(op, [a, np.zeros_like(a)])
    assert plan_of(n).vectors is not None
    got = run(elemwise_kernel(n.op, n), n, [a, np.zeros_like(a)])[0]
    np.testing.assert_array_equal(np.signbit(got), a > 0)


@pytest.mark.parametrize("name, dtype", CASES)
def test_without_such_registers(name: str, dtype: str) -> None:
    """The same kernel computes the same on a processor with vectors of 32 bytes."""
    x, y = operands(np.random.default_rng(5), (96,), dtype)
    n = elemwise_node(composite(name, dtype), [x, y])
    kernel = elemwise_kernel(n.op, n)
    params = params_of(kernel)
    text = unit_text([kernel]) + "\nvoid loop(int64_t n, char *const *data, const char *params) { k0_run(n, data, params); }"
    found = []
    for extra in ((), ("-mno-avx512f",)):
        z = np.zeros_like(x)
        data = (ctypes.c_void_p * 3)(x.ctypes.data, y.ctypes.data, z.ctypes.data)
        compile_text(text, extra).loop(ctypes.c_int64(96), data, params)
        assert_near(name, z, x, y)
        found.append(z)
    if name == "chain":
        np.testing.assert_array_equal(*found)


x, y, d, b = ts.float32("x"), ts.float32("y"), ts.float64("d"), ts.bool("b")
LEFT = {
    "short": [x * y + x],
    "a function without a form": [ts.tanh(x) * ts.exp(y)],
    "of two dtypes": [ts.exp(x) * d],
    "a condition that comes from memory": [ts.switch(b, ts.exp(x), y)],
    "a condition that goes to memory": [ts.gt(ts.exp(x), y)],
    "a condition as a number": [ts.exp(x) * ts.gt(x, y)],
    "many functions": [long_chain(ts.exp(x) + ts.log(x) + ts.sigmoid(y), y)],
}


@pytest.mark.parametrize("what", LEFT)
def test_left_to_the_compiler(what: str) -> None:
    outputs = LEFT[what]
    names = {"of two dtypes": [x, d], "a condition that comes from memory": [x, y, b]}
    inputs = names.get(what, [x, y])
    op = Composite(inputs, outputs)
    arrays = [np.ones(40, v.type.dtype) for v in inputs]
    n = elemwise_node(op, arrays)
    assert plan_of(n).vectors is None
    want = op.numpy_form([v.type.dtype for v in n.outputs])(*arrays)
    np.testing.assert_allclose(run(elemwise_kernel(n.op, n), n, arrays)[0], want, rtol=1e-6)


#: C of users' own ops on numbers: as Python computes it, and whether vectors of float32 and of float64 have it.
OF_USERS = {
    "0.1 * {x} + 0.3": (lambda x: 0.1 * x + 0.3, (False, True)),
    "1e-1 * {x}": (lambda x: 0.1 * x, (False, True)),
    "0x1p-1 * {x}": (lambda x: 0.5 * x, (False, True)),
    "0.5f * {x}": (lambda x: 0.5 * x, (True, True)),
    "1 / {x} + 2": (lambda x: 1 / x + 2, (True, True)),
    "16777216 * {x}": (lambda x: 16777216 * x, (True, True)),
    "16777217 * {x}": (lambda x: 16777217 * x, (False, True)),
    "9007199254740993 * {x}": (lambda x: 9007199254740993.0 * x, (False, False)),
    "{x} > 0.1 ? {x} : 0.1 * {x}": (lambda x: np.where(x > 0.1, x, 0.1 * x), (False, True)),
    "({T})0.1 * {x}": (lambda x: 0.1 * x, (False, False)),
    "({x} > 1) && ({x} < 2) ? {x} : 2": (lambda x: np.where((x > 1) & (x < 2), x, 2), (False, False)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("c", OF_USERS)
def test_literals_in_c_of_users(c: str, dtype: str) -> None:
    """A literal of C may be a double, or a whole number that no float is: such loops are left to the compiler."""
    python, in_vectors = OF_USERS[c]
    x, y = (ts.get_scalar_type(dtype)() for _ in "xy")
    mine = scalar_op("mine", "x", types=upgrade_to_float, py=python, c=c, doc="Mine.")
    op = Composite([x, y], [ts.exp(y) * mine(x)])
    a, b = np.linspace(0.05, 3, 40).astype(dtype), np.linspace(-1, 1, 40).astype(dtype)
    n = elemwise_node(op, [a, b])
    assert (plan_of(n).vectors is not None) == in_vectors[DTYPES.index(dtype)]
    want = np.exp(b.astype("float64")) * python(a.astype("float64"))
    np.testing.assert_allclose(run(elemwise_kernel(n.op, n), n, [a, b])[0], want, rtol=1e-6 if dtype == "float32" else 1e-14)
