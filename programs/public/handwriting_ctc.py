"""Reads images of text: LSTMs of both directions and a layer of connectionist temporal classification."""

from __future__ import annotations

import itertools
import sys

import numpy as np

import theano
import theano.tensor as T

sys.path.insert(0, sys.argv[1])
import utils
from nnet.ctc import CTCLayer
from nnet.neuralnet import NeuralNet

RNG = np.random.default_rng(0)
np.random.seed(0)
# The cost is that of all paths which end with the last label's blank, or (in plain numbers) with the label itself.
p, labels = T.matrix(), T.ivector()
values = RNG.dirichlet(np.ones(3), 4).astype(theano.config.floatX)
with_blanks = np.asarray(utils.insert_blanks([0, 1], 2), "int32")
layers = [CTCLayer(p, labels, 2, log).cost for log in (True, False)]
costs = theano.function([p, labels], layers)(values, with_blanks)
paths = [(path, np.prod(values[np.arange(4), path])) for path in itertools.product(range(3), repeat=4)]
spelled = [(path, q) for path, q in paths if [s for s, _ in itertools.groupby(path) if s != 2] == [0, 1]]
known = -np.log([sum(q for path, q in spelled if path[-1] == 2), sum(q for _, q in spelled)])
assert np.allclose(costs, known, rtol=1e-4), (costs, known)

# Text: each letter is a pattern of 6 pixels' height, 2 to 4 columns wide, with gaps.
letters = RNG.random((3, 6)) > 0.5
letters[:, 0] = True, False, True
letters[:, 1] = False, True, True


def text() -> tuple[np.ndarray, list[int]]:
    """Return an image and its letters."""
    y = RNG.integers(0, 3, RNG.integers(2, 5)).tolist()
    columns = [np.zeros((6, 1))]
    for letter in y:
        columns += [np.repeat(letters[letter][:, None], RNG.integers(2, 5), axis=1), np.zeros((6, 1))]
    return np.hstack(columns).astype(theano.config.floatX), y


found = {}
for middle, options in (("BDLSTM", {"nunits": 9, "forget": True}), ("BiRecurrentLayer", {"nunits": 9})):
    method, rate = ("adadelta", 1.0) if middle == "BDLSTM" else ("sgd", 0.05)
    rates = {"anneal": "constant", "initial_rate": rate, "epochs_to_half": 1}
    net = NeuralNet(6, 3, middle, options, middle == "BDLSTM", method, {}, rates)
    for _ in range(700):
        x, y = text()
        net.trainer(x, np.asarray(utils.insert_blanks(y, 3), "int32"))
    right = []
    for _ in range(50):
        x, y = text()
        best = net.tester(x)[0].argmax(axis=0)
        right.append([s for s, _ in itertools.groupby(best) if s != 3] == y)
    found[middle] = round(float(np.mean(right)), 2)
    assert found[middle] > 0.8, found
print(f"texts read exactly: {found}; the cost of all paths as counted")
