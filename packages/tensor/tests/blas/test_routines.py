"""What sums, products and numbers become calls of BLAS, and what these calls accept."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.errors import InconsistencyError
from theano.graph.traverse import explicit_inputs
from theano.tensor.blas.routines import Dot22Scalar, Gemm, Gemv, Ger, _dot22, gemm_no_inplace, gemv_no_inplace
from theano.tensor.rules.by_name import local_gemm_to_ger

X, Y, Z, U = T.dmatrices("X", "Y", "Z", "U")
a, b = T.dscalars("a", "b")
v = T.dvector("v")
XY = T.dot(X, Y)


def values(used):
    rng = np.random.default_rng(3)
    shapes = {X: (3, 3), Y: (3, 3), Z: (3, 3), U: (3, 3), v: (3,)}
    return [rng.normal(size=shapes.get(i, ())) if i.dtype == "float64" else rng.integers(1, 5) for i in used]


def ops_of(expression):
    """Return the ops of the compiled expression, whose values are those of the expression as it is written."""
    used = explicit_inputs([expression])
    f = theano.function(used, expression, mode="FAST_RUN")
    plain = theano.function(used, expression, mode=theano.Mode("py", None))
    given = values(used)
    np.testing.assert_allclose(f(*given), plain(*given), rtol=1e-10)
    return [node.op for node in f.maker.fgraph.toposort()]


@pytest.mark.parametrize("expression", [
    Z + Z + XY, a * Z - b * (a * XY + b * Z), a * (XY - b * Z), -(Z - XY), (Z + XY) / a, Z - a * (XY + b * Z + Z),
    a * XY + b * XY + Z, v + XY * a - Z * b, v + b * Z - a * XY, a * Z - b * (a * XY + b * Z + a * U),
], ids=str)  # fmt: skip
def test_a_sum_of_sums_with_a_product_is_one_call(expression):
    ops = ops_of(expression)
    assert [op for op in ops if isinstance(op, Gemm)] and sum(isinstance(op, Gemm) for op in ops) == 1
    assert _dot22 not in ops


def test_one_call_for_a_step_with_weight_decay():
    w = theano.shared(np.eye(3), "w")
    f = theano.function([X, Y], updates=[(w, w - 0.1 * (XY + 0.5 * w))])
    assert [node.op for node in f.maker.fgraph.toposort()] == [Gemm(inplace=True)]
    f(np.eye(3), np.eye(3))
    np.testing.assert_allclose(w.get_value(), 0.85 * np.eye(3))


@pytest.mark.parametrize("expression", [
    a * XY * U, XY * (U * a) * Z, XY * T.lscalar("n"), (XY * 2) * T.bscalar("k") * U,
    (v * a) * XY, XY * (U * a) * (v * b),
], ids=str)  # fmt: skip
def test_numbers_among_the_factors_of_a_product_go_into_its_call(expression):
    assert sum(isinstance(op, Dot22Scalar) for op in ops_of(expression)) == 1


def test_a_product_that_others_use_is_computed_by_itself():
    total = XY * a * U
    f = theano.function([X, Y, U, a], [total, XY])
    assert _dot22 in [node.op for node in f.maker.fgraph.toposort()]


@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_a_column_times_a_row_is_an_outer_product(factor):
    column, row = v.dimshuffle(0, "x"), T.dvector("u").dimshuffle("x", 0)
    made = gemm_no_inplace(Z, 2.0, column, row, factor)
    (new,) = local_gemm_to_ger.transform(made.owner)
    assert isinstance(new.owner.op, Ger)
    used = explicit_inputs([made])
    given = values([Z, v, v])
    f = theano.function(used, [made, new], mode=theano.Mode("py", None))
    np.testing.assert_allclose(*f(*given))
    assert not local_gemm_to_ger.transform(gemm_no_inplace(Z, 2.0, column, row, a).owner)
    assert not local_gemm_to_ger.transform(gemm_no_inplace(Z, 2.0, X, Y, factor).owner)


def test_numbers_of_narrower_dtypes_are_taken():
    f = theano.function([Z, X, Y], gemm_no_inplace(Z, 2, X, Y, 1.0))
    np.testing.assert_allclose(f(np.eye(2), np.eye(2), np.eye(2)), 3 * np.eye(2))
    assert gemv_no_inplace(v, 1.0, X, v, 0).type == v.type
    with pytest.raises(TypeError, match="one dtype"):
        gemm_no_inplace(T.fmatrix(), a, T.fmatrix(), T.fmatrix(), 1.0)
    with pytest.raises(TypeError) as caught:
        gemm_no_inplace(v, 1.0, X, Y, 1.0)
    assert caught.value.args[0] is Gemm.E_rank and "input 0 must have 2 dimensions" in str(caught.value)


@pytest.mark.parametrize("op, inputs", [
    (Gemm(inplace=True), [Z, 1.0, Z, Y, 1.0]), (Gemm(inplace=True), [Z, 1.0, X, Z.T, 1.0]),
    (Gemv(inplace=True), [v, 1.0, X, v, 1.0]), (Gemv(inplace=True), [v, 1.0, X, v[::-1], 1.0]),
    (Ger(destructive=True), [Z, 1.0, Z[0], v]),
], ids=str)  # fmt: skip
def test_what_is_overwritten_is_read_by_nothing_else_of_the_call(op, inputs):
    with pytest.raises(InconsistencyError) as caught:
        op(*inputs)
    assert caught.value.args[0] == op.E_z_uniq
    assert type(op)()(*inputs).type == inputs[0].type


def test_a_call_in_place_gives_a_shared_variable_its_new_value():
    given = np.arange(4.0).reshape(2, 2)
    z, x = theano.shared(given, "z"), theano.shared(np.eye(2), "x")
    f = theano.function([], Gemm(inplace=True)(z, 1.0, x, x.T, 1.0), accept_inplace=True)
    for times in (1, 2, 3):
        np.testing.assert_array_equal(f(), given + times * np.eye(2))
        np.testing.assert_array_equal(z.get_value(), given + times * np.eye(2))
    np.testing.assert_array_equal(x.get_value(), np.eye(2))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_numbers_take_the_dtype_of_what_they_scale(dtype):
    a, rng = T.TensorType(dtype, (False, False))("a"), np.random.default_rng(0)
    value = rng.integers(-4, 5, (3, 3)).astype(dtype)
    made = T.blas.gemv_no_inplace(a[0], 1.0, a, a[1], 2.5)
    assert made.type.dtype == dtype
    np.testing.assert_array_equal(made.eval({a: value}), value[0] * 2.5 + value @ value[1])
    if dtype[0] == "f" and dtype != "float64":  # what would be rounded is refused
        with pytest.raises(TypeError, match="one dtype"):
            T.blas.gemv_no_inplace(a[0], np.float64(0.1), a, a[1], 2.5)
