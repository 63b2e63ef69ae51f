"""Parameters for which there is no distribution are an error: constants at once, others when numbers are drawn."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.random import PhiloxStreams
from theano.tensor.random.mrg import MRG_RandomStreams
from theano.tensor.random.ranges import CheckedParameter
from theano.tensor.random.streams import RandomStreams

ROW = [0.5, 0.25, 0.25]

#: By name of a draw: the draw with its parameter, values that it takes, and values that it does not.
MRG = {
    "normal": (lambda s, v: s.normal((3,), std=v), [0.0, 2.5, [1.0, 0.0, 3.0], np.nan], [-1.0, [1.0, -0.5, 2.0]]),
    "truncated_normal": (lambda s, v: s.truncated_normal((3,), std=v), [0.0, 2.5], [-1.0, [1.0, -0.5, 2.0]]),
    "binomial": (lambda s, v: s.binomial((3,), p=v), [0.0, 1.0, 0.5, [0.0, 0.3, 1.0]], [-0.1, 1.1, np.nan, [0.1, 2.0, 0.1]]),
    "multinomial": (lambda s, v: s.multinomial(pvals=v), [[ROW], [ROW, [0.1, 0.2, 0.3]]], [[[-2.0, 2.0]], [ROW, [0.5, 0.5, 0.1]], [[np.nan, 0.5]]]),
    "choice": (lambda s, v: s.choice(p=v, size=2, replace=False), [[ROW]], [[[-0.5, 0.5, 1.0]], [[1.0, 2.0, 3.0]]]),
}  # fmt: skip
PHILOX = {
    **MRG,
    "binomial of trials": (lambda s, v: s.binomial((3,), n=v, p=0.5), [0, 7], [-1]),
    "random_integers": (lambda s, v: s.random_integers((3,), low=2, high=v), [2, 9], [1, -3]),
    "choice of a vector": (lambda s, v: s.choice((3,), a=3, p=v), [ROW], [[0.5, 0.5, 0.5], [-0.5, 0.5, 1.0], [0.1, 0.1, 0.1]]),
}  # fmt: skip
NUMPYS = {
    **{name: MRG[name] for name in ("normal", "binomial")},
    "binomial of trials": PHILOX["binomial of trials"], "random_integers": PHILOX["random_integers"],
    "poisson": (lambda s, v: s.poisson((3,), lam=v), [0.0, 4.0], [-1.0, np.nan]),
    "choice": (lambda s, v: s.choice((3,), a=3, p=v), *PHILOX["choice of a vector"][1:]),
    "multinomial": (lambda s, v: s.multinomial((2,), pvals=v), [ROW], [[-2.0, 2.0], [0.5, 0.75]]),
    "multinomial of trials": (lambda s, v: s.multinomial((2,), n=v, pvals=ROW), [0, 3], [-1]),
}  # fmt: skip
CASES = [
    pytest.param(streams, *case, id=f"{streams.__name__}-{name}")
    for streams, cases in ((MRG_RandomStreams, MRG), (PhiloxStreams, PHILOX), (RandomStreams, NUMPYS))
    for name, case in cases.items()
]


@pytest.mark.parametrize(("streams", "draw", "right", "wrong"), CASES)
def test_parameters(streams, draw, right, wrong):
    theano.function([], [draw(streams(1), v) for v in right])()
    for v in wrong:
        with pytest.raises(ValueError):
            draw(streams(1), v)
    for ndim in {np.ndim(v) for v in [*right, *wrong]}:
        x = T.TensorType(np.asarray(wrong[0]).dtype, (False,) * ndim)()
        f = theano.function([x], draw(streams(1), x))
        for v in right:
            if np.ndim(v) == ndim:
                f(v)
        for v in wrong:
            if np.ndim(v) == ndim:
                with pytest.raises((ValueError, AssertionError)):
                    f(v)


def test_the_error_says_what_must_hold():
    p, std = T.dvector("p"), T.dscalar("std")
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        f = theano.function([p], MRG_RandomStreams(1).binomial(p.shape, p=p, ndim=1), mode=mode)
        with pytest.raises(ValueError, match="binomial: p must be from 0 to 1") as caught:
            f([0.5, 1.5])
        assert not isinstance(caught.value, theano.errors.ShapeError)
        with pytest.raises(ValueError, match="normal: std must be 0 or more"):
            theano.function([std], PhiloxStreams(1).normal((2,), std=std), mode=mode)(-1)
    with pytest.raises(ValueError, match=r"normal: std must be 0 or more, not -1\.0"):
        PhiloxStreams(1).normal((2,), std=-1.0)


def test_what_cannot_be_out_of_range_is_not_checked():
    x = T.dmatrix("x")
    streams = MRG_RandomStreams(1)
    drawn = [
        streams.binomial(x.shape, p=T.cast(T.nnet.sigmoid(x), "float32"), ndim=2), streams.binomial((2, 3), p=0.5),
        streams.normal((2, 3), std=T.exp(x)), streams.normal((2, 3), std=T.sqrt(x.sum(axis=0)).dimshuffle("x", 0)),
        streams.multinomial(pvals=T.nnet.softmax(x)), streams.normal((2, 3), std=3),
    ]  # fmt: skip
    f = theano.function([x], drawn, mode="FAST_COMPILE")
    assert not any(isinstance(node.op, CheckedParameter) for node in f.maker.fgraph.toposort())


def test_float32_rows_of_many_outcomes_are_taken():
    rows = np.random.default_rng(1).random((50, 1000)).astype("float32")
    p = T.fmatrix("p")
    f = theano.function([p], MRG_RandomStreams(1).multinomial(pvals=p / p.sum(axis=1, keepdims=True)))
    assert (f(rows).sum(axis=1) <= 1).all()
