"""Minimise by Newton's method without a Hessian: logistic regression on handwritten digits, beside gradient descent.

    python examples/newton.py               # some seconds
    python examples/newton.py --decay 1e-5  # and other options: --help

A step of Newton's method solves a system with the Hessian, 650 x 650 here, which is never there: the method of
conjugate gradients wants only its products with vectors, and each of these costs as much as two gradients. All of its
iterations are one loop. The example shows a progress bar, prints what each step does, and draws both methods into
newton.png.
"""

from __future__ import annotations

import argparse
import sys
import time

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import theano
import theano.tensor as T

matplotlib.use("Agg")
from matplotlib import pyplot as plt

CLASSES = 10


def load():
    """Return images, a row each with a 1 for the offset, and their labels."""
    pixels, labels = load_digits(return_X_y=True)
    return np.hstack([pixels / 16, np.ones((len(pixels), 1))]), labels


def loss_at(w, pixels, labels, decay):
    """Return the mean cross entropy of a softmax of linear scores, with a decay of the weights."""
    scores = T.dot(pixels, w.reshape((pixels.shape[1], CLASSES)))
    return T.nnet.categorical_crossentropy(T.nnet.softmax(scores), labels).mean() + decay / 2 * (w**2).sum()


def newton_direction(loss, w, most):
    """Return what Newton's method goes along, the gradient, and how long the residuals were on the way.

    The tolerance is that of Nocedal and Wright, Numerical Optimization, 2006, section 7.1: rough as long as the
    gradient is long, so that steps converge faster than linearly and none is more exact than it needs to be.
    """
    gradient = T.grad(loss, w)
    length = gradient.norm(2)
    tolerance = T.minimum(0.5, T.sqrt(length)) * length

    def iterate(x, residual, p):
        curved = T.Rop(gradient, w, p)  # the Hessian times p
        square = T.dot(residual, residual)
        step = square / T.dot(p, curved)
        new = residual - step * curved
        new_p = new + T.dot(new, new) / square * p
        return [x + step * p, new, new_p], theano.scan.until(new.norm(2) < tolerance)

    (x, residuals, _), _ = theano.scan(
        iterate, outputs_info=[T.zeros_like(w), gradient, gradient], n_steps=most, name="conjugate gradients"
    )
    return x[-1], gradient, T.sqrt((residuals**2).sum(axis=1))


def compile_functions(pixels, labels, decay, most):
    """Return the weights, and functions: the loss and what Newton's method knows; the loss; a step of descent."""
    w = theano.shared(np.zeros(pixels.shape[1] * CLASSES), name="w")
    loss = loss_at(w, T.constant(pixels), T.constant(labels), decay)
    direction, gradient, residuals = newton_direction(loss, w, most)
    newton = theano.function([], [loss, gradient.norm(2), direction, residuals], name="newton")
    rate = T.dscalar("rate")
    descend = theano.function([rate], [loss, gradient.norm(2)], updates={w: w - rate * gradient}, name="descend")
    return w, newton, theano.function([], loss, name="loss"), descend


def minimise_by_newton(w, newton, loss, steps):
    """Return a row for each step: seconds, the loss, the length of the gradient; and the residuals in each."""
    rows, residuals = [], []
    newton()  # the step of the loop is compiled in the first call
    began = time.perf_counter()
    print("step    loss        gradient    iterations  length")
    for step in range(steps):
        value, slope, direction, lengths = newton()
        rows.append((time.perf_counter() - began, float(value), float(slope)))
        residuals.append(lengths)
        if slope < 1e-10:
            break
        start, size = w.get_value(), 1.0
        w.set_value(start - direction)
        while loss() > value + 1e-14 and size > 1e-6:
            size /= 2
            w.set_value(start - size * direction)
        print(f"{step:4}    {value:.8f}  {slope:.2e}    {len(lengths):10}  {size:.3g}")
    return np.array(rows), residuals


def minimise_by_descent(w, descend, steps, rate):
    """Return the same rows for gradient descent."""
    w.set_value(np.zeros_like(w.get_value()))
    rows = []
    bar = tqdm(range(steps), desc="gradient descent", unit="step", file=sys.stdout, dynamic_ncols=True)
    began = time.perf_counter()
    for step in bar:
        value, slope = descend(rate)
        rows.append((time.perf_counter() - began, float(value), float(slope)))
        if step % 100 == 0:
            bar.set_postfix(gradient=f"{slope:.1e}", refresh=False)
    return np.array(rows)


def draw(path, newton, descent, residuals):
    """Draw the gradients over time, and the residuals of conjugate gradients in each step."""
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 12, "axes.titlepad": 12})
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4))
    blue, orange = "#3465a4", "#e07b00"
    left.semilogy(descent[:, 0], descent[:, 2], color=orange)
    left.semilogy(newton[:, 0], newton[:, 2], "o-", color=blue, markersize=4)
    shown = min(4 * newton[-1, 0], descent[-1, 0])
    named = np.searchsorted(descent[:, 0], 0.6 * shown)
    left.annotate("gradient descent", descent[named, ::2], (0, 8), textcoords="offset points", color=orange)
    left.annotate("Newton", newton[-2, ::2], (8, 0), textcoords="offset points", color=blue)
    left.set(title="Length of the gradient", xlabel="seconds", xlim=(0, shown))

    shades = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(residuals)))
    for k, (lengths, slope) in enumerate(zip(residuals, newton[:, 2], strict=True)):
        right.semilogy(np.arange(len(lengths) + 1), [slope, *lengths], color=shades[k], linewidth=1.2)
        right.plot(len(lengths), lengths[-1], "o", color=shades[k], markersize=4)
    right.set(title="Residuals in each step of Newton's method", xlabel="iteration of conjugate gradients")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    """Minimise twice, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decay", type=float, default=1e-4, help="of the weights (default: 1e-4)")
    parser.add_argument("--steps", type=int, default=30, help="of Newton's method, at most (default: 30)")
    parser.add_argument("--most", type=int, default=500, help="iterations in each of them (default: 500)")
    parser.add_argument("--descent", type=int, default=5000, help="steps of gradient descent (default: 5000)")
    parser.add_argument("--picture", default="newton.png", help="where to draw (default: newton.png)")
    options = parser.parse_args()

    pixels, labels = load()
    began = time.perf_counter()
    w, newton, loss, descend = compile_functions(pixels, labels, options.decay, options.most)
    print(f"compiled in {time.perf_counter() - began:.2f} s")
    rows, residuals = minimise_by_newton(w, newton, loss, options.steps)
    best = rows[-1, 1]
    # The gradient changes at most so fast: the largest eigenvalue of the inputs' second moments, times that of softmax.
    rate = 1 / (np.linalg.norm(pixels, 2) ** 2 / len(pixels) / 2 + options.decay)
    slow = minimise_by_descent(w, descend, options.descent, rate)
    print(f"Newton: {best:.10f} in {rows[-1, 0]:.2f} s; gradient descent is {slow[-1, 1] - best:.1e} above it after "
          f"{slow[-1, 0]:.2f} s")  # fmt: skip
    draw(options.picture, rows, slow, residuals)
    print("drawn:", options.picture)


if __name__ == "__main__":
    main()
