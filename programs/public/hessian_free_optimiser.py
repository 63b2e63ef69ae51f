"""Hessian-free optimisation: products with a known Hessian, parity, and what a recurrent network recalls."""

from __future__ import annotations

import sys

import numpy as np

import theano
import theano.tensor as T

sys.path.insert(0, sys.argv[1])
import hf
import hf_examples

np.random.seed(0)
# Of a quadratic cost, the product of Gauss and Newton is that with the Hessian.
rows, known = np.random.randn(40, 6), np.random.randn(6, 1)
weights, x, y = theano.shared(np.zeros((6, 1))), T.matrix(), T.matrix()
s = T.dot(x, weights)
line = hf.hf_optimizer([weights], [x, y], s, [((s - y) ** 2).sum()])
line.cg_dataset, line.mu = hf.SequenceDataset([[rows], [rows @ known]], None, 1), 0.0
v = np.random.randn(6)
wrong = np.abs(line.batch_Gv(v, lambda_=0.0) - 2 * rows.T @ (rows @ v)).max()
assert wrong < 1e-10, wrong

p, inputs, s, costs = hf_examples.simple_NN((2, 20, 10, 1))
bits = np.random.randint(0, 2, (1000, 2))
points, parity = bits.astype(float), (bits[:, :1] ^ bits[:, 1:]).astype(float)
network = hf.hf_optimizer(p, inputs, s, costs)
data = [hf.SequenceDataset([list(np.split(points, 20)), list(np.split(parity, 20))], None, 20) for _ in range(2)]
network.train(*data, initial_lambda=1.0, preconditioner=True, num_updates=40)
cost, error = network.f_cost(points, parity)
assert error == 0 and cost < 0.01, (cost, error)

# A recurrent network, its states damped: after four steps it says what the first was.
p, inputs, s, costs, h, ha = hf_examples.simple_RNN(8)
memory = hf.hf_optimizer(p, inputs, s, costs, 0.5 * (h + 1), ha)
sequences = [[np.random.randint(2, size=(4, 1)).astype(float) for _ in range(60)]]
memory.train(*(hf.SequenceDataset(sequences, None, 60) for _ in range(2)), initial_lambda=0.5, mu=1.0, num_updates=40)
recalled = np.mean([memory.f_cost(*sequence)[1] == 0 for sequence in zip(*sequences)])
assert recalled == 1, recalled
print(f"Hessian products to {wrong:.0e}; parity: cost {cost:.4f}, no error; recalled after 4 steps: {recalled:.2f}")
