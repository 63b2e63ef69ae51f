"""More expressions for rules that have tables: one for each entry, and neighbours that they must leave alone, or get right."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from left_sides import c, classes, entropy, i, k, less, m, n, positive, probabilities, psd, s, square, top, v, w

import theano.tensor as T
from theano import scalar as scal
from theano.ifelse import ifelse
from theano.scalar import all_dtypes
from theano.tensor import nnet
from theano.tensor.blas import routines
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.elemwise.rules import stable, useless
from theano.tensor.linalg.equations import matrix_inverse
from theano.tensor.linalg.factor import cholesky
from theano.tensor.nnet.softmax import softmax_grad
from theano.tensor.reduce.careduce import All, Any_, Max, Min, Prod, Sum
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.rows.op import map_rows
from theano.tensor.shape.basic import shape_i_op
from theano.tensor.shape.rules import lengths


def number(value: Any) -> Any:
    return T.constant(np.array([value]))


def applied(op: Elemwise, *inputs: Any) -> Any:
    """Return an op of a table on inputs that it takes: reals if it can, else whole numbers."""
    whole = {v: i, w: k}
    try:
        return op(*inputs)
    except TypeError:
        return op(*[whole.get(x, x) for x in inputs])


def chosen(op: Elemwise) -> Any:
    try:
        return op(T.switch(c, v, w), T.switch(c, w, 2 * v))
    except TypeError:
        return op(T.switch(c, i, k), T.switch(c, k, 2 * i))


def negated(x: Any, times: int) -> Any:
    """Return what is negated so many times: as deep in an expression."""
    for _ in range(times):
        x = -x
    return x


def two_of(x: Any, y: Any) -> Any:
    """Return the sum and the product of two arrays, from one element-wise op."""
    a, b = scal.float64("a"), scal.float64("b")
    return Elemwise(scal.Composite([a, b], [a + b, a * b]))(x, y)


length, squares = shape_i_op(0)(v), v * v
zero_or_v, v_or_zero = T.switch(c, 0.0, v), T.switch(c, v, 0.0)
shifted_powers = T.exp(m - m.max(axis=0))
lazy = ifelse(positive, v, T.zeros_like(v))
row = v.dimshuffle("x", 0)

#: Two numbers, the product of which does not fit into their dtype.
small = [T.bscalar(name).dimshuffle("x", "x") for name in ("a", "b")]

FORMS = {
    "local_useless_elemwise": [
        *(op(i, i) for op in (F.neq, F.le, F.ge, F.lt, F.gt, F.xor)), F.lt(v, v), F.gt(v, v), F.maximum(v, v),
        F.minimum(v, v), *(op(i) for op in (F.ceil, F.floor, F.trunc)), F.real(v), F.conj(v),
        *(op(i, number(value)) for op in (F.and_, F.or_) for value in (0, -1)), F.and_(c, number(np.int8(-1))),
        F.add(v), F.mul(v), F.and_(T.gt(v, 0), number(np.True_)), F.or_(T.gt(v, 0), number(np.True_)),
    ],
    "local_useless_switch": [T.switch(T.constant(0), v, w), T.switch(c, v, v), T.switch(T.constant(0.5), i, w)],
    "local_mul_switch_sink": [v_or_zero * w, T.switch(c, 0, i) * k, w * T.switch(c, i, 0.0) * k],
    "local_div_switch_sink": [v_or_zero / w, F.int_div(T.switch(c, 0, i), k), F.int_div(v_or_zero, w)],
    "local_merge_switch_same_cond": [chosen(op) for op in useless._INTO_CHOICES] + [
        T.switch(c, w, T.switch(c, v, w)), T.switch(c, i, 0.5) * T.switch(c, k, 1.5), T.switch(c, 0.5, i) + T.switch(c, 1, k),
    ],
    "local_upcast_elemwise_constant_inputs": [
        op(v, number(np.int8(3))) for op in (F.sub, F.mul, F.true_div, F.maximum, F.minimum)
    ],
    "local_func_inv": [
        outer(inner(i if outer == F.invert else v)) for outer, inner in stable.INVERSES.items()
    ],
    "local_expm1": [T.exp(v) - 1.0],
    "local_one_minus_erf": [F.add(number(1.0), -1.0 * T.erf(v)), 1.0 + -T.erf(v)],
    "local_one_minus_erfc": [1.0 + -T.erfc(v), 1.0 + -1.0 * T.erfc(v), F.add(-T.erfc(v), number(1.0))],
    "local_erf_minus_one": [F.add(number(-1.0), T.erf(-v))],
    "local_erf_neg_minus_one2": [-1.0 - T.erf(v), -1.0 + -T.erf(v)],
    "local_useless_elemwise_comparison": [
        F.lt(length, 0), F.le(0, length), F.gt(0, length), F.eq(length, -1), F.eq(-1, length), F.maximum(length, 0),
        F.minimum(0, length), F.maximum(-2, length), F.lt(-1, length), F.gt(length, -3), F.ge(length + 2, 0),
        F.lt(length * length, 0), F.lt(F.maximum(length, 3), 0), F.lt(shape_i_op(1)(m) + length, 0),
        F.lt(squares, number(0.0)), F.gt(-1, squares), T.switch(squares >= 0, squares, np.nan), T.switch(T.le(-1.0, squares), squares, np.nan),
    ],
    "local_pow_canonicalize": [v ** number(0.0), i ** number(1), i ** number(0)],
    "local_pow_specialize": [*(v ** number(e) for e in (0.5, -0.5, -1.0, -2.0)), i ** number(2), c ** number(2)],
    "local_pow_specialize_device": [*(v ** number(e) for e in (3.0, -3.0, 7.0, 64.0, 512.0)), i ** number(5)],
    "local_mul_specialize": [v * number(1.0), i * number(-1), number(-1.0) * v * number(-1.0)],
    "local_add_specialize": [i + number(0), F.add(v, number(0.0), w)],
    "local_mul_to_sqr": [i * i, m * m],
    "local_zero_div": [F.int_div(number(0), i), F.int_div(number(0.0), v)],
    "local_mul_zero": [F.mul(v, number(0.0), w), i * number(0), v * T.constant(np.zeros(4))],
    "local_abs_lift": [abs(abs(v)), abs(-i)],
    "local_abs_merge": [abs(v) / abs(w), F.mul(abs(v), w, abs(v + w))],
    "local_elemwise_sub_zeros": [F.sub(c, c)],
    "local_add_canonizer": [
        v - v, number(1.0) + v + number(2.0), (v + w) - (w + v), i + k - i, (v - w) - (v - number(3.0)), -(-v) + w,
        number(1) + i - number(3), v + number(0.1) - w - number(0.1),
    ],
    "local_mul_canonizer": [
        v / w * w, number(2.0) * v * number(3.0), (-v) * (-w), (number(2.0) * v) / (number(4.0) * w), v / v,
        i * number(2) * k * number(3), F.inv(F.inv(v) * w), (v * w) / (w * v), (v * number(0.0)) / w,
    ],
    "local_greedy_distributor": [(v / w - v) * w, (v + number(2.0) / w) * w, (-(c / w) + v) * w],
    "local_root_of_power": [T.sqrt(v * v), *(T.sqrt(v ** number(e)) for e in (2.0, 4.0, 6.0))],
    "local_log_pow": [T.log(v ** number(e)) for e in (2.0, 3.0, 0.5, -1.0, -2.0)],
    "local_log_sum_exp": [T.log(T.exp(m).sum(axis=0, keepdims=True)), T.log(T.exp(m).sum())],
    "local_power_over_itself": [
        T.sgn(v) / abs(v), w * v / T.sqr(v), v * v ** number(3.0) / (w * T.sqrt(v)), T.sqr(v) / v, T.sqrt(v) / v ** number(0.5),
        v * v ** number(-1.5), F.mul(w, T.sqr(v), v ** number(-1.5)), T.sqrt(v) * v ** number(-0.5), v ** number(-0.5) * v ** number(-2.5) / w,
    ],
    "local_log_det": [
        T.log(abs(T.nlinalg.det(square))), T.log(s * T.sqr(T.nlinalg.det(square)) / T.nlinalg.det(psd)),
        T.log(F.inv(T.sqrt(2.0 * T.nlinalg.det(psd)))), T.log((-T.nlinalg.det(square)) ** T.constant(2.0)),
    ],
    "local_log_one_minus_exp": [T.log(-T.expm1(v)), T.log1p(-T.exp(v))],
    "local_log_add": [
        T.log(F.add(w * T.exp(v), 2.0 * T.exp(-v), 1.5)), T.log(F.add(T.exp(v), T.exp(w), T.exp(v * w))),
        T.log(T.exp(v) - T.exp(w)), T.log(3.0 - T.exp(v)), T.log(F.sub(F.add(T.exp(v), 2.0 * T.exp(w)), T.exp(v * w))),
    ],
    "local_log_of_power": [
        T.log(T.exp(v) / w), T.log(2.0 * T.exp(v) / (1.0 + w)), T.log(w * T.exp(v) * T.exp(w)),
    ],
    "local_log_prod": [
        T.log(T.prod(f)) for f in (
            T.nnet.sigmoid(m), T.exp(m) * T.sqr(n) * 3.0, T.maximum(m, 0.5), T.exp(m)[1:].T, T.exp(m) + abs(n), abs(m) ** number(3.0),
        )
    ],
    "local_softmax_of_logsumexp": [m - T.logsumexp(m, axis=1, keepdims=True), m - T.logsumexp(m, axis=0)],
    "softmax_simplifier": [
        T.exp(m) / T.exp(m).sum(axis=0), n * shifted_powers / shifted_powers.sum(axis=0),
    ],
    "local_log_sum_exp_weighted": [T.log((n * T.exp(m)).sum()), T.log((v * T.exp(m)).sum(axis=0))],
    "local_log_of_moved": [
        T.log(1.0 - nnet.sigmoid(m).T[1:]), T.log1p(-T.concatenate([nnet.sigmoid(v), w])), T.log(1.0 + T.exp(m)[classes]),
        T.log(T.switch(T.gt(m, 0), nnet.sigmoid(m), n)), T.log(T.set_subtensor(T.exp(m)[1:], 2.0)),
        T.log(nnet.softmax(m)[T.arange(classes.shape[0]), classes]), T.log(T.exp(m).sum(axis=0)[::-1]),
    ],
    "local_exp_over_sum_exp": [
        T.exp(v) / (T.exp(v) + T.exp(w)), w * T.exp(v) / F.add(T.exp(v), 2.0 * T.exp(w), 1.0),
        (T.exp(m) + 2.0 * T.exp(n)) / T.exp(m).sum(axis=1, keepdims=True).T.T,
    ],
    "local_exp_over_1_plus_exp": [1.0 / (1.0 + T.exp(v)), w * T.exp(v) / ((1.0 + T.exp(v)) * (1.0 + T.exp(w)))],
    "local_grad_log_erfc_neg": [T.exp(-(v * v)) / (w * T.erfc(v))],
    "local_reduce_broadcastable": [
        *(op(axis=(0,))(T.addbroadcast(m[:1], 0)) for op in (Prod, Max, Min, All, Any_)),
        Sum(axis=(0, 1))(T.addbroadcast(m[:1], 0)),
    ],
    "local_useless_reduce": [op(axis=())(m) for op in (Prod, Max, Min)],
    "local_sum_prod_all_to_none": [op(axis=(0, 1))(m) for op in (Prod, Max, Min)],
    "local_op_of_op": [op()(op(axis=(1,))(m)) for op in (Prod, Max, Min, All, Any_)],
    "local_reduce_dimshuffle": [
        *(op(axis=(0, 1))(m.T.dimshuffle(0, "x", 1)) for op in (Prod, Max, Min)),
        *(op(axis=(0, 1))(T.gt(m, 0).T.dimshuffle(0, "x", 1)) for op in (All, Any_)),
    ],
    "local_reduce_join": [op(axis=(0,))(T.stack([v, w, v * w], axis=0)) for op in (Prod, Max, Min)],
    "local_sum_prod_mul_by_scalar": [(-m).sum(axis=0), (m * s.dimshuffle("x", "x") * n).sum(axis=1)],
    "local_opt_alloc": [T.alloc(s, 3, 4).sum(axis=0), T.alloc(s, 3, 4).prod(), T.zeros_like(m).prod(axis=0)],
    "local_argmax_pushdown": [
        *(T.argmax(f(m), axis=1) for f in (nnet.sigmoid, nnet.softplus, T.tanh, T.exp, nnet.logsoftmax)),
        T.argmax(nnet.softmax_with_bias(m, v), axis=1), T.max_and_argmax(T.exp(m), axis=0)[1],
    ],
    "local_float16_in_float32": [
        f(m.astype("float16")) for f in (nnet.logsoftmax, LogSumExp((1,)), lambda x: nnet.softmax_with_bias(x, x[0]))
    ] + [T.dot(m.astype("float16"), n.T.astype("float16"))],
    "local_map_rows_at_once": [
        map_rows([v], [m], [out])[0]
        for out in (
            T.exp(v).sum(), v[1:3], T.set_subtensor(v[1:3], v[0]), v.reshape((2, 2)), T.dot(n, v), T.dot(v, n.T),
            T.alloc(v[0], 3), v.dimshuffle("x", 0), v.shape[0] * v, T.inc_subtensor(v[:2], v[2:]), v * w, v.prod(),
        )
    ],
    "local_dot22_to_dot22scalar": [
        routines.Dot22()(m, n.T) * s.dimshuffle("x", "x"), F.mul(routines.Dot22()(m, n.T), *small), F.mul(*small, routines.Dot22()(m, n.T)),
    ],
    "gemm_optimizer": [
        F.add(m, F.mul(T.dot(square, n), *small)), F.add(F.mul(m, *small), T.dot(square, n)), m - T.dot(square, n) / small[0],
        m - s * T.dot(square, n), s * m + T.dot(square, n), v + T.dot(m.T, n[:, 0]),
        m + T.dot(v[:3].dimshuffle(0, "x"), w.dimshuffle("x", 0)), -T.dot(square, n) + 2.0 * m, w + T.dot(v[:3], m),
        s * (m + T.dot(square, n)), -(m - T.dot(square, n)) / small[0], n - s * (m * s + T.dot(square, n)), m + m + T.dot(square, n),
        v - (m - s * T.dot(square, n)),
    ],
    "local_set_to_inc_subtensor": [T.set_subtensor(m[[2, 0]], m[[2, 0]] + n[:2])],
    "local_useless_inc_subtensor_alloc": [
        T.inc_subtensor(m[1:], T.alloc(s, 2, 4)), T.set_subtensor(m[[0, 2]], T.alloc(v, 2, v.shape[0])),
        T.inc_subtensor(m[[0, 2], [1, 1]], T.alloc(s, 2)),
    ],
    "local_sum_dot": [T.dot(m, n.T).sum(axis=1), T.dot(m, n.T).sum(), -T.dot(row, n.T).sum(axis=1)],
    "local_sumsqr2dot": [
        T.sqr(m.dimshuffle("x", 0, 1) * n.dimshuffle(0, "x", 1)).sum(axis=(1, 2)), T.sqr(row.dimshuffle("x", 0, 1) * n.dimshuffle(0, "x", 1)).sum(axis=(1, 2)),
    ],
    "local_reshape_to_dimshuffle": [T.reshape(m, (1, T.shape_i(m, 0), 1, T.shape_i(m, 1)))],
    "local_canonicalize_alloc": [T.alloc(v, 1, 3, 4), T.alloc(s, 1, 1), T.alloc(m, 1, 3, 4), T.alloc(v, 1, 1, 2, 4)],
    "local_merge_alloc": [T.alloc(T.alloc(s, w.shape[0]), 2, v.shape[0]), T.alloc(T.alloc(v, 2, v.shape[0]), 3, 2, v.shape[0])],
    "local_reshape_chain": [m.reshape((2, 6)).reshape((12,)), m.reshape((2, 6)).reshape((13,))],
    "local_gemm_to_ger": [routines.gemm_no_inplace(m, s, v[:3].dimshuffle(0, "x"), w.dimshuffle("x", 0), 0.0)],
    "inv_as_solve": [
        T.dot(m.T, matrix_inverse(square)), T.dot(matrix_inverse(psd), m), T.dot(m.T, matrix_inverse(psd)),
        T.dot(matrix_inverse(cholesky(psd)), m), T.dot(m.T, matrix_inverse(cholesky(psd))),
        T.dot(matrix_inverse(square), v[:3]), T.dot(v[:3], matrix_inverse(square)),
        T.dot(m.T, matrix_inverse(T.dot(square, psd))), T.dot(m.T, matrix_inverse(T.dot(square, square.T))),
    ],
    "no_transpose_symmetric": [psd.T, T.dot(m.T, m).T],
    "local_fill_sink": [F.second(v, s) + w, T.exp(F.second(m, v))],
    "local_useless_fill": [F.second(i, w), F.second(v, i)],
    "local_fill_to_alloc": [F.second(m, v), F.second(row, w.dimshuffle(0, "x"))],
    "local_dimshuffle_lift": [(m * v).T, T.exp(m).dimshuffle(1, "x", 0), m.dimshuffle(0, 1)],
    "local_subtensor_lift": [(m + n)[:, 1], (m * s)[:, 1:], T.exp(v)[::-1]],
    "local_incsubtensor_of_zeros": [T.inc_subtensor(m[[0, 2]], 0.0)],
    "cond_lift_zeros": [
        ifelse(positive, T.zeros_like(v), v) * w, -lazy, lazy / w, lazy.sum(), T.dot(lazy, w), T.dot(n, lazy),
        lazy.dimshuffle("x", 0), lazy[1:], lazy.reshape((2, 2)), F.second(w, lazy), T.alloc(lazy, 3, 4),
        T.set_subtensor(T.zeros_like(m)[1], lazy),
        F.cast(lazy, "float32"),
    ],
    "cond_join_zeros": [
        ifelse(positive, 0.0, ifelse(less, s, 0.0)), ifelse(positive, ifelse(less, 0.0, s), 0.0),
        ifelse(positive, 0.0, ifelse(less, 0.0, s)),
    ],
    "cond_lift_common": [ifelse(less, ifelse(positive, 0.0, s), ifelse(positive, 0.0, 2 * s))],
    "cond_merge_sums": [
        ifelse(positive, s, 0.0) + ifelse(positive, 0.0, s * s), F.add(s, ifelse(positive, 0.0, s), ifelse(positive, 0.0, 2 * s)),
    ],
    "cond_remove_known": [ifelse(T.constant(0), v, w)],
}  # fmt: skip

_CASTS = [(a, b) for a, b in product(all_dtypes, repeat=2) if a[0] != "c" or b[0] == "c"]
#: (All pairs take as long as all other rules together: the sweep has them.)
ALL_CASTS = [T.cast(T.cast(v, middle), last) for middle, last in _CASTS if middle != "float64"]

_BINARY = [
    F.add, F.sub, F.true_div, F.int_div, F.mod, F.pow, F.maximum, F.minimum, F.lt, F.eq, F.arctan2, F.second,
]  # fmt: skip
_UNARY = [F.exp, F.log, F.cos, F.sqr, F.sqrt, F.inv, F.abs_, F.sgn, F.expm1, F.tanh, nnet.sigmoid]

# -- parts, shapes, axes ------------------------------------------------------------------------------------------

t3 = T.dtensor3("t3")
at = np.s_
#: What picks a part of an axis: all, from either end, backwards, in steps, nothing, more than there is.
SLICES = [
    at[:], at[1:], at[0:], at[:2], at[:-1], at[::-1], at[::2], at[-2:], at[0:0], at[5:], at[2:0:-1], at[1:3], at[1:9:2], at[:-9], at[1:3:1],
]  # fmt: skip
ENTRIES = [*SLICES, 0, -1, 2]
SHAPES = [
    (12,), (3, 4), (-1, 4), (3, -1), (4, 3), (-1,), (m.shape[0], m.shape[1]), (m.shape[1], m.shape[0]), (m.shape[0], -1),
    (-1, m.shape[1]), (2, 2, 3), (3, 1, 4), (1, 3, 4), (3, 4, 1), (1, -1), (-1, 1), (m.shape[0], 1, m.shape[1]),
    (m.shape[0] * 1, m.shape[1]), (m.shape[0] * m.shape[1],), (n.shape[0], -1),
]  # fmt: skip
AXES = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
ORDERS = [(0, 1, 2), (2, 1, 0), (1, 2, 0), ("x", 0, 1, 2), (0, "x", 2, 1), (2, 0, 1, "x")]


column = m.dimshuffle(0, "x", 1)
entropy_with_bias = nnet.crossentropy_softmax_argmax_1hot_with_bias
#: Where rows are written and read: the same places, others, one twice, one said in two ways, one outside.
PLACES = [((0, 3, -1), (0, 3, -1)), ((0, 3, 1), (0, 3, 2)), ((0, 1, 0), (0, 1, 0)), ((0, 1, -5), (0, 1, -5)), ((0, 1, 5), (0, 1, 5)), ((0, 4, -6), (0, 4, -6))]


def fits(x: Any, index: Any, order: Any) -> bool:
    """Return whether a part of ``x`` can be put into an order."""
    try:
        x[index].dimshuffle(*order)
    except (ValueError, IndexError):
        return False
    return True


def along(op: Any, x: Any, among: Any = AXES) -> list[Any]:
    """Return reductions of ``x`` along sets of its axes."""
    return [op(axis=axes)(x) for axes in among if max(axes) < x.type.ndim]


PARTS = {
    "local_subtensor_merge": [
        *(v[a][b] for a, b in product(SLICES, ENTRIES)), *(m[:, a][b] for a, b in zip(SLICES, ENTRIES, strict=False)),
        *(m[a, 1:][b, 1:] for a, b in zip(SLICES, SLICES[::-1], strict=True)), m[1][1:][:2],
        m[i[0] :][1:], m[1:][i[0] :], m[i[0]][1:], m[:, i[0] :][1:], v[1:][i[0]], m[i[0] :][0], v[i[0] : 3][1:], v[1:][: i[0]],
    ],
    "local_useless_subtensor": [*(m[a] for a in SLICES), *(m[:, a] for a in SLICES), v[: v.shape[0]], v[0 : v.shape[0] : 1], v[: w.shape[0]],
        v[i[0] :], v[: v.shape[0] : 2], m[: v.shape[0]], m[:, : m.shape[1]], m[: m.shape[1]], v[1 : v.shape[0]], v[: v.shape[0] - 1]],
    "local_useless_slice": [*(m[0, a] for a in SLICES), *(m[a, 0] for a in SLICES), *(t3[a, :, 1] for a in SLICES), t3[1:, :, :], t3[:, 1:, :]],
    "local_subtensor_lift": [*((m + n)[a] for a in ENTRIES), *(T.exp(m)[:, a] for a in ENTRIES), (m * v)[0], (m * v)[:, 0], (m * s)[1:, 1]],
    "local_subtensor_of_alloc": [
        *(T.alloc(s, 5, 6)[a] for a in ENTRIES), *(T.alloc(v, 3, 4)[a] for a in ENTRIES), *(T.alloc(v, 3, 4)[:, a] for a in ENTRIES),
        T.alloc(v.dimshuffle(0, "x"), 4, 3)[:, 1:], T.alloc(v, 3, v.shape[0])[1, 1:], T.alloc(s, v.shape[0])[0], T.alloc(s, v.shape[0])[1:],
        *(T.alloc(s, 5)[k] for k in (4, 5, -5, -6)), T.alloc(T.addbroadcast(v[:1], 0), 5)[1:], T.alloc(s, 5, 6)[i[0]], T.alloc(s, 5, 6)[1:, i[0]],
        T.alloc(v, 5, 3, v.shape[0])[1:, 0, 2:], T.alloc(v.dimshuffle(0, "x"), v.shape[0], 4)[1:, -1], T.alloc(m, 2, *m.shape)[1, :, 1],
        T.alloc(v, 3, v.shape[0])[3], T.alloc(v, 3, v.shape[0])[0, 7],
    ],
    "local_max_to_min": [-(-m).min(axis=0), -(-k).min(), -(-m).min()],
    "local_subtensor_of_join": [
        *(T.join(0, v, w, v * w)[a] for a in ENTRIES), *(T.join(0, m, n)[a] for a in ENTRIES), *(T.join(1, m, n)[a] for a in ENTRIES),
        *(T.join(1, m, n)[:, a] for a in ENTRIES), *(T.stack([v, w, v * w])[a] for a in ENTRIES), *(T.stack([v, w])[:, a] for a in ENTRIES),
        *(T.stack([s, s + 1, s * 2])[a] for a in ENTRIES),
    ],
    "local_subtensor_make_vector": [T.stack([s, s + 1, 2 * s])[a] for a in ENTRIES],
    "local_subtensor_of_dot": [
        *(T.dot(m, n.T)[a] for a in ENTRIES), *(T.dot(m, n.T)[:, a] for a in ENTRIES), *(T.dot(n, w)[a] for a in ENTRIES), T.dot(v, n.T)[1:],
    ],
    "local_subtensor_inc_subtensor": [
        *(T.set_subtensor(m[a], 0.5)[b] for a, b in zip(ENTRIES, ENTRIES, strict=True)),
        *(T.inc_subtensor(m[a], 0.5)[a] for a in ENTRIES[:4]), T.set_subtensor(m[1], w)[1, 1:], T.set_subtensor(m[1], w)[2],
    ],
    "local_subtensor_remove_broadcastable_index": [
        column[index] for index in (at[:, -1], at[1:, 0], at[0, 0], at[:, 0, 1:], at[:, :, 0], at[:, i[0]], at[:, 0, :], at[1, 0, 1])
    ] + [row[0], row[-1], row[0, 1:], row[:, 0], row[i[0]]],
    "local_adv_sub1_adv_inc_sub1": [
        change(fixed[list(written)], x)[list(read)] for change in (T.set_subtensor, T.inc_subtensor) for x in (m, s)
        for fixed in (T.constant(np.ones((5, 4))), T.constant(np.zeros((5, 4)))) for written, read in PLACES
    ],
    "local_slices_before_arrays": [
        m[index] for index in (
            (at[i[0] :], classes), (classes, at[: i[0]]), (at[1:], classes), (at[i[0] :], T.gt(v, 0)), (T.gt(v[:3], 0), at[i[0] :]),
            (None, at[i[0] :], classes), (at[: i[0]], None, classes), (at[i[0] :], classes, None), (T.gt(m, 0), None),
        )
    ],
    "local_slices_before_writes": [
        change(m[index], 0.5) for change in (T.set_subtensor, T.inc_subtensor)
        for index in ((at[i[0] :], classes), (classes, at[: i[0]]), (at[i[0] :], T.gt(v, 0)), (None, at[i[0] :], classes))
    ],
    "local_useless_inc_subtensor": [
        *(T.set_subtensor(m[a], n[a]) for a in ENTRIES), *(T.set_subtensor(m[:, a], n[:, a]) for a in ENTRIES), T.set_subtensor(m[:], s),
        *(T.set_subtensor(m[::-1, a], n) for a in SLICES), T.set_subtensor(m[::-1], 2 * m), T.set_subtensor(m[::-1, ::-1], 2 * m[::-1]),
        T.set_subtensor(m[:, ::-1], T.exp(m)), T.set_subtensor(m[::-2], m),
    ],
    "local_set_to_inc_subtensor": [
        T.set_subtensor(m[[2, -1]], m[[2, -1]] + n[:2]), T.set_subtensor(m[[1, 1]], m[[1, 1]] + n[:2]), T.set_subtensor(m[[2, 0]], n[:2] + m[[0, 2]]),
        *(T.set_subtensor(m[a], m[a] + n[a]) for a in ENTRIES[:4]), T.set_subtensor(m[1], m[2] + v), T.set_subtensor(m[1], n[1] + v),
        T.set_subtensor(m[1], v + m[1]), T.set_subtensor(m[1], m[1] * v), T.inc_subtensor(m[1], m[1] + v),
        T.set_subtensor(m[i[0]], m[i[0]] + v), T.set_subtensor(m[i[0]], m[i[1]] + v),
    ],
    "local_incsubtensor_of_zeros": [T.set_subtensor(m[1], 0.0), T.inc_subtensor(m[1:], 0.0)],
    "local_dimshuffle_subtensor": [
        T.addbroadcast(x, 0)[index].dimshuffle(*order)
        for x in (t3[:1], m[:1]) for index in (at[:], at[:, 0], at[:, 1:], at[0], at[:, :, 1], at[:1]) for order in ((1,), (0,), (1, 0), ("x", 1), ())
        if fits(T.addbroadcast(x, 0), index, order)
    ] + [T.addbroadcast(t3[:1], 0)[a].dimshuffle(1, 0) for a in (at[0, 1:], at[:, 1], at[:, :, 1])] + [
        T.addbroadcast(m[:1], 0)[:, a].dimshuffle(1) for a in SLICES
    ],
    "local_useless_reshape": [m.reshape(shape) for shape in SHAPES],
    "local_reshape_to_dimshuffle": [T.reshape(m, (m.shape[1], 1, m.shape[0]), ndim=3)] + [m.reshape(shape) for shape in SHAPES] + [v.reshape(shape) for shape in ((-1, 1), (1, -1), (4,), (1, 4, 1), (-1,))],
    "local_reshape_chain": [m.reshape(a).reshape(b) for a, b in product(SHAPES[:6], SHAPES[:12:2])],
    "local_reshape_lift": [T.exp(m).reshape(shape) for shape in SHAPES] + [(m + n).reshape((12,))],
    "local_reshape_dimshuffle": [m.dimshuffle(*order).reshape((12,)) for order in (("x", 1, 0), (0, "x", 1), (0, 1, "x"), (1, 0))],
    "local_dimshuffle_lift": [T.exp(t3).dimshuffle(*order) for order in ORDERS] + [t3.dimshuffle(*order).dimshuffle(2, 0, 1) for order in ORDERS[:3]],
    "local_op_of_op": [
        *(outer for b in AXES for outer in along(Sum, Sum(axis=b)(t3))), *along(Sum, Prod(axis=(1,))(t3)), *along(Max, Max(axis=(1,))(t3)),
        *along(Sum, Max(axis=(0,))(t3)),
    ],
    "local_reduce_dimshuffle": [r for order in ORDERS for r in along(Sum, t3.dimshuffle(*order), [*AXES, (3,), (0, 3), (1, 2, 3)])],
    "local_sum_prod_div_dimshuffle": [
        op(axis=axes)(x) for op in (Sum, Prod) for axes in AXES[:1] + AXES[1:2] + AXES[3:4]
        for x in (m / v, m / v[:3].dimshuffle(0, "x"), m / s, v / m, m / (v * w), m / n)
    ],
    "local_sum_prod_mul_by_scalar": [op(axis=axes)(x) for op in (Sum, Prod) for axes in AXES[:2] for x in (m * s, s * m * n, -m, m * v, s * m, -(m * s))],
    "local_reduce_join": [
        *(op(axis=(axis,))(T.stack([v, w], axis=0)) for op in (Sum, Prod, Max) for axis in (0, 1)),
        Sum(axis=(0,))(T.join(0, m, n)), Sum(axis=(1,))(T.stack([v, w], axis=1)), Sum(axis=(0, 1))(T.stack([v, w])), Sum(axis=(0,))(T.stack([v])),
    ],
    "local_join_empty": [T.join(0, np.zeros(0), v), T.join(0, v, np.zeros(0)), T.join(0, m, np.zeros((0, 4))), T.join(1, m, np.zeros((3, 0)))],
    "local_join_make_vector": [T.join(0, v, T.stack([s, s]), T.stack([s + 1])), T.join(0, T.stack([s]), v, T.stack([s])), T.join(0, v, w)],
    "local_useless_rebroadcast": [
        outer(inner(x), 0) for outer in (T.addbroadcast, T.unbroadcast) for inner in (lambda x: T.addbroadcast(x, 0), lambda x: T.unbroadcast(x, 0))
        for x in (v[:1], row, m[:1])
    ],
    "local_greedy_distributor": [(negated(v / w, depth) + v) * w for depth in (1, 2, 6, 7, 8, 9)],
    "local_useless_fill": [F.second(v, s), F.second(m, v), F.second(v, v), F.second(row, m)],
    "softmax_simplifier": [
        e / e.sum(axis=1).dimshuffle(0, "x") for e in (T.exp(m), T.exp(2 * m))
    ] + [
        T.exp(m) / T.exp(m).sum(axis=0, keepdims=True), T.exp(m) / T.exp(n).sum(axis=1, keepdims=True), n / T.exp(m).sum(axis=1, keepdims=True),
        T.exp(m) / T.exp(m).sum(axis=0).dimshuffle("x", 0), T.exp(square) / T.exp(square).sum(axis=1).dimshuffle("x", 0),
        T.exp(m) / m.sum(axis=1, keepdims=True), T.exp(v) / T.exp(v).sum(), T.exp(m) / T.exp(m).sum(axis=1, keepdims=True) * n,
        T.exp(m) * T.exp(m) / T.exp(m).sum(axis=1, keepdims=True), T.exp(m) / T.exp(m).max(axis=1, keepdims=True),
        T.exp(m) / T.exp(m).prod(axis=1, keepdims=True), T.exp(m) / T.exp(m).sum(axis=1, keepdims=True, dtype="float64"),
    ],
    "local_softmax_with_bias": [
        nnet.softmax(x) for x in (
            v + m, m + n + v, m + v + w, m + s, m * v, m + v.dimshuffle("x", 0) * w, square + v[:3].dimshuffle(0, "x"), m + m[0], m - v,
            m + T.cast(v, "float32"), T.cast(m, "float32") + v, T.addbroadcast(m[:1], 0) + v, v.dimshuffle("x", 0) + w, n[:1] + v,
        )
    ],
    "local_logsoftmax_grad": [softmax_grad(x, probabilities) for x in (m / probabilities, m, m / n, -(n / probabilities), n * m / probabilities)] + [
        softmax_grad(deep(m / probabilities, depth), probabilities)
        for depth in (2, 6, 7, 8, 9) for deep in (negated, lambda x, times: reduce(lambda y, _: y + n, range(times), x))
    ] + [softmax_grad(F.inv(x), probabilities) for x in (probabilities, probabilities * n, n)] + [
        softmax_grad(write(T.zeros_like(m)[index], over / sm[index]), sm)
        for sm in (probabilities, nnet.softmax_with_bias(m, v)) for write in (T.inc_subtensor, T.set_subtensor) for over in (s, -n[0, 0])
        for index in ((slice(None), 1), (classes,), (classes, classes), (T.gt(n, 0),), (T.arange(m.shape[0]), classes), (slice(1, None),))
    ] + [
        softmax_grad(T.inc_subtensor(base[:, 1], s / below), probabilities)
        for base, below in ((n, probabilities[:, 1]), (T.zeros_like(m), probabilities[:, 2]), (T.zeros_like(m), n[:, 1]))
    ],
    "local_log_of_moved": [
        T.log(chosen) for sm in (probabilities, nnet.softmax_with_bias(m, v), m)
        for chosen in (sm[T.arange(3), classes], sm[:, 1], sm[classes], sm[T.gt(n, 0)], sm[1:], sm[classes, classes], sm.T)
    ],
    "local_softmax_of_shifted": [
        f(x) for f in (nnet.softmax, nnet.logsoftmax) for x in (
            m - top.dimshuffle(0, "x"), n - top.dimshuffle(0, "x"), m - m.min(axis=1).dimshuffle(0, "x"), m - m.max(axis=0), m - m.max(),
            top.dimshuffle(0, "x") - m, m - m[:, 0].dimshuffle(0, "x"), F.sub(m, top.dimshuffle(0, "x")) * s,
        )
    ],
    "local_softmax_of_unused_crossentropy": [
        f(*nnet.crossentropy_softmax_argmax_1hot_with_bias(m, bias, classes)) for bias in (v, T.zeros_like(m[0]))
        for f in (lambda nll, sm, place: sm, lambda nll, sm, place: sm.sum() + nll, lambda nll, sm, place: place)
    ],
    "local_lift_transpose_through_dot": [
        T.dot(two_of(m.T, n.T)[0], m).T, T.dot(T.exp(m.T), m).T, T.dot(m.T, T.dot(m, n.T)).T, T.dot(T.dot(m.T, n).T, m.T).T, T.dot(m, v).T, T.dot(v, m.T).T,
        T.dot(two_of(m, n)[1].T, m).T, T.dot(two_of(T.dot(m, n.T).T, square)[0], psd).T, T.dot(T.dot(m, n.T).T + square, psd).T, T.exp(T.dot(m, n.T)).T, T.dot(m, n.T).dimshuffle(1, "x", 0),
    ],
    "crossentropy_to_crossentropy_with_softmax": [entropy(x, classes) for x in (nnet.softmax_with_bias(m, v), nnet.softmax(m + v), m, nnet.softmax(n) * 1)],
    "crossentropy_to_crossentropy_with_softmax_with_bias": [entropy(x, classes) for x in (nnet.softmax(m), nnet.softmax(m + v), m)],
    "graph_merge_softmax_with_crossentropy_softmax": [
        entropy_with_bias(m, bias, classes)[0].sum() + soft.sum()
        for bias in (T.zeros_like(m[0]), v, T.zeros_like(v)) for soft in (nnet.softmax(m), nnet.softmax_with_bias(m, v), nnet.softmax_with_bias(m, w), nnet.softmax(n))
    ],
    "local_advanced_indexing_crossentropy_onehot": [
        nnet.logsoftmax(x)[where] for x in (m, m + v)
        for where in (
            (T.arange(m.shape[0]), classes), (T.arange(1, m.shape[0]), classes[1:]), (classes, T.arange(classes.shape[0])), (classes, classes),
            (T.arange(0, m.shape[0], 1), classes), (T.arange(0, m.shape[0], 2), classes[::2]), (T.arange(m.shape[1]), i), (T.arange(3), classes),
            (T.arange(classes.shape[0]), T.cast(classes, "uint8")), (T.arange(classes.shape[0]), classes, None), (None, classes),
        )
    ] + [T.exp(m)[T.arange(classes.shape[0]), classes]],
    "local_advanced_indexing_crossentropy_onehot_grad": [
        softmax_grad(written / below, probabilities)
        for below in (probabilities, nnet.softmax(n))
        for written in (
            T.inc_subtensor(T.zeros_like(m)[T.arange(m.shape[0]), classes], s), T.set_subtensor(T.zeros_like(m)[T.arange(m.shape[0]), classes], s),
            T.inc_subtensor(n[T.arange(m.shape[0]), classes], s), T.inc_subtensor(T.zeros_like(m)[classes, classes], s),
            T.inc_subtensor(T.zeros_like(m)[T.arange(m.shape[0]), classes], v[:3]), T.inc_subtensor(T.zeros_like(m)[1:, classes], s), m,
        )
    ],
    "local_argmax_pushdown": [
        T.argmax(f(m), axis=axis) for f in (nnet.softmax, nnet.logsoftmax, T.tanh, T.neg, lambda x: nnet.softmax_with_bias(x, v)) for axis in (0, 1, None)
    ] + [T.argmax(x, axis=1) for x in (m - top.dimshuffle(0, "x"), top.dimshuffle(0, "x") - m, m + s + n, m + v, m - m)] + [
        T.max_and_argmax(T.exp(m), axis=1)[0], T.argmax(T.exp(T.cast(i, "int32")), axis=0), T.argmax(nnet.sigmoid(c), axis=0)],
    "local_dot_to_dot22": [T.dot(m, v), T.dot(v, w), T.dot(m, T.cast(n, "float32").T), T.dot(T.cast(i, "int8"), k), T.dot(t3, n.T), T.dot(row, m.T)],
    "gemm_optimizer": [
        f(x, y) for x in (m, n * s, v, -m, m / s, s, m * n) for y in (T.dot(square, m), T.dot(square, m) * s, -T.dot(square, m), T.dot(v, n.T)) for f in (F.add, F.sub)
    ] + [F.add(T.dot(square, m), T.dot(psd, n)), F.add(m, n, T.dot(square, m)), F.add(T.dot(square, m), v, n), F.sub(T.dot(square, m), T.dot(psd, n))],
    "local_gemm_to_gemv": [
        routines.gemm_no_inplace(z, s, x, y, s)
        for z, x, y in (
            (m, square, n), (v.dimshuffle("x", 0), row, T.dot(m.T, n)), (v[:3].dimshuffle(0, "x"), square, w[:3].dimshuffle(0, "x")),
            (row, n[:1], T.dot(m.T, n)), (T.addbroadcast(m[:1], 0), T.addbroadcast(n[:1], 0), T.dot(m.T, n)),
        )
    ],
    "cond_remove_identical": [
        ifelse(positive, (v, w), (w, w))[1], ifelse(positive, (v, w), (w, w))[0], ifelse(positive, (v, w), (v, w))[1], ifelse(positive, number(1.0), number(1.0)) * v,
        ifelse(positive, number(1.0), number(2.0)) * v, T.add(*ifelse(positive, (v, w, v * w), (w, w, v))),
    ],
    "cond_drop_unused": [
        ifelse(positive, (v, w, v * w), (w, v, v + w))[1], T.add(*ifelse(positive, (v, w, v * w), (w, v, v + w))[::2]), T.add(*ifelse(positive, (v, w), (w, v))),
    ],
    "cond_merge_ifs_true": [
        ifelse(positive, ifelse(less, v, w), 2 * w), ifelse(positive, 2 * w, ifelse(positive, v, w)), ifelse(positive, ifelse(positive, ifelse(positive, v, w), 2 * v), w),
        T.add(*ifelse(positive, (v, ifelse(positive, v, w)), (w, v))), ifelse(positive, T.add(*ifelse(positive, (v, w), (w, v))), v),
        ifelse(positive, ifelse(positive, (v, w), (w, 2 * v))[1], v),
    ],
    "cond_merge_ifs_false": [
        ifelse(positive, w, ifelse(less, v, w)), ifelse(positive, ifelse(positive, v, w), w), ifelse(positive, w, ifelse(positive, 2 * v, ifelse(positive, v, 3 * w))),
        ifelse(positive, v, ifelse(positive, (v, w), (w, 2 * v))[1]),
    ],
    "cond_remove_known": [ifelse(T.constant(value), v, w) for value in (0.5, -1, np.True_)] + [ifelse(T.constant(0), (v, w), (w, v))[1], ifelse(s * 0, v, w)],
    "cond_lift_common": [
        ifelse(less, ifelse(positive, s, 0.0), ifelse(less, 2 * s, 0.0)), ifelse(less, ifelse(positive, s, 0.0), ifelse(positive, 0.0, 2 * s)),
        ifelse(less, ifelse(positive, s, 1.0), ifelse(positive, 2 * s, 1.0)), ifelse(less, ifelse(positive, s, 0.0), 2 * s),
    ],
    "cond_join_zeros": [
        ifelse(positive, ifelse(less, s, 1.0), 0.0), ifelse(positive, 1.0, ifelse(less, s, 0.0)), ifelse(positive, ifelse(less, s, 0.0), 1.0),
        ifelse(positive, ifelse(less, s, 2 * s), 0.0), ifelse(s, ifelse(less, s, 0.0), 0.0), ifelse(positive, ifelse(s, s, 0.0), 0.0),
    ],
    "cond_merge_sums": [
        ifelse(positive, s, 0.0) + ifelse(less, s * s, 0.0), ifelse(positive, s, 1.0) + ifelse(positive, s * s, 0.0), ifelse(positive, 0.0, 0.0) + ifelse(positive, s, 0.0),
        F.add(ifelse(positive, s, 0.0), ifelse(positive, 2 * s, 0.0), ifelse(positive, 0.0, s), s), ifelse(positive, s, 0.0) + s,
    ],
    "local_max_and_argmax": [T.max_and_argmax(t3, axis=axes)[part] for axes in (0, 1, (0, 2)) for part in (0, 1)],
}  # fmt: skip

#: Expressions that look like those that a rule changes: whatever it does with them has to be right.
NEIGHBOURS = {
    "gemm_optimizer": [
        op(*terms) for op in (F.add, F.sub) for dtype in ("bool", "int8", "uint64")
        for a in (F.mul(m.astype(dtype), small[0].astype(dtype)), -m.astype("int8") * small[0])
        for terms in ((T.dot(square, n), a), (a, T.dot(square, n)), (n / small[0], a))
    ],
    "local_cast_cast": ALL_CASTS[::3],
    "cond_lift_zeros": [
        *(op(w, lazy) for op in _BINARY), *(op(lazy, w) for op in _BINARY), *(op(lazy) for op in _UNARY),
        T.inc_subtensor(m[1], lazy), T.set_subtensor(m[1], lazy), T.set_subtensor(lazy[1:], w[1:]), lazy.prod(),
        lazy.max(), F.cast(lazy, "int8"), T.switch(lazy, v, w), T.switch(c, lazy, w), T.join(0, lazy, w), T.sort(lazy),
    ],
    "no_transpose_symmetric": [T.dot(m, n.T).T, T.dot(square, psd).T, T.dot(square.T, psd).T, T.dot(m.T, n).T],
    "inv_as_solve": [T.dot(matrix_inverse(T.dot(square, psd)).T, psd), T.dot(matrix_inverse(square.T), psd)],
    "local_useless_elemwise_comparison": [
        op(a, T.constant(b)) if turned else op(T.constant(b), a)
        for op in lengths._COMPARISONS for a in (length, length - 1, i) for b in (-1, 0, 1)
        for turned in (True, False)
    ] + [
        op(a, b) for op in (F.lt, F.ge, F.gt, F.le) for a in (squares, number(0.0)) for b in (squares, number(0.0))
    ] + [T.switch(a >= 0, b, z) for a in (v, squares) for b in (v, squares) for z in (np.nan, 0.0)],
    "local_useless_elemwise": [
        op(a, a) for op in (F.eq, F.neq, F.le, F.ge, F.sub, F.true_div) for a in (v, c)
    ] + [op(v) for op in (F.ceil, F.floor, F.trunc, F.real, F.conj)],
    "local_mul_zero": [v * F.second(number(0.0), w), v * T.constant(np.array([0.0, 0.0, 0.0, 1.0]))],
    "local_mul_specialize": [v * T.constant(np.array([1.0, 1.0, 1.0, 2.0])), v * F.second(number(1.0), w)],
    "local_add_specialize": [v + T.constant(np.array([1.0, 0.0, 0.0, 0.0])), v + F.second(number(0.0), w)],
    "local_intdiv_by_one": [F.int_div(v, number(1.0)), F.int_div(i, F.second(number(1), k)), F.mod(v, number(1.0))],
    "local_func_inv": [
        outer(inner(v)) for outer in stable.INVERSES for inner in stable.INVERSES if F.invert not in (outer, inner)
    ],
}  # fmt: skip
for _name, _forms in PARTS.items():
    NEIGHBOURS.setdefault(_name, []).extend(_forms)
