"""Reductions: dtypes, axes, empty and special values, text."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from arrays import LAYOUTS, lay, sample
from oracle import run

import theano
import theano.tensor as T
from theano import scalar as scal
from theano.errors import MethodNotDefined
from theano.tensor.elemwise import CAReduce, CAReduceDtype, Prod, Sum
from theano.tensor.reduce.lowering import careduce_kernel, map_reduce_kernel
from theano.tensor.reduce.map_reduce import MapReduce

INT = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOAT = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")


@pytest.mark.parametrize("dtype", ("bool", *INT, *FLOAT, *COMPLEX))
def test_dtypes_of_sums(dtype):
    x = T.TensorType(dtype, (False, False))("x")
    wide = {"b": "int64", "i": "int64", "u": "uint64"}.get(np.dtype(dtype).kind, dtype)
    acc = {"float16": "float32", "float32": "float64", "complex64": "complex128"}.get(dtype, wide)
    for op in (Sum, Prod):
        node = op()(x).owner
        assert node.outputs[0].type.dtype == wide and node.op.acc_dtype == acc
    value = sample(dtype, (3, 4), np.random.default_rng(0), 0, 3)
    for layout in LAYOUTS:
        laid = lay(value, layout)
        expected = laid.sum(axis=1, dtype=wide if wide != "float16" else "float32").astype(wide)
        np.testing.assert_allclose(run(x.sum(axis=1), {x: laid}), expected, rtol=1e-3 if dtype == "float16" else 1e-6)


def test_dtype_and_acc_dtype_on_request():
    x = T.fmatrix("x")
    assert x.sum(dtype="float64").dtype == "float64"
    assert x.sum(acc_dtype="float32").owner.op.acc_dtype == "float32"
    assert T.imatrix().sum(dtype="int8").dtype == "int8"
    assert T.imatrix().mean().dtype == "float64" and x.mean().dtype == "float32" and T.vector(dtype="float16").mean().dtype == "float16"
    value = np.full((1000, 100), 0.1, "float32")
    assert abs(run(x.sum(), {x: value}) - 1e4) < 1e-2


@pytest.mark.parametrize("dtype", ("bool", *INT, *FLOAT, *COMPLEX))
def test_accumulators_that_lose_something(dtype):
    x = T.TensorType(dtype, (False,))("x")
    for acc in (*INT, *FLOAT, *COMPLEX):
        # Any float is wide enough for whole numbers.
        if theano.scalar.upcast(dtype, acc) == acc or np.dtype(dtype).kind in "bui" and acc in (*FLOAT, *COMPLEX):
            assert x.sum(dtype=acc, acc_dtype=acc).dtype == acc
            continue
        for reduction in (T.sum, T.prod):
            with pytest.raises(TypeError, match=f"acc_dtype={acc} cannot hold values of dtype {dtype}"):
                reduction(x, acc_dtype=acc)


@pytest.mark.parametrize("dtype", ("bool", *INT, *FLOAT))
def test_extremes(dtype):
    x = T.TensorType(dtype, (False, False, False))("x")
    value = sample(dtype, (3, 4, 5), np.random.default_rng(1), -3, 3)
    for axis in (None, 0, 1, 2, (0, 1), (2, 0), -1, [1]):
        where = tuple(axis) if isinstance(axis, list) else axis
        np.testing.assert_array_equal(run(x.max(axis=axis), {x: value}), value.max(axis=where))
        np.testing.assert_array_equal(run(x.min(axis=axis), {x: value}), value.min(axis=where))
        if where is None or isinstance(where, int):
            np.testing.assert_array_equal(run(x.argmax(axis=axis), {x: value}), value.argmax(axis=where))
            np.testing.assert_array_equal(run(x.argmin(axis=axis), {x: value}), value.argmin(axis=where))


def test_argmax_over_several_axes():
    x = T.dtensor3("x")
    value = np.random.default_rng(1).normal(size=(3, 4, 5))
    best, place = run(list(T.max_and_argmax(x, axis=(0, 2))), {x: value})
    moved = value.transpose(1, 0, 2).reshape(4, 15)
    np.testing.assert_array_equal(best, moved.max(1))
    np.testing.assert_array_equal(place, moved.argmax(1))


def test_nan_wins():
    x = T.dvector("x")
    value = np.array([1.0, np.nan, 3.0])
    assert np.isnan(run(x.max(), {x: value})) and np.isnan(run(x.min(), {x: value}))
    assert run(x.argmax(), {x: value}) == 1


def test_nothing_to_reduce():
    x = T.dmatrix("x")
    empty = np.zeros((0, 3))
    np.testing.assert_array_equal(run(x.sum(axis=0), {x: empty}), np.zeros(3))
    np.testing.assert_array_equal(run(x.prod(axis=0), {x: empty}), np.ones(3))
    assert run(T.all(x), {x: empty}) and not run(T.any(x), {x: empty})
    assert run(x.max(axis=1), {x: empty}).shape == (0,)
    np.testing.assert_array_equal(run(x.sum(axis=()), {x: np.ones((2, 3))}), np.ones((2, 3)))


def test_scalars():
    s = T.dscalar("s")
    for function in (T.sum, T.prod, T.max, T.min, T.mean, T.var):
        assert run(function(s), {s: 2.0}) == (0 if function is T.var else 2)
    assert run(T.argmax(s), {s: 2.0}) == 0


@pytest.mark.parametrize("op", ["and_", "or_", "xor"])
def test_bitwise_reductions(op):
    x = T.imatrix("x")
    value = np.random.default_rng(0).integers(0, 100, (3, 4)).astype("int32")
    reference = {"and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor}[op]
    out = CAReduce(getattr(scal, op), axis=0)(x)
    np.testing.assert_array_equal(run(out, {x: value}), reference.reduce(value, axis=0))


def test_text():
    x = T.dmatrix("x")
    assert str(x.sum().owner.op) == "Sum{acc_dtype=float64}"
    assert str(x.sum(axis=0).owner.op) == "Sum{axis=[0], acc_dtype=float64}"
    assert str(x.prod(axis=(0, 1)).owner.op) == "Prod{axis=[0, 1], acc_dtype=float64}"
    assert str(x.max(axis=1).owner.op) == "Reduce{maximum}{1}"
    assert str(T.all(x).owner.op) == "All" and str(T.any(x, axis=0).owner.op) == "Any{0}"
    assert str(CAReduceDtype(scal.add, axis=0)(x).owner.op) == "CAReduceDtype{add}{axis=[0], acc_dtype=float64}"
    assert str(T.max_and_argmax(x, axis=1)[0].owner.op) == "MaxAndArgmax{axis=(1,)}"


def test_identity():
    x = T.dmatrix("x")
    assert x.sum(axis=-1).owner.op == x.sum(axis=1).owner.op == Sum(axis=1)(x).owner.op
    assert x.sum(axis=0).owner.op != x.sum(axis=1).owner.op
    assert x.max().owner.op != x.min().owner.op


@pytest.mark.parametrize("reduction", [T.sum, T.max, T.argmax, T.logsumexp, lambda x, axis: T.max_and_argmax(x, axis)[0]])
def test_axis_may_be_a_constant(reduction):
    x = T.dmatrix("x")
    value = np.array([[1.0, 5.0, 2.0], [4.0, 0.0, 3.0]])
    for axis, plain in [(T.constant(1), 1), (T.constant(-2), 0), (T.NoneConst.clone(), None), (np.array([0, 1]), (0, 1))]:
        np.testing.assert_array_equal(run(reduction(x, axis), {x: value}), run(reduction(x, plain), {x: value}))


def test_the_direction_of_a_sum_of_whole_numbers():
    x = T.dvector("x")
    counted = T.gt(x, 1).sum() * x
    along = theano.gradient.Rop(counted, x, T.ones_like(x))
    np.testing.assert_array_equal(run(along, {x: np.array([0.0, 2.0, 3.0])}), [2, 2, 2])


@pytest.fixture(scope="module", params=["FAST_RUN", "FAST_COMPILE"])
def derivatives_of_a_product(request):
    x, first = T.dvector("x"), T.constant([1.0, 0.0, 0.0])
    slope = T.grad(T.prod(x), x)
    second = T.stack([T.grad(slope[i], x) for i in range(3)])
    third = T.stack([T.grad(second[0, i], x) for i in range(3)])
    along = theano.gradient.Rop(slope, x, first)
    return theano.function([x], [slope, second, third, along], mode=request.param)


@pytest.mark.parametrize("zeros", list(itertools.product([False, True], repeat=3)), ids=str)
def test_derivatives_of_a_product_where_elements_are_zero(derivatives_of_a_product, zeros):
    values = np.where(zeros, 0.0, [1.5, -2.0, 3.0])

    def without(*places):
        return np.prod([n for k, n in enumerate(values) if k not in places]) if len(set(places)) == len(places) else 0

    one, two = [without(i) for i in range(3)], [[without(i, j) for j in range(3)] for i in range(3)]
    three = [[without(0, i, j) for j in range(3)] for i in range(3)]
    for got, wanted in zip(derivatives_of_a_product(values), (one, two, three, two[0])):
        np.testing.assert_allclose(got, wanted)


@pytest.mark.parametrize("op", [scal.sub, scal.true_div, scal.pow, scal.second, scal.lt, scal.arctan2])
def test_what_depends_on_the_order_is_no_reduction(op):
    with pytest.raises(NotImplementedError, match="not commutative and associative"):
        CAReduce(op)


def test_a_reduction_without_a_known_derivative_says_so():
    class Hypot(scal.BinaryScalarOp):
        def impl(self, a, b):
            return np.hypot(a, b)

    x = T.dmatrix("x")
    y = CAReduce(Hypot(scal.upcast_out, name="hypot"), axis=0)(x)
    np.testing.assert_allclose(y.eval({x: [[3.0], [4.0]]}), [5.0])
    with pytest.raises(MethodNotDefined, match="hypot"):
        theano.grad(y.sum(), x)
    with pytest.raises(MethodNotDefined, match="hypot"):
        theano.gradient.Rop(y, x, x)


@pytest.mark.parametrize("shape", [(0, 2), (1, 2), (2, 2), (3, 0), (5, 2)])
@pytest.mark.parametrize("ddof", [0, 1, 2, 3])
@pytest.mark.filterwarnings("ignore:Degrees of freedom:RuntimeWarning", "ignore:Mean of empty:RuntimeWarning", "ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning")
def test_variance_of_few(shape, ddof):
    x = T.dmatrix("x")
    value = np.random.default_rng(3).normal(size=shape)
    f = theano.function([x], [x.var(axis=0, ddof=ddof), x.std(axis=0, ddof=ddof), T.cov(x, rowvar=False, ddof=ddof)])
    var, std, cov = f(value)
    np.testing.assert_allclose(var, value.var(axis=0, ddof=ddof), rtol=1e-12)
    np.testing.assert_allclose(std, value.std(axis=0, ddof=ddof), rtol=1e-12)
    if shape[1]:
        np.testing.assert_allclose(cov, np.cov(value, rowvar=False, ddof=ddof).reshape(2, 2), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int8", "bool"])
@pytest.mark.parametrize("shape", [(3, 0), (1, 1), (5, 31), (4, 64), (2, 1000), (1000, 3)])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_truths_of_comparisons(dtype, shape, axis):
    """They are kept as wide as what is compared: one that fails counts wherever it stands."""
    x = T.TensorType(dtype, (False, False))("x")
    rng = np.random.default_rng(3)
    f = theano.function([x], [T.all(x < 1, axis=axis), T.any(x >= 1, axis=axis)])
    for places in ([], [0], [-1], rng.integers(0, max(1, shape[0] * shape[1]), 5)):
        value = np.zeros(shape, dtype)
        if value.size:
            value.flat[places] = 1
        for given in (value, np.asfortranarray(value), value[::-1, ::-1]):
            every, some = f(given)
            assert every.dtype == some.dtype == "bool"
            np.testing.assert_array_equal(every, (given < 1).all(axis))
            np.testing.assert_array_equal(some, (given >= 1).any(axis))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "int8", "complex128"])
def test_sums_of_every_second_element(dtype):
    x = T.TensorType(dtype, (False, False))("x")
    sums = [T.sum(x[::2, ::2]), T.sum(x[:, ::2], axis=1), T.sum(x[::2], axis=0), T.sum(x[:, 1::2])]
    f = theano.function([x], sums)
    for shape in [(1, 1), (2, 2), (3, 7), (8, 65), (40, 501)]:
        value = np.random.default_rng(2).integers(-9, 9, shape).astype(dtype)
        wanted = [value[::2, ::2].sum(), value[:, ::2].sum(1), value[::2].sum(0), value[:, 1::2].sum()]
        for got, exact in zip(f(value), wanted, strict=True):
            np.testing.assert_array_equal(got, exact)


def test_sums_down_wide_columns_of_strided_terms_end():
    """A row of what is copied to be neighbours did not fit the buffer, and nothing was ever taken. (A hang fails, too.)"""
    program = (
        "import numpy as np, theano, theano.tensor as T\n"
        "x, y, z = T.dmatrix(), T.dmatrix(), T.fmatrix()\n"
        "f = theano.function([x, y, z], [(x * y).sum(axis=0), z.sum(axis=0, acc_dtype='float32')])\n"
        "x, y = (np.arange(3 * 40_000.0).reshape(3, -1)[:, ::2] % 7 for _ in range(2))\n"
        "z = (np.arange(3 * 40_000, dtype='float32').reshape(3, -1) % 7)[:, ::2]\n"
        "product, total = f(x, y, z)\n"
        "assert (product == (x * y).sum(axis=0)).all() and (total == z.sum(axis=0)).all()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", FLOAT)
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 1, 1), (17, 33, 129), (2, 3000, 2), (1, 5000, 1)])
@pytest.mark.parametrize("axis", [(0, 1, 2), 0, 1, 2, (0, 2), (1, 2)], ids=str)
def test_operations_that_the_driver_does_not_know(dtype, shape, axis):
    """Joined as the kernel says, along and across, of several results in one pass; no nan comes through."""
    x = T.TensorType(dtype, (False, False, False))("x")
    f = theano.function([x], [T.nanmax(x, axis=axis), T.nanmin(x, axis=axis), T.nanmax(-x, axis=axis)])
    rng = np.random.default_rng(4)
    value = np.where(rng.random(shape) < 0.5, np.nan, rng.normal(size=shape)).astype(dtype)
    for given in (value, np.asfortranarray(value), value[::-1, :, ::-1]):
        largest, smallest, opposite = f(given)
        np.testing.assert_array_equal(largest, np.fmax.reduce(given, axis))
        np.testing.assert_array_equal(smallest, np.fmin.reduce(given, axis))
        np.testing.assert_array_equal(opposite, -smallest)


def test_the_nan_ignoring_extremes_of_nothing_and_their_slopes():
    x = T.dmatrix("x")
    with pytest.raises(ValueError, match="fmax"):
        theano.function([x], T.nanmax(x, axis=0))(np.zeros((0, 3)))
    slope = theano.function([x], T.grad(T.nanmax(x, axis=1).sum(), x))
    np.testing.assert_array_equal(slope([[1, np.nan, 3], [np.nan, np.nan, np.nan]]), [[0, 0, 1], [0, 0, 0]])
    assert T.nanmin(T.imatrix()).owner.op == T.min(T.imatrix()).owner.op


def test_the_slope_of_a_length_at_the_origin():
    x, y = T.dvectors("xy")
    f = theano.function([x, y], T.grad(T.hypot(x, y).sum(), [x, y]))
    np.testing.assert_allclose(f([0, 3, 3e300], [0, 4, 4e300]), [[0, 0.6, 0.6], [0, 0.8, 0.8]])


def test_what_no_loop_does_at_once_is_left_to_numpy():
    """Reductions along different axes, and more axes than one number has bits for."""
    x, value = T.dmatrix("x"), np.arange(6.0).reshape(2, 3)
    two = scal.Composite([a := scal.float64()], [a * 2, a + 1])
    node = MapReduce(two, [Sum(axis=(0,)), Sum(axis=(1,))])(x)[0].owner
    assert map_reduce_kernel(node.op, node) is None
    rows, columns = theano.function([x], node.outputs)(value)
    np.testing.assert_array_equal(rows, (value * 2).sum(0))
    np.testing.assert_array_equal(columns, (value + 1).sum(1))
    for ndim in (62, 63):
        many = Sum()(T.TensorType("float64", (True,) * ndim)()).owner
        assert (careduce_kernel(many.op, many) is None) == (ndim > 62)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "int64", "float16", "float32", "float64", "complex128"])
def test_initial(dtype):
    """Reductions with one more element are NumPy's, of nothing as well: in C, in Python, and fused with their terms."""
    x, first = T.TensorType(dtype, (False, False))("x"), T.scalar("first", dtype)
    one = np.ones((), dtype)
    cases = [(f, axis, initial) for f in (np.max, np.min) for axis in (None, 0, 1, -1) for initial in (one, first)]
    cases += [(f, 1, initial) for f in (np.sum, np.prod) for initial in (one, first)] if dtype != "bool" else []
    outputs = [f(x, axis=axis, initial=initial) for f, axis, initial in cases]
    outputs += [np.max(x * x, axis=1, initial=one, keepdims=True)]
    compiled = theano.function([x, first], outputs, on_unused_input="ignore")
    plain = theano.function([x, first], outputs, mode=theano.Mode("py", None), on_unused_input="ignore")
    for shape in ((3, 4), (0, 4), (3, 0), (0, 0), (2, 9)):
        value = sample(dtype, shape, np.random.default_rng(0), 0, 3)
        wanted = [f(value, axis=axis, initial=one * 0 if initial is first else one) for f, axis, initial in cases]
        for f in (compiled, plain):
            *found, last = f(value, one * 0)
            for got, want in zip(found, wanted, strict=True):
                assert got.shape == np.shape(want)
                np.testing.assert_allclose(got, want, rtol=1e-2 if dtype == "float16" else 1e-6)
            assert last.shape == (shape[0], 1) and (last >= 1).all()


