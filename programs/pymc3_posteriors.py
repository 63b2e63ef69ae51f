"""Models in PyMC3 3.8 and 3.11 whose posteriors are known: by NUTS, by ADVI, and a Gaussian process."""

from __future__ import annotations

import numpy as np
import pymc3 as pm

RNG = np.random.default_rng(0)
#: How each model is sampled; what `sample` returned before it could return ArviZ's data is asked for.
SAMPLING = {"tune": 500, "chains": 2, "cores": 1, "progressbar": False}
if not pm.__version__.startswith("3.8"):
    SAMPLING["return_inferencedata"] = False


def normal_mean() -> None:
    """Sample the mean of a normal distribution under a normal prior; the posterior is normal again."""
    y, sigma, spread = RNG.normal(2.0, 1.5, 40), 1.5, 3.0
    variance = 1 / (1 / spread**2 + len(y) / sigma**2)
    mean = variance * y.sum() / sigma**2
    with pm.Model():
        mu = pm.Normal("mu", 0.0, spread)
        pm.Normal("y", mu, sigma, observed=y)
        trace = pm.sample(2000, random_seed=1, **SAMPLING)
        approximation = pm.fit(15000, method="advi", random_seed=1, progressbar=False)
    compare("NUTS, normal mean", trace["mu"], mean, variance**0.5)
    compare("ADVI, normal mean", approximation.sample(4000)["mu"], mean, variance**0.5)


def proportion() -> None:
    """Sample a proportion under a uniform prior; the posterior is a beta distribution."""
    heads, tails = 17, 8
    a, b = heads + 1, tails + 1
    with pm.Model():
        p = pm.Beta("p", 1.0, 1.0)
        pm.Binomial("heads", heads + tails, p, observed=heads)
        trace = pm.sample(2000, random_seed=2, **SAMPLING)
    compare("NUTS, proportion", trace["p"], a / (a + b), (a * b / ((a + b) ** 2 * (a + b + 1))) ** 0.5)


def straight_line() -> None:
    """Sample the coefficients of a line with known noise; the posterior is that of linear algebra."""
    x = np.linspace(-1, 1, 30)
    design, sigma, spread = np.stack([np.ones_like(x), x], axis=1), 0.4, 5.0
    y = design @ [1.0, -2.0] + RNG.normal(0, sigma, len(x))
    covariance = np.linalg.inv(design.T @ design / sigma**2 + np.eye(2) / spread**2)
    mean = covariance @ design.T @ y / sigma**2
    with pm.Model():
        w = pm.Normal("w", 0.0, spread, shape=2)
        pm.Normal("y", pm.math.dot(design, w), sigma, observed=y)
        trace = pm.sample(2000, random_seed=3, **SAMPLING)
    for i in range(2):
        compare(f"NUTS, line, coefficient {i}", trace["w"][:, i], mean[i], covariance[i, i] ** 0.5)


def gaussian_process() -> None:
    """Predict with a Gaussian process: its equations in NumPy; then sample its length scale."""
    x, new = np.sort(RNG.uniform(0, 5, 25))[:, None], np.linspace(0.2, 4.8, 7)[:, None]
    y, noise = np.sin(x[:, 0]) + RNG.normal(0, 0.1, 25), 0.1

    def kernel(a: np.ndarray, b: np.ndarray, scale: float = 1.2) -> np.ndarray:
        return np.exp(-0.5 * ((a - b.T) / scale) ** 2)

    with pm.Model() as model:
        gp = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(1, ls=1.2))
        gp.marginal_likelihood("y", X=x, y=y, noise=noise)
        mean, variance = gp.predict(new, point=model.test_point, diag=True)
    solved = np.linalg.solve(kernel(x, x) + noise**2 * np.eye(25), kernel(x, new)).T
    np.testing.assert_allclose(mean, solved @ y, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(variance, 1 - np.sum(solved * kernel(x, new).T, axis=1), atol=1e-4)
    print("Gaussian process: mean and variance are those of its equations")

    scales = np.linspace(0.3, 4, 400)  # the posterior of the length scale, by a grid
    logs = []
    for scale in scales:
        covariance = kernel(x, x, scale) + noise**2 * np.eye(25)
        logs.append(-0.5 * y @ np.linalg.solve(covariance, y) - 0.5 * np.linalg.slogdet(covariance)[1] - scale)
    weights = np.exp(logs - np.max(logs))
    weights /= weights.sum()
    wanted = weights @ scales
    with pm.Model():
        length = pm.Exponential("length", 1.0)
        gp = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(1, ls=length))
        gp.marginal_likelihood("y", X=x, y=y, noise=noise)
        trace = pm.sample(1000, random_seed=4, **SAMPLING)
    compare("NUTS, length scale", trace["length"], wanted, (weights @ (scales - wanted) ** 2) ** 0.5)


def compare(what: str, draws: np.ndarray, mean: float, deviation: float) -> None:
    """Compare a sample's mean and deviation with the known ones."""
    print(f"{what}: {draws.mean():.4f} +- {draws.std():.4f}, known {mean:.4f} +- {deviation:.4f}")
    assert abs(draws.mean() - mean) < 0.15 * deviation and abs(draws.std() / deviation - 1) < 0.15, what


if __name__ == "__main__":
    normal_mean()
    proportion()
    straight_line()
    gaussian_process()
