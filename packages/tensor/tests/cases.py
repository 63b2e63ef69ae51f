"""Expressions with what NumPy makes of them: one table for values, gradients, shapes and directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.special as sp
from arrays import sample

import theano.tensor as T

I3 = np.array([2, 0, 1, 2])
MASK = np.array([[True, False, True, True], [False, False, True, False], [True, True, False, False]])


class Case(NamedTuple):
    """An expression of some inputs."""

    name: str
    build: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: tuple[Any, ...]  # shapes; or (shape, low, high); or arrays, which are not differentiated
    smooth: bool = True

    def variables(self, dtype: str = "float64") -> list[Any]:
        """Return one variable for each input."""
        made = []
        for i, spec in enumerate(self.inputs):
            if isinstance(spec, np.ndarray):
                made.append(T.TensorType(spec.dtype.name, (False,) * spec.ndim)(f"k{i}"))
            else:
                shape = spec[0] if spec and isinstance(spec[0], tuple) else spec
                made.append(T.TensorType(dtype, [n == 1 for n in shape])(f"x{i}"))
        return made

    def values(self, rng: np.random.Generator, dtype: str = "float64") -> list[np.ndarray]:
        """Return values for them."""
        made = []
        for spec in self.inputs:
            if isinstance(spec, np.ndarray):
                made.append(spec)
            elif spec and isinstance(spec[0], tuple):
                made.append(sample(dtype, spec[0], rng, *spec[1:]))
            else:
                made.append(sample(dtype, spec, rng, -2, 2))
        return made


def _softmax(x: np.ndarray) -> np.ndarray:
    return np.asarray(sp.softmax(x, axis=-1))


def _set(x: Any, index: Any, y: Any) -> np.ndarray:
    out = x.copy()
    out[index] = y
    return out


def _inc(x: Any, index: Any, y: Any) -> np.ndarray:
    out = x.copy()
    np.add.at(out, index, y)
    return out


def _diagonal(x: Any, value: Any, offset: Any) -> np.ndarray:
    i, j = np.indices(x.shape)
    return np.where(j - i == offset, value, x)


m, v, t3 = (3, 4), (4,), (2, 3, 4)
CASES = [
    # reductions
    Case("sum", lambda x: x.sum(), lambda x: x.sum(), (m,)),
    Case("sum_axis", lambda x: x.sum(axis=1), lambda x: x.sum(axis=1), (t3,)),
    Case("sum_axes", lambda x: x.sum(axis=(0, 2)), lambda x: x.sum(axis=(0, 2)), (t3,)),
    Case("sum_keep", lambda x: x.sum(axis=-1, keepdims=True), lambda x: x.sum(axis=-1, keepdims=True), (m,)),
    Case("sum_row", lambda x: x.sum(axis=0), lambda x: x.sum(axis=0), ((1, 4),)),
    Case("prod", lambda x: x.prod(axis=0), lambda x: x.prod(axis=0), (m,)),
    Case("prod_all", lambda x: T.prod(x), lambda x: x.prod(), (m,)),
    Case("prod_no_zeros", lambda x: T.prod(x, axis=1, no_zeros_in_input=True), lambda x: x.prod(axis=1), (m,)),
    Case("max", lambda x: x.max(axis=1), lambda x: x.max(axis=1), (m,)),
    Case("min", lambda x: x.min(), lambda x: x.min(), (m,)),
    Case("nanmax", lambda x: T.nanmax(x, axis=1), lambda x: x.max(axis=1), (m,)),
    Case("nanmin", lambda x: T.nanmin(T.sqrt(x), axis=(0, 2), keepdims=True), lambda x: np.fmin.reduce(np.sqrt(x), (0, 2), keepdims=True), (t3,), False),
    Case("max_and_argmax", lambda x: T.max_and_argmax(x, axis=0)[0], lambda x: x.max(axis=0), (m,)),
    Case("argmax", lambda x: x.argmax(axis=1), lambda x: x.argmax(axis=1), (m,), False),
    Case("argmax_all", lambda x: x.argmax(), lambda x: x.argmax(), (m,), False),
    Case("argmin", lambda x: x.argmin(axis=0), lambda x: x.argmin(axis=0), (m,), False),
    Case("any", lambda x: T.any(x > 1, axis=1), lambda x: (x > 1).any(axis=1), (m,), False),
    Case("all", lambda x: T.all(x > -1, axis=0), lambda x: (x > -1).all(axis=0), (m,), False),
    Case("mean", lambda x: x.mean(axis=0), lambda x: x.mean(axis=0), (m,)),
    Case(
        "mean_axes", lambda x: x.mean(axis=(0, 2), keepdims=True), lambda x: x.mean(axis=(0, 2), keepdims=True), (t3,)
    ),
    Case("var", lambda x: x.var(axis=1), lambda x: x.var(axis=1), (m,)),
    Case("var_ddof", lambda x: x.var(axis=0, ddof=1), lambda x: x.var(axis=0, ddof=1), (m,)),
    Case("std", lambda x: x.std(), lambda x: x.std(), (m,)),
    Case("ptp", lambda x: x.ptp(axis=1), lambda x: np.ptp(x, axis=1), (m,)),
    Case("norm2", lambda x: x.norm(2, axis=1), lambda x: np.linalg.norm(x, 2, axis=1), (m,)),
    Case("norm_inf", lambda x: x.norm(np.inf), lambda x: abs(x).max(), (m,)),
    Case("logsumexp", lambda x: T.logsumexp(x, axis=1), lambda x: sp.logsumexp(x, axis=1), (m,)),
    Case("cumsum", lambda x: x.cumsum(axis=1), lambda x: x.cumsum(axis=1), (m,)),
    Case("cumsum_flat", lambda x: x.cumsum(), lambda x: x.cumsum(), (m,)),
    Case("cumprod", lambda x: x.cumprod(axis=0), lambda x: x.cumprod(axis=0), ((m, 0.5, 2.0),)),
    Case("trace", lambda x: x.trace(), lambda x: x.trace(), (m,)),
    # products
    Case("dot_mm", T.dot, np.dot, (m, (4, 5))),
    Case("dot_mv", T.dot, np.dot, (m, v)),
    Case("dot_vm", T.dot, np.dot, ((3,), m)),
    Case("dot_vv", T.dot, np.dot, (v, v)),
    Case("dot_sm", T.dot, np.dot, ((), m)),
    Case("dot_3m", T.dot, np.dot, (t3, (4, 5))),
    Case("dot_33", T.dot, np.dot, (t3, (5, 4, 2))),
    Case("dot_row", T.dot, np.dot, ((1, 4), (4, 5))),
    Case("dot_outer", T.dot, np.dot, ((3, 1), (1, 4))),
    Case("matmul", lambda x, y: x @ y, np.matmul, (m, (4, 5))),
    Case("outer", T.outer, np.outer, ((3,), v)),
    Case("tensordot", lambda x, y: T.tensordot(x, y, 2), lambda x, y: np.tensordot(x, y, 2), (t3, (3, 4, 5))),
    Case(
        "tensordot_axes",
        lambda x, y: T.tensordot(x, y, [[2, 0], [0, 2]]),
        lambda x, y: np.tensordot(x, y, [[2, 0], [0, 2]]),
        (t3, (4, 5, 2)),
    ),
    Case("tensordot0", lambda x, y: T.tensordot(x, y, 0), lambda x, y: np.tensordot(x, y, 0), (m, v)),
    Case("batched_dot", T.batched_dot, np.matmul, (t3, (2, 4, 5))),
    Case("batched_dot_mv", T.batched_dot, lambda x, y: np.einsum("bij,bj->bi", x, y), (t3, (2, 4))),
    Case("batched_dot_vm", T.batched_dot, lambda x, y: np.einsum("bi,bij->bj", x, y), ((2, 3), t3)),
    Case("batched_dot_vv", T.batched_dot, lambda x, y: (x * y).sum(1), ((2, 3), (2, 3))),
    Case(
        "batched_tensordot",
        lambda x, y: T.batched_tensordot(x, y, 1),
        lambda x, y: np.einsum("bijk,bkl->bijl", x, y),
        ((2, 3, 2, 4), (2, 4, 5)),
    ),
    Case("dot22", lambda x, y: T.blas._dot22(x, y), np.dot, (m, (4, 5))),
    # shapes
    Case("dimshuffle", lambda x: x.dimshuffle(1, "x", 0), lambda x: x.T[:, None, :], (m,)),
    Case("dimshuffle_drop", lambda x: x.dimshuffle(1), lambda x: x[0], ((1, 4),)),
    Case("transpose", lambda x: x.transpose(2, 0, 1), lambda x: x.transpose(2, 0, 1), (t3,)),
    Case("T", lambda x: x.T, lambda x: x.T, (m,)),
    Case("swapaxes", lambda x: x.swapaxes(0, 2), lambda x: x.swapaxes(0, 2), (t3,)),
    Case("moveaxis", lambda x: T.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1), (t3,)),
    Case("reshape", lambda x: x.reshape((6, 4)), lambda x: x.reshape(6, 4), (t3,)),
    Case("reshape_minus", lambda x: x.reshape((4, -1, 3)), lambda x: x.reshape(4, -1, 3), (t3,)),
    Case("reshape_symbolic", lambda x: x.reshape((x.shape[1], x.shape[0])), lambda x: x.reshape(4, 3), (m,)),
    Case("reshape_scalar", lambda x: x.reshape(()), lambda x: x.reshape(()), ((1, 1),)),
    Case("flatten", lambda x: x.flatten(), lambda x: x.ravel(), (t3,)),
    Case("flatten2", lambda x: x.flatten(2), lambda x: x.reshape(2, 12), (t3,)),
    Case("ravel", lambda x: x.ravel(), lambda x: x.ravel(), (m,)),
    Case("squeeze", lambda x: x.squeeze(), lambda x: x.squeeze(), ((1, 4, 1),)),
    Case("padleft", lambda x: T.shape_padleft(x, 2), lambda x: x[None, None], (m,)),
    Case("padright", lambda x: T.shape_padright(x), lambda x: x[..., None], (m,)),
    Case("padaxis", lambda x: T.shape_padaxis(x, 1), lambda x: x[:, None], (m,)),
    Case("specify_shape", lambda x: T.specify_shape(x, (3, 4)), lambda x: x, (m,)),
    Case("rebroadcast", lambda x: T.addbroadcast(T.unbroadcast(x, 0), 0) + 0, lambda x: x, ((1, 4),)),
    Case("shape", lambda x: x.shape, lambda x: np.array(x.shape), (t3,), False),
    Case("size", lambda x: x.size, lambda x: x.size, (t3,), False),
    Case("tile", lambda x: T.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3)), (m,)),
    Case("tile_more", lambda x: T.tile(x, (2, 1, 2)), lambda x: np.tile(x, (2, 1, 2)), (m,)),
    Case("tile_less", lambda x: T.tile(x, 2), lambda x: np.tile(x, 2), (m,)),
    Case("repeat", lambda x: T.repeat(x, 2, axis=1), lambda x: np.repeat(x, 2, axis=1), (m,)),
    Case("repeat_flat", lambda x: T.repeat(x, 3), lambda x: np.repeat(x, 3), (m,)),
    Case(
        "repeat_each",
        lambda x, k: T.repeat(x, k, axis=0),
        lambda x, k: np.repeat(x, k, axis=0),
        (m, np.array([2, 0, 1])),
    ),
    Case("roll", lambda x: T.roll(x, 2, axis=1), lambda x: np.roll(x, 2, axis=1), (m,)),
    Case("roll_flat", lambda x: T.roll(x, -5), lambda x: np.roll(x, -5), (m,)),
    # joins
    Case("join", lambda x, y: T.join(0, x, y), lambda x, y: np.concatenate([x, y]), (m, (2, 4))),
    Case(
        "join1", lambda x, y: T.concatenate([x, y, x], axis=-1), lambda x, y: np.concatenate([x, y, x], -1), (m, (3, 1))
    ),
    Case("stack", lambda x, y: T.stack([x, y], axis=1), lambda x, y: np.stack([x, y], 1), (m, m)),
    Case("stack_scalars", lambda x, y: T.stack([x, y, x]), lambda x, y: np.stack([x, y, x]), ((), ())),
    Case("stacklists", lambda x, y: T.stacklists([[x, y], [y, x]]), lambda x, y: np.array([[x, y], [y, x]]), ((), ())),
    Case("split", lambda x: T.split(x, [1, 3], 2, axis=1)[1], lambda x: x[:, 1:], (m,)),
    Case("split0", lambda x: T.split(x, [2, 1], 2)[0] * 2, lambda x: x[:2] * 2, (m,)),
    Case("horizontal", T.horizontal_stack, lambda x, y: np.hstack([x, y]), (m, (3, 2))),
    Case("vertical", T.vertical_stack, lambda x, y: np.vstack([x, y]), (m, (2, 4))),
    # creation
    Case("alloc", lambda x: T.alloc(x, 2, 3, 4), lambda x: np.broadcast_to(x, (2, 3, 4)), (m,)),
    Case("alloc_stretch", lambda x: T.alloc(x, 3, 4), lambda x: np.broadcast_to(x, (3, 4)), ((3, 1),)),
    Case("zeros_like", lambda x: T.zeros_like(x), np.zeros_like, (m,), False),
    Case("ones_like", lambda x: T.ones_like(x), np.ones_like, (m,), False),
    Case("full", lambda x: T.full((2, 5), x), lambda x: np.full((2, 5), x), ((),)),
    Case("full_like", lambda x: T.full_like(x, 7), lambda x: np.full_like(x, 7), (m,), False),
    Case("fill", lambda x, y: T.fill(x, y), lambda x, y: np.full_like(x, y), (m, ())),
    Case("eye", lambda x: T.eye(3, 4, 1) * x, lambda x: np.eye(3, 4, 1) * x, (m,)),
    Case("identity_like", lambda x: T.identity_like(x) * x, lambda x: np.eye(3, 4, dtype=x.dtype) * x, (m,)),
    Case("tri", lambda x: T.tri(3, 4, -1) + x, lambda x: np.tri(3, 4, -1) + x, (m,)),
    Case("tril", lambda x: T.tril(x, 1), lambda x: np.tril(x, 1), (m,)),
    Case("triu", lambda x: T.triu(x, -1), lambda x: np.triu(x, -1), (m,)),
    Case("diag_make", lambda x: T.diag(x), np.diag, (v,)),
    Case("diag_make_k", lambda x: T.diag(x, -2), lambda x: np.diag(x, -2), (v,)),
    Case("diag_take", lambda x: T.diag(x, 1), lambda x: np.diag(x, 1), (m,)),
    Case("diagonal3", lambda x: T.diagonal(x, 1, 0, 2), lambda x: np.diagonal(x, 1, 0, 2), (t3,)),
    Case("arange", lambda k: T.arange(k), lambda k: np.arange(k), (np.array(5),), False),
    Case("arange_steps", lambda x: T.arange(1.0, 4.0, 0.5) * x, lambda x: np.arange(1, 4, 0.5) * x, ((),)),
    # indexing
    Case("item", lambda x: x[1, 2], lambda x: x[1, 2], (m,)),
    Case("last", lambda x: x[-1], lambda x: x[-1], (m,)),
    Case("slice", lambda x: x[1:, ::2], lambda x: x[1:, ::2], (m,)),
    Case("slice_back", lambda x: x[::-1, 3:0:-2], lambda x: x[::-1, 3:0:-2], (m,)),
    Case("slice_beyond", lambda x: x[-10:2, 2:100], lambda x: x[-10:2, 2:100], (m,)),
    Case("slice_symbolic", lambda x, k: x[k:, :-k], lambda x, k: x[k:, :-k], (m, np.array(1))),
    Case("slice_step", lambda x, k: x[:, ::k], lambda x, k: x[:, ::k], (m, np.array(-2))),
    Case("newaxis", lambda x: x[:, None, 1:], lambda x: x[:, None, 1:], (m,)),
    Case("ellipsis", lambda x: x[..., 1], lambda x: x[..., 1], (t3,)),
    Case("rows", lambda x, k: x[k], lambda x, k: x[k], (m, I3)),
    Case("rows2", lambda x, k: x[k], lambda x, k: x[k], (m, I3.reshape(2, 2))),
    Case("columns", lambda x, k: x[:, k], lambda x, k: x[:, k], (m, I3)),
    Case("pairs", lambda x, k: x[k, k], lambda x, k: x[k, k], (m, I3)),
    Case("array_slice", lambda x, k: x[1:, k, ::2], lambda x, k: x[1:, k, ::2], (t3, I3)),
    Case("array_apart", lambda x, k: x[k % 2, :, k], lambda x, k: x[k % 2, :, k], (t3, I3)),
    Case("array_number", lambda x, k: x[1, :, k], lambda x, k: x[1, :, k], (t3, I3)),
    Case("array_new", lambda x, k: x[None, k], lambda x, k: x[None, k], (m, I3)),
    Case("broadcast_arrays", lambda x, k: x[k.dimshuffle(0, "x"), k], lambda x, k: x[k[:, None], k], (m, I3)),
    Case("mask", lambda x: x[MASK], lambda x: x[MASK], (m,)),
    Case("mask_rows", lambda x: x[MASK[:, 0]], lambda x: x[MASK[:, 0]], (m,)),
    Case("mask_symbolic", lambda x, k: x[k], lambda x, k: x[k], (m, MASK)),
    Case("mask_and_slice", lambda x, k: x[1:, k], lambda x, k: x[1:, k], (t3, MASK)),
    Case("take", lambda x, k: T.take(x, k, axis=1), lambda x, k: np.take(x, k, axis=1), (m, I3)),
    Case("take_flat", lambda x, k: x.take(k), lambda x, k: x.take(k), (m, I3)),
    Case(
        "take_wrap", lambda x, k: T.take(x, k * 5, 1, "wrap"), lambda x, k: np.take(x, k * 5, 1, mode="wrap"), (m, I3)
    ),
    Case(
        "take_clip", lambda x, k: T.take(x, k * 5, 1, "clip"), lambda x, k: np.take(x, k * 5, 1, mode="clip"), (m, I3)
    ),
    Case("set_item", lambda x, y: T.set_subtensor(x[1], y), lambda x, y: _set(x, 1, y), (m, v)),
    Case(
        "inc_slice", lambda x, y: T.inc_subtensor(x[1:, ::2], y), lambda x, y: _inc(x, np.s_[1:, ::2], y), (m, (2, 2))
    ),
    Case("set_scalar", lambda x, y: T.set_subtensor(x[:, 1:3], y), lambda x, y: _set(x, np.s_[:, 1:3], y), (m, ())),
    Case("set_row", lambda x, y: T.set_subtensor(x[1:], y), lambda x, y: _set(x, np.s_[1:], y), (m, (1, 4))),
    Case("inc_rows", lambda x, y, k: T.inc_subtensor(x[k], y), lambda x, y, k: _inc(x, k, y), (m, (4, 4), I3)),
    Case("set_rows", lambda x, y: T.set_subtensor(x[[0, 2]], y), lambda x, y: _set(x, [0, 2], y), (m, (2, 4))),
    Case(
        "inc_columns", lambda x, y, k: T.inc_subtensor(x[:, k], y), lambda x, y, k: _inc(x, np.s_[:, k], y), (m, m, I3)
    ),
    Case(
        "set_pairs",
        lambda x, y: T.set_subtensor(x[[0, 1], [2, 3]], y),
        lambda x, y: _set(x, ([0, 1], [2, 3]), y),
        (m, (2,)),
    ),
    Case("inc_mask", lambda x, y: T.inc_subtensor(x[MASK], y), lambda x, y: _inc(x, MASK, y), (m, ())),
    Case("set_mask", lambda x, y: T.set_subtensor(x[MASK], y), lambda x, y: _set(x, MASK, y), (m, (6,))),
    Case(
        "set_newaxis",
        lambda x, y: T.set_subtensor(x[:, None, 1], y),
        lambda x, y: _set(x, np.s_[:, 1], y[:, 0]),
        (m, (3, 1)),
    ),
    Case("sort", lambda x: T.sort(x, axis=0), lambda x: np.sort(x, axis=0), (m,)),
    Case("sort_flat", lambda x: T.sort(x, axis=None), lambda x: np.sort(x, axis=None), (m,)),
    Case("argsort", lambda x: x.argsort(axis=0), lambda x: x.argsort(axis=0), (m,), False),
    Case("topk", lambda x: T.topk(x, 2), lambda x: np.sort(x)[:, :-3:-1], (m,)),
    Case("bottomk", lambda x: T.topk(x, -2), lambda x: np.sort(x)[:, :2], (m,)),
    Case("compress", lambda x: T.compress(np.array([1, 0, 1]), x, axis=0), lambda x: x[[0, 2]], (m,)),
    Case(
        "choose",
        lambda x, y, k: T.choose(k, [x, y]),
        lambda x, y, k: np.choose(k, [x, y]),
        (v, v, np.array([0, 1, 1, 0])),
    ),
    Case("diff", lambda x: T.extra_ops.diff(x, 2), lambda x: np.diff(x, 2), (m,)),
    Case("fill_diagonal", lambda x, y: T.fill_diagonal(x, y), lambda x, y: _set(x, (range(3), range(3)), y), (m, ())),
    Case(
        "fill_diagonal_offset",
        lambda x, y: T.fill_diagonal_offset(x, y, 1),
        lambda x, y: _set(x, (range(3), range(1, 4)), y),
        (m, ()),
    ),
    Case("cov", T.cov, np.cov, (m,)),
    Case("nonzero_values", lambda x: T.nonzero_values(x), lambda x: x[np.nonzero(x)], (m,)),
    Case("permute_rows", lambda x, k: T.permute_row_elements(x, k), lambda x, k: x[:, k], (m, np.array([2, 0, 3, 1]))),
    # nnet
    Case("softmax", T.nnet.softmax, _softmax, (m,)),
    Case("softmax_vector", T.nnet.softmax, lambda x: _softmax(x)[None], (v,)),
    Case("softmax3", T.nnet.softmax, _softmax, (t3,)),
    Case("softmax_graph", T.nnet.softmax_graph, _softmax, (m,)),
    Case("logsoftmax", T.nnet.logsoftmax, lambda x: sp.log_softmax(x, axis=-1), (m,)),
    Case("softmax_with_bias", T.nnet.softmax_with_bias, lambda x, b: _softmax(x + b), (m, v)),
    Case("sigmoid", T.nnet.sigmoid, sp.expit, (m,)),
    Case("softplus", T.nnet.softplus, lambda x: np.log1p(np.exp(x)), (m,)),
    Case("softsign", T.nnet.softsign, lambda x: x / (1 + abs(x)), (m,)),
    Case("hard_sigmoid", T.nnet.hard_sigmoid, lambda x: np.clip(0.2 * x + 0.5, 0, 1), (m,)),
    Case("relu", T.nnet.relu, lambda x: np.maximum(x, 0), (m,)),
    Case("leaky_relu", lambda x: T.nnet.relu(x, 0.1), lambda x: np.where(x > 0, x, 0.1 * x), (m,)),
    Case("elu", T.nnet.elu, lambda x: np.where(x > 0, x, np.expm1(x)), (m,)),
    Case(
        "selu",
        T.nnet.selu,
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
        (m,),
    ),
    Case(
        "categorical",
        T.nnet.categorical_crossentropy,
        lambda p, k: -np.log(p[np.arange(3), k]),
        ((m, 0.1, 0.9), np.array([3, 0, 2])),
    ),
    Case(
        "categorical_dist",
        T.nnet.categorical_crossentropy,
        lambda p, q: -(q * np.log(p)).sum(-1),
        ((m, 0.1, 0.9), (m, 0.1, 0.9)),
    ),
    Case(
        "binary",
        T.nnet.binary_crossentropy,
        lambda p, q: -(q * np.log(p) + (1 - q) * np.log(1 - p)),
        ((m, 0.1, 0.9), (m, 0.1, 0.9)),
    ),
    Case(
        "sigmoid_binary",
        T.nnet.sigmoid_binary_crossentropy,
        lambda x, q: -(q * np.log(sp.expit(x)) + (1 - q) * np.log(1 - sp.expit(x))),
        (m, (m, 0.1, 0.9)),
    ),
    Case(
        "xent_softmax",
        lambda x, k: T.nnet.crossentropy_softmax_1hot(x, k)[0],
        lambda x, k: -sp.log_softmax(x, -1)[np.arange(3), k],
        (m, np.array([3, 0, 2])),
    ),
    Case(
        "xent_softmax_bias",
        lambda x, b, k: T.concatenate([o.flatten() for o in T.nnet.crossentropy_softmax_1hot_with_bias(x, b, k)]),
        lambda x, b, k: np.concatenate([-sp.log_softmax(x + b, -1)[np.arange(3), k], _softmax(x + b).ravel()]),
        (m, v, np.array([3, 0, 2])),
    ),
    Case("xlogx", T.xlogx.xlogx, lambda x: x * np.log(x), ((m, 0.1, 3),)),
    Case("isclose", lambda x, y: T.isclose(x, y, 0.5), lambda x, y: np.isclose(x, y, 0.5), (m, m), False),
    # ops known by their class
    Case("Choose", lambda i, x: T.Choose("clip")(i, x), lambda i, x: np.choose(i, x, mode="clip"), (np.array([[0, 5, 1, 0]] * 3) - 1, (2, 3, 4))),
    Case("choose_wrap", lambda i, x: T.choose(i, x, mode="wrap"), lambda i, x: np.choose(i, x, mode="wrap"), (np.array([0, 5, -1, 0]), (2, 3, 4))),
    Case("choose_list", lambda i, x, y: T.choose(i, [x, y]), lambda i, x, y: np.choose(i, [x, y]), (np.array([0, 1, 1, 0]), m, v)),
    Case("choose_wide", lambda i, x: T.choose(i, x), lambda i, x: np.choose(i, x), (np.array([[0, 1, 1, 0]] * 3), (2, 4))),
    Case("DiffOp", T.DiffOp(n=2, axis=0), lambda x: np.diff(x, 2, 0), (m,)),
    Case("DiffOp0", T.DiffOp(n=0), lambda x: x, (m,)),
    Case("Flatten", T.Flatten(2), lambda x: x.reshape(2, 12), (t3,)),
    Case("Flatten1", T.Flatten(), lambda x: x.ravel(), (t3,)),
    Case("Tile", T.Tile(3), np.tile, (m, np.array([2, 1, 3]))),
    Case("Mean", T.Mean((0, 2)), lambda x: x.mean((0, 2)), (t3,)),
    Case("Mean_all", T.Mean(), lambda x: x.mean(), (t3,)),
    Case("Bartlett", T.Bartlett(), np.bartlett, (np.array(7),), False),
    Case("FillDiagonal", T.FillDiagonal(), lambda x, y: _diagonal(x, y, 0), (m, ())),
    Case("FillDiagonalOffset", T.FillDiagonalOffset(), _diagonal, (m, (), np.array(-1))),
    Case("broadcast_to", lambda x: T.broadcast_to(x, (2, 3, 4)), lambda x: np.broadcast_to(x, (2, 3, 4)), ((3, 1),)),
    Case("BroadcastTo", lambda x: T.BroadcastTo()(x, T.constant([2, 3, 4])), lambda x: np.broadcast_to(x, (2, 3, 4)), (m,)),
    Case("cpu_contiguous", lambda x: T.extra_ops.cpu_contiguous(x.T), lambda x: x.T, (m,)),
    Case("dense_dot", T.dense_dot, np.dot, (m, (4, 5))),
]
