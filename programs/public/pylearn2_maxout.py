"""Pylearn2: a maxout network with dropout by its training loop, and a convolution's transpose."""

from __future__ import annotations

import os
import sys

import numpy as np

import theano
import theano.tensor as T

sys.path.insert(0, sys.argv[1])
os.environ["PYLEARN2_DATA_PATH"] = "."
from pylearn2.utils import iteration

for kind in list(vars(iteration).values()):  # both spellings of one method, which translation takes for one
    if isinstance(kind, type) and "next" in vars(kind):
        kind.__next__ = kind.next
from pylearn2.costs.mlp.dropout import Dropout  # noqa: E402
from pylearn2.datasets.dense_design_matrix import DenseDesignMatrix  # noqa: E402
from pylearn2.models.maxout import Maxout  # noqa: E402
from pylearn2.models.mlp import MLP, Softmax  # noqa: E402
from pylearn2.models.rbm import RBM  # noqa: E402
from pylearn2.termination_criteria import EpochCounter  # noqa: E402
from pylearn2.train import Train  # noqa: E402
from pylearn2.training_algorithms.learning_rule import Momentum  # noqa: E402
from pylearn2.training_algorithms.sgd import SGD  # noqa: E402

RNG = np.random.RandomState(0)
x = RNG.uniform(-1, 1, (1000, 2))
y = (np.linalg.norm(x, axis=1) < 0.75).astype(int)[:, None]  # inside a circle or not
data = DenseDesignMatrix(X=x.astype(theano.config.floatX), y=y, y_labels=2)
net = MLP([Maxout("h", num_units=20, num_pieces=3, irange=0.5), Softmax(2, "y", irange=0.1)], nvis=2)
cost = Dropout(default_input_include_prob=0.95, default_input_scale=1 / 0.95, input_include_probs={"h": 1.0},
               input_scales={"h": 1.0})  # fmt: skip
method = SGD(learning_rate=0.1, learning_rule=Momentum(0.9), batch_size=50, cost=cost,
             monitoring_dataset={"train": data}, termination_criterion=EpochCounter(40))  # fmt: skip
Train(dataset=data, model=net, algorithm=method).main_loop()
X = T.matrix()
right = float((theano.function([X], net.fprop(X).argmax(axis=1), allow_input_downcast=True)(x) == y[:, 0]).mean())
misclass = float(net.monitor.channels["train_y_misclass"].val_record[-1])
assert right > 0.95 and abs(1 - right - misclass) < 1e-6, (right, misclass)

rbm = RBM(nvis=6, nhid=3, irange=0.5)
V = T.matrix()
energy = theano.function([V], rbm.free_energy_given_v(V), allow_input_downcast=True)(np.eye(6))
W, bv, bh = rbm.get_weights(), rbm.bias_vis.get_value(), rbm.bias_hid.get_value()
assert np.allclose(energy, -bv - np.log1p(np.exp(W + bh)).sum(axis=1), atol=1e-5)
print(f"accuracy of a maxout network {right:.3f}, as its monitor says; free energies of an RBM as by NumPy")
