"""Kernels of linear algebra at the edges of their blocks: products, convolutions, factors, Fourier transforms.

See ``test_kernels_blocks.py``.
"""

from __future__ import annotations

import functools
import itertools
import operator

import numpy as np
import pytest
from blocks import FLOATS, ORDERS, edges, rng, share, spread, whole
from kernel_harness import call, equal, run
from kernel_toys import Toy

import theano.scalar as ts
import theano.tensor as T
from portion import portion
from theano.scalar.composite import Composite
from theano.tensor.blas import lowering as blas
from theano.tensor.conv import lowering as conv
from theano.tensor.conv import reference
from theano.tensor.conv.conv_elemwise import ConvElemwise
from theano.tensor.conv.op import AbstractConv2d
from theano.tensor.fft import lowering as fft
from theano.tensor.linalg import lowering as lapack

pytestmark = pytest.mark.usefixtures("small")


# -- products ---------------------------------------------------------------------------------------------------

# (two lengths of each of three axes meet; around a slice of terms, and around widths of panels of 24 and 48 columns)
# A slice of packed terms has as many as fill a panel: 10 of 3 vectors of any width; 16 and 32 of 8 numbers.
TERMS = sorted({*edges("GEMM_DIRECT_SLICE_BYTES", "GEMM_TURNED_TERMS", "GEMM_FEW_TERMS", most=40), 9, 10, 11, 16, 17, 21, 31, 33})
ACROSS = sorted({1, 2, 3, 8, 9, 13, 24, 25, 49, 100, *edges("GEMM_UNPACKED_ROWS", "GEMM_PASSING_ROWS", "GEMM_ACROSS_ROWS", most=20)})
edges("GEMM_RESTING_BYTES", "GEMM_PASSING_BYTES", "GEMM_PACKED_BYTES", "GEMM_SHARED_CELLS", "GEMM_WORTH_THREADS", "GEMM_DIRECT_BYTES")
edges("GEMM_FEW_ROWS", "GEMM_PAGE", "GEMM_TURNED_WORK", "GEMM_OWN_TRANSPOSE", "GEMM_MIRRORED", "GEMM_NEAR_BYTES")
edges("GEMM_TERMS_AHEAD", "GEMM_PANELS_AHEAD", "GEMM_SQUARES_AHEAD")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layouts", ORDERS)
def test_products(dtype, layouts):
    made = {"C": lambda x: x, "F": lambda x: x.copy("F"), "S": spread}
    op = Toy(destroy_map={})
    for k, m, n in share(itertools.product([t for t in TERMS if t % 2 or t < 12], ACROSS, ACROSS), 5, dtype, layouts):
        a, b, c = whole((m, k), dtype), whole((k, n), dtype), whole((m, n), dtype)
        left, right = made[layouts[0]](a), made[layouts[1]](b)
        equal(call(blas.dot_kernel, Toy(), [left, right], (dtype, 2))[0], a @ b, m, k, n)
        if (m + n) % 3 == 0:
            numbers = [np.array(v, dtype) for v in (-2, 0.5)]
            got = call(blas.gemm_kernel, op, [made[layouts[0]](c), numbers[0], left, right, numbers[1]], (dtype, 2))[0]
            equal(got, 0.5 * c - 2 * (a @ b), m, k, n)


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_with_the_own_transpose(dtype):
    """Half of it is computed, whatever the layout; what is like it but is not is computed whole."""
    op = Toy(destroy_map={})
    for n in [*edges("GEMM_OWN_TRANSPOSE", "GEMM_MIRRORED", most=60), 33, 100, 130]:
        for k in (1, 2, 4, 9, 11, 30, 70):
            a = whole((n, k), dtype)
            for left in (a, a.copy("F"), spread(a), whole((k, n), dtype).T[::-1]):
                equal(call(blas.dot_kernel, Toy(), [left, left.T], (dtype, 2))[0], left @ left.T, n, k)
            equal(call(blas.dot_kernel, Toy(), [a, a.copy().T], (dtype, 2))[0], a @ a.T, n, k)
            if n > 1:
                equal(call(blas.dot_kernel, Toy(), [a[:-1], a[:-1].T], (dtype, 2))[0], a[:-1] @ a[:-1].T, n, k)
                equal(call(blas.dot_kernel, Toy(), [a, a[:-1].T], (dtype, 2))[0], a @ a[:-1].T, n, k)
            numbers, c = [np.array(v, dtype) for v in (-2, 0.5)], whole((n, n), dtype)
            got = call(blas.gemm_kernel, op, [c, numbers[0], a, a.T, numbers[1]], (dtype, 2))[0]
            equal(got, 0.5 * c - 2 * (a @ a.T), n, k)


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_of_many_blocks(dtype):
    """Several blocks of the right factor, several groups of the left one, several slices."""
    for m, k, n in [(70, 50, 300), (300, 70, 50), (50, 300, 70), (9, 40, 900), (16, 40, 900), (200, 3, 200), (33, 64, 256), (64, 256, 33)]:
        a, b = whole((m, k), dtype), whole((k, n), dtype)
        for left, right in itertools.product((a, a.copy("F"), spread(a)), (b, b.copy("F"), spread(b))):
            equal(call(blas.dot_kernel, Toy(), [left, right], (dtype, 2))[0], a @ b, m, k, n)


