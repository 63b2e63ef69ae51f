"""The functions that the tests of exported models export, and values to call them with."""

from __future__ import annotations

import numpy as np

import theano
import theano.tensor as T
from theano.tensor.pool import pool_2d


def draws(seed=0):
    """Return a generator of numbers."""
    return np.random.default_rng(seed)


def weights(rng, *shape, name):
    """Return a shared variable of small numbers."""
    return theano.shared((rng.normal(size=shape) * 0.1).astype("float32"), name=name)


def digits():
    """Return a network for images of 64 pixels: a step of training with momentum, and predictions."""
    rng = draws()
    params = [weights(rng, 64, 16, name="W1"), weights(rng, 16, name="b1"), weights(rng, 16, 10, name="W2"), weights(rng, 10, name="b2")]
    images, labels, rate = T.fmatrix("images"), T.ivector("labels"), T.fscalar("rate")
    hidden = T.nnet.relu(images.dot(params[0]) + params[1])
    probabilities = T.nnet.softmax(hidden.dot(params[2]) + params[3])
    loss = T.nnet.categorical_crossentropy(probabilities, labels).mean()
    updates = []
    for param, slope in zip(params, T.grad(loss, params), strict=True):
        velocity = theano.shared(np.zeros_like(param.get_value()), name=f"v_{param.name}")
        faster = np.float32(0.9) * velocity - rate * slope
        updates += [(velocity, faster), (param, param + faster)]
    given = [images, labels, theano.In(rate, value=np.float32(0.1), name="rate")]
    train = theano.function(given, loss, updates=updates)
    predict = theano.function([images], [probabilities, T.argmax(probabilities, axis=1)])
    return {"train": train, "predict": predict}


def convolution():
    """Return the predictions of a convolution net, and a step of its training."""
    rng = draws(1)
    images, labels = T.ftensor4("images"), T.ivector("labels")
    params = [weights(rng, 4, 1, 3, 3, name="F1"), weights(rng, 4 * 3 * 3, 10, name="W")]
    maps = pool_2d(T.nnet.relu(T.nnet.conv2d(images, params[0])), (2, 2), ignore_border=True)
    probabilities = T.nnet.softmax(maps.flatten(2).dot(params[1]))
    loss = T.nnet.categorical_crossentropy(probabilities, labels).mean()
    updates = [(p, p - np.float32(0.1) * g) for p, g in zip(params, T.grad(loss, params), strict=True)]
    return {
        "conv": theano.function([images], probabilities),
        "conv_train": theano.function([images, labels], loss, updates=updates),
    }


def loops():
    """Return loops of all kinds: states, taps, results, carried values, an end of their own, gradients, one in another."""
    W = theano.shared(draws(2).normal(size=(5, 5)) * 0.3, name="W_loop")
    x, h, n = T.dmatrix("x"), T.dvector("h"), T.lscalar("n")
    states, _ = theano.scan(lambda row, last: T.tanh(T.dot(last, W) + row), sequences=x, outputs_info=h)
    mapped, _ = theano.scan(lambda row, past: (row * T.dot(past, W)).cumsum(), sequences=x, non_sequences=h)
    powers, _ = theano.scan(
        lambda v: (T.dot(v, W) * 1.2, theano.scan_module.until((v**2).sum() > 30)), outputs_info=h, n_steps=n
    )
    taps, _ = theano.scan(
        lambda before, last: T.dot(before, W) + last, outputs_info=[{"initial": x[:2], "taps": [-2, -1]}], n_steps=n
    )
    nested, _ = theano.scan(
        lambda row: theano.scan(lambda v: T.dot(v, W), outputs_info=row, n_steps=3)[0][-1].sum(), sequences=x
    )
    numbers, _ = theano.scan(lambda v: 3.9 * v * (1 - v), outputs_info=np.float64(0.5), n_steps=n)
    return {
        "states": theano.function([x, h], [states, states[-1], T.grad((states**2).sum(), W)]),
        "mapped": theano.function([x, h], mapped),
        "until": theano.function([h, n], powers),
        "taps": theano.function([x, n], [taps, taps[-1]]),
        "nested": theano.function([x], nested),
        "numbers": theano.function([n], numbers[-1]),
    }


def choices():
    """Return what runs on demand, an op that is an expression, what needs no number, and one length that a type says."""
    W = theano.shared(np.eye(3), name="square")
    n, v = T.lscalar("n"), T.dvector("v")
    inner, row = T.dvector("inner"), T.drow("x")
    twice = theano.OpFromGraph([inner], [2 * inner, inner.sum()])
    lazily = theano.ifelse.ifelse(T.gt(n, 3), T.dot(v, W).sum(), T.exp(v).sum())
    return {
        "choose": theano.function([n, v], lazily),
        "expression": theano.function([v], twice(v + 1)),
        "swap": theano.function([], [], updates=[(W, W.T[::-1])]),
        "row": theano.function([row], row * 2),
    }


def all_functions():
    """Return all of them, by name."""
    return {**digits(), **convolution(), **loops(), **choices()}


def arguments():
    """Return, for each function, lists of arguments that it is called with one after the other."""
    rng = draws(3)
    images, maps = rng.random((12, 64)).astype("float32"), rng.random((7, 1, 8, 8)).astype("float32")
    labels = rng.integers(0, 10, 12).astype("int32")
    x, h = rng.normal(size=(7, 5)), rng.normal(size=5)
    return {
        "train": [(images, labels), (images, labels, np.float32(0.05)), (images[:5], labels[:5])],
        "predict": [(images,), (images[:1],), (np.asfortranarray(images)[::-2],), (images[:0],)],
        "conv": [(maps,), (maps[:2, :, ::-1],)],
        "conv_train": [(maps, labels[:7]), (maps, labels[:7])],
        "states": [(x, h), (x[:1], h), (x[::-1], h)],
        "mapped": [(x, h), (x[:0], h)],
        "until": [(h, k) for k in (0, 1, 5, 40)],
        "taps": [(x, k) for k in (1, 2, 9)],
        "nested": [(x,), (x[:0],)],
        "numbers": [(1,), (50,)],
        "choose": [(2, h[:3]), (5, h[:3])],
        "expression": [(h,)],
        "swap": [()],
        "row": [(x[:1],)],
    }
