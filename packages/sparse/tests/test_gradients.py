"""Gradients against finite differences: of the stored numbers, of dense operands, in the documented semantics."""

from __future__ import annotations

import cases
import numpy as np
import pytest
import scipy.sparse as sp
from samples import FORMATS, matrix

import theano
from theano import sparse as S
from theano import tensor as T
from theano.gradient import DisconnectedType, NullType

# A rule that fails is switched off, and would not be noticed here.
pytestmark = pytest.mark.filterwarnings("error::theano.errors.RewriteWarning")

#: Without a slope, or of complex numbers.
FLAT = {"rint", "ceil", "floor", "trunc", "sgn", "cast", "conj", "sp_ones_like", "sp_zeros_like"}
#: Functions of `SamplingDot`'s last input have no gradient with respect to it.
NO_GRADIENT_OF_X = {"sampling_dot"}
#: With respect to a matrix that stores numbers twice at a place these still add what the gradient stores there, as
#: docs/library/sparse.md says. So does each matrix that has two uses: the sum of two gradients stores a place once.
MERGED = {
    "add_s_s_data", "clean", "ensure_sorted_indices", "get_item_2d", "get_item_2d_backwards", "get_item_column",
    "get_item_list", "structured_dot_s_s",
}  # fmt: skip
SMOOTH = [c for c in cases.LINEAR + cases.MAPS + cases.PRODUCTS + cases.PARTS if c[0] not in FLAT]


def as_dense(v):
    return v.toarray() if S.is_sparse(v) else v


@pytest.mark.parametrize("form", ["sorted", "twice"])
@pytest.mark.parametrize("format", FORMATS)
def test_gradients(format, form):
    """The cost is a weighted sum; sparse inputs are made of their data, with respect to which it is differentiated."""
    x, y = matrix(format, (5, 4), form=form), matrix(FORMATS[format == "csr"], (5, 4), seed=3)
    rng = np.random.default_rng(2)
    data = {"x": T.dvector("x"), "y": T.dvector("y")}
    made = {k: S.CSM(m.format)(data[k], m.indices, m.indptr, np.array(m.shape)) for k, m in (("x", x), ("y", y))}
    given = {**made, "d": T.dmatrix("d"), "u": T.dvector("u"), "v": T.dvector("v")}
    point = {"x": x.data, "y": y.data, **{k: rng.uniform(0.2, 2, s) for k, s in (("d", (5, 4)), ("u", 5), ("v", 4))}}
    wrt = {**given, **data}
    costs, grads, names = [], [], []
    for number, (name, expression, _) in enumerate(SMOOTH):
        out = as_dense(expression(**given))
        weights = np.random.default_rng(number).uniform(
            0.5, 1.5, theano.function(list(wrt.values()), out.shape, on_unused_input="ignore")(*point.values())
        )
        costs.append((out * weights).sum())
        used = [v for k, v in wrt.items() if not (name in NO_GRADIENT_OF_X and k == "x")]
        found = theano.grad(costs[-1], used, disconnected_inputs="ignore")
        assert not any(isinstance(g.type, (NullType, DisconnectedType)) for g in found), name
        for k in wrt:
            g = found[[v is wrt[k] for v in used].index(True)] if any(v is wrt[k] for v in used) else None
            names.append((name, k, number))
            grads.append(T.zeros_like(wrt[k]) if g is None else as_dense(g))
    f = theano.function(list(wrt.values()), costs)
    slopes = theano.function(list(wrt.values()), grads)(*point.values())
    for (name, k, number), slope in zip(names, slopes, strict=True):
        if k == "x" and (name in NO_GRADIENT_OF_X or (form == "twice" and name in MERGED)):
            continue
        assert slope.shape == point[k].shape, (name, k)
        direction = np.random.default_rng(number).normal(size=point[k].shape)
        ahead, behind = (f(*{**point, k: point[k] + h * direction}.values())[number] for h in (1e-6, -1e-6))
        np.testing.assert_allclose(
            (slope * direction).sum(), (ahead - behind) / 2e-6, 1e-5, 1e-6, err_msg=f"{name} by {k}"
        )


@pytest.mark.parametrize("format", FORMATS)
def test_second_order_and_rop(format):
    """Hessian times a vector by two gradients, and by the R-operator of the gradient."""
    m = matrix(format, (5, 4))
    data, w, direction = T.dvector(), T.dvector(), T.dvector()
    x = S.CSM(format)(data, m.indices, m.indptr, np.array(m.shape))
    cost = (
        T.tanh(S.structured_dot(S.sqr(x), w)).sum()
        + S.sp_sum(x * x)
        + S.sp_sum(S.structured_dot(x, x.T), sparse_grad=True)
    )
    for v, value in ((w, np.linspace(0.1, 1, 4)), (data, m.data)):
        g = theano.grad(cost, v)
        one = theano.grad((g * direction).sum(), v)
        two = T.Rop(g, v, direction)
        f = theano.function([data, w, direction], [g, one, two])
        d = np.random.default_rng(0).normal(size=value.shape)
        point = [m.data, np.linspace(0.1, 1, 4)]
        here = f(*point, d)
        at = 0 if v is data else 1
        ahead, behind = (f(*[p + h * d if i == at else p for i, p in enumerate(point)], d)[0] for h in (1e-6, -1e-6))
        for found in here[1:]:
            np.testing.assert_allclose(found, (ahead - behind) / 2e-6, 1e-4, 1e-5)


