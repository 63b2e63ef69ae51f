"""``a @ b`` and ``matmul`` are NumPy's ``matmul``: of all ranks, with stretched axes, dtypes, and derivatives."""

from __future__ import annotations

from itertools import cycle, product

import numpy as np
import pytest

import theano
import theano.tensor as T
from portion import portion
from theano.errors import ShapeError

LEFT = [
    (4,), (3, 4), (1, 4), (2, 3, 4), (1, 3, 4), (2, 0, 4), (0, 3, 4), (5, 2, 3, 4), (5, 1, 3, 4), (1, 2, 3, 4),
    (1, 1, 3, 4), (5, 2, 1, 4), (5, 0, 3, 4), (3, 0), (2, 3, 0),
]  # fmt: skip
RIGHT = [
    (4,), (4, 6), (4, 1), (2, 4, 6), (1, 4, 6), (1, 4, 0), (5, 2, 4, 6), (5, 1, 4, 6), (1, 2, 4, 6), (1, 1, 4, 6),
    (5, 2, 4, 1), (7, 5, 2, 4, 3), (0,), (0, 6), (2, 0, 6),
]  # fmt: skip
DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


def of(value):
    """Return a variable for an array, with what is known of its lengths of 1."""
    return T.TensorType(value.dtype, [n == 1 for n in value.shape])()


def checked(pairs):
    """Compare products of pairs of arrays, in all ways to write them, with NumPy's."""
    pairs = list(pairs)
    variables = [(of(a), of(b)) for a, b in pairs]
    written = [(u @ v, np.matmul(u, v), a @ v, u @ b) for (u, v), (a, b) in zip(variables, pairs, strict=True)]
    given = [v for both in variables for v in both]
    values = [v for both in pairs for v in both]
    forms = {"FAST_RUN": written, "FAST_COMPILE": [products[:1] for products in written]}
    for mode, products in forms.items():
        ways = len(products[0])
        computed = iter(theano.function(given, [v for forms in products for v in forms], mode=mode)(*values))
        for (a, b), variable in zip(pairs, written, strict=True):
            wanted = np.matmul(a, b)
            for _ in range(ways):
                found = next(computed)
                assert (variable[0].dtype, found.dtype, found.shape) == (wanted.dtype, wanted.dtype, wanted.shape)
                rtol = 1e-2 if wanted.dtype == "float16" else 1e-5
                np.testing.assert_allclose(found, wanted, rtol, 1e-12, err_msg=f"{a.shape} {b.shape}")
            assert all(n == 1 for n, known in zip(wanted.shape, variable[0].type.broadcastable, strict=True) if known)


def fitting():
    """Yield pairs of shapes that NumPy multiplies."""
    for a, b in product(LEFT, RIGHT):
        try:
            np.matmul(np.zeros(a), np.zeros(b))
        except ValueError:
            continue
        yield a, b


def test_shapes():
    rng, shapes = np.random.default_rng(1), list(fitting())
    assert len(shapes) > 100
    checked((rng.normal(size=a), rng.normal(size=b)) for a, b in portion(shapes, always=20))


def test_dtypes():
    rng = np.random.default_rng(2)
    shapes = cycle([((2, 3, 4), (2, 4, 5)), ((4,), (2, 4, 5)), ((3, 2, 4), (4,)), ((3, 4), (2, 4, 5)), ((3, 4), (4, 2))])

    def values(shape, dtype):
        part = rng.integers(0, 3, shape) - (dtype[0] in "ifc")
        return (part + 1j * rng.integers(0, 3, shape) if dtype[0] == "c" else part).astype(dtype)

    pairs = portion(product(DTYPES, DTYPES), always=0)
    checked((values(a, d), values(b, e)) for (d, e), (a, b) in zip(pairs, shapes, strict=False))


SMOOTH = [
    ((2, 3, 4), (2, 4, 5)), ((4,), (2, 4, 5)), ((2, 3, 4), (4,)), ((1, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (1, 3, 4, 2)), ((2, 3, 3, 4), (2, 3, 4, 2)), ((2, 3, 3, 4), (3, 4, 2)),
]  # fmt: skip


def test_derivatives():
    """Lop and Rop against differences, all shapes in one function."""
    rng = np.random.default_rng(3)
    given, found, wanted, step = [], [], [], 1e-6
    for a, b in SMOOTH:
        values = [rng.normal(size=a), rng.normal(size=b)]
        towards = [rng.normal(size=a), rng.normal(size=b)]
        u, v = map(of, values)
        weights = rng.normal(size=np.matmul(*values).shape)
        moved = [np.matmul(*(x + s * d for x, d in zip(values, towards, strict=True))) for s in (step, -step)]
        slope = (moved[0] - moved[1]) / (2 * step)
        gradients = theano.grad((T.matmul(u, v) * weights).sum(), [u, v])
        given += list(zip((u, v), values, strict=True))
        along = sum((g * d).sum() for g, d in zip(gradients, towards, strict=True))
        found += [theano.Rop(T.matmul(u, v), [u, v], [T.constant(d) for d in towards]), along, *gradients]
        wanted += [slope, (slope * weights).sum(), *values]
    computed = theano.function([v for v, _ in given], found)(*(value for _, value in given))
    for n, (ours, theirs) in enumerate(zip(computed, wanted, strict=True)):
        assert ours.shape == theirs.shape
        if n % 4 < 2:
            np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)


def test_complex_gradients_are_those_of_dot():
    rng = np.random.default_rng(4)
    x, y = (rng.normal(size=(2, 2, 2)) + 1j * rng.normal(size=(2, 2, 2)) for _ in range(2))
    u, v = T.ztensor3(), T.ztensor3()
    apart = T.stack([T.dot(u[i], v[i]) for i in range(2)])
    loss = lambda z: (T.real(z) ** 2 + 3 * T.imag(z)).sum()
    found = theano.function([u, v], theano.grad(loss(u @ v), [u, v]) + theano.grad(loss(apart), [u, v]))(x, y)
    np.testing.assert_allclose(found[:2], found[2:])


def test_what_does_not_fit_is_said():
    a, b, n = T.dtensor4(), T.dtensor4(), T.dscalar()
    f = theano.function([a, b], a @ b)
    for left, right in (((2, 3, 1, 1), (3, 2, 1, 1)), ((2, 3, 1, 4), (2, 3, 3, 1)), ((1, 3, 1, 1), (2, 3, 1, 1))):
        with pytest.raises(ShapeError):
            f(np.ones(left), np.ones(right))
    for wrong in (lambda: n @ a, lambda: a @ n, lambda: a @ 2.0, lambda: 2.0 @ a, lambda: np.matmul(n, a)):
        with pytest.raises(ValueError, match="1 dimension or more"):
            wrong()
