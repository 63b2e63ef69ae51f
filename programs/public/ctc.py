"""The cost of connectionist temporal classification as an expression: against the sum over all paths."""

from __future__ import annotations

import itertools
import sys

import numpy as np

import theano
from theano import tensor

sys.path.insert(0, sys.argv[1])
from ctc_cost import CTC

RNG = np.random.default_rng(1)
STEPS, LABELS, BLANK = 5, [[0, 1, 1], [2, 0]], 3
LENGTHS = [5, 4]


def known(p: np.ndarray, labels: list[int]) -> float:
    """Return the negative logarithm of the probability of all paths that spell the labels."""
    total = 0.0
    for path in itertools.product(range(BLANK + 1), repeat=len(p)):
        spelled = [symbol for symbol, _ in itertools.groupby(path) if symbol != BLANK]
        total += np.prod(p[np.arange(len(p)), path]) if spelled == labels else 0
    return -float(np.log(total))


scores = theano.shared(RNG.normal(size=(STEPS, 2, BLANK + 1)))
y, y_mask, mask = tensor.matrix("y"), tensor.matrix("y_mask"), tensor.matrix("mask")
p = tensor.nnet.softmax(scores.reshape((-1, BLANK + 1))).reshape(scores.shape)
costs = [CTC.apply(y, p, y_mask, mask, scale) for scale in ("normal_scale", "log_scale")]
labels, there = np.zeros((3, 2)), np.zeros((3, 2))
for column, row in enumerate(LABELS):
    labels[: len(row), column], there[: len(row), column] = row, 1
steps = (np.arange(STEPS)[:, None] < LENGTHS).astype(float)
values = theano.function([y, y_mask, mask], [*costs, p])(labels, there, steps)
exact = np.mean([known(values[2][:length, b], LABELS[b]) for b, length in enumerate(LENGTHS)])
assert np.allclose(values[:2], exact, rtol=1e-6), (values[:2], exact)
grads = theano.function([y, y_mask, mask], [theano.grad(cost, scores) for cost in costs])(labels, there, steps)
assert np.allclose(*grads, atol=1e-6)
move = (scores, scores - 1.0 * theano.grad(costs[1], scores))
train = theano.function([y, y_mask, mask], costs[1], updates=[move])
losses = [float(train(labels, there, steps)) for _ in range(200)]
assert losses[-1] < 0.05
print(f"cost {values[1]:.6f} (all paths {exact:.6f}), {losses[-1]:.3f} after 200 steps")