def test_types_of_gradients():
    """`dot` has dense gradients, `structured_dot` those of the stored numbers, `true_dot` sparse ones."""
    x, d = S.csr_matrix("x", dtype="float64"), T.dmatrix("d")
    of = lambda out, v: theano.grad(as_dense(out).sum(), v)
    assert not S.is_sparse(of(S.dot(x, d), x))
    assert S.is_sparse(of(S.structured_dot(x, d), x))
    assert S.is_sparse(of(S.true_dot(x, d), x))
    assert not S.is_sparse(of(S.true_dot(x, d), d))
    assert S.is_sparse(of(S.true_dot(x, d, grad_preserves_dense=False), d))
    for sparse_grad, stored in ((True, 8), (False, 20)):
        g = theano.function([x], theano.grad(S.sp_sum(x, sparse_grad=sparse_grad), x))
        m = matrix("csr", (5, 4), density=1)
        m = m[:, :2].tocsr()
        m.resize((5, 4))
        assert g(m).nnz == (m.nnz if sparse_grad else stored)


def test_sampling_dot_refuses_the_gradient_of_the_places():
    x, d = S.csr_matrix("x", dtype="float64"), T.dmatrix("d")
    with pytest.raises(theano.gradient.NullTypeGradError, match="not implemented"):
        theano.grad(S.sp_sum(S.sampling_dot(d, d, x), sparse_grad=True), x)


def test_zeros_that_are_stored():
    """As docs/library/sparse.md says: a stored number like any other, unless the result stores no zeros."""
    x, y = S.csr_matrix("x", dtype="float64"), S.csr_matrix("y", dtype="float64")
    given = sp.csr_matrix((np.array([0.0, 2.0, 3.0]), [0, 1, 2], [0, 2, 3]), shape=(2, 3))
    other = sp.csr_matrix((np.array([5.0, 0.0, 7.0]), [0, 1, 2], [0, 2, 3]), shape=(2, 3))
    slopes = {
        S.sin: [1, np.cos(2), np.cos(3)], S.sqr: [0, 4, 6], S.sqrt: [np.inf, 0.5 / 2**0.5, 0.5 / 3**0.5],
        S.structured_exp: np.exp([0, 2, 3]), S.structured_log: [np.inf, 1 / 2, 1 / 3],
        (lambda m: S.structured_add(m, 1.0)): [1, 1, 1], (lambda m: m + y): [1, 1, 1], (lambda m: m.T): [1, 1, 1],
    }  # fmt: skip
    dropping = {(lambda m: m * y): ([2], [7]), S.remove0: ([1, 2], [1, 1]), S.clean: ([1, 2], [1, 1])}
    makers = [*slopes, *dropping]
    grads = [theano.grad(S.sp_sum(make(x), sparse_grad=True), x) for make in makers]
    with np.errstate(divide="ignore"):
        found = theano.function([x, y], grads)(given, other)
    for make, g in zip(makers, found, strict=True):
        places, values = dropping.get(make) or ([0, 1, 2], slopes[make])
        assert g.indices.tolist() == places
        np.testing.assert_allclose(g.data, values, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16"])
@pytest.mark.parametrize("format", FORMATS)
def test_whole_numbers_have_the_slopes_of_fractions(format, dtype):
    """Functions of a sparse matrix whose values are fractions: the gradient is that at the same numbers as floats."""
    x, real = S.SparseType(format, dtype)("x"), S.SparseType(format, "float64")("real")
    d = T.dmatrix("d")
    maps = (S.structured_exp, S.structured_sigmoid, S.sqrt, S.tanh, S.expm1, S.deg2rad, lambda x: S.structured_pow(x, 1.5))
    functions = [lambda x, f=f: S.dense_from_sparse(f(x)) for f in maps]
    functions += [lambda x, f=f: f(x.T, d) for f in (S.dot, S.structured_dot)]
    functions += [lambda x: S.structured_dot(d, x), lambda x: S.dense_from_sparse(S.cast(x, "float64") * d)]
    functions += [lambda x: T.exp(S.dense_from_sparse(x)), lambda x: S.dense_from_sparse(S.mul(x, x.astype("float64")))]
    grads = [as_dense(T.grad((f(v) * d).sum(), v)) for f in functions for v in (x, real)]
    value = matrix(format, (5, 5))
    value.data = np.arange(1, 1 + len(value.data)).astype(dtype)
    assert value.nnz > 3
    weights = np.random.default_rng(1).uniform(size=(5, 5))
    found = theano.function([x, real, d], grads)(value, value.astype("float64"), weights)
    for k, (whole, fraction, g) in enumerate(zip(found[::2], found[1::2], grads[::2], strict=True)):
        assert g.type.dtype.startswith("float") and fraction.any(), k
        np.testing.assert_allclose(whole, fraction, rtol=3e-6, atol=1e-7, err_msg=str(k))  # of float32