def three_products(op, x, w):
    """Hold a convolution and both of its gradients to the reference."""
    dtype, image, kernel = x.dtype.name, x.shape[2:], w.shape[2:]
    want = reference.forward(op.geometry, x, w)
    equal(call(conv.conv_kernel, op, [x, w], (dtype, 4))[0], want, x.shape, w.shape)
    g = whole(want.shape, dtype)
    got = call(conv.conv_filters_kernel, op, [x, g, np.array(kernel)], (dtype, 4))[0]
    equal(got, reference.grad_weights(op.geometry, x, g, kernel), x.shape, w.shape)
    got = call(conv.conv_images_kernel, op, [w, g, np.array(image)], (dtype, 4))[0]
    equal(got, reference.grad_inputs(op.geometry, w, g, image), x.shape, w.shape)


@functools.cache
def chain(op, dtype, pattern, of_numbers):
    """Return the kernel and the node of a loop over the results of a convolution, with an operand of this pattern."""
    a, b = ts.get_scalar_type(dtype)("a"), ts.get_scalar_type(dtype)("b")
    chained = ConvElemwise(op, Composite([a, b], [of_numbers(a, b)]))
    images = [T.TensorType(dtype, (False,) * len(pattern))() for _ in range(2)]
    n = chained.make_node(*images, T.TensorType(dtype, pattern)())
    return conv.conv_elemwise_kernel(chained, n), n


CHAINS = [lambda y, b: abs(y + b), lambda y, b: y * b - b, operator.mul]


def with_chains(op, x, w):
    """Hold element-wise loops over the results of a convolution to the same over an array of them."""
    dtype, ndim = x.dtype.name, x.ndim
    y, bias = reference.forward(op.geometry, x, w), whole(w.shape[:1], dtype).reshape(1, -1, *[1] * (ndim - 2))
    one = whole((1,) * ndim, dtype) + 2
    for of_numbers, operand in ((CHAINS[0], bias), (CHAINS[1], bias), (CHAINS[0], spread(bias)), (CHAINS[2], one)):
        pattern = tuple(n == 1 and k != 1 or operand.size == 1 for k, n in enumerate(operand.shape))
        [found] = run(*chain(op, dtype, pattern, of_numbers), [x, w, operand])
        equal(found, of_numbers(y, operand), x.shape, w.shape)


