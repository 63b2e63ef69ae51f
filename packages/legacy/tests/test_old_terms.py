"""Sums of scaled matrices, term by term."""

from __future__ import annotations

import numpy as np

import theano
import theano.tensor as T
from theano.graph.traverse import explicit_inputs
from theano.legacy.blas_terms import as_scalar, factored, is_real_matrix, scaled_terms

X, Y, Z = T.dmatrices("X", "Y", "Z")
a, b, c = T.dscalars("a", "b", "c")


def total(terms):
    return sum((scale * v for scale, v in terms[1:]), terms[0][0] * terms[0][1])


def test_the_sum_of_the_terms_is_the_expression():
    u, v, w = T.drow("u"), T.dvector("v"), T.dcol("w")
    rng = np.random.default_rng(2)
    given = {X: rng.normal(size=(2, 3)), Y: rng.normal(size=(2, 3)), Z: rng.normal(size=(2, 3)), a: 2.0, b: 3.0, c: 5.0,
             u: rng.normal(size=(1, 3)), v: rng.normal(size=3), w: rng.normal(size=(2, 1))}  # fmt: skip
    for count, expression in [
        (3, X + Y + Z), (3, X + Y + u), (3, X - v + w), (3, a * X + Y - b * Z * c), (4, -a * X - (a * X + Y - b * Z * c)),
        (2, -(X - a * b * c * Y)), (1, X * Y), (1, u * w), (2, T.dot(X, Y.T) * a + b * T.dot(X, Z.T)), (1, T.exp(X)),
    ]:  # fmt: skip
        terms = scaled_terms(expression, 1.0, [], 0)
        assert len(terms) == count, expression
        used = explicit_inputs([expression])
        got, wanted = theano.function(used, [total(terms), expression])(*(given[i] for i in used))
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_what_is_no_matrix_is_appended_as_it_is():
    whole = T.lmatrix("whole")
    assert scaled_terms(whole, 1.0, [], 0) == [whole] and scaled_terms(a, 1, [], 0) == [a]
    (scaled,) = scaled_terms(a, -1.0, [], 0)
    assert scaled.eval({a: 2.0}) == -2
    assert scaled_terms(theano.graph.generic(), 1.0, [], 0) is None


def test_what_others_use_is_not_looked_into():
    inner = X + Y
    graph = theano.graph.FunctionGraph([X, Y, Z], [inner - Z, inner * 2], clone=False)
    assert len(scaled_terms(graph.outputs[0], 1.0, [], 0)) == 3
    assert scaled_terms(graph.outputs[0], 1.0, [], 1)[0] == (1.0, inner)


def test_equal_terms_become_one():
    assert factored([(1.0, X), (1.0, Y), (2.0, X)]) == [(3.0, X), (1.0, Y)]
    assert factored([a, a, (1.0, X)]) == [a, a, (1.0, X)]
    (term,) = factored([(a, X), (b, X)])
    assert term[0].eval({a: 1.0, b: 2.0}) == 3


def test_numbers_and_matrices():
    assert as_scalar(T.constant(np.array([[[0.5]]]))).type.ndim == 0
    assert as_scalar(T.iscalar()).type.dtype == "float64" and as_scalar(T.constant(np.ones(5))) is None
    assert is_real_matrix(X.T) and not is_real_matrix(T.zmatrix()) and not is_real_matrix(T.dvector().dimshuffle("x", 0))
