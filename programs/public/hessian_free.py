"""Hessian-free training of recurrent networks: Gauss-Newton products through a loop, against differences."""

from __future__ import annotations

import sys

import numpy as np

import theano

theano.config.floatX = "float64"
sys.path[:0] = [sys.argv[1], f"{sys.argv[1]}/theano_hf"]
from hf import SequenceDataset, gauss_newton_product, hf_optimizer  # noqa: E402
from rnn import MetaRNN  # noqa: E402

import theano.tensor as T  # noqa: E402

np.random.seed(0)
found = {}
for kind, n_out in (("real", 3), ("binary", 2), ("softmax", 3)):
    x = np.random.randn(100, 10, 5)
    if kind == "real":  # what was in the input one step and two steps before
        y = np.zeros((100, 10, 3))
        y[:, 1:, 0], y[:, 1:, 1], y[:, 2:, 2] = x[:, :-1, 3], x[:, :-1, 2], x[:, :-2, 0]
    elif kind == "binary":
        y = np.zeros((100, 10, 2), "int32")
        y[:, 2:, 0], y[:, 2:, 1] = x[:, 1:-1, 3] > x[:, :-2, 0], x[:, 1:-1, 4] > 0
    else:
        y = np.zeros((100, 10), "int32")
        y[:, 2:][x[:, 1:-1, 3] > x[:, :-2, 0] + 0.5] = 1
        y[:, 2:][x[:, 1:-1, 3] < x[:, :-2, 0] - 0.5] = 2
    model = MetaRNN(n_in=5, n_hidden=10, n_out=n_out, activation="tanh", output_type=kind,
                    use_symbolic_softmax=kind == "softmax")  # fmt: skip
    rnn, loss = model.rnn, model.rnn.loss(model.y)
    for p in rnn.params:
        p.set_value(0.3 * np.random.randn(*p.get_value().shape))
    # The product with J'HJ: J by differences of the outputs, H of the loss in them is 2 for each of its numbers.
    v = [np.random.randn(*p.get_value().shape) for p in rnn.params]
    symbols = [T.TensorType("float64", (False,) * value.ndim)() for value in v]
    if kind == "real":
        product = gauss_newton_product(loss, rnn.params, symbols, rnn.y_pred)
        f = theano.function([model.x, model.y, *symbols], product, on_unused_input="ignore")
        out = theano.function([model.x], rnn.y_pred)
        values, e, columns = [p.get_value() for p in rnn.params], 1e-6, []
        for p, value in zip(rnn.params, values):
            for step in e * np.eye(value.size).reshape(-1, *value.shape):
                p.set_value(value + step)
                up = out(x[0])
                p.set_value(value - step)
                columns.append(((up - out(x[0])) / (2 * e)).ravel())
            p.set_value(value)
        J = np.array(columns).T
        known = J.T @ (J @ np.concatenate([part.ravel() for part in v])) * 2 / y[0].size
        found_here = np.concatenate([part.ravel() for part in f(x[0], y[0], *v)])
        assert np.allclose(found_here, known, rtol=1e-4, atol=1e-6)
    data = SequenceDataset([list(x), list(y)], batch_size=None, number_batches=50)
    curvature = SequenceDataset([list(x), list(y)], batch_size=None, number_batches=10)
    costs = [loss] if kind == "real" else [loss, rnn.errors(model.y)]
    hidden = rnn.h if kind == "softmax" else None
    solver = hf_optimizer(p=rnn.params, inputs=[model.x, model.y], s=rnn.y_pred, costs=costs, h=hidden)
    cost = theano.function([model.x, model.y], loss)
    before = np.mean([cost(a, b) for a, b in zip(x, y)])
    solver.train(data, curvature, num_updates=6, max_cg_iterations=40)
    found[kind] = round(float(np.mean([cost(a, b) for a, b in zip(x, y)]) / before), 3)
    assert found[kind] < 0.6, found
print(f"products as by differences; of the cost is left {found} after 6 updates")