edges("CONV_PIXELS", "CONV_PARTS", "CONV_SLICE_BYTES", "CONV_BAND_BYTES", "CONV_WORTH_THREADS")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("groups", [1, 3])
def test_convolutions(dtype, groups):
    """Images of several blocks of pixels, filters of several slices, more images than parts."""
    table = itertools.product((1, 4), (1, 9, 20), (1, 17, 50), (1, 4), (1, 9, 10, 11, 23))
    for batch, channels, filters, rows, columns in portion(table, 4, always=0, which=groups + FLOATS.index(dtype)):
        op = AbstractConv2d(border_mode="half", num_groups=groups, subsample=(1, 1 if columns % 2 else 2))
        x, w = whole((batch, channels * groups, rows, columns), dtype), whole((filters * groups, channels, 3, 2), dtype)
        three_products(op, x, w)
        with_chains(op, x, w)


edges("CONV_TILE_BYTES", "CONV_TILE_FILTERS", "CONV_SUMS")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("batch", "rows", "columns"), [(1, 8, 95), (1, 9, 97), (2, 19, 24), (3, 7, 33), (5, 2, 96)])
def test_convolutions_by_tiles(dtype, batch, rows, columns):
    """One block of tiles and several; filters that fit, and some that do not (the products of two are at the limit)."""
    op = AbstractConv2d(border_mode="half")
    for channels, filters in ((27, 28), (28, 28)) if dtype == "float64" else ((39, 40), (40, 40)):
        x, w = whole((batch, channels, rows, columns), dtype), whole((filters, channels, 3, 3), dtype)
        three_products(op, x, w)
        with_chains(op, x, w)


edges("CONV_POINTWISE", "CONV_POINTWISE_BYTES", "CONV_SUMS")
POINTS = edges("CONV_POINTWISE_PIXELS", most=70)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_pixel_by_pixel(dtype, groups):
    """Channels and filters from which products of matrices do it, pieces of images, more and fewer images than sums."""
    op = AbstractConv2d(num_groups=groups)
    images = zip(POINTS, itertools.cycle((1, 2, 3, 5)), strict=False)
    filters_of = ((2, 3), (3, 2), (3, 3), (4, 70), (70, 4), (3, 47), (3, 48), (9, 12))
    for (pixels, batch), (channels, filters) in share(itertools.product(images, filters_of), 2, dtype):
        x, w = whole((batch, channels * groups, 1, pixels), dtype), whole((filters * groups, channels, 1, 1), dtype)
        three_products(op, x, w)
        with_chains(op, x, w)


edges("GEMM_BATCH_PARTS", "GEMM_BATCH_WORK")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("batch", [1, 4, 5, 6, 11])
def test_batches_of_products(dtype, batch):
    """Products that copy their factors and such that do not, as many as parts, more and fewer."""
    for m, k, n in [(4, 5, 6), (10, 10, 11), (20, 40, 30), (9, 2, 70), (33, 64, 16), (50, 1, 50)]:
        a, b = whole((batch, m, k), dtype), whole((batch, k, n), dtype)
        for left, right in itertools.product((a, a.copy("F"), spread(a)), (b, b.copy("F"), spread(b))):
            equal(call(blas.batched_dot_kernel, Toy(), [left, right], (dtype, 3))[0], a @ b, batch, m, k, n)
        same = np.broadcast_to(b[:1], b.shape)
        equal(call(blas.batched_dot_kernel, Toy(), [a[::-1], same], (dtype, 3))[0], a[::-1] @ same, batch, m, k, n)
        own = a.transpose(0, 2, 1)
        equal(call(blas.batched_dot_kernel, Toy(), [a, own], (dtype, 3))[0], a @ own, batch, m, k)


edges("CONV_FINISHED")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("channels", "filters", "groups", "kernel"), [(1, 1, 9, 3), (2, 11, 1, 3), (24, 21, 2, 1), (30, 70, 1, 2)])
def test_chains_after_convolutions(channels, filters, groups, kernel, dtype):
    """Each way to convolve: planes that are shorter than what is finished together, and longer; whole vectors and not."""
    op = AbstractConv2d(border_mode="half", num_groups=groups)
    for batch, rows, columns in [(1, 1, 1), (2, 3, 5), (1, 4, 10), (3, 7, 9), (1, 6, 32)]:
        with_chains(op, whole((batch, channels * groups, rows, columns), dtype), whole((filters * groups, channels, kernel, kernel), dtype))


