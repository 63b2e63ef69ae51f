"""Random graphs of sparse ops: what all rules and kernels make of them against what NumPy says of the dense forms.

A few in each run; ``THEANO_SPARSE_GRAPHS`` says how many (nox -s sweep: 5,000).
"""

from __future__ import annotations

import os

import numpy as np
from samples import dense, matrix, plain

import theano
from theano import sparse as S
from theano import tensor as T

GRAPHS = int(os.environ.get("THEANO_SPARSE_GRAPHS", "60"))
N = 6  # all matrices are square, so that any two fit


def _matrix(rng):
    """Return an operation on one or two matrices: on variables, and on arrays."""
    return (
        (2, lambda a, b: a + b, np.add), (2, lambda a, b: a - b, np.subtract), (2, lambda a, b: a * b, np.multiply),
        (2, S.true_dot, np.matmul), (1, lambda a: -a, np.negative), (1, lambda a: a.T, np.transpose), (1, S.sin, np.sin),
        (1, S.sqr, np.square), (1, lambda a: a * 0.5, lambda a: a * 0.5), (1, S.clean, lambda a: a),
        (1, lambda a: S.csr_from_dense(S.dense_from_sparse(a)), lambda a: a), (1, lambda a: S.csc_from_dense(a.toarray()), lambda a: a),
        (1, lambda a: S.square_diagonal(S.diag(a)), lambda a: np.diag(np.diag(a))), (1, S.expm1, np.expm1),
        (1, lambda a: S.col_scale(a, S.sp_sum(a, 0)), lambda a: a * a.sum(0)),
        (1, lambda a: S.row_scale(a, S.sp_sum(a, 1)), lambda a: a * a.sum(1)[:, None]),
        (1, lambda a: S.vstack([a[:2], a[2:]], format="csr"), lambda a: a),
        (1, lambda a: S.mul_s_d(a, S.dot(a, np.eye(N))), lambda a: a * a), (2, S.structured_dot, np.matmul),
        (1, lambda a: a[::-1], lambda a: a[::-1]),
        (2, lambda a, b: S.sampling_dot(a.toarray(), b.toarray(), a), lambda a, b: a * (a @ b.T)),
    )[rng.integers(21)]  # fmt: skip


def _end(rng):
    return (
        (lambda a: a, lambda a: a), (S.dense_from_sparse, lambda a: a), (lambda a: S.sp_sum(a), np.sum),
        (lambda a: S.dot(a, np.ones(N)), lambda a: a @ np.ones(N)), (lambda a: S.dot(np.eye(N), a), lambda a: a),
        (lambda a: S.usmm(2.0, a, np.eye(N), np.ones((N, N))), lambda a: 2 * a + 1),
        (lambda a: np.ones((N, N)) - S.dot(a, np.eye(N)), lambda a: 1 - a), (lambda a: a + np.ones((N, N)), lambda a: a + 1),
        (lambda a: S.diag(a), np.diag), (lambda a: a.toarray().sum(axis=0), lambda a: a.sum(0)),
    )[rng.integers(10)]  # fmt: skip


def graph(rng):
    """Return inputs, outputs, values and what the outputs should be."""
    formats = rng.choice(["csr", "csc"], 2)
    inputs = [S.matrix(f, f"x{i}", "float64") for i, f in enumerate(formats)]
    forms = rng.choice(["sorted", "unsorted", "twice"], 2)
    values = [
        matrix(f, (N, N), seed=int(rng.integers(99)), form=form, density=0.3)
        for f, form in zip(formats, forms, strict=True)
    ]
    pool = [(x, plain(m)) for x, m in zip(inputs, values, strict=True)]
    for _ in range(rng.integers(1, 7)):
        count, symbolic, numeric = _matrix(rng)
        chosen = [pool[rng.integers(len(pool))] for _ in range(count)]
        result = numeric(*(a for _, a in chosen))
        if np.abs(result).max(initial=0) < 1e3:
            pool.append((symbolic(*(v for v, _ in chosen)), result))
    ends = [_end(rng) for _ in range(2)]
    last = [pool[-1], pool[rng.integers(len(pool))]]
    return (
        inputs,
        [e(v) for (e, _), (v, _) in zip(ends, last, strict=True)],
        values,
        [f(a) for (_, f), (_, a) in zip(ends, last, strict=True)],
    )


def test_random_graphs():
    for number in range(GRAPHS):
        inputs, outputs, values, wanted = graph(np.random.default_rng([number, 5]))
        outputs = [v if S.is_sparse(v) else T.as_tensor_variable(v) for v in outputs]
        found = theano.function(inputs, outputs, on_unused_input="ignore")(*values)
        for f, w in zip(found, wanted, strict=True):
            np.testing.assert_allclose(dense(f), w, 1e-8, 1e-8, err_msg=f"graph {number}: {theano.pp(outputs[0])}")
