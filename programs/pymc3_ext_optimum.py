"""pymc3-ext 0.1.1: an optimum that is known, values of expressions at it, and NUTS with a dense mass matrix."""

from __future__ import annotations

import numpy as np
import pymc3 as pm
import pymc3_ext as pmx

COVARIANCE = np.array([[1.0, 0.8], [0.8, 2.0]])
MEAN = np.array([0.5, -1.0])

with pm.Model() as model:
    x = pm.MvNormal("x", mu=MEAN, cov=COVARIANCE, shape=2)
    point, info = pmx.optimize(start={"x": np.zeros(2)}, return_info=True, verbose=False, progress=False)
    (total,) = pmx.eval_in_model([x.sum()], point)
    trace = pmx.sample(
        tune=800, draws=3000, chains=2, cores=1, random_seed=3, progressbar=False, return_inferencedata=False
    )
print(f"optimum {point['x']}, known {MEAN}")
np.testing.assert_allclose(point["x"], MEAN, atol=1e-4)
np.testing.assert_allclose(total, MEAN.sum(), atol=1e-4)
mean, covariance = trace["x"].mean(axis=0), np.cov(trace["x"].T)
print(f"sampled: mean {mean}, covariance {covariance.tolist()}")
np.testing.assert_allclose(mean, MEAN, atol=0.12)
np.testing.assert_allclose(covariance, COVARIANCE, atol=0.25)