REACHED = edges("GEMM_REACH_BYTES", "GEMM_SHARE", "GEMM_WORTH_READING", products=(("GEMM_SHARE", 3),), most=100)


LONG = edges("GEMM_LONG_PIECE", products=(("GEMM_LONG_PIECE", 3),))
LONG_ROWS = edges("GEMM_FEW_LONG_ROWS", most=8)
NARROW_ROWS = edges("GEMM_NARROW_ROWS", most=8)
# Results that stay in registers: around each number of vectors, of every width and dtype.
IN_REGISTERS = sorted({k * lanes + by for k in range(10) for lanes in (2, 4, 8, 16) for by in (-1, 0, 1)} - {-1, 0})


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_with_vectors(dtype):
    op = Toy(destroy_map={})
    table = itertools.chain(
        itertools.product(REACHED, [1, 3, 4, 5, 8, 9, 33]), itertools.product(IN_REGISTERS, [0, 1, 2, 5]),
        itertools.product(LONG_ROWS, LONG), itertools.product(NARROW_ROWS, [2, 3, 4]),
    )
    for m, n in share(table, 2, dtype):
        a, x, y = whole((m, n), dtype), whole(n, dtype), whole(m, dtype)
        numbers = [np.array(v, dtype) for v in (-2, 0.5)]
        for at in (a, a.copy("F"), spread(a)):
            equal(call(blas.gemv_kernel, op, [y, numbers[0], at, spread(x), numbers[1]], (dtype, 1))[0], 0.5 * y - 2 * (a @ x), m, n)
            found = call(blas.gemv_kernel, op, [spread(y), numbers[0], at, x, numbers[1]], (dtype, 1))[0]
            equal(found, 0.5 * y - 2 * (a @ x), m, n)
            equal(call(blas.dot_kernel, Toy(), [at, x], (dtype, 1))[0], a @ x, m, n)
            equal(call(blas.dot_kernel, Toy(), [spread(y), at], (dtype, 1))[0], y @ a, m, n)
            equal(call(blas.ger_kernel, op, [at, numbers[0], y, x], (dtype, 2))[0], a - 2 * np.outer(y, x), m, n)


# -- factors ----------------------------------------------------------------------------------------------------

ROWS = edges("FACTOR_BASE", "FACTOR_VECTOR_BASE", "FACTOR_PANEL", "FACTOR_REFLECTIONS", "EIGH_SMALL", "SVD_WORTH_PARTS",
             products=(("FACTOR_BASE", 4), ("FACTOR_PANEL", "FACTOR_PANEL")))  # fmt: skip
edges("FACTOR_EXCHANGED", "FACTOR_PIECES", "FACTOR_STRIPS", "FACTOR_WORTH_THREADS")
NEAR = {"float32": 3e-4, "float64": 1e-11}


def definite(n, dtype):
    x = rng.normal(size=(n, n))
    return (x @ x.T / n + np.eye(n)).astype(dtype)


def near(got, want, dtype, n):
    np.testing.assert_allclose(got, want, NEAR[dtype], NEAR[dtype] * max(1, np.abs(want).max()), err_msg=str(n))


