"""Gradients for what ``set_subtensor`` writes, where an index names an element more than once: the last write counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.errors import InconsistencyError

x1, x2 = T.dvector("x1"), T.dmatrix("x2")
i, k, m = T.lvector("i"), T.lmatrix("k"), T.TensorType("bool", (False,))("mask")

#: The variable that is written to, its index, and values of both.
INDICES: dict[str, tuple[Any, Any, Any]] = {
    "vector": (x1, (i,), {i: [1, 1, -3]}),
    "vector, none twice": (x1, (i,), {i: [3, 0, 1]}),
    "rows": (x2, (i,), {i: [2, 0, 2, -2]}),
    "matrix": (x2, (k,), {k: [[1, 1], [0, -3]]}),
    "pairs": (x2, (i, i), {i: [1, 0, 1]}),
    "stretched": (x2, (k, i), {k: [[0], [0]], i: [1, 2, 1]}),
    "beside a slice": (x2, (slice(None, None, 2), i), {i: [1, 2, 1]}),
    "two kept axes": (x2, (i, slice(None)), {i: [1, 1]}),
    "constant": (x2, (np.array([1, 1, 0]),), {}),
    "constant, none twice": (x2, (np.array([1, 0]),), {}),
    "one stretched constant": (x2, (np.array([1]), i), {i: [0, 0, 2]}),
    "range": (x1, (T.arange(3),), {}),
    "range from the end": (x1, (T.arange(-2, 3),), {}),
    "diagonal": (x2, (T.arange(2), T.arange(2)), {}),
    "range beside a vector": (x2, (T.arange(i.shape[0]), i), {i: [1, 1]}),
    "mask": (x1, (m,), {m: [True, False, True, True]}),
    "mask beside a vector": (x2, (m[:3], i), {m: [True, False, True, True], i: [1, 1]}),
    "nonzero": (x2, x2.nonzero(), {}),
}  # fmt: skip
VALUES = {x1: np.array([0.0, 2, 0, 4]), x2: np.array([[0.0, 1, 2], [3, 0, 5], [0, 0, 8]])}


def test_gradient_and_direction() -> None:
    """All in one function; the gradients are those of the matrix that NumPy's own writes make."""
    given = {**VALUES, i: np.array([0]), k: np.array([[0]]), m: np.array([True])}
    outputs, checks, inputs = [], [], []
    for name, (x, index, values) in INDICES.items():
        own = {v: v.type(v.name) for v in (x1, x2, i, k, m)}
        index = [theano.clone(e, own) if hasattr(e, "owner") else e for e in index]
        at = {own[v]: np.asarray(g, v.dtype) for v, g in {**given, **values}.items()}
        where = tuple(
            e if not hasattr(e, "owner") else theano.function([*own.values()], e, on_unused_input="ignore")(*at.values())
            for e in index
        )
        base = VALUES[x]
        part = np.zeros(base.shape)[where]
        for shape in {part.shape, part.shape[-1:], ()}:
            y = T.TensorType("float64", tuple(n == 1 for n in shape))()
            written = T.set_subtensor(own[x][tuple(index)], y)
            weights = 1.0 + np.arange(base.size).reshape(base.shape)
            # What each written element changes, by NumPy, which keeps the last one.
            jacobian = []
            for place in np.ndindex(*shape):
                unit = np.zeros(shape)
                unit[place] = 1
                moved = np.zeros(base.shape)
                moved[where] = unit
                jacobian.append(moved.ravel())
            jacobian = np.array(jacobian).reshape(-1, base.size)
            way = np.arange(1.0, 1 + int(np.prod(shape))).reshape(shape)
            outputs += [T.grad((written * weights).sum(), y), T.Rop(written, y, T.constant(way, dtype="float64"))]
            checks.append((f"{name}, {shape}", (jacobian @ weights.ravel()).reshape(shape), way.ravel() @ jacobian))
            inputs.append((y, np.ones(shape)))
        inputs += at.items()
    found = theano.function([v for v, _ in inputs], outputs, on_unused_input="ignore")(*[g for _, g in inputs])
    for (name, gradient, direction), got, along in zip(checks, found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(got, gradient, err_msg=name)
        np.testing.assert_allclose(along.ravel(), direction, err_msg=name)


def test_plans_of_indices_that_name_none_twice() -> None:
    """They read the gradient and do nothing else."""
    y = T.dvector("y")
    for index in (T.arange(3), np.array([2, 0, 1]), m, x1.nonzero()):
        gradient = T.grad(T.sqr(T.set_subtensor(x1[index], y)).sum(), y)
        f = theano.function([x1, y, m], gradient, on_unused_input="ignore")
        # One write, or none, not the one of numbers beside it.
        assert sum(type(n.op).__name__ == "Alloc" for n in f.maker.fgraph.toposort()) == 0


def test_aliasing_that_the_caller_takes_care_of():
    x = T.dvector("x")
    z = x * 2
    for change, y, wanted in (
        (T.set_subtensor, lambda: z[1], [4, 4, 6]),
        (T.inc_subtensor, lambda: z[1], [6, 4, 6]),
    ):
        careless = change(z[0], y(), inplace=True)
        with pytest.raises(InconsistencyError):
            theano.function([x], careless, accept_inplace=True)
        careful = change(z[0], y(), inplace=True, tolerate_inplace_aliasing=True)
        for mode in (None, theano.Mode("py", None)):
            f = theano.function([x], careful, accept_inplace=True, mode=mode)
            np.testing.assert_array_equal(f([1.0, 2.0, 3.0]), wanted)
