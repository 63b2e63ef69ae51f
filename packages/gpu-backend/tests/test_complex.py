"""Complex numbers on the device: loops, reductions, products, moves and gradients.

Programs take long to compile where the device is the CPU, so a test compiles few of them: many functions are outputs of
one loop, and many layouts and values are given to it.
"""

from __future__ import annotations

import numpy as np
import pytest
from compare import LAYOUTS, agree, nodes

import theano
import theano.tensor as T
from theano import scalar as scal
from theano.scalar.composite import Composite
from theano.tensor.blas.routines import gemm_no_inplace, gemv_no_inplace, ger
from theano.tensor.elemwise.op import Elemwise

DTYPES = ("complex64", "complex128")
TOLERANCES = {"complex64": 2e-5, "complex128": 1e-12, "float32": 2e-5, "float64": 1e-12, "bool": 0}
INFINITY, NAN = np.inf, np.nan
#: By how many numbers they take, the operations with a form for complex numbers, but casts.
OF_ONE = (
    "neg sqr inv abs_ conj real imag angle identity isnan isinf exp exp2 expm1 log log2 log10 log1p sqrt"
    " sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh"
).split()
OF_TWO = "add sub mul true_div pow eq neq lt le gt ge maximum minimum second".split()
# On the branch cuts, on both sides of them, and on the edges of the plane.
EDGES = [0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 0.5]


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def special(dtype):
    """Return all pairs of edges, and numbers whose squares over- and underflow or that lie near the unit circle."""
    found = np.empty(len(EDGES) ** 2 + 6, dtype)
    re, im = np.meshgrid(EDGES, EDGES)
    found.real[: re.size], found.imag[: re.size] = re.ravel(), im.ravel()
    large, small = np.sqrt(np.finfo(dtype).max) * 8, np.finfo(dtype).tiny * 2
    found[re.size :] = [large + large * 1j, large * 1j, small + small * 1j, -small, 0.6 + 0.8j, 0.8 - 0.6j]
    return found


def loop(names, dtypes):
    """Return operations as the outputs of one loop."""
    inputs = [scal.get_scalar_type(dtype)(f"x{k}") for k, dtype in enumerate(dtypes)]
    return Elemwise(Composite(inputs, [getattr(scal, name)(*inputs) for name in names]))


def variable(dtype, ndim, name="x"):
    return T.TensorType(dtype, (False,) * ndim)(name)


