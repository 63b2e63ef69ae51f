"""Mixture density networks for inference without likelihood: posteriors of a linear model, known by formula."""

from __future__ import annotations

import random
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from util import LossFunction, StepStrategy, Trainer
from util.mdn import MDN, MDN_SVI

rng = np.random.default_rng(0)
np.random.seed(0)
random.seed(0)
turn, noise = np.array([[1.0, 0.5], [-0.3, 0.8], [0.2, -1.0]]), 0.6
weights = rng.normal(size=(4000, 2))
seen = weights @ turn.T + noise * rng.normal(size=(4000, 3))
cov = np.linalg.inv(np.eye(2) + turn.T @ turn / noise**2)
observed = np.array([[0.8, -0.4, 0.5], [-1.0, 0.3, 0.1]])
means = observed @ (cov @ turn.T / noise**2).T
worst = []
for kind, parts in ((MDN, 1), (MDN, 2), (MDN_SVI, 1)):
    net = kind(n_inputs=3, n_hiddens=[20], act_fun="tanh", n_outputs=2, n_components=parts)
    loss = net.mlprob
    if kind is MDN_SVI:
        loss = loss + LossFunction.regularizerSvi(net.mps, net.sps, 0.01) / len(seen)
    trainer = Trainer.Trainer(net, [seen, weights], loss, trn_target=net.y, step=StepStrategy.Adam(a=0.002))
    trainer.train(tol=1e-15, maxiter=4000, minibatch=100, verbose=False)
    for at, mean in zip(observed, means, strict=True):
        mixture = net.get_mog(at[None])
        drawn = mixture.gen(20000)
        worst.append(max(np.abs(drawn.mean(0) - mean).max(), np.abs(np.cov(drawn.T) - cov).max()))
        assert worst[-1] < 0.2, (kind, drawn.mean(0), mean, np.cov(drawn.T), cov)
    lprobs = net.eval((seen[:500], weights[:500]))
    apart = weights[:500] - seen[:500] @ (cov @ turn.T / noise**2).T
    known = (
        -0.5 * np.einsum("ni,ij,nj->n", apart, np.linalg.inv(cov), apart) - 0.5 * np.linalg.slogdet(2 * np.pi * cov)[1]
    )
    assert abs(lprobs.mean() - known.mean()) < 0.05, (lprobs.mean(), known.mean())
print(
    f"means and covariances within {max(worst):.3f}; log-likelihood {lprobs.mean():.3f}, the best is {known.mean():.3f}"
)
