"""The class of an error is the one of Theano 1.0.5 for the same call, or made from it: programs catch it."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T

s, v, w, m, n, t3 = T.dscalar("s"), T.dvector("v"), T.dvector("w"), T.dmatrix("m"), T.lmatrix("n"), T.dtensor3("t3")
i = T.lvector("i")

#: What is refused, and the class that Theano 1.0.5 raises (tools/conformance has all that it answered).
REFUSED = [
    *((lambda f=f: f(m, axis="x"), ValueError) for f in (T.sum, T.prod, T.mean, T.max, T.min, T.all, T.any, T.var)),
    (lambda: T.sum(m, axis=1.5), TypeError),
    (lambda: T.sum(s, axis=T.constant(0)), TypeError),
    (lambda: T.max_and_argmax(s, axis="x"), TypeError),
    (lambda: T.nnet.softmax(n), ValueError),
    (lambda: T.nnet.softmax(s), IndexError),
    (lambda: T.nnet.softmax_with_bias(v, v), ValueError),
    (lambda: T.nnet.crossentropy_softmax_1hot(v, i), IndexError),
    (lambda: T.nnet.crossentropy_softmax_argmax_1hot_with_bias(m, v, v), ValueError),
    (lambda: T.slinalg.solve(v, v), AssertionError),
    (lambda: T.slinalg.eigvalsh(v, v), AssertionError),
    (lambda: T.nlinalg.svd(t3), AssertionError),
    (lambda: T.nlinalg.norm(t3, 1), NotImplementedError),
    (lambda: T.nlinalg.norm(s, 1), ValueError),
    (lambda: T.nlinalg.diag(s), TypeError),
    (lambda: T.tril(v), IndexError),
    (lambda: T.get_vector_length(m), TypeError),
    (lambda: T.get_vector_length(v), ValueError),
    (lambda: T.zeros(T.dcol("c")), TypeError),
    (lambda: list(v), ValueError),
    (lambda: list(m), TypeError),
    (lambda: T.stack([s, m]), IndexError),
    (lambda: T.stack([v, s], axis=-1), TypeError),
    (lambda: T.concatenate([v, v], axis=1), ValueError),
    (lambda: T.concatenate([v, m]), TypeError),
    (lambda: T.join(1, v, m), ValueError),
    (lambda: T.split(s, [1, 2], 2), ValueError),
    (lambda: T.vertical_stack(v, v), AssertionError),
    (lambda: T.as_tensor_variable((v, 1)), T.basic.AsTensorError),
    (lambda: T.diagonal(m, 0, 0, 2), np.exceptions.AxisError),
    (lambda: m.reshape(9.0), TypeError),
    (lambda: m.reshape(i), ValueError),
    (lambda: T.inc_subtensor(v[None, 0], T.dmatrix()), ValueError),
    (lambda: T.take(v, w, mode="clip"), ValueError),
    (lambda: T.inverse_permutation(v), AssertionError),
    (lambda: T.permute_row_elements(v, v), AssertionError),
    (lambda: T.unravel_index(3, (2, 3), order="x"), AssertionError),
    (lambda: T.ravel_multi_index(([1], [0]), (2, 3), mode="x"), AssertionError),
    (lambda: T.extra_ops.to_one_hot(s, 9), IndexError),
    (lambda: T.choose(i, s), ValueError),
    (lambda: T.cov(t3), TypeError),
    (lambda: T.mgrid[5], TypeError),
    (lambda: T.scalar_from_tensor(v), AssertionError),
    (lambda: T.fft.rfft(s), ValueError),
    (lambda: T.fft.irfft(v), TypeError),
    (lambda: T.nnet.neighbours.images2neibs(m, (2, 2)), AssertionError),
    (lambda: T.nnet.abstract_conv.bilinear_upsampling(m, 2), ValueError),
    (lambda: theano.gradient.jacobian(m, m), AssertionError),
    (lambda: theano.gradient.hessian(v, v), AssertionError),
    (lambda: theano.gradient.hessian(m.sum(), m), AssertionError),
    (lambda: T.Rop(v * 2, v, 2), ValueError),
    (lambda: T.Rop(v * 2, 2, v), ValueError),
    (lambda: T.Rop(v * 2, v, [1, 2]), AssertionError),
    (lambda: T.Lop(v * 2, v, [1, 2]), AssertionError),
    (lambda: theano.ifelse.ifelse(s, m, [1, 2]), TypeError),
    (lambda: theano.map(lambda r: r * 2, [s]), IndexError),
    (lambda: theano.scan(lambda x, a: a * v, sequences=v, outputs_info=[s]), TypeError),
    (lambda: divmod(T.zvector(), 2), theano.scalar.ComplexError),
    (lambda: T.ceil_intdiv(T.zvector(), 2), NotImplementedError),
]


@pytest.mark.parametrize(("call", "error"), REFUSED, ids=range(len(REFUSED)))
def test_refusals(call, error):
    with pytest.raises(error) as caught:
        call()
    assert len(str(caught.value)) > 20


def test_argument_errors_keep_their_words():
    """An IndexError among the bases does not make the message the ``repr`` of a key, nor end an iteration silently."""
    with pytest.raises(theano.errors.ArgumentError, match="^TensorType does not support iteration: the length of v"):
        [*v]
    with pytest.raises(theano.errors.ArgumentError, match="'x'"):
        T.sum(m, axis="x")
