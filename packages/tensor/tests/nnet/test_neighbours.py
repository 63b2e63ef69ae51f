"""Neighbourhoods against loops over them; back again; gradients against differences."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.nnet.neighbours import MODES, images2neibs, neibs2images

X, SHAPE, STEP = T.dtensor4("x"), T.lvector("shape"), T.lvector("step")


def by_loop(x, shape, step, mode):
    reach = {"half": [n // 2 for n in shape], "wrap_centered": [n // 2 for n in shape], "full": [n - 1 for n in shape]}
    before = reach.get(mode, [0, 0])
    if mode == "wrap_centered":
        starts = [range(0, n, s) for n, s in zip(x.shape[2:], step, strict=True)]
        padded = np.pad(x, ((0, 0), (0, 0), (before[0],) * 2, (before[1],) * 2), mode="wrap")
    else:
        padded = np.pad(x, ((0, 0), (0, 0), (before[0],) * 2, (before[1],) * 2))
        starts = [range(0, n - k + 1, s) for n, k, s in zip(padded.shape[2:], shape, step, strict=True)]
    rows = [
        padded[n, c, i : i + shape[0], j : j + shape[1]].ravel()
        for n in range(x.shape[0]) for c in range(x.shape[1]) for i in starts[0] for j in starts[1]
    ]  # fmt: skip
    return np.array(rows).reshape(-1, shape[0] * shape[1])


def fitting(rng, mode):
    """Return an image, a shape and a step that fit each other."""
    size = rng.integers(1, 4, 2) * 2 - 1 if mode == "wrap_centered" else rng.integers(1, 5, 2)
    step = rng.integers(1, 4, 2)
    if mode in ("ignore_borders", "wrap_centered"):
        lengths = size + rng.integers(0, 7, 2)
    else:
        around = {"half": 2 * (size // 2), "full": 2 * (size - 1)}.get(mode, 0 * size)
        lengths = size - around + step * rng.integers(0, 4, 2)
        while (lengths < size).any():
            lengths = np.where(lengths < size, lengths + step, lengths)
    return rng.normal(size=(2, 3, *lengths)), size, step


@pytest.mark.parametrize("mode", MODES)
def test_against_a_loop(mode):
    rng = np.random.default_rng(0)
    out = images2neibs(X, SHAPE, STEP, mode)
    modes = [theano.Mode("vm", "fast_run"), theano.Mode("py", None)]
    functions = [theano.function([X, SHAPE, STEP], [out, out.shape], mode=m) for m in modes]
    for k in range(25):
        x, size, step = fitting(rng, mode)
        x = (x, np.asfortranarray(x), x[:, ::-1, ::-1, ::-1])[k % 3]
        expected = by_loop(x, size, step, mode)
        for f in functions:
            found, shape = f(x, size, step)
            np.testing.assert_array_equal(found, expected)
            assert tuple(shape) == expected.shape


@pytest.mark.parametrize("mode", MODES)
def test_derivatives(mode):
    rng = np.random.default_rng(1)
    for _ in range(2):
        x, size, step = fitting(rng, mode)
        make = lambda v, size=size, step=step: images2neibs(v, size, step, mode)
        theano.gradient.verify_grad(make, [x[:1, :2]], rng=np.random.RandomState(2))
        d = rng.normal(size=x.shape)
        np.testing.assert_allclose(theano.Rop(make(X), X, T.constant(d)).eval({X: x}), make(T.constant(d)).eval())


@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64", "bool"])
def test_dtypes(dtype):
    x = np.random.default_rng(0).integers(0, 2, (1, 2, 4, 6)).astype(dtype)
    found = images2neibs(T.constant(x), (2, 3)).eval()
    assert found.dtype == dtype and found.shape == (8, 6)
    np.testing.assert_array_equal(neibs2images(T.constant(found), (2, 3), x.shape).eval(), x)


def test_what_is_left_out_comes_back_as_zeros():
    x = np.arange(1.0, 36).reshape(1, 1, 5, 7)
    neibs = images2neibs(T.constant(x), (2, 3), mode="ignore_borders")
    back = neibs2images(neibs, (2, 3), x.shape, mode="ignore_borders").eval()
    np.testing.assert_array_equal(back[:, :, :4, :6], x[:, :, :4, :6])
    assert back.shape == x.shape and back[:, :, 4:].sum() == back[:, :, :, 6:].sum() == 0


@pytest.mark.parametrize(
    ("mode", "size", "step", "error"),
    [("valid", (2, 2), (3, 3), TypeError), ("wrap_centered", (2, 3), (1, 1), TypeError), ("full", (9, 9), (1, 1), TypeError),
     ("half", (3, 3), (4, 4), TypeError), ("valid", (0, 2), (1, 1), ValueError), ("valid", (2, 2), (0, 1), ValueError)],
)  # fmt: skip
@pytest.mark.parametrize("linker", ["vm", "py"])
def test_what_does_not_fit(mode, size, step, error, linker):
    f = theano.function([X, SHAPE, STEP], images2neibs(X, SHAPE, STEP, mode), mode=theano.Mode(linker, None))
    with pytest.raises(error):
        f(np.ones((1, 1, 6, 6)), size, step)
