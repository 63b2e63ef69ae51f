"""The table of cases: each op and function of the layer, and what NumPy says of the dense forms."""

from __future__ import annotations

import numpy as np

import theano.sparse as S
import theano.tensor as T


def _map(name, reference=None):
    return (
        name,
        lambda x, **_: getattr(S, name)(x),
        lambda x, **_: np.where(x != 0, (reference or getattr(np, name))(x), 0),
    )


MAPS = [
    _map(n) for n in (
        "sin", "tan", "arcsin", "arctan", "sinh", "arcsinh", "tanh", "arctanh", "rint", "ceil", "floor", "log1p", "expm1",
        "deg2rad", "rad2deg", "trunc", "sqrt", "conj",
    )
] + [
    _map("sgn", np.sign), _map("sqr", np.square), _map("structured_exp", np.exp), _map("structured_log", lambda x: np.log(np.where(x, x, 1))),
    _map("structured_sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    ("structured_pow", lambda x, **_: S.structured_pow(x, 3.0), lambda x, **_: x**3),
    ("structured_minimum", lambda x, **_: S.structured_minimum(x, 0.5), lambda x, **_: np.where(x != 0, np.minimum(x, 0.5), 0)),
    ("structured_maximum", lambda x, **_: S.structured_maximum(x, 0.5), lambda x, **_: np.where(x != 0, np.maximum(x, 0.5), 0)),
    ("structured_add", lambda x, **_: S.structured_add(x, 2.0), lambda x, **_: np.where(x != 0, x + 2, 0)),
]  # fmt: skip

#: Name, expression, reference; inputs: sparse x and y of one shape, dense d of it, vectors u (rows) and v (columns).
LINEAR = [
    ("add_s_s", lambda x, y, **_: x + y, lambda x, y, **_: x + y),
    ("add_s_d", lambda x, d, **_: x + d, lambda x, d, **_: x + d),
    ("add_d_s", lambda x, d, **_: d + x, lambda x, d, **_: x + d),
    ("add_row", lambda x, v, **_: x + v, lambda x, v, **_: x + v),
    ("add_number", lambda x, **_: x + 1, lambda x, **_: x + 1),
    ("sub_s_s", lambda x, y, **_: x - y, lambda x, y, **_: x - y),
    ("sub_d_s", lambda x, d, **_: d - x, lambda x, d, **_: d - x),
    ("add_s_s_data", lambda x, **_: S.add_s_s_data(x, x), lambda x, **_: 2 * x),
    ("structured_add_s_v", lambda x, v, **_: S.structured_add_s_v(x, v), lambda x, v, **_: np.where(x != 0, x + v, 0)),
    ("mul_s_s", lambda x, y, **_: x * y, lambda x, y, **_: x * y),
    ("mul_s_d", lambda x, d, **_: x * d, lambda x, d, **_: x * d),
    ("mul_s_v", lambda x, v, **_: S.mul_s_v(x, v), lambda x, v, **_: x * v),
    ("mul_row", lambda x, v, **_: v * x, lambda x, v, **_: x * v),
    ("mul_column", lambda x, u, **_: x * u.dimshuffle(0, "x"), lambda x, u, **_: x * u[:, None]),
    ("mul_number", lambda x, **_: x * 2, lambda x, **_: x * 2),
    ("div", lambda x, **_: x / 4, lambda x, **_: x / 4),
    ("neg", lambda x, **_: -x, lambda x, **_: -x),
    ("cast", lambda x, **_: S.cast(x, "complex128"), lambda x, **_: x.astype("complex128")),
    ("transpose", lambda x, **_: x.T, lambda x, **_: x.T),
    ("square", lambda x, **_: x.T.T * x, lambda x, **_: x * x),
    ("dense_from_sparse", lambda x, **_: x.toarray(), lambda x, **_: x),
    ("csr_from_dense", lambda d, **_: S.csr_from_dense(d), lambda d, **_: d),
    ("csc_from_dense", lambda d, **_: S.csc_from_dense(d), lambda d, **_: d),
    ("there_and_back", lambda x, **_: S.csc_from_dense(S.dense_from_sparse(x)), lambda x, **_: x),
    ("sp_sum", lambda x, **_: S.sp_sum(x), lambda x, **_: x.sum()),
    ("sp_sum_0", lambda x, **_: x.sum(axis=0), lambda x, **_: x.sum(0)),
    ("sp_sum_1", lambda x, **_: S.sp_sum(x, axis=1, sparse_grad=True), lambda x, **_: x.sum(1)),
    ("col_scale", lambda x, v, **_: S.col_scale(x, v), lambda x, v, **_: x * v),
    ("row_scale", lambda x, u, **_: S.row_scale(x, u), lambda x, u, **_: x * u[:, None]),
    ("square_diagonal", lambda v, **_: S.square_diagonal(v), lambda v, **_: np.diag(v)),
    ("clean", lambda x, **_: S.clean(x), lambda x, **_: x),
    ("remove0", lambda x, **_: S.remove0(x * 1), lambda x, **_: x),
    ("ensure_sorted_indices", lambda x, **_: S.ensure_sorted_indices(x * 1), lambda x, **_: x),
    ("hstack", lambda x, y, **_: S.hstack([x, y, x]), lambda x, y, **_: np.hstack([x, y, x])),
    ("vstack", lambda x, y, **_: S.vstack([x, y], format="csr"), lambda x, y, **_: np.vstack([x, y])),
    ("sp_ones_like", lambda x, **_: S.sp_ones_like(x), lambda x, **_: (x != 0).astype(x.dtype)),
    ("sp_zeros_like", lambda x, **_: S.sp_zeros_like(x), lambda x, **_: 0 * x),
    ("construct_sparse_from_list", lambda d, **_: S.construct_sparse_from_list(d, d, T.arange(d.shape[0])[::-1]), lambda d, **_: d[::-1]),
]  # fmt: skip

#: The same, of real numbers that can be ordered.
COMPARED = [
    (name, lambda x, y, d, f=name, **_: (getattr(S, f)(x, y), getattr(S, f)(x, d), getattr(S, f)(d, x)),
     lambda x, y, d, f=name, **_: tuple(getattr(np, NUMPY[f])(*pair) for pair in ((x, y), (x, d), (d, x))))
    for name in ("eq", "neq", "lt", "gt", "le", "ge")
]  # fmt: skip
NUMPY = {"eq": "equal", "neq": "not_equal", "lt": "less", "gt": "greater", "le": "less_equal", "ge": "greater_equal"}

#: Products; d is of the shape of x, v a vector of its columns, u of its rows.
PRODUCTS = [
    ("dot_s_d", lambda x, d, **_: S.dot(x, d.T), lambda x, d, **_: x @ d.T),
    ("dot_d_s", lambda x, d, **_: S.dot(d.T, x), lambda x, d, **_: d.T @ x),
    ("dot_s_v", lambda x, v, **_: S.dot(x, v), lambda x, v, **_: x @ v),
    ("dot_v_s", lambda x, u, **_: S.dot(u, x), lambda x, u, **_: u @ x),
    ("dot_s_s", lambda x, y, **_: S.dot(x, y.T), lambda x, y, **_: x @ y.T),
    ("true_dot_s_s", lambda x, y, **_: S.true_dot(x, y.T), lambda x, y, **_: x @ y.T),
    ("true_dot_s_d", lambda x, d, **_: S.true_dot(x, d.T), lambda x, d, **_: x @ d.T),
    ("true_dot_d_s", lambda x, d, **_: S.true_dot(d.T, x), lambda x, d, **_: d.T @ x),
    ("structured_dot_s_d", lambda x, d, **_: S.structured_dot(x, d.T), lambda x, d, **_: x @ d.T),
    ("structured_dot_d_s", lambda x, d, **_: S.structured_dot(d.T, x), lambda x, d, **_: d.T @ x),
    ("structured_dot_s_v", lambda x, v, **_: x @ v, lambda x, v, **_: x @ v),
    ("structured_dot_s_s", lambda x, y, **_: x @ y.T, lambda x, y, **_: x @ y.T),
    ("usmm_s_d", lambda x, d, **_: S.usmm(3.0, x, d.T, T.dot(d, d.T)), lambda x, d, **_: 3 * x @ d.T + d @ d.T),
    ("usmm_d_s", lambda x, d, **_: S.usmm(3.0, d.T, x, T.dot(d.T, d)), lambda x, d, **_: 3 * d.T @ x + d.T @ d),
    ("usmm_row", lambda x, d, u, **_: S.usmm(u.sum(), x, d.T, u.dimshuffle("x", 0)), lambda x, d, u, **_: u.sum() * x @ d.T + u),
    ("usmm_column", lambda x, d, u, **_: S.usmm(2.0, x, d.T, u.dimshuffle(0, "x")), lambda x, d, u, **_: 2 * x @ d.T + u[:, None]),
    ("usmm_number", lambda x, d, u, **_: S.usmm(2.0, x, d.T, u.sum().dimshuffle("x", "x")), lambda x, d, u, **_: 2 * x @ d.T + u.sum()),
    ("usmm_written_out", lambda x, d, **_: T.dot(d, d.T) - 2 * S.dot(x, d.T), lambda x, d, **_: d @ d.T - 2 * x @ d.T),
    ("sampling_dot", lambda x, d, **_: S.sampling_dot(T.dot(d, d.T), d.T, x), lambda x, d, **_: x * (d @ d.T @ d)),
]  # fmt: skip

#: Parts; only of matrices that are large enough.
PARTS = [
    ("get_item_2d", lambda x, **_: x[1:4, ::2], lambda x, **_: x[1:4, ::2]),
    ("get_item_2d_backwards", lambda x, **_: x[::-1, 1:], lambda x, **_: x[::-1, 1:]),
    ("get_item_row", lambda x, **_: x[-1], lambda x, **_: x[-1:]),
    ("get_item_column", lambda x, **_: x[:, 1], lambda x, **_: x[:, 1:2]),
    ("get_item_row_of_a_variable", lambda x, u, **_: x[u.shape[0] * 0 + 1], lambda x, **_: x[1:2]),
    ("get_item_column_of_a_variable", lambda x, u, **_: x[1:, u.shape[0] * 0 - 1], lambda x, **_: x[1:, -1:]),
    ("get_item_list", lambda x, **_: x[[0, 3, 0, -1]], lambda x, **_: x[[0, 3, 0, -1]]),
    ("get_item_2lists", lambda x, **_: x[[0, 3, 0], [1, 1, -1]], lambda x, **_: x[[0, 3, 0], [1, 1, -1]]),
    ("get_item_scalar", lambda x, **_: x[3, 1], lambda x, **_: x[3, 1]),
    ("diag", lambda x, **_: S.diag(x[:4, :4]), lambda x, **_: x[:4, :4].diagonal()),
]  # fmt: skip
