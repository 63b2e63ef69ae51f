"""Products of chosen blocks against loops over them, and their gradients against differences."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.nnet.blocksparse import SparseBlockGemv, SparseBlockOuter, sparse_block_dot

rng = np.random.default_rng(0)
BATCH, BLOCKS, SIZES, PIECES = 3, (4, 5), (2, 3), (2, 6)
W, H = rng.normal(size=(*BLOCKS, *SIZES)), rng.normal(size=(BATCH, PIECES[0], SIZES[0]))
O, B = rng.normal(size=(BATCH, PIECES[1], SIZES[1])), rng.normal(size=(BLOCKS[1], SIZES[1]))
ROWS, COLUMNS = rng.integers(0, BLOCKS[0], (BATCH, PIECES[0])), rng.integers(0, BLOCKS[1], (BATCH, PIECES[1]))


def gemv(o, w, h):
    out = o.copy()
    for b in range(BATCH):
        for j in range(PIECES[1]):
            for i in range(PIECES[0]):
                out[b, j] += h[b, i] @ w[ROWS[b, i], COLUMNS[b, j]]
    return out


def outer(o, x, y, alpha):
    out = o.copy()
    for b in range(BATCH):
        for i in range(PIECES[0]):
            for j in range(PIECES[1]):
                out[ROWS[b, i], COLUMNS[b, j]] += alpha * np.outer(x[b, i], y[b, j])
    return out


@pytest.mark.parametrize("linker", ["vm", "py"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_against_loops(dtype, linker):
    mode = theano.Mode(linker, None)
    o, w, h = (T.TensorType(dtype, (False,) * n)() for n in (3, 4, 3))
    f = theano.function([o, w, h], SparseBlockGemv()(o, w, h, ROWS, COLUMNS), mode=mode)
    g = theano.function([w, h, o], SparseBlockOuter()(w, h, o, ROWS, COLUMNS, 0.5), mode=mode)
    close = 1e-5 if dtype == "float32" else 1e-12
    for view in (lambda v: v, np.asfortranarray, lambda v: v[..., ::-1]):
        given = [view(v).astype(dtype, order="K") for v in (O, W, H)]
        np.testing.assert_allclose(f(*given), gemv(*given), close, close)
        np.testing.assert_allclose(g(given[1], given[2], given[0]), outer(given[1], given[2], given[0], 0.5), close, close)


def test_gradients():
    check = lambda make, *given: theano.gradient.verify_grad(make, list(given), rng=np.random.RandomState(1))
    check(lambda o, w, h: SparseBlockGemv()(o, w, h, ROWS, COLUMNS), O, W, H)
    check(lambda o, x, y, a: SparseBlockOuter()(o, x, y, ROWS, COLUMNS, a), W, H, O, np.array(0.7))
    check(lambda w, h, b: sparse_block_dot(w, h, T.constant(ROWS), b, T.constant(COLUMNS)), W, H, B)


def test_the_bias_is_added_once():
    found = sparse_block_dot(T.constant(W), T.constant(H), T.constant(ROWS), T.constant(B), T.constant(COLUMNS)).eval()
    np.testing.assert_allclose(found, gemv(B[COLUMNS], W, H))
    alone = sparse_block_dot(T.constant(W), T.constant(H[0]), T.constant(ROWS[0]), T.constant(B), T.constant(COLUMNS[0]))
    np.testing.assert_allclose(alone.eval(), found[:1])


def test_works_in_place_where_it_may():
    w, h = T.dtensor4("w"), T.dtensor3("h")
    f = theano.function([w, h], SparseBlockGemv()(h.sum() * T.constant(O), w, h, ROWS, COLUMNS))
    g = theano.function([w, h], SparseBlockOuter()(w * 2, h, T.constant(O), ROWS, COLUMNS))
    assert [n.op.inplace for f in (f, g) for n in f.maker.fgraph.toposort() if isinstance(n.op, (SparseBlockGemv, SparseBlockOuter))] == [True, True]
    np.testing.assert_allclose(f(W, H), gemv(H.sum() * O, W, H))
    np.testing.assert_allclose(g(W, H), outer(W * 2, H, O, 1))


@pytest.mark.parametrize("linker", ["vm", "py"])
def test_wrong_input(linker):
    rows = T.lmatrix("rows")
    f = theano.function([rows], SparseBlockGemv()(O, W, H, rows, COLUMNS), mode=theano.Mode(linker, None))
    with pytest.raises(IndexError):
        f(ROWS + 9)
    with pytest.raises(ValueError, match="belong together"):
        f(ROWS[:, :1])
    with pytest.raises(TypeError, match="whole numbers"):
        SparseBlockGemv()(O, W, H, ROWS * 1.0, COLUMNS)
