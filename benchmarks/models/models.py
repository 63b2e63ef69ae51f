"""Models as PyMC's users write them, with data that is made up; each function returns a `pymc.Model`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

RNG_SEED = 7


def eight_schools() -> Any:
    """Return the eight schools, not centred: 10 parameters."""
    y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, shape=8)
        pm.Normal("y", mu + tau * z, sigma, observed=y)
    return model


def radon() -> Any:
    """Return intercepts and slopes by county: 85 counties, 919 rows."""
    rng = np.random.default_rng(RNG_SEED)
    county = np.sort(rng.integers(0, 85, 919))
    floor = rng.integers(0, 2, 919).astype("float64")
    y = rng.normal(1.3, 0.8, 919)
    with pm.Model() as model:
        mu_a, mu_b = pm.Normal("mu_a", 0, 10), pm.Normal("mu_b", 0, 10)
        sigma_a, sigma_b = pm.HalfCauchy("sigma_a", 5), pm.HalfCauchy("sigma_b", 5)
        a = pm.Normal("a", mu_a, sigma_a, shape=85)
        b = pm.Normal("b", mu_b, sigma_b, shape=85)
        eps = pm.HalfCauchy("eps", 5)
        pm.Normal("y", a[county] + b[county] * floor, eps, observed=y)
    return model


def logistic() -> Any:
    """Return a logistic regression: 1,000 rows of 20."""
    rng = np.random.default_rng(RNG_SEED)
    X = rng.normal(size=(1000, 20))
    y = rng.integers(0, 2, 1000)
    with pm.Model() as model:
        alpha = pm.Normal("alpha", 0, 5)
        beta = pm.Normal("beta", 0, 2, shape=20)
        pm.Bernoulli("y", logit_p=alpha + pt.dot(X, beta), observed=y)
    return model


def gaussian_process() -> Any:
    """Return a Gaussian process with noise over 60 points."""
    rng = np.random.default_rng(RNG_SEED)
    X = np.linspace(0, 10, 60)[:, None]
    y = np.sin(X[:, 0]) + rng.normal(0, 0.2, 60)
    with pm.Model() as model:
        ls = pm.Gamma("ls", 2, 1)
        eta = pm.HalfNormal("eta", 2)
        sigma = pm.HalfNormal("sigma", 1)
        gp = pm.gp.Marginal(cov_func=eta**2 * pm.gp.cov.Matern52(1, ls))
        gp.marginal_likelihood("y", X=X, y=y, sigma=sigma)
    return model


def mixture() -> Any:
    """Return a mixture of 3 normals, 500 rows."""
    rng = np.random.default_rng(RNG_SEED)
    y = np.concatenate([rng.normal(-2, 0.5, 200), rng.normal(0, 1, 150), rng.normal(3, 0.7, 150)])
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones(3))
        mu = pm.Normal("mu", np.array([-1.0, 0.0, 1.0]), 5, shape=3)
        sigma = pm.HalfNormal("sigma", 2, shape=3)
        pm.NormalMixture("y", w=w, mu=mu, sigma=sigma, observed=y)
    return model


def random_walk() -> Any:
    """Return a random walk of 400 steps as the logarithm of a volatility, with returns of Student's t."""
    rng = np.random.default_rng(RNG_SEED)
    y = rng.standard_t(5, 400) * 0.02
    with pm.Model() as model:
        step = pm.Exponential("step", 10)
        s = pm.GaussianRandomWalk("s", sigma=step, init_dist=pm.Normal.dist(0, 1), shape=400)
        nu = pm.Exponential("nu", 0.1)
        pm.StudentT("y", nu=nu, lam=pt.exp(-2 * s), observed=y)
    return model


def ordered() -> Any:
    """Return an ordered logistic regression of 4 categories, 500 rows."""
    rng = np.random.default_rng(RNG_SEED)
    x, y = rng.normal(size=500), rng.integers(0, 4, 500)
    start = np.array([-1.0, 0.0, 1.0])
    with pm.Model() as model:
        order = pm.distributions.transforms.ordered
        cuts = pm.Normal("cuts", start, 1, shape=3, transform=order, initval=start)
        slope = pm.Normal("slope", 0, 1)
        pm.OrderedLogistic("y", eta=slope * x, cutpoints=cuts, observed=y)
    return model


def poisson_groups() -> Any:
    """Return a hierarchical Poisson regression of 5 groups, 500 rows."""
    rng = np.random.default_rng(RNG_SEED)
    group, y = rng.integers(0, 5, 500), rng.poisson(2, 500)
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu", 0, 2), pm.HalfNormal("sigma", 1)
        a = pm.Normal("a", mu, sigma, shape=5)
        pm.Poisson("y", pt.exp(a[group]), observed=y)
    return model


def covariance() -> Any:
    """Return a covariance of 3 variables with the prior LKJ, 200 rows."""
    rng = np.random.default_rng(RNG_SEED)
    y = rng.normal(size=(200, 3))
    with pm.Model() as model:
        chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.Exponential.dist(1.0))
        mu = pm.Normal("mu", 0, 2, shape=3)
        pm.MvNormal("y", mu, chol=chol, observed=y)
    return model


def multinomial() -> Any:
    """Return a logistic regression of 3 categories, 500 rows of 4."""
    rng = np.random.default_rng(RNG_SEED)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, 3, 500)
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, 2, shape=(4, 3))
        pm.Categorical("y", p=pm.math.softmax(pt.dot(X, beta), axis=1), observed=y)
    return model


def autoregression() -> Any:
    """Return an autoregression of order 2 whose predictions are a loop, 200 steps."""
    rng = np.random.default_rng(RNG_SEED)
    y = rng.normal(size=200)
    with pm.Model() as model:
        rho = pm.Normal("rho", 0, 0.3, shape=2)
        sigma = pm.HalfNormal("sigma", 1)
        rows = {"input": pt.as_tensor(y), "taps": [-2, -1]}
        expected = pytensor.scan(
            lambda y2, y1, rho: rho[0] * y1 + rho[1] * y2,
            sequences=rows, non_sequences=[rho], strict=True, return_updates=False,
        )  # fmt: skip
        pm.Normal("y", expected, sigma, observed=y[2:])
    return model


def survival() -> Any:
    """Return times of Weibull's distribution, some of which are censored, 500 rows."""
    rng = np.random.default_rng(RNG_SEED)
    times = np.minimum(rng.weibull(1.5, 500), 1.2)
    with pm.Model() as model:
        alpha, beta = pm.HalfNormal("alpha", 2), pm.HalfNormal("beta", 2)
        pm.Censored("y", pm.Weibull.dist(alpha, beta), lower=None, upper=1.2, observed=times)
    return model


MODELS = {
    f.__name__: f
    for f in (
        eight_schools, radon, logistic, gaussian_process, mixture, random_walk,
        ordered, poisson_groups, covariance, multinomial, autoregression, survival,
    )
}  # fmt: skip
