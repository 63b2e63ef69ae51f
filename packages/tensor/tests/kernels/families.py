"""One or a few nodes of every family of kernels, with inputs: for tests that must see all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from kernel_toys import Toy, node
from test_kernels_elemwise import elemwise_node, several_outputs
from test_kernels_reduce import argmax_node, reduction

import theano.scalar as ts
from theano.scalar.composite import Composite
from theano.tensor.blas import lowering as blas
from theano.tensor.conv import lowering as conv
from theano.tensor.conv import reference
from theano.tensor.conv.conv_elemwise import ConvElemwise
from theano.tensor.conv.op import AbstractConv2d
from theano.tensor.create import lowering as create
from theano.tensor.elemwise.lowering import dimshuffle_kernel, elemwise_kernel
from theano.tensor.index import lowering as index
from theano.tensor.join import lowering as join
from theano.tensor.nnet import lowering_softmax as nnet
from theano.tensor.random import lowering as random
from theano.tensor.reduce.lowering import careduce_kernel
from theano.tensor.reduce.lowering_argmax import argmax_kernel
from theano.tensor.shape import lowering as layout
from theano.tensor.sort import lowering as order
from theano.tensor.type import TensorType


def _elemwise(rng: np.random.Generator) -> Iterator[tuple[Any, Any, list]]:
    x, y = rng.normal(size=(6, 9)), rng.normal(size=(6, 9)).astype("float32")
    n = elemwise_node(several_outputs(), [x, y])
    yield elemwise_kernel(n.op, n), n, [x[::-1], y]
    row = rng.normal(size=(1, 9))
    n = elemwise_node(ts.add, [x, row], [(False, False), (True, False)])
    yield elemwise_kernel(n.op, n), n, [x, row]
    for dtype in ("bool", "int8", "uint64", "float16", "complex64", "float64"):
        a = np.arange(12).reshape(3, 4).astype(dtype)
        for op in (ts.eq, ts.second, *([ts.add, ts.mul] if dtype != "bool" else [])):
            n = elemwise_node(op, [a, a])
            yield elemwise_kernel(n.op, n), n, [a, a.T.copy().T]
    n = elemwise_node(ts.exp, [np.float64(1).reshape(())])
    yield elemwise_kernel(n.op, n), n, [np.array(0.5)]
    u, v = ts.float64("u"), ts.float64("v")
    n = elemwise_node(Composite([u, v], [ts.tanh(u) * ts.exp(-v) + ts.log1p(ts.exp(u))]), [x, x])
    yield elemwise_kernel(n.op, n), n, [x, x]


def _reductions(rng: np.random.Generator) -> Iterator[tuple[Any, Any, list]]:
    for name, dtype, acc in [("add", "float64", "float64"), ("add", "float16", "float32"), ("maximum", "float32", "float32"),
                             ("mul", "complex64", "complex64"), ("or_", "bool", "bool"), ("add", "int8", "int64"), ("minimum", "uint8", "uint8")]:  # fmt: skip
        for axes, shape in [((1,), (5, 70)), ((0,), (70, 5)), ((0, 1), (9, 50)), ((), (3, 2)), ((0, 2), (3, 40, 2))]:
            x = rng.uniform(0.5, 2, size=shape).astype(dtype)
            n = reduction(name, dtype, acc, acc, axes, len(shape))
            yield careduce_kernel(n.op, n), n, [x]
            yield careduce_kernel(n.op, n), n, [x[::-1]]
    for dtype in ("float64", "int32"):
        for axes, shape in [((0,), (70, 9)), ((1,), (4, 90)), ((0, 1), (6, 7))]:
            x = rng.normal(size=shape).astype(dtype)
            n = argmax_node(dtype, axes, 2)
            yield argmax_kernel(n.op, n), n, [x]


def _layout(rng: np.random.Generator) -> Iterator[tuple[Any, Any, list]]:
    x, view = rng.normal(size=(4, 6)), {"view_map": {0: [0]}}

    def one(kernel_of: Any, op: Any, inputs: list, *outputs: Any) -> tuple[Any, Any, list]:
        n = node(op, inputs, list(outputs))
        return kernel_of(op, n), n, inputs

    yield one(dimshuffle_kernel, Toy(new_order=(1, "x", 0), **view), [x], ("float64", 3))
    yield one(dimshuffle_kernel, Toy(new_order=(1, 0)), [x], ("float64", 2))
    yield one(layout.reshape_kernel, Toy(**view), [x.T, np.array([3, -1])], ("float64", 2))
    yield one(layout.copy_kernel, Toy(), [x[:, ::-2]], ("float64", 2))
    yield one(layout.shape_kernel, Toy(), [x], ("int64", 1))
    yield one(layout.shape_i_kernel, Toy(i=1), [x], ("int64", 0))
    yield one(join.join_kernel, Toy(view=-1), [np.array(1), x, x[:, :2]], ("float64", 2))
    yield one(join.split_kernel, Toy(), [x, np.array(1), np.array([2, 4])], ("float64", 2), ("float64", 2))
    yield one(create.alloc_kernel, Toy(), [np.array(1, "int8"), np.array(3), np.array(2)], ("float64", 2))
    yield one(join.make_vector_kernel, Toy(), [np.array(1), np.array(2)], ("int64", 1))
    yield one(create.arange_kernel, Toy(), [np.array(0.0), np.array(1.0), np.array(0.3)], ("float64", 1))
    yield one(index.subtensor_kernel, Toy(idx_list=(slice(None, None, -2), 1), **view), [x], ("float64", 1))
    yield one(index.inc_subtensor_kernel, Toy(idx_list=(slice(1, 3),), set_instead_of_inc=False), [x, x[:2]], ("float64", 2))
    yield one(index.advanced_subtensor_kernel, Toy(), [x.T, np.array([-1, 0])], ("float64", 2))
    yield one(index.advanced_inc_subtensor_kernel, Toy(set_instead_of_inc=False), [x, x[:2], np.array([3, 3])], ("float64", 2))
    diagonal = Toy(offset=1, axis1=1, axis2=0)
    yield one(layout.extract_diagonal_kernel, diagonal, [x], ("float64", 1))
    yield one(layout.set_diagonal_kernel, diagonal, [x, x[0, :3]], ("float64", 2))
    yield one(layout.alloc_diagonal_kernel, diagonal, [x[0]], ("float64", 2))
    yield one(create.tri_kernel, Toy(), [np.array(3), np.array(4), np.array(1)], ("float64", 2))
    yield one(layout.repeat_kernel, Toy(axis=1), [x[:, ::2], np.array([1, 0, 3])], ("float64", 2))
    yield one(layout.specify_shape_kernel, Toy(**view), [x, np.array([4, 6])], ("float64", 2))
    two = [np.array([[3], [0]]), np.array([1, -1])]
    yield one(index.advanced_subtensor_kernel, Toy(), [x.T, *two], ("float64", 2))
    yield one(index.advanced_inc_subtensor_kernel, Toy(set_instead_of_inc=True), [x, np.ones((2, 2)), *two], ("float64", 2))
    yield one(index.advanced_subtensor_kernel, Toy(), [x, x > 0], ("float64", 1))
    yield one(index.nonzero_kernel, Toy(), [x > 0], ("int64", 1), ("int64", 1))


def _products(rng: np.random.Generator) -> Iterator[tuple[Any, Any, list]]:
    x, y, v = rng.normal(size=(4, 6)), rng.normal(size=(6, 3)), rng.normal(size=12)[::2]
    z, one_ = rng.normal(size=(4, 3)), np.array(1.5)
    for kernel_of, inputs, ndim in [
        (blas.dot_kernel, [x, y], 2), (blas.dot_kernel, [x[:, ::-1], v], 1), (blas.dot_kernel, [v, v], 0),
        (blas.gemm_kernel, [z, one_, x, y, one_], 2), (blas.gemv_kernel, [z[:, 0], one_, x, v, one_], 1),
        (blas.ger_kernel, [z, one_, x[:, 0], y[0]], 2), (blas.batched_dot_kernel, [x[None], y[None]], 3),
    ]:  # fmt: skip
        n = node(Toy(), inputs, [("float64", ndim)])
        yield kernel_of(n.op, n), n, inputs


def _rows(rng: np.random.Generator) -> Iterator[tuple[Any, Any, list]]:
    for shape in [(9, 5), (3, 100), (2, 7)]:
        x, b, labels = rng.normal(size=shape), rng.normal(size=shape[1]), rng.integers(0, shape[1], shape[0])
        for kernel_of, inputs, outputs in [
            (nnet.softmax_kernel, [x.T.copy().T], [("float64", 2)]), (nnet.log_softmax_kernel, [x], [("float64", 2)]),
            (nnet.softmax_with_bias_kernel, [x, b], [("float64", 2)]), (nnet.softmax_grad_kernel, [x, x], [("float64", 2)]),
            (nnet.crossentropy_kernel, [x, b, labels], [("float64", 1), ("float64", 2), ("int64", 1)]),
            (nnet.crossentropy_dx_kernel, [b[: shape[0]] if shape[0] <= shape[1] else np.ones(1), x, labels], [("float64", 2)]),
        ]:  # fmt: skip
            n = node(Toy(), inputs, outputs)
            yield kernel_of(n.op, n), n, inputs


def _convolutions(rng: np.random.Generator) -> Iterator[tuple[Any, Any, list]]:
    """Each way to convolve, each direction, and loops over results."""
    a, b = ts.float32("a"), ts.float32("b")
    chains = [Composite([a, b], [ts.tanh(a + b)]), Composite([a, b], [abs(a * b)])]
    whole = lambda *shape: rng.integers(-3, 4, shape).astype("float32")  # sums of which are exact in any order
    for groups, channels, filters, size, kernel in [(5, 1, 2, 9, 3), (1, 2, 11, 17, 3), (1, 40, 43, 14, 3), (2, 33, 18, 9, 1)]:
        op = AbstractConv2d(border_mode="half", num_groups=groups)
        x = whole(2, channels * groups, size, size)
        w = whole(filters * groups, channels, kernel, kernel)
        y = reference.forward(op.geometry, x, w).astype("float32")
        for kernel_of, inputs in [
            (conv.conv_kernel, [x, w]), (conv.conv_images_kernel, [w, y, np.array([size] * 2)]),
            (conv.conv_filters_kernel, [x, y, np.array([kernel] * 2)]),
        ]:  # fmt: skip
            n = node(op, inputs, [("float32", 4)])
            yield kernel_of(op, n), n, inputs
        bias = whole(1, filters * groups, 1, 1)
        for chain in chains:
            chained = ConvElemwise(op, chain)
            images = TensorType("float32", (False,) * 4)
            n = chained.make_node(images(), images(), TensorType("float32", (True, False, True, True))())
            yield conv.conv_elemwise_kernel(chained, n), n, [x, w, bias]


def _order(rng: np.random.Generator) -> Iterator[tuple[Any, Any, list]]:
    x, topk = rng.normal(size=(6, 90)), Toy(axis=1, return_values=True, return_indices=True)
    places, found = rng.permutation(90), {"return_index": True, "return_inverse": True, "return_counts": True}
    for kernel_of, op, inputs, outputs in [
        (order.cumulate_kernel, Toy(axis=0, mode="add"), [x.T], [("float64", 2)]),
        (order.cumulate_kernel, Toy(axis=1, mode="mul"), [x], [("float64", 2)]),
        (order.recurrence_kernel, Toy(axis=0, transposed=False), [x.T, x.T], [("float64", 2)]),
        (order.recurrence_kernel, Toy(axis=1, transposed=True), [x, x[::-1]], [("float64", 2)]),
        (order.topk_kernel, topk, [x, np.array(3)], [("float64", 2), ("int64", 2)]),
        (order.topk_kernel, topk, [x, np.array(-80)], [("float64", 2), ("int64", 2)]),
        (order.searchsorted_kernel, Toy(side="left"), [np.sort(x[0]), x], [("int64", 2)]),
        (order.sort_kernel, Toy(kind="quicksort"), [x, np.array(0)], [("float64", 2)]),
        (order.argsort_kernel, Toy(kind="stable"), [x, np.array(1)], [("int64", 2)]),
        (order.unique_kernel, Toy(axis=None, **found), [x.round().T], [("float64", 1), *[("int64", 1)] * 3]),
        (order.unique_kernel, Toy(axis=1, **found), [x.round()], [("float64", 2), *[("int64", 1)] * 3]),
        (order.bincount_kernel, Toy(), [places, np.array(3), x[0]], [("float64", 1)]),
        (index.unravel_kernel, Toy(order="F"), [places, np.array([7, 13])], [("int64", 1)] * 2),
        (index.ravel_kernel, Toy(order="C", mode="raise"), [places, places[::-1], np.array([90, 90])], [("int64", 1)]),
        (index.permute_rows_kernel, Toy(), [x, np.stack([places] * 6), np.array(1)], [("float64", 2)]),
    ]:
        n = node(op, inputs, outputs)
        yield kernel_of(op, n), n, inputs


def _draws(rng: np.random.Generator) -> Iterator[tuple[Any, Any, list]]:
    states = rng.integers(1, 2**31 - 30000, (700, 6)).astype("int32")
    state = np.array([3, 5, 2**64 - 100], "uint64")
    for dtype in ("float32", "float64"):
        for given in (states, states[::-2], np.asfortranarray(states[:3])):
            inputs = [given, np.array([9, 170])]
            n = node(Toy(inplace=False), inputs, [("int32", 2), (dtype, 2)])
            yield random.mrg_uniform_kernel(n.op, n), n, inputs
    for kind, dtype in [("bits", "uint32"), ("bits", "uint64"), ("uniform", "float32"), ("uniform", "float64"), ("normal", "float32"), ("normal", "float64")]:  # fmt: skip
        inputs = [state, np.array([41, 9])]
        n = node(Toy(inplace=False, kind=kind), inputs, [("uint64", 1), (dtype, 2)])
        yield random.philox_kernel(n.op, n), n, inputs


def everything() -> list[tuple[Any, Any, list]]:
    """Return (kernel, node, inputs) of every family."""
    rng = np.random.default_rng(0)
    return [case for family in (_elemwise, _reductions, _layout, _products, _rows, _convolutions, _order, _draws) for case in family(rng)]
