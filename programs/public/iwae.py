"""Importance-weighted autoencoders: bounds that tighten with the number of samples and stay below what is known."""

from __future__ import annotations

import sys

import numpy as np

import theano
import theano.tensor as T

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
import datasets  # noqa: E402
import iwae  # noqa: E402
import optimizers  # noqa: E402
import utils  # noqa: E402

RNG, NOISE = np.random.default_rng(0), 0.05
kinds = RNG.integers(0, 2, (4, 16))
data = (kinds[RNG.integers(0, 4, 2400)] ^ (RNG.random((2400, 16)) < NOISE)).astype("float32")
test = data[2200:]
wrong = np.abs(test[:, None] - kinds[None]).sum(axis=2)
known = float(np.log((NOISE**wrong * (1 - NOISE) ** (16 - wrong)).mean(axis=1)).mean())
dataset = datasets.DatasetTheano(data[:2200], test, n_used_for_validation=200)

bounds = {}
for kind in ("vae", "iwae"):
    model = iwae.random_iwae([16, 8, 3], [[16], [8]], [[8], [16]], dataset)
    rng, index = utils.srng(), T.lscalar()
    batch = dataset.minibatchIindex_minibatch_size(index, 100, srng=rng, subdataset="train")
    grads = model.gradIminibatch_srng(batch, rng, 5, model_type=kind)
    moves = optimizers.Adam(model, learning_rate=0.005).updatesIgrad_model(grads, model)
    train = theano.function([index], None, updates=moves)
    for _ in range(150):
        for i in range(20):
            train(i)
    bounds[kind] = [
        float(iwae.measure_marginal_log_likelihood(model, dataset, "test", num_samples=count)) for count in (1, 50)
    ]
    assert bounds[kind][0] < bounds[kind][1] < known + 0.05, (bounds, known)
    assert bounds[kind][1] > known - 0.7, (bounds, known)
assert len(iwae.get_units_variances(model, dataset)) == 2
rounded = {kind: [round(bound, 2) for bound in pair] for kind, pair in bounds.items()}
print(f"bounds with 1 and 50 samples {rounded}, log-likelihood of the source {known:.2f}")
