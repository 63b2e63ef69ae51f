"""Bayesian personalised ranking (BBC): users of two tastes, whose films it ranks by what others of theirs have seen."""

from __future__ import annotations

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from theano_bpr import BPR

rng = np.random.default_rng(0)
np.random.seed(0)
users, films = 60, 40
seen = [(user, film) for user in range(users) for film in range(films) if user % 2 == film % 2 and rng.random() < 0.7]
order = rng.permutation(len(seen))
train, test = [seen[i] for i in order[:-150]], [seen[i] for i in order[-150:]]
model = BPR(5, users, films)
before = model.W.get_value(), model.H.get_value()
u, i, j = np.array([3, 3]), np.array([1, 5]), np.array([2, 4])  # a step against its formula; a user who is there twice
cost = float(model.train_model(u, i, j))
w, h = before
apart = np.einsum("nk,nk->n", w[u], h[i] - h[j])
known = -(np.log(1 / (1 + np.exp(-apart))) - 0.0025 * (w[u] ** 2).sum(1) - 0.0025 * (h[i] ** 2).sum(1)
          - 0.00025 * (h[j] ** 2).sum(1)).sum()  # fmt: skip
assert abs(cost - known) < 1e-5, (cost, known)
pull = 1 / (1 + np.exp(apart))
step = (pull[:, None] * (h[i] - h[j]) - 0.005 * w[u]).sum(0)
assert np.allclose(model.W.get_value()[3], w[3] + 0.05 * step, atol=1e-6)
model.train(train, epochs=60, batch_size=100)
area = model.test(test)  # a fifth of what a user has not seen is of the same taste, of which nothing can be known
own = np.mean([film % 2 == user % 2 for user in range(users) for film in model.top_predictions(user, 3)])
assert area > 0.84 and own > 0.95, (area, own)
print(f"\narea under the curve {area:.3f} of films not shown; {own:.0%} of what it proposes are of the user's taste")