@pytest.mark.parametrize("dtype", FLOATS)
def test_factors_and_equations(dtype):
    for n in share(ROWS, 2, dtype):
        a, general = definite(n, dtype), (rng.normal(size=(n, n)) + 3 * np.eye(n)[::-1]).astype(dtype)
        wide = a.astype("float64")
        for lower in (True, False):
            got = call(lapack.cholesky_kernel, Toy(lower=lower, on_error="raise"), [a], (dtype, 2))[0]
            near(got, np.linalg.cholesky(wide) if lower else np.linalg.cholesky(wide).T, dtype, n)
        near(call(lapack.inverse_kernel, Toy(), [a], (dtype, 2))[0], np.linalg.inv(wide), dtype, n)
        det, want = call(lapack.det_kernel, Toy(), [a], (dtype, 0))[0], np.linalg.det(wide)
        assert abs(det - want) <= 100 * NEAR[dtype] * abs(want)
        for columns in (None, 1, 2, 5, 20, 97, 200):
            b = rng.normal(size=n if columns is None else (n, columns)).astype(dtype)
            op = Toy(triangle=None, A_structure="general", lower=False, on_error="raise")
            x = call(lapack.solve_kernel, op, [general, b], (dtype, b.ndim))[0]
            near(general.astype("float64") @ x, b, dtype, n) if np.linalg.cond(general) < 1e3 else None
            for triangle in ("lower", "upper"):
                part = np.tril(a) if triangle == "lower" else np.triu(a)
                x = call(lapack.solve_triangular_kernel, Toy(triangle=triangle, on_error="raise"), [a, b], (dtype, b.ndim))[0]
                near(part.astype("float64") @ x, b, dtype, n)


@pytest.mark.parametrize("dtype", FLOATS)
def test_reflections_and_eigenvalues(dtype):
    for m, n in [*share(((n, n) for n in ROWS), 2, dtype), *share(itertools.product(ROWS[::5], ROWS[::7]), 3, dtype)]:
        a = rng.normal(size=(m, n)).astype(dtype)
        for mode in ("reduced", "complete"):
            q, r = call(lapack.qr_kernel, Toy(mode=mode), [a], (dtype, 2), (dtype, 2))
            near(q.astype("float64") @ r, a, dtype, (m, n))
            near(q.T.astype("float64") @ q, np.eye(q.shape[1]), dtype, (m, n))
        if m == n:
            s = definite(n, dtype)
            w, v = call(lapack.eigh_kernel, Toy(UPLO="L"), [s], (dtype, 1), (dtype, 2))
            near(v.astype("float64") * w @ v.T, s, dtype, n)
        u, s, vt = call(lapack.svd_kernel, Toy(full_matrices=False, compute_uv=True), [a], (dtype, 2), (dtype, 1), (dtype, 2))
        near(u.astype("float64") * s @ vt, a, dtype, (m, n))


# -- Fourier ----------------------------------------------------------------------------------------------------

LINES = edges("FFT_SHORT", "FFT_PIECES", products=((8,), (16,)))
edges("FFT_COLUMN_BYTES", "FFT_ROW_BYTES", "FFT_ALL_BYTES", "FFT_PLANS", "FFT_TRIES", "FFT_KEPT_BYTES")


@pytest.mark.parametrize("dtype", FLOATS)
def test_fourier(dtype):
    """More lengths than plans are kept for; lines side by side and alone, along both axes."""
    for rows, length in itertools.product(LINES, [*range(1, 20), 31, 37, 64, 74, 97, 128]):
        x = rng.normal(size=(1, rows, length)).astype(dtype)
        want = np.fft.rfftn(x.astype("float64"), axes=(1, 2))
        got = call(fft.rfft_kernel, Toy(), [x, np.array([rows, length])], (dtype, 4))[0]
        near(got[..., 0] + 1j * got[..., 1], want, dtype, (rows, length))
        longer = np.array([rows + 1, length + 2 - length % 2])  # filled up with zeros
        parts = call(fft.rfft_kernel, Toy(), [x, longer], (dtype, 4))[0]
        near(parts[..., 0] + 1j * parts[..., 1], np.fft.rfftn(x.astype("float64"), s=longer, axes=(1, 2)), dtype, (rows, length))
        back = call(fft.irfft_kernel, Toy(), [got, np.array([rows, length])], (dtype, 3))[0]
        near(back / (rows * length), x, dtype, (rows, length))
