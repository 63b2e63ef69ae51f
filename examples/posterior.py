"""Draw from a posterior by Hamiltonian Monte Carlo: two groups of measurements, and how far apart they are.

    python examples/posterior.py                # a few seconds
    python examples/posterior.py --draws 5000   # and other options: --help

The model is a robust comparison of two groups: means and scales, and a Student t for outliers. A whole trajectory, with
all of its steps, is one loop in C. It shows a progress bar, prints the posterior, and draws trace, posterior and
trajectories into posterior.png.
"""

from __future__ import annotations

import argparse
import sys
import time

import matplotlib
import numpy as np
from tqdm import tqdm

import theano
import theano.tensor as T

matplotlib.use("Agg")
from matplotlib import pyplot as plt

NAMES = ("mean 1", "mean 2", "log scale 1", "log scale 2", "log (freedom - 1)")
STEPS = 12


def measurements(rng):
    """Return two groups of measurements, 1 apart, with a few outliers."""
    first, second = rng.normal(0.0, 1.0, 40), rng.normal(1.0, 1.5, 50)
    first[:2] += 6
    second[:3] -= 7
    return first, second


def student(x, mean, log_scale, freedom):
    """Return the sum of the logarithms of Student t densities."""
    z = (x - mean) * T.exp(-log_scale)
    half = (freedom + 1) / 2
    each = T.gammaln(half) - T.gammaln(freedom / 2) - 0.5 * T.log(np.pi * freedom) - log_scale
    return (each - half * T.log1p(z**2 / freedom)).sum()


def log_posterior(q, first, second):
    """Return the logarithm of the posterior's density, but for a constant."""
    freedom = 1 + T.exp(q[4])
    prior = -0.5 * ((q[:2] / 10) ** 2).sum() - 0.5 * (q[2:4] ** 2).sum() - 0.5 * ((q[4] - 2) ** 2)
    return prior + student(first, q[0], q[2], freedom) + student(second, q[1], q[3], freedom)


def compile_transition(first, second):
    """Return a function that makes one transition: from a point, a momentum and a step to a path and its energies.

    The leapfrog steps are those of Neal, 2011: https://arxiv.org/abs/1206.1901
    """
    q, p, step = T.dvector("q"), T.dvector("p"), T.dscalar("step")

    def slope(at):
        return T.grad(log_posterior(at, first, second), at)

    def leapfrog(at, momentum, size):
        half = momentum + size / 2 * slope(at)
        there = at + size * half
        return there, half + size / 2 * slope(there)

    (path, momenta), _ = theano.scan(leapfrog, outputs_info=[q, p], non_sequences=[step], n_steps=STEPS)

    def energy(at, momentum):
        return -log_posterior(at, first, second) + 0.5 * (momentum**2).sum()

    return theano.function(
        [q, p, step], [path, energy(q, p), energy(path[-1], momenta[-1])], name="transition"
    )


def sample(transition, draws, tune, rng):
    """Return the draws, the paths of the last few, and how many were accepted; the step is tuned before."""
    q, step, kept, paths, accepted = np.zeros(len(NAMES)), 0.05, [], [], 0
    bar = tqdm(range(tune + draws), desc="sampling", unit="draw", file=sys.stdout, dynamic_ncols=True)
    for i in bar:
        path, before, after = transition(q, rng.normal(size=len(NAMES)), step * rng.uniform(0.8, 1.2))
        chance = float(np.exp(min(0.0, before - after))) if np.isfinite(after) else 0.0
        if rng.random() < chance:
            paths.append(np.vstack([q, path]))
            q = path[-1]
            accepted += i >= tune
        if i < tune:
            step *= np.exp((chance - 0.8) / np.sqrt(i + 1) * 0.7)
        else:
            kept.append(q)
    return np.array(kept), paths[-25:], accepted / draws


def effective(x):
    """Return how many independent draws are worth as much as these (Geyer's initial positive sequence)."""
    x = x - x.mean()
    n = len(x)
    spectrum = np.abs(np.fft.rfft(x, 2 * n)) ** 2
    correlation = np.fft.irfft(spectrum)[:n] / np.fft.irfft(spectrum)[0]
    pairs = correlation[1 : n - 1 : 2] + correlation[2:n:2]
    end = np.argmax(pairs < 0) if (pairs < 0).any() else len(pairs)
    return n / (1 + 2 * pairs[:end].sum())


def draw(path, draws, paths, first, second):
    """Draw the trace, the posterior of the difference, and some trajectories."""
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 12, "axes.titlepad": 12})
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.4), width_ratios=[1.4, 1, 1])
    blue, orange = "#3465a4", "#e07b00"
    left.plot(draws[:, 0], color=blue, linewidth=0.4, label="mean 1")
    left.plot(draws[:, 1], color=orange, linewidth=0.4, label="mean 2")
    left.set(title="Trace", xlabel="draw")
    left.legend(frameon=False, loc="upper right", ncols=2)

    apart = draws[:, 1] - draws[:, 0]
    low, high = np.quantile(apart, [0.025, 0.975])
    middle.hist(apart, bins=60, color=blue, alpha=0.85, density=True)
    middle.axvline(1.0, color=orange, linewidth=2)
    middle.text(1.0, middle.get_ylim()[1] * 1.01, "truth", color=orange, ha="center", va="bottom")
    middle.set(title="Mean 2 - mean 1\n", yticks=[], xlabel=f"95 % between {low:.2f} and {high:.2f}")

    right.scatter(draws[:, 0], draws[:, 1], s=2, color="#bbbbbb", linewidth=0)
    for p in paths[-8:]:
        right.plot(p[:, 0], p[:, 1], color=blue, linewidth=0.9, alpha=0.8)
        right.plot(*p[-1, :2], "o", color=orange, markersize=4)
    right.set(title="Trajectories", xlabel="mean 1", ylabel="mean 2")
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    middle.spines["left"].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    """Sample, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3000, help="that are kept (default: 3000)")
    parser.add_argument("--tune", type=int, default=500, help="before these, to find the step (default: 500)")
    parser.add_argument("--picture", default="posterior.png", help="where to draw (default: posterior.png)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    rng = np.random.default_rng(options.seed)
    first, second = measurements(rng)
    began = time.perf_counter()
    transition = compile_transition(first, second)
    print(f"compiled in {time.perf_counter() - began:.2f} s")
    draws, paths, accepted = sample(transition, options.draws, options.tune, rng)
    print(f"{accepted:.0%} accepted")
    print(f"{'':20}{'mean':>8}{'sd':>8}{'2.5 %':>8}{'97.5 %':>8}{'effective':>11}")
    for name, x in zip(NAMES, draws.T, strict=True):
        low, high = np.quantile(x, [0.025, 0.975])
        print(f"{name:20}{x.mean():8.2f}{x.std():8.2f}{low:8.2f}{high:8.2f}{effective(x):11.0f}")
    draw(options.picture, draws, paths, first, second)
    print("drawn:", options.picture)


if __name__ == "__main__":
    main()
