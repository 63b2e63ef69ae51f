"""Stable logarithms and their gradients in all neighbourhoods: elements moved in between, and other users.

Each case is a pattern, as ``log(sigmoid(x))``, with a move between the two functions, as a reshape, and perhaps with
another user of what is in between. What is right follows from the exact logarithm of each element and from the place
that the move takes it to.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

import theano
import theano.tensor as T
from portion import portion

#: Where the plain form of some pattern overflows, underflows or cancels.
POINTS = np.array([-800.0, -745.5, -40.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 30.0, 40.0, 709.9, 800.0]).reshape(4, 3)
MASK = np.arange(12).reshape(4, 3) % 5 != 1
WEIGHTS = np.linspace(0.5, 2, 12).reshape(4, 3)
CHOSEN = np.array([2, 0, 3])


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-abs(x)))


def sigmoid(x):
    return np.exp(-softplus(-x))


def log1mexp(x):
    with np.errstate(divide="ignore"):
        return np.where(x > -0.69, np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def weights_of(x):
    return softmax([x + np.log(0.25), np.log(0.5) - x, 0 * x + np.log(1.25)], axis=0)


def by_element(slope):
    return lambda g, x: g * slope(x)


def of_log_softmax(axis):
    return lambda g, x: g - softmax(x, axis) * g.sum(axis, keepdims=True)


def of_log_sum(axis):
    return lambda g, x: np.expand_dims(g, axis) * softmax(x, axis)


#: name: the inner function, the outer one, what both give for an array, and the gradient for x given that for these.
MATRICES = {
    "log(sigmoid)": (T.nnet.sigmoid, T.log, lambda x: -softplus(-x), by_element(lambda x: sigmoid(-x))),
    "log(1 - sigmoid)": (
        T.nnet.sigmoid, lambda p: T.log(1 - p), lambda x: -softplus(x), by_element(lambda x: -sigmoid(x)),
    ),
    "log1p(-sigmoid)": (
        T.nnet.sigmoid, lambda p: T.log1p(-p), lambda x: -softplus(x), by_element(lambda x: -sigmoid(x)),
    ),
    "log(1 + exp)": (T.exp, lambda p: T.log(1 + p), softplus, by_element(sigmoid)),
    "log(1 - exp)": (
        lambda x: T.exp(-abs(x) - 1e-9), lambda p: T.log(1 - p), lambda x: log1mexp(-abs(x) - 1e-9),
        by_element(lambda x: np.sign(x) / np.expm1(np.minimum(abs(x) + 1e-9, 700))),
    ),
    "log(exp)": (T.exp, T.log, lambda x: x, by_element(np.ones_like)),
    "crossentropy": (
        T.nnet.sigmoid, lambda p: T.nnet.binary_crossentropy(p, 0.25),
        lambda x: 0.25 * softplus(-x) + 0.75 * softplus(x), by_element(lambda x: sigmoid(x) - 0.25),
    ),
    "log(exp + exp)": (
        lambda x: T.exp(x) + T.exp(2 * x), T.log, lambda x: np.logaddexp(x, 2 * x),
        by_element(lambda x: 1 + sigmoid(x)),
    ),
    # Weights that add up to more than 1, so that the logarithm is not near 0, where any rounding counts.
    "log(weighted exps)": (
        lambda x: 0.25 * T.exp(x) + 0.5 * T.exp(-x) + 1.25, T.log,
        lambda x: logsumexp([x, -x, 0 * x], axis=0, b=np.array([0.25, 0.5, 1.25])[:, None, None]),
        by_element(lambda x: weights_of(x)[0] - weights_of(x)[1]),
    ),
    "log(softmax)": (T.nnet.softmax, T.log, lambda x: log_softmax(x, 1), of_log_softmax(1)),
    "log(softmax, 0)": (lambda x: T.nnet.softmax(x, 0), T.log, lambda x: log_softmax(x, 0), of_log_softmax(0)),
    "exp(x - logsumexp, 0)": (
        lambda x: T.exp(x - T.logsumexp(x, 0)), T.log, lambda x: log_softmax(x, 0), of_log_softmax(0),
    ),
    "log(exp - exp)": (
        lambda x: T.exp(x) - T.exp(x - abs(x) - 1), T.log, lambda x: x + log1mexp(-abs(x) - 1),
        by_element(lambda x: 1 + np.sign(x) / np.expm1(np.minimum(abs(x) + 1, 700))),
    ),
    "log(exp - 1)": (
        lambda x: T.exp(abs(x) + 1e-9) - 1, T.log, lambda x: abs(x) + 1e-9 + log1mexp(-abs(x) - 1e-9),
        by_element(lambda x: np.sign(x) / -np.expm1(-abs(x) - 1e-9)),
    ),
    "log(w * exp / v)": (
        lambda x: WEIGHTS * T.exp(-T.sqr(x) / 2) / 3, T.log, lambda x: np.log(WEIGHTS / 3) - x * x / 2,
        by_element(lambda x: -x),
    ),
}  # fmt: skip
VECTORS = {
    "log(sum(exp), 0)": (lambda x: T.exp(x).sum(0), T.log, lambda x: logsumexp(x, 0), of_log_sum(0)),
    "log(sum(exp), 1)": (lambda x: T.exp(x).sum(1), T.log, lambda x: logsumexp(x, 1), of_log_sum(1)),
    "log(sum(w * exp), 1)": (
        lambda x: (WEIGHTS * T.exp(x)).sum(1), T.log, lambda x: logsumexp(x, 1, b=WEIGHTS),
        lambda g, x: of_log_sum(1)(g, x + np.log(WEIGHTS)),
    ),
    "log(prod(sigmoid), 1)": (
        lambda x: T.nnet.sigmoid(x).prod(1), T.log, lambda x: -softplus(-x).sum(1), lambda g, x: g[:, None] * sigmoid(-x),
    ),
}  # fmt: skip
NUMBERS = {
    "log(sum(exp))": (
        lambda x: T.exp(x).sum(), T.log, lambda x: logsumexp(x), lambda g, x: g * softmax(x.ravel()).reshape(x.shape),
    ),
    "log(prod(exp))": (lambda x: T.exp(x).prod(), T.log, lambda x: x.sum(), lambda g, x: g * np.ones_like(x)),
}

#: name: how elements are moved, in symbols, and by NumPy.
MOVES = {
    "nothing": (lambda p: p, lambda a: a),
    "reshape": (lambda p: p.reshape((2, 6)), lambda a: a.reshape(2, 6)),
    "reshape(-1, 1)": (lambda p: p.reshape((-1, 1)), lambda a: a.reshape(-1, 1)),
    "flatten": (lambda p: p.flatten(), lambda a: a.ravel()),
    "transpose": (lambda p: p.T, lambda a: a.T),
    "new axis": (lambda p: p.dimshuffle(1, "x", 0), lambda a: a.T[:, None]),
    "row": (lambda p: p[1], lambda a: a[1]),
    "element": (lambda p: p[1, 2], lambda a: a[1, 2]),
    "slice": (lambda p: p[1:, ::2], lambda a: a[1:, ::2]),
    "reverse": (lambda p: p[::-1, ::-1], lambda a: a[::-1, ::-1]),
    "rows": (lambda p: p[CHOSEN], lambda a: a[CHOSEN]),
    "pairs": (lambda p: p[CHOSEN, [0, 1, 2]], lambda a: a[CHOSEN, [0, 1, 2]]),
    "mask": (lambda p: p[T.constant(MASK).nonzero()], lambda a: a[MASK]),
    "repeated rows": (lambda p: p[[0, 2, 0, 0]], lambda a: a[[0, 2, 0, 0]]),
    "concatenate": (lambda p: T.concatenate([p, p], axis=1), lambda a: np.concatenate([a, a], axis=1)),
    "stack": (lambda p: T.stack([p[0], p[2]]), lambda a: np.stack([a[0], a[2]])),
    "switch": (lambda p: T.switch(MASK, p, 0.5), lambda a: np.where(MASK, a, np.nan)),
    "other switch": (lambda p: T.switch(~T.constant(MASK), 0.5, p), lambda a: np.where(MASK, a, np.nan)),
    "set rows": (lambda p: T.set_subtensor(p[1:3], 0.5), lambda a: np.r_[a[:1], np.full((2, 3), np.nan), a[3:]]),
    "repeat": (lambda p: T.repeat(p, 2, axis=0), lambda a: a.repeat(2, axis=0)),
    "tile": (lambda p: T.tile(p, (2, 2)), lambda a: np.tile(a, (2, 2))),
    "roll": (lambda p: T.roll(p, 1, axis=0), lambda a: np.roll(a, 1, axis=0)),
    "split": (lambda p: T.split(p, [1, 3], 2, axis=0)[1], lambda a: a[1:]),
    "diagonal": (lambda p: T.diagonal(p[:3]), lambda a: a[:3].diagonal()),
    "rows, reshaped": (lambda p: p[1:3].reshape((6,)), lambda a: a[1:3].ravel()),
    "reshape, element": (lambda p: p.reshape((6, 2))[:, 0], lambda a: a.reshape(6, 2)[:, 0]),
    "transpose, flatten": (lambda p: p.T.flatten(), lambda a: a.T.ravel()),
    "joined, reversed": (
        lambda p: T.concatenate([p.flatten(), p.flatten()])[::-1], lambda a: np.concatenate([a.ravel()] * 2)[::-1],
    ),
}  # fmt: skip
MOVES_OF_VECTORS = {
    "nothing": (lambda p: p, lambda a: a),
    "column": (lambda p: p.dimshuffle(0, "x"), lambda a: a[:, None]),
    "reshape": (lambda p: p.reshape((1, -1)), lambda a: a.reshape(1, -1)),
    "element": (lambda p: p[-1], lambda a: a[-1]),
    "reverse": (lambda p: p[::-1], lambda a: a[::-1]),
    "slice": (lambda p: p[1:], lambda a: a[1:]),
    "places": (lambda p: p[[2, 0, 2]], lambda a: a[[2, 0, 2]]),
    "concatenate": (lambda p: T.concatenate([p, p]), lambda a: np.concatenate([a, a])),
    "tile": (lambda p: T.tile(p, (2, 2)), lambda a: np.tile(a, (2, 2))),
}
MOVES_OF_NUMBERS = {
    "nothing": (lambda p: p, lambda a: a),
    "new axes": (lambda p: p.dimshuffle("x", "x"), lambda a: a[None, None]),
    "reshape": (lambda p: p.reshape((1,)), lambda a: a.reshape(1)),
    "stack": (lambda p: T.stack([p, 0.5, p]), lambda a: np.array([a, np.nan, a])),
    "tile": (lambda p: T.tile(p, (3,)), lambda a: np.tile(a, 3)),
    "switch": (lambda p: T.switch(T.constant(MASK[0]), p, 0.5), lambda a: np.where(MASK[0], a, np.nan)),
}
#: A shuffle enters an expression of several functions, so that its gradient is not moved back as a whole.
OF_SEVERAL = {"log(exp - exp)", "log(exp - 1)", "log(w * exp / v)"}
SHUFFLES = {"transpose", "new axis", "repeat", "tile", "transpose, flatten"}
PATTERNS = {
    name: (pattern, {k: m for k, m in moves.items() if name not in OF_SEVERAL or k not in SHUFFLES})
    for patterns, moves in ((MATRICES, MOVES), (VECTORS, MOVES_OF_VECTORS), (NUMBERS, MOVES_OF_NUMBERS))
    for name, pattern in patterns.items()
}
#: What else is asked of the inner function, or of its moved elements.
OTHER_USERS = {"alone": lambda p, moved: [], "inner": lambda p, moved: [p], "moved": lambda p, moved: [moved]}


def weights(shape):
    return np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)


def places(numeric, shape):
    """Return where each element of a moved array came from; -1 for a number in its place."""
    found = numeric(np.arange(float(np.prod(shape))).reshape(shape))
    return np.where(np.isnan(found), -1, found).astype(int)


def case(pattern, move, others):
    """Return the input, and as outputs the logarithms of moved elements, a gradient, and what else is used."""
    inner, outer, value, _ = pattern
    symbolic, numeric = move
    x = T.dmatrix()
    p = inner(x)
    moved = symbolic(p)
    place = places(numeric, np.shape(value(POINTS)))
    kept = T.switch(place >= 0, outer(moved), 0)
    return x, [kept, T.grad((kept * weights(place.shape)).sum(), x)], others(p, moved)


def expected(pattern, move):
    *_, value, gradient = pattern
    exact = np.asarray(value(POINTS))
    place = places(move[1], exact.shape)
    g = np.zeros(exact.size)
    np.add.at(g, place[place >= 0], weights(place.shape)[place >= 0])
    return np.where(place >= 0, exact.ravel()[place], 0), gradient(g.reshape(exact.shape), POINTS)


def wrong_of(pattern, moves, other):
    """Return the moves, and whether of the value or of the gradient, that give something else than what is right."""
    cases = {name: case(pattern, move, OTHER_USERS[other]) for name, move in moves.items()}
    outputs = [v for _, found, more in cases.values() for v in found + more]
    computed = iter(theano.function([x for x, _, _ in cases.values()], outputs)(*[POINTS] * len(cases)))
    wrong = []
    for name, (_, found, more) in cases.items():
        got = [next(computed) for _ in found + more]
        for what, a, b in zip(("value", "gradient"), got, expected(pattern, moves[name])):
            if not np.allclose(a, b, rtol=1e-12, atol=1e-300):
                wrong.append(f"{name}, {what}: {a} in place of {b}")
    return wrong


@pytest.mark.parametrize("other", portion(OTHER_USERS, 2))
@pytest.mark.parametrize("name", PATTERNS)
def test_logarithms_in_all_neighbourhoods(name, other):
    wrong = wrong_of(*PATTERNS[name], other)
    assert not wrong, "\n".join(wrong)


SHIFTS = {
    "nothing": lambda x, axis: x, "the largest": lambda x, axis: x - x.max(axis, keepdims=True),
    "the largest of all": lambda x, axis: x - x.max(),
}


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("shape", [(12,), (4, 3), (2, 3, 2)], ids=str)
def test_softmax_by_hand(shape, shift):
    """Along each axis and all of them, its logarithm written in two ways, and the gradient of that."""
    x, g = (T.TensorType("float64", (False,) * len(shape))(name) for name in "xg")
    axes, points, weight = [None, *range(len(shape))], POINTS.reshape(shape), weights(shape)
    outputs, slopes = [], []
    for axis in axes:
        apart = SHIFTS[shift](x, axis)
        total = T.exp(apart).sum(axis, keepdims=True)
        outputs += [T.exp(apart) / total, T.log(T.exp(apart) / total), apart - T.log(total)]
        slopes.append(theano.function([x, g], T.grad((g * outputs[-2]).sum(), x)))
    f = theano.function([x], outputs)
    for value in (points, points / 7, *([points[:0]] if shift == "nothing" else [])):
        wanted = [of(value, axis) for axis in axes for of in (softmax, log_softmax, log_softmax)] if value.size else []
        for k, (found, want) in enumerate(zip(f(value), wanted or [value] * len(outputs), strict=True)):
            np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-12 if k % 3 else 1e-300)
    for axis, slope in zip(axes, slopes, strict=True):
        np.testing.assert_allclose(slope(points, weight), of_log_softmax(axis)(weight, points), atol=1e-12)
