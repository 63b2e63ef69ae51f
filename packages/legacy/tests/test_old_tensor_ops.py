"""Ops and functions of the layer of arrays that only older programs call."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "tensor" / "tests" / "random"))

import plain_mrg

import theano
import theano.tensor as T
from theano.legacy import mrg_jumps as jumps
from theano.legacy.diagonals import (
    DiagonalSubtensor,
    IncDiagonalSubtensor,
    get_diagonal_subtensor_view,
    local_inplace_DiagonalSubtensor,
)
from theano.tensor.random.mrg import MRG_RandomStreams
from theano.tensor.random.mrg31k3p import M1, M2, NORM

SEED = [12345, 2, 3, 4, 5, 2147462578]


def test_diagonals():
    values = np.arange(30.0).reshape(2, 5, 3)
    view = get_diagonal_subtensor_view(values, 1, 2)
    assert all(view[b, t, k] == values[b, 2 + t - k, k] for b in range(2) for t in range(3) for k in range(3))
    x = T.dtensor3()
    y = DiagonalSubtensor()(x, 1, 2)
    f = theano.function([x], [y, theano.grad((y**2).sum(), x)])
    found, gradient = f(values)
    np.testing.assert_array_equal(found, view)
    expected = np.zeros_like(values)
    get_diagonal_subtensor_view(expected, 1, 2)[...] += 2 * view
    np.testing.assert_array_equal(gradient, expected)
    theano.gradient.verify_grad(lambda a, b: IncDiagonalSubtensor()(a, 0, 1, b), [np.ones((4, 2)), np.ones((3, 2))], rng=np.random)
    assert local_inplace_DiagonalSubtensor(y.owner)[0].owner.op.inplace
    with pytest.raises(theano.errors.ShapeError, match="fewer"):
        f(np.ones((1, 2, 3)))
    with pytest.raises(ValueError, match="what is added has shape"):
        IncDiagonalSubtensor()(T.constant(np.ones((3, 4))), 1, 0, T.constant(np.ones((3, 4)))).eval()


def test_states_ahead():
    streams = MRG_RandomStreams(SEED)
    first, second = streams.get_substream_rstates(2, "float64", inc_rstate=False)
    np.testing.assert_array_equal(jumps.ff_2p72(first), second)
    np.testing.assert_array_equal(jumps.ff_2p134(streams.rstate), plain_mrg.jump(list(map(int, streams.rstate)), 2**134))
    np.testing.assert_array_equal(jumps.multMatVect(first, jumps.A1p72, M1, jumps.A2p72, M2), second)


def test_one_step_by_hand():
    state = np.array(SEED, "int32")
    value = jumps.mrg_next_value(state, state, NORM, 0xFFFFFFFF, 0)
    (number,), after = plain_mrg.draws(SEED, 1)
    assert value == number / 2**31
    assert tuple(state) == after


def test_products_modulo():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2**31, (2, 3, 3))
    s, t = rng.integers(0, 2**31, (2, 3)).astype("int32")
    right = [sum(int(p) * int(q) for p, q in zip(row, v, strict=True)) % m for mat, v, m in ((a, s, 2**31 - 1), (b, t, 97)) for row in mat]
    names = [T.lmatrix(), T.ivector(), T.iscalar(), T.lmatrix(), T.ivector(), T.iscalar()]
    f = theano.function(names, jumps.DotModulo()(*names))
    np.testing.assert_array_equal(f(a, s, 2**31 - 1, b, t, 97), right)
    assert f(a, s, 5, b, t, 97).shape == (6,)
    np.testing.assert_array_equal(jumps.matVecModM(a, s, 2**31 - 1), right[:3])