def close(got, want, tolerance):
    """Assert that numbers are close as points of the plane, and infinite or no numbers alike."""
    assert got.dtype == want.dtype and got.shape == want.shape
    finite = np.isfinite(want)
    np.testing.assert_array_equal(np.isfinite(got), finite)
    error = abs(got[finite] - want[finite]) if got.dtype != bool else got[finite] ^ want[finite]
    assert (error <= tolerance * np.maximum(abs(want[finite]), 1)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_operation_of_one_number(dtype):
    x = variable(dtype, 2)
    f = agree([x], list(loop(OF_ONE, [dtype])(x)), [numbers((5, 6), dtype)], TOLERANCES[dtype])
    assert len(nodes(f)[0]) == 1
    for layout in LAYOUTS.values():
        value = layout(numbers((5, 6), dtype, 1))
        for name, got in zip(OF_ONE, f(value), strict=True):
            close(got, np.asarray(getattr(scal, name).impl(value)), TOLERANCES[dtype])
    with np.errstate(all="ignore"):
        value = special(dtype).reshape(2, -1)
        for name, got in zip(OF_ONE, f(value), strict=True):
            close(got, np.asarray(getattr(scal, name).impl(value)), TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_operation_of_two_numbers(dtype):
    x, y = variable(dtype, 2), variable(dtype, 2, "y")
    values = [numbers((5, 6), dtype), numbers((5, 6), dtype, 1)]
    f = agree([x, y], list(loop(OF_TWO, [dtype] * 2)(x, y)), values, TOLERANCES[dtype])
    edges = special(dtype)
    with np.errstate(all="ignore"):
        pairs = [part.copy() for part in np.meshgrid(edges, edges)]
        for name, got, want in zip(OF_TWO, f(*pairs), [getattr(scal, n).impl(*pairs) for n in OF_TWO], strict=True):
            if name not in ("mul", "true_div", "pow"):  # NumPy's vectors differ from its own loops there
                close(got, want, TOLERANCES[dtype])
    a, b = (pairs[k][np.isfinite(pairs[0]) & np.isfinite(pairs[1])].reshape(1, -1) for k in (0, 1))
    with np.errstate(all="ignore"):
        close(f(a, b)[OF_TWO.index("true_div")], a / b, TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_casts_choices_parts_and_constants(dtype):
    other = DTYPES[1 - DTYPES.index(dtype)]
    part = "float32" if dtype == "complex64" else "float64"
    x, r, h, k = variable(dtype, 1), variable(part, 1, "r"), variable("float16", 1, "h"), variable("int8", 1, "k")
    one = variable(dtype, 0, "one")
    outputs = [
        T.cast(x, other), T.cast(r, dtype) * x, T.cast(h, dtype) + x, T.cast(k, dtype), T.complex(r, r * 2),
        T.complex_from_polar(abs(r), r), T.switch(T.neq(x, 0), x * (2 + 3j), 1j), T.switch(k > 0, x, -x), x * one,
    ]  # fmt: skip
    values = [
        numbers(9, dtype), np.linspace(-2, 2, 9).astype(part), np.arange(9).astype("float16"),
        np.arange(-4, 5).astype("int8"), numbers((), dtype),
    ]  # fmt: skip
    agree([x, r, h, k, one], outputs, values, TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(dtype):
    x = variable(dtype, 2)
    outputs = [x.sum(axis=0), x.prod(axis=0), x.max(axis=0)]
    f = agree([x], outputs, [numbers((7, 9), dtype)], TOLERANCES[dtype])
    plain = theano.function([x], outputs)
    for layout in LAYOUTS.values():
        value = layout(numbers((40, 33), dtype, 1) / 4)
        for got, want in zip(f(value), plain(value), strict=True):
            np.testing.assert_allclose(got, want, rtol=50 * TOLERANCES[dtype], atol=50 * TOLERANCES[dtype])
    # Terms that are cut into parts, whose accumulators go through memory.
    value = numbers((300_000, 1), dtype)
    np.testing.assert_allclose(f(value)[0], value.sum(axis=0), rtol=1e-3 if dtype == "complex64" else 1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype):
    z, x, y = (variable(dtype, 2, name) for name in "zxy")
    v, w, a = variable(dtype, 1, "v"), variable(dtype, 1, "w"), variable(dtype, 0, "a")
    p, q = variable(dtype, 3, "p"), variable(dtype, 3, "q")
    values = {
        z: (66, 20), x: (66, 70), y: (70, 20), v: (20,), w: (66,), a: (), p: (3, 5, 4), q: (3, 4, 6),
    }  # fmt: skip
    outputs = [
        T.dot(x, y), gemm_no_inplace(z, a, x, y, T.constant(2j, dtype=dtype)), T.dot(v, v), T.batched_dot(p, q),
        gemv_no_inplace(w, a, z, v, T.constant(1, dtype=dtype)), ger(z, a, w, v), T.dot(x.T, w),
    ]  # fmt: skip
    given = [numbers(shape, dtype, seed) for seed, shape in enumerate(values.values())]
    f = agree(list(values), outputs, given, 50 * TOLERANCES[dtype])
    names = {type(n.op).__name__ for n in nodes(f)[0]}
    assert names >= {"GpuDot22", "GpuGemm", "GpuGemv", "GpuGer", "GpuBatchedDot"}
    np.testing.assert_allclose(f(*given)[0], given[1] @ given[2], rtol=1e-3 if dtype == "complex64" else 1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_moved(dtype):
    x, y, i = variable(dtype, 3), variable(dtype, 3, "y"), T.lvector("i")
    z = x * y  # which is on the device
    moved = [
        z.dimshuffle(2, 0, 1), z[1:, ::-1, 0], T.join(1, z, y), T.set_subtensor(z[0], z[1]), T.inc_subtensor(z[i], z[i]),
        z.reshape((-1, 2)), z[i], T.diagonal(z[0]),
    ]  # fmt: skip
    outputs = [-part for part in moved[:2]] + moved[2:]
    agree([x, y, i], outputs, [numbers((2, 3, 4), dtype), numbers((2, 3, 4), dtype, 1), np.array([1, 0, 1])])


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients(dtype):
    x, y = variable(dtype, 2), variable(dtype, 2, "y")
    cost = abs(T.exp(x) * T.sin(y) / (x * x + 2) - T.log(y) * T.conj(x)).sum() + T.angle(T.sqrt(T.dot(x, y))).sum()
    f = agree([x, y], T.grad(cost, [x, y]), [numbers((4, 4), dtype), numbers((4, 4), dtype, 1)], 100 * TOLERANCES[dtype])
    assert nodes(f)[0]