def test_initial_that_is_least_is_not_compared_and_has_no_part_in_gradients():
    x = T.dmatrix("x")
    least = T.max(x, axis=1, initial=-np.inf)
    assert least.owner.op.may_be_empty and T.max(T.bmatrix(), initial=-128).owner.op.may_be_empty
    f = theano.function([x], [least, -T.max(-x, initial=-np.inf), T.max(T.max(x, 0, initial=-np.inf), initial=-np.inf)])
    for found, want in zip(f(np.zeros((3, 0))), ([-np.inf] * 3, np.inf, -np.inf), strict=True):
        np.testing.assert_array_equal(found, want)
    slope = theano.function([x], T.grad(T.max(x, axis=1, initial=2).sum(), x))
    np.testing.assert_array_equal(slope([[1.0, 3], [1, 0], [5, 4]]), [[0, 1], [0, 0], [1, 0]])
    assert slope(np.zeros((3, 0))).shape == (3, 0)
    with pytest.raises(ValueError, match="zero-size array"):
        theano.function([x], x.max(axis=1))(np.zeros((3, 0)))
    for wrong, error in ((0.5, TypeError), (300, TypeError), (T.dscalar(), TypeError), ([1, 2], ValueError)):
        with pytest.raises(error):
            T.max(T.bmatrix(), initial=wrong)
